"""Write runs into files that other tools read."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from benchmarks.core.errors import ExportRefused, UnknownName
from benchmarks.exports.publishing import (
    NOTE,
    TRAJECTORY_RATING,
    TRAJECTORY_ROW,
    UNKNOWN,
    check_licence,
    published,
)
from benchmarks.exports.ratings import ratings_of
from benchmarks.exports.selectors import exported, in_portions
from benchmarks.formats import parquet, planjury_rows
from benchmarks.formats.inspect import WRITER
from benchmarks.formats.parquet import pyarrow
from benchmarks.formats.sessions import session_traces
from benchmarks.formats.writing import atif
from benchmarks.formats.writing.huggingface import card
from benchmarks.formats.writing.inspect import LogFacts, log_members
from benchmarks.models import Run

# The trajectories of a run to export; None is all of them.
Ids = Sequence[int] | None
Member = tuple[str, Iterable[str | bytes]]


def trajectory_rows(run: Run, ids: Ids = None) -> Iterator[dict[str, Any]]:
    """Return what is done of a run, one row a trajectory."""
    return map(planjury_rows.write_row, exported(run, ids))


def rating_rows(run: Run, ids: Ids = None) -> Iterator[dict[str, Any]] | None:
    """Return a row for each answer of people about these trajectories; None if there are none."""
    ratings = ratings_of(run)
    if ids is not None:
        kept = _attempts(run, ids)
        ratings = (one for one in ratings if (one.task_id, one.attempt) in kept)
    rows = map(asdict, ratings)
    first = next(rows, None)
    return None if first is None else chain([first], rows)


def _attempts(run: Run, ids: Sequence[int]) -> set[tuple[str, int]]:
    """Return (task, attempt) of these trajectories, by which ratings name them."""
    return {
        attempt
        for portion in in_portions(ids)
        for attempt in run.trajectories.filter(pk__in=portion).values_list(
            "task__external_id", "attempt"
        )
    }


def json_lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield rows as lines of JSON."""
    return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def folder_texts(
    run: Run, title: str, ids: Ids = None, licence: str = UNKNOWN
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield (name, pieces of text) for each file of a folder that can be published."""
    ratings = rating_rows(run, ids)
    files: list[tuple[str, Iterable[str]]] = [
        ("README.md", [_card(run, title, "jsonl", ratings is not None, licence) + NOTE]),
        ("trajectories.jsonl", json_lines(trajectory_rows(run, ids))),
    ]
    if ratings is not None:
        files.append(("ratings.jsonl", json_lines(ratings)))
    schemas = {"trajectories.jsonl": TRAJECTORY_ROW, "ratings.jsonl": TRAJECTORY_RATING}
    return published(files, schemas, title, licence)


def _card(run: Run, title: str, ending: str, rated: bool, licence: str) -> str:
    return card(
        title,
        agent=str(run.agent),
        dataset=str(run.dataset),
        ending=ending,
        rated=rated,
        licence=licence,
        tasks=" ".join(run.dataset.licence.split()) or "licence not stated",
    )


_STATUS = {Run.Status.DONE: "success", Run.Status.CANCELLED: "cancelled"}


def atif_members(run: Run, ids: Ids = None) -> Iterator[Member]:
    """Yield a document for each trajectory, and the images that they name."""
    images: set[str] = set()
    for place, trajectory in enumerate(exported(run, ids), 1):
        text = json.dumps(atif.write_document(trajectory), ensure_ascii=False, indent=1)
        yield f"{place:06}.json", [text]
        for path, data in atif.image_files(trajectory).items():
            if path not in images:
                images.add(path)
                yield path, [b64decode(data)]


def trace_members(run: Run, ids: Ids = None) -> Iterator[Member]:
    """Yield a session trace for each trajectory."""
    for place, trajectory in enumerate(exported(run, ids), 1):
        yield f"{place:06}.jsonl", json_lines(session_traces.write_lines(trajectory))


def inspect_members(run: Run, ids: Ids = None) -> Iterator[Member]:
    """Yield the files of a log for Inspect with what is done of a run."""
    judging = run.primary_judging
    facts = LogFacts(
        key=f"{run.pk} {run.created_at.isoformat()}",
        task=str(run.dataset),
        model=run.agent.title,
        created=(run.started_at or run.created_at).isoformat(),
        status=_STATUS.get(Run.Status(run.status), "started"),
        judging=judging.name if judging is not None else "",
        metadata={
            "written_by": WRITER,
            "run": run.pk,
            "system": run.dataset.system,
            "level": run.level,
            "condition": run.condition,
            "seed": run.seed,
            "settings": run.settings,
        },
    )
    return log_members(facts, exported(run, ids))


def _write_inspect(run: Run, target: Path, licence: str) -> int:
    count = 0
    with ZipFile(target, "x", ZIP_DEFLATED) as archive:
        for name, texts in inspect_members(run):
            with archive.open(name, "w") as file:
                file.writelines(map(_bytes, texts))
            count += name.startswith("samples/")
    return count


def _write_lines(lines: Iterable[str], target: Path) -> int:
    count = 0
    with target.open("x", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            count += 1
    return count


def _write_chat(run: Run, target: Path, licence: str) -> int:
    return _write_lines(json_lines(trajectory_rows(run)), target)


def _write_atif(run: Run, target: Path, licence: str) -> int:
    return _write_members(atif_members(run), target)


def _write_traces(run: Run, target: Path, licence: str) -> int:
    return _write_members(trace_members(run), target)


def _bytes(given: str | bytes) -> bytes:
    return given if isinstance(given, bytes) else given.encode()


def _write_members(members: Iterable[Member], target: Path) -> int:
    """Write files into a new folder; return how many lie in it and in no folder of it."""
    target.mkdir(parents=True)
    count = 0
    for name, texts in members:
        path = target / name
        path.parent.mkdir(exist_ok=True)
        with path.open("xb") as file:
            file.writelines(map(_bytes, texts))
        count += path.parent == target
    return count


def _write_folder(run: Run, target: Path, licence: str) -> int:
    (target / "schemas").mkdir(parents=True)
    files = folder_texts(run, target.name, licence=licence)
    counts = {name: _write_lines(lines, target / name) for name, lines in files}
    return counts["trajectories.jsonl"]


def _write_parquet(run: Run, target: Path, licence: str) -> int:
    pyarrow()  # before anything is made
    target.mkdir(parents=True)
    ratings = rating_rows(run)
    text = _card(run, target.name, "parquet", ratings is not None, licence)
    (target / "README.md").write_text(text, encoding="utf-8")
    if ratings is not None:
        parquet.write_ratings(ratings, target / "ratings.parquet")
    return parquet.write_trajectories(trajectory_rows(run), target / "trajectories.parquet")


WRITERS: dict[str, Callable[[Run, Path, str], int]] = {
    "openai-chat": _write_chat,
    "atif": _write_atif,
    "inspect": _write_inspect,
    "session-traces": _write_traces,
    "huggingface": _write_folder,
    "huggingface-parquet": _write_parquet,
}


def export_run(*, run: Run, format: str, target: Path, licence: str = UNKNOWN) -> int:
    """Write the finished trajectories of a run; return their number. Nothing is overwritten.

    ``licence`` is what the card of a folder to publish says; other formats have no place for it.
    """
    if format not in WRITERS:
        raise UnknownName("format", format, sorted(WRITERS))
    check_licence(licence)
    try:
        return WRITERS[format](run, target, licence)
    except FileExistsError:
        raise ExportRefused(f"{target.name} exists; name a new file or folder") from None
    except OSError as error:
        raise ExportRefused(f"{target.name} cannot be written: {error.strerror}") from None
