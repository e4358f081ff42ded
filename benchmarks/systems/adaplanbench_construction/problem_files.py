"""Files of problems to construct profiles from: MacGyver's workbook, or plain rows.

Plain rows are a CSV with the columns ``problem`` and ``solution``, or JSON: a list of such objects,
alone or under ``data``. ``id`` and ``category`` may stand beside them.
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.core.errors import CoreError
from benchmarks.core.ports.importer import Importer, TaskFile, TaskFormat
from benchmarks.core.problems import (
    FileRefused,
    Problem,
    Problems,
    Unquoted,
    json_fault,
    text_fault,
)
from benchmarks.core.query_files import LONGEST_ID, LONGEST_QUERY
from benchmarks.core.types import Task
from benchmarks.systems.adaplanbench.macgyver.build import dataset_checksum
from benchmarks.systems.adaplanbench.macgyver.reader import check_files
from benchmarks.systems.adaplanbench_construction.problems import macgyver_problems

FIELDS = ("id", "problem", "solution", "category")
LARGEST = 32 << 20
MOST_PROBLEMS = 20_000
LONGEST_CATEGORY = 80


class ReadProblems(NamedTuple):
    """The problems of sound files; the checksum is that of what the files become."""

    tasks: tuple[Task, ...]
    checksum: str
    source: str
    licence: str
    notes: str


def read_problem_files(path: Path, results: Path | None = None) -> ReadProblems:
    """Return the problems in ``path``; ``FileRefused`` names what is wrong with the files.

    ``results`` holds recorded answers to the problems of a MacGyver workbook.
    """
    if path.suffix.lower() == ".xlsx":
        return _read_workbook(path, results)
    if results is not None:
        raise FileRefused(
            [Problem(path.name, "a MacGyver workbook (.xlsx) beside results", "another file")]
        )
    raw = _raw(path)
    rows = _rows_of_csv(path.name, raw) if path.suffix.lower() == ".csv" else _items(path.name, raw)
    tasks = _read_rows(path.name, rows)
    return ReadProblems(
        tasks, hashlib.sha256(raw).hexdigest(), path.name, "", f"{_counted(tasks)}."
    )


def _counted(tasks: tuple[Task, ...]) -> str:
    return "1 problem" if len(tasks) == 1 else f"{len(tasks):,} problems"


# MacGyver --------------------------------------------------------------------------------------


def _read_workbook(path: Path, results: Path | None) -> ReadProblems:
    checked = check_files(path, results)
    tasks = tuple(macgyver_problems(path, results))
    if not tasks:
        found = "problems without any"
        raise FileRefused([Problem(path.name, "a problem with a solution that is a plan", found)])
    names = f"{path.name}, {results.name}" if results else path.name
    left = checked.problems - len(tasks)
    without = f"; {left} without a solution that is a plan were left out" if left else ""
    return ReadProblems(
        tasks,
        dataset_checksum(checked.checksum),
        f"{names} (MacGyver, Tian et al.)",
        "Apache-2.0",
        f"{_counted(tasks)}, {checked.answers} recorded answers{without}.",
    )


# Plain rows ------------------------------------------------------------------------------------


def _raw(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise FileRefused(
            [Problem(path.name, "a file to read", error.strerror or "none")]
        ) from None
    if len(raw) > LARGEST:
        raise FileRefused([Problem(path.name, f"at most {LARGEST >> 20} MB", "more")])
    return raw


def _text(name: str, raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(
            [Problem(name, "text in UTF-8", f"another byte at {error.start}")]
        ) from None


def _items(name: str, raw: bytes) -> Iterator[tuple[str, Any]]:
    """Yield (place, object) of each problem in a JSON file."""
    try:
        data = json.loads(_text(name, raw))
    except (ValueError, RecursionError) as error:
        raise FileRefused([Problem(name, "JSON", json_fault(error))]) from None
    rows = data.get("data") if isinstance(data, dict) else data
    if not isinstance(rows, list):
        raise FileRefused([Problem(name, "a list of problems, alone or under 'data'", "none")])
    for index, row in enumerate(rows):
        yield f"{name}, [{index}]", row


def _rows_of_csv(name: str, raw: bytes) -> Iterator[tuple[str, Any]]:
    """Yield (place, columns that hold something) of each row of a CSV."""
    reader = csv.DictReader(io.StringIO(_text(name, raw), newline=""), restkey="")
    try:
        for row in reader:
            place = f"{name}, line {reader.line_num}"
            yield place, {key.strip(): value for key, value in row.items() if key and value}
    except csv.Error as error:
        raise FileRefused([Problem(f"{name}, line {reader.line_num}", "CSV", str(error))]) from None


def _read_rows(name: str, rows: Iterator[tuple[str, Any]]) -> tuple[Task, ...]:
    faults = Problems()
    tasks: dict[str, Task] = {}
    for number, (place, row) in enumerate(rows, 1):
        if number > MOST_PROBLEMS:
            faults.add(name, f"at most {MOST_PROBLEMS:,} problems", Unquoted("more"))
            break
        if not isinstance(row, Mapping):
            faults.add(place, "an object with a problem and its solution", row)
            continue
        task = _read_row(place, row, number, faults)
        if task.id in tasks:
            faults.add(f"{place}, id", "an id of its own", task.id)
        tasks[task.id] = task
    if not tasks and not faults.total:
        faults.add(name, "at least one problem", Unquoted("none"))
    faults.check()
    return tuple(tasks.values())


def _read_row(place: str, row: Mapping[str, Any], number: int, faults: Problems) -> Task:
    """Return the task of a row; what is wrong with it is noted."""
    for field in [field for field in row if field not in FIELDS]:
        faults.add(
            f"{place}, {field[:40]}", f"one of {', '.join(FIELDS)}", Unquoted("another field")
        )
    values = {"id": f"problem-{number}", "category": "", **row}
    if isinstance(values["id"], int) and not isinstance(values["id"], bool):
        values["id"] = str(values["id"])
    longest = {"id": LONGEST_ID, "problem": LONGEST_QUERY, "solution": LONGEST_QUERY}
    for field, most in {**longest, "category": LONGEST_CATEGORY}.items():
        given = values.get(field)
        if (fault := text_fault(given, most)) and (field != "category" or given != ""):
            faults.add(f"{place}, {field}", fault, given)
    fields = {field: str(values.get(field, "")).strip() for field in FIELDS}
    return Task(
        fields["id"], fields["problem"], fields["category"], {"solution": fields["solution"]}
    )


def read_task_file(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read problems, and recorded answers beside a workbook where a second file is given."""
    if len(paths) > 2:
        raise CoreError("expected problems, and at most one file of recorded answers beside them")
    problem_files = read_problem_files(*paths)
    return TaskFile(
        tasks=((task, ()) for task in problem_files.tasks),
        checksum=problem_files.checksum,
        source=problem_files.source,
        licence=problem_files.licence,
        notes=problem_files.notes,
        summary=f". {problem_files.notes}",
    )


IMPORTER = Importer(
    (
        TaskFormat(
            "problems",
            "Problems to construct from",
            "PROBLEMS.xlsx with RESULTS.json, or rows as JSON or CSV",
            "Problems",
            read_task_file,
        ),
    )
)
