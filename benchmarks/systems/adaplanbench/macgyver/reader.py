"""The two MacGyver files, checked: PROBLEMS.xlsx row by row, RESULTS.json problem by problem."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.core.json_files import JsonFile
from benchmarks.core.problems import (
    FileRefused,
    Problem,
    Problems,
    Unquoted,
    text_fault,
)
from benchmarks.core.workbooks import workbook_rows
from benchmarks.systems.adaplanbench.macgyver.answers import VERDICTS

COLUMNS = ("ID", "Problem", "Solvable?", "Unconventional?", "Solution", "Label")
LONGEST_TEXT = 20_000
LONGEST_NAME = 60
MOST_ANSWERS = 1_000


class MacGyverProblem(NamedTuple):
    """One row of PROBLEMS.xlsx: a MacGyver problem with its reference solution."""

    id: int
    problem: str
    solvable: bool
    unconventional: str
    solution: str
    label: str


class RecordedAnswer(NamedTuple):
    """One recorded answer of RESULTS.json; ``verdict`` is empty where nobody gave one."""

    author: str
    verdict: str
    text: str


class CheckedProblems(NamedTuple):
    """The findings of the first pass over two sound files."""

    checksum: str
    problems: int
    answers: int
    without_verdict: int
    without_answers: int


def check_files(problems_file: Path, results_file: Path | None = None) -> CheckedProblems:
    """Go through both files; raise ``FileRefused`` with their faults, if they have any.

    Without a file of results no problem has recorded answers.
    """
    faults = Problems()
    ids: set[int] = set()
    try:
        for entry in _entries(problems_file, faults):
            ids.add(entry.id)
    except FileRefused as refused:
        faults.extend(refused)
    if not ids and not faults.total:
        faults.add(problems_file.name, "at least one problem", Unquoted("none"))
    results = _check_results(results_file, ids, faults) if results_file else _Results()
    faults.check()
    both = hashlib.sha256(f"{_digest(problems_file)} {results.checksum}".encode()).hexdigest()
    return CheckedProblems(
        both, len(ids), results.answers, results.without_verdict, len(ids - results.answered)
    )


@dataclass
class _Results:
    """The counts of a file of results, made while it is read."""

    checksum: str = ""
    answers: int = 0
    without_verdict: int = 0
    answered: set[int] = field(default_factory=set)


def _check_results(results_file: Path, ids: set[int], faults: Problems) -> _Results:
    results = _Results()
    try:
        with results_file.open("rb") as raw:
            file = JsonFile(results_file, raw)
            for key, rows in file.members():
                recorded = _recorded(results_file.name, key, rows, faults)
                number = _number(results_file.name, key, ids, results.answered, faults)
                if number is not None:
                    results.answered.add(number)
                results.answers += len(recorded)
                results.without_verdict += sum(not row.verdict for row in recorded)
            results.checksum = file.checksum
    except FileRefused as refused:
        faults.extend(refused)
    except OSError as error:
        faults.add(results_file.name, "a file to read", Unquoted(error.strerror or "none"))
    return results


def read_macgyver_problems(
    problems_file: Path, results_file: Path | None = None
) -> Iterator[tuple[MacGyverProblem, tuple[RecordedAnswer, ...]]]:
    """Yield every problem with its recorded answers; problems without any come last.

    The problems are held in memory (their file is small by its limits), the answers are not.
    """
    faults = Problems()
    entries = {entry.id: entry for entry in _entries(problems_file, faults)}
    if results_file is not None:
        yield from _answered(entries, results_file, faults)
    for entry in entries.values():
        yield entry, ()


def _answered(
    entries: dict[int, MacGyverProblem], results_file: Path, faults: Problems
) -> Iterator[tuple[MacGyverProblem, tuple[RecordedAnswer, ...]]]:
    """Yield the problems that have answers; they are taken out of ``entries``."""
    with results_file.open("rb") as raw:
        for key, rows in JsonFile(results_file, raw).members():
            recorded = _recorded(results_file.name, key, rows, faults)
            entry = entries.pop(_whole(key) or 0, None)
            if entry is None:
                faults.add(results_file.name, "the files that were checked", Unquoted("others"))
            faults.check()
            if entry is not None:
                yield entry, recorded


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# PROBLEMS.xlsx ---------------------------------------------------------------------------------


def _entries(path: Path, faults: Problems) -> Iterator[MacGyverProblem]:
    """Yield the sound rows of the workbook; faults of the others are noted."""
    rows = workbook_rows(path)
    header = [str(cell or "").strip() for cell in next(rows, ())]
    if missing := [name for name in COLUMNS if name not in header]:
        found = ", ".join(name for name in header[:10] if name) or "no header"
        raise FileRefused(
            [Problem(f"{path.name}, row 1", f"the columns {', '.join(missing)}", found)]
        )
    places = {name: header.index(name) for name in COLUMNS}
    seen: set[int] = set()
    for number, row in enumerate(rows, 2):
        cells = {n: row[place] if place < len(row) else None for n, place in places.items()}
        if all(cell is None or not str(cell).strip() for cell in cells.values()):
            continue
        if (entry := _entry(f"{path.name}, row {number}", cells, seen, faults)) is not None:
            yield entry


def _entry(
    where: str, cells: Mapping[str, Any], seen: set[int], faults: Problems
) -> MacGyverProblem | None:
    before = faults.total
    given = cells["ID"]
    number = _whole(given)
    if number is None:
        faults.add(f"{where}, ID", "a whole number", _shown(given))
    elif number in seen:
        faults.add(f"{where}, ID", "an id of its own", Unquoted(f"{number}, which stands above"))
    else:
        seen.add(number)
    for name in ("Problem", "Solution"):
        if fault := text_fault(cells[name], LONGEST_TEXT):
            faults.add(f"{where} (ID {number}), {name}", fault, _shown(cells[name]))
    solvable = str(cells["Solvable?"] or "").strip().lower()
    if solvable not in ("yes", "no"):
        faults.add(f"{where} (ID {number}), Solvable?", "Yes or No", _shown(cells["Solvable?"]))
    for name in ("Unconventional?", "Label"):
        if cells[name] is not None and (fault := text_fault(cells[name], LONGEST_NAME)):
            faults.add(f"{where} (ID {number}), {name}", f"nothing, or {fault}", cells[name])
    if faults.total > before or number is None:
        return None
    return MacGyverProblem(
        number,
        str(cells["Problem"]).strip(),
        solvable == "yes",
        str(cells["Unconventional?"] or "").strip(),
        str(cells["Solution"]).strip(),
        str(cells["Label"] or "").strip(),
    )


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer() or isinstance(value, int):
        return int(value)
    text = str(value or "").strip()
    return int(text) if text.isdecimal() and len(text) < 16 else None


def _shown(value: Any) -> Any:
    """Return a cell as ``describe`` takes it; dates and other rarities as text."""
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


# RESULTS.json ----------------------------------------------------------------------------------


def _number(file: str, key: str, ids: set[int], answered: set[int], faults: Problems) -> int | None:
    number = _whole(key)
    where = f"{file}, problem {key[:40]!r}"
    if number is None:
        faults.add(where, "the number of a problem", key)
    elif ids and number not in ids:
        faults.add(where, "an ID that the workbook holds", key)
    elif number in answered:
        faults.add(where, "each problem once", Unquoted("its number a second time"))
    return number


def _recorded(file: str, key: str, rows: Any, faults: Problems) -> tuple[RecordedAnswer, ...]:
    """Return the sound answers to one problem; faults of the others are noted."""
    where = f"{file}, problem {key[:40]!r}"
    if not isinstance(rows, list) or len(rows) > MOST_ANSWERS:
        faults.add(where, f"a list of at most {MOST_ANSWERS} answers", rows)
        return ()
    return tuple(_sound(where, rows, faults))


def _sound(where: str, rows: Iterable[Any], faults: Problems) -> Iterator[RecordedAnswer]:
    for index, row in enumerate(rows):
        place = f"{where}[{index}]"
        if not isinstance(row, dict):
            faults.add(place, "an object with model, annotation and solution", row)
            continue
        model, verdict, text = row.get("model"), row.get("annotation"), row.get("solution")
        before = faults.total
        if fault := text_fault(model, LONGEST_NAME):
            faults.add(f"{place}.model", fault, model)
        # One row of the original has no annotation at all.
        if verdict is not None and verdict not in list(VERDICTS):
            faults.add(f"{place}.annotation", f"nothing, or one of {', '.join(VERDICTS)}", verdict)
        if text != "" and (fault := text_fault(text, LONGEST_TEXT)):
            faults.add(f"{place}.solution", fault, text)
        if faults.total == before:
            yield RecordedAnswer(str(model).strip(), str(verdict or ""), str(text))
