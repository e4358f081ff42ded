"""Writing the rows of a run as files: JSON lines, their side files, and what they were made with."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.types import Json
from benchmarks.systems.adapt_reflection.decisions import Thresholds, count_kinds
from benchmarks.systems.adapt_reflection.rows import Built, all_files

ABOUT = "about.json"


class ExportRefused(CoreError):
    """Files are not written: there is nothing to write, or something is there already."""


def write_exports(
    built: Sequence[Built], thresholds: Thresholds, folder: Path, about: Json
) -> dict[str, Any]:
    """Write ``NAME.jsonl`` and ``NAME.meta.jsonl`` for each kind of rows, and ``about.json``.

    Line n of a side file belongs to line n of its rows. ``about`` says where the rows come from and
    who filled the roles. Nothing is replaced: a folder that holds one of the files is refused.
    """
    if not built:
        raise ExportRefused("no trajectory has ended, so there is no row to write")
    files = all_files(built, thresholds)
    paths = [folder / ABOUT]
    paths += [folder / f"{name}{ending}" for name in files for ending in (".jsonl", ".meta.jsonl")]
    if there := [path.name for path in paths if path.exists()]:
        raise ExportRefused(f"{folder} already holds {', '.join(there)}: choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    counts = {}
    for name, pairs in files.items():
        counts[name] = 0
        with (
            (folder / f"{name}.jsonl").open("x", encoding="utf-8") as rows,
            (folder / f"{name}.meta.jsonl").open("x", encoding="utf-8") as side,
        ):
            for row, meta in pairs:
                rows.write(json.dumps(row, ensure_ascii=False) + "\n")
                side.write(json.dumps(meta, ensure_ascii=False) + "\n")
                counts[name] += 1
    steps = [turn.payload["builder"] for one in built for turn in one.turns]
    report = {
        **about,
        "trajectories": len(built),
        "thresholds": {"tau_u": thresholds.tau_u, "tau_d": thresholds.tau_d,
                       "mean": thresholds.mean},
        "steps": len(steps),
        "decisions": count_kinds(steps, thresholds),
        "rows": counts,
    }  # fmt: skip
    with (folder / ABOUT).open("x", encoding="utf-8") as target:
        json.dump(report, target, ensure_ascii=False, indent=1)
    return report
