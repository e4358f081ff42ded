"""Writing rows as files: JSON lines, side files with numbers, and what they were made with."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.core.errors import CoreError
from benchmarks.core.ports.training_rows import Reviews
from benchmarks.core.system import RecordedTrajectory, read_settings
from benchmarks.core.types import Json, Task
from benchmarks.systems.adapt.household.actions import ASK, parse_action
from benchmarks.systems.adapt.metrics import SATISFACTION
from benchmarks.systems.adapt_reflection.decisions import count_kinds, count_questions
from benchmarks.systems.adapt_reflection.rows import BuiltTrajectory, Policy, all_files
from benchmarks.systems.adapt_reflection.settings import SETTINGS, thresholds_of

ABOUT = "about.json"


class ExportRefused(CoreError):
    """Files are not written: there is nothing to write, or something is there already."""


def write_exports(
    built: Sequence[BuiltTrajectory], policy: Policy, folder: Path, about: Json
) -> dict[str, Any]:
    """Write ``NAME.jsonl`` and ``NAME.meta.jsonl`` for each kind of rows, and ``about.json``.

    Line n of a side file belongs to line n of its rows. ``about`` says where the rows come from and
    who filled the roles. Nothing is replaced: a folder that holds one of the files is refused.
    """
    files = all_files(built, policy)
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
    # Older steps do not say whether the student asked; their text does.
    asked = [{**s, "student_asks": parse_action(s["student"]).kind == ASK} for s in steps]
    questions = count_questions(asked, policy.thresholds)
    report = {
        **about,
        "trajectories": len(built),
        "thresholds": asdict(policy.thresholds),
        "steps": len(steps),
        "decisions": count_kinds(steps, policy.thresholds),
        "questions": questions.record,
        "reviews": {"only_reviewed": policy.only_reviewed, **policy.count(built)},
        "rows": counts,
    }
    with (folder / ABOUT).open("x", encoding="utf-8") as target:
        json.dump(report, target, ensure_ascii=False, indent=1)
    return {**report, "warning": questions.warning}


def export_reflection(
    stored: Iterable[tuple[str, Task, RecordedTrajectory]],
    folder: Path,
    about: Json,
    *,
    tau_u: float | None = None,
    tau_d: float | None = None,
    mean: str | None = None,
    held_out_fold: int | None = None,
    reviews: Reviews | None = None,
    only_reviewed: bool = False,
) -> dict[str, Any]:
    """Write the rows of finished trajectories, and return what ``about.json`` says.

    ``stored`` are (id, task, trajectory). What is not given is as the first trajectory was built;
    personas of the held-out fold are left out, for they are to be unseen. ``reviews`` are followed;
    None ignores them.
    """
    every = [(name, task, one) for name, task, one in stored if "opening" in one.outcome.payload]
    kept = [row for row in every if row[1].payload["fold"] != held_out_fold]
    if not every:
        raise ExportRefused("no trajectory has ended, so there is no row to write")
    if not kept:
        raise ExportRefused(
            f"all {len(every)} trajectories that have ended are of personas in fold "
            f"{held_out_fold}, which is held out; choose another fold"
        )
    used = thresholds_of(kept[0][2].settings)
    given = {"tau_u": tau_u, "tau_d": tau_d, "mean": mean}
    raw = {name: value for name, value in given.items() if value is not None}
    known = [setting for setting in SETTINGS if setting.name in given]
    settings = read_settings(known, {**asdict(used), **raw})
    built = [
        BuiltTrajectory(
            name,
            task.payload["persona"],
            task.payload["task"],
            task.payload["fold"],
            one.outcome.payload["opening"],
            one.turns,
            one.outcome.metrics[SATISFACTION],
        )
        for name, task, one in kept
    ]
    more = {
        "held_out_fold": held_out_fold,
        "left_out": len(every) - len(kept),
        "reviews_followed": reviews is not None,
    }
    policy = Policy(thresholds_of(settings), reviews or {}, only_reviewed)
    return write_exports(built, policy, folder, {**about, **more})
