"""Reads a tidy table of ratings (CSV, plain or gzipped) and says what is wrong with it, by line."""

import csv
import gzip
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import BinaryIO

import numpy as np

from analysis.agreement.inputs import COLUMNS, GZIP, KINDS, PROBABILITY, TASK
from analysis.stats.columns import Codes, Floats
from benchmarks.core.problems import FileRefused, Problems, Unquoted

LONGEST = 300
MOST_CELLS = 50_000_000
# Each is gone through for itself, so that time grows with sections times rows.
MOST_SECTIONS = 1_000
# Lines between two words on how far the reading is: a quarter of a second.
STRIDE = 50_000


@dataclass(frozen=True, eq=False)
class TableSection:
    """The scores of one criterion in one dataset.

    Attributes
    ----------
    scores
        One row per item, one column per rater; NaN where there is no score.
    tasks
        What each item belongs to, where the table says so.
    probabilities
        With which each item was drawn for people to rate, where the table says so; NaN where
        unknown.
    """

    dataset: str
    criterion: str
    items: tuple[str, ...]
    raters: tuple[str, ...]
    kinds: tuple[str, ...]
    scores: Floats
    tasks: tuple[str, ...] | None
    probabilities: Floats | None = None

    def of_kind(self, kind: str) -> tuple[tuple[str, ...], Floats]:
        """Return the raters of a kind and their columns."""
        chosen = [n for n, own in enumerate(self.kinds) if own == kind]
        return tuple(self.raters[n] for n in chosen), self.scores[:, chosen]


@dataclass(frozen=True, eq=False)
class TidyTable:
    """A table of ratings, by dataset and criterion in their order of appearance.

    ``blank`` rows have no score; ``ignored`` are columns that mean nothing here.
    """

    sections: tuple[TableSection, ...]
    rows: int
    blank: int
    ignored: tuple[str, ...]


class TooWide(FileRefused):
    """A table with more cells than the memory of its reader should hold."""


class _Names:
    """Gives names numbers in their order of appearance."""

    def __init__(self) -> None:
        self.index: dict[tuple[str, ...], int] = {}

    def __call__(self, *name: str) -> int:
        return self.index.setdefault(name, len(self.index))

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, number: int) -> tuple[str, ...]:
        return self.names[number]

    @property
    def names(self) -> list[tuple[str, ...]]:
        return list(self.index)


def read_tidy(
    file: BinaryIO,
    *,
    scale: tuple[int, int] = (1, 5),
    report_line: Callable[[int], None] | None = None,
    most_cells: int | None = None,
) -> TidyTable:
    """Read a tidy table from a binary file.

    The columns are ``dataset, item, criterion, rater, rater_kind, score`` in any order, and
    ``task`` if items share tasks, and ``probability`` if people rated items that were drawn. An
    empty score is a missing one. The file is read a line at a
    time; ``report_line`` is called with the lines read. Raises ``FileRefused``, which names
    line and column of the first twenty faults, or ``TooWide`` for a table of more than
    ``most_cells`` pairs of an item and a rater (``MOST_CELLS`` by default).
    """
    problems = Problems()
    rows = _Rows(scale, problems)
    try:
        rows.read(_text(file, report_line))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        damage = Unquoted("one that is cut off or damaged")
        problems.add(f"after {_at(rows.line)}", "a whole gzip file", damage)
    except UnicodeDecodeError:
        problems.add(_at(rows.line + 1), "text in UTF-8", Unquoted("other bytes"))
    except csv.Error as error:
        problems.add(_at(max(rows.line, 1)), "a line of a CSV file", Unquoted(str(error)))
    problems.check()
    return rows.table(MOST_CELLS if most_cells is None else most_cells)


def check_upload(path: str, low: str, high: str) -> None:
    """Refuse a table with faults (for `benchmarks.core.limited_process`)."""
    with open(path, "rb") as file:
        read_tidy(file, scale=(int(low), int(high)))


class _Rows:
    """The rows so far, as numbers: a million of them take some tens of megabytes."""

    def __init__(self, scale: tuple[int, int], problems: Problems) -> None:
        self.low, self.high = scale
        self.problems = problems
        self.lines = csv.reader(())
        self.sections, self.items, self.raters, self.tasks = (_Names() for _ in range(4))
        self.kinds: list[str] = []
        self.task_of: dict[int, int] = {}
        self.columns = {name: array("q") for name in ("section", "item", "rater", "line")}
        self.scores = array("d")
        self.blank = 0
        self.ignored: tuple[str, ...] = ()
        self.probability_of: dict[int, float] = {}
        self.has_tasks = self.has_probabilities = False
        # Fields that were found right before, as they stand in the file: most rows repeat them.
        self.pick: Callable[[Sequence[str]], tuple[str, ...]] = tuple
        self.known_sections: dict[tuple[str, str], int] = {}
        self.known_items: dict[tuple[str, str, str, str], int] = {}
        self.known_raters: dict[tuple[str, str], int] = {}
        self.known_scores: dict[str, float] = {}

    @property
    def line(self) -> int:
        """The last line that was read, from 1."""
        return self.lines.line_num

    def read(self, lines: Iterator[str]) -> None:
        self.lines = csv.reader(lines, strict=True)
        header = next(self.lines, [])
        places = self._places(header)
        if places is None:
            return
        width = len(header)
        for fields in self.lines:
            if not fields:
                continue
            if len(fields) != width:
                self.problems.add(
                    _at(self.line), f"{len(header)} fields", Unquoted(f"{len(fields)} fields")
                )
                continue
            self._add(fields, places)
        if not self.scores and not self.problems.total:
            self.problems.add(_at(2), "a row for each rating", Unquoted("none"))

    def _places(self, header: Sequence[str]) -> Mapping[str, int] | None:
        wanted = f"a line of column names: {', '.join(COLUMNS)}"
        if not header:
            self.problems.add(_at(1), wanted, Unquoted("an empty file"))
            return None
        names = [name.strip().lower() for name in header]
        missing = [name for name in COLUMNS if name not in names]
        if missing:
            header_fault = Unquoted(
                f"no column {', '.join(missing)} among {', '.join(header)[:LONGEST]}"
            )
            self.problems.add(_at(1), wanted + ", separated by commas", header_fault)
            return None
        known = (*COLUMNS, TASK, PROBABILITY)
        for name in known:
            if names.count(name) > 1:
                self.problems.add(
                    f"{_at(1)}, column {name}", "one such column", Unquoted("several")
                )
        self.ignored = tuple(name for name in names if name not in known)
        self.has_tasks, self.has_probabilities = TASK in names, PROBABILITY in names
        places = {name: names.index(name) for name in known if name in names}
        # Without tasks the dataset stands in for them: it is the same for all rows of an item.
        self.pick = itemgetter(*(places.get(name, places["dataset"]) for name in known))
        return places

    def _add(self, fields: Sequence[str], places: Mapping[str, int]) -> None:
        dataset, item_, criterion, rater_, kind, score_, task_, chance = self.pick(fields)
        known = (
            self.known_sections.get((dataset, criterion)),
            self.known_items.get((dataset, item_, task_, chance)),
            self.known_raters.get((rater_, kind)),
            self.known_scores.get(score_),
        )
        if None not in known:
            self._append(*known)  # type: ignore[arg-type]
            return
        row = {name: fields[place].strip() for name, place in places.items()}
        before = self.problems.total
        for name, value in row.items():
            if name not in ("score", PROBABILITY) and (
                not 0 < len(value) <= LONGEST or "\x00" in value
            ):
                self._wrong(name, f"a name of 1 to {LONGEST} characters", value)
        if row["rater_kind"] and row["rater_kind"] not in KINDS:
            self._wrong("rater_kind", " or ".join(KINDS), row["rater_kind"])
        score = self._score(row["score"])
        probability = self._probability(row.get(PROBABILITY, ""))
        if self.problems.total > before:
            return
        rater = self.raters(row["rater"])
        if rater == len(self.kinds):
            self.kinds.append(row["rater_kind"])
        elif self.kinds[rater] != row["rater_kind"]:
            expected = f"{self.kinds[rater]}, as in this rater's first row"
            self._wrong("rater_kind", expected, row["rater_kind"])
        item = self.items(row["dataset"], row["item"])
        if self.has_tasks:
            task = self.tasks(row[TASK])
            if self.task_of.setdefault(item, task) != task:
                expected = f"{self.tasks[self.task_of[item]][0]!r}, as in this item's first row"
                self._wrong(TASK, expected, row[TASK])
        if self.has_probabilities:
            first = self.probability_of.setdefault(item, probability)
            if first != probability and not (first != first and probability != probability):
                expected = "the same as in this item's first row"
                self._wrong(PROBABILITY, expected, row[PROBABILITY])
        section = self.sections(row["dataset"], row["criterion"])
        self._append(section, item, rater, score)
        if self.problems.total == before:
            self.known_sections[dataset, criterion] = section
            self.known_items[dataset, item_, task_, chance] = item
            self.known_raters[rater_, kind] = rater
            self.known_scores[score_] = score

    def _append(self, section: int, item: int, rater: int, score: float) -> None:
        columns = self.columns
        columns["section"].append(section)
        columns["item"].append(item)
        columns["rater"].append(rater)
        columns["line"].append(self.lines.line_num)
        self.scores.append(score)
        self.blank += score != score

    def _score(self, text: str) -> float:
        if not text:
            return float("nan")
        try:
            score = float(text)
        except ValueError:
            score = float("nan")
        if not (self.low <= score <= self.high and score == int(score)):
            expected = (
                f"nothing, or a whole number from {self.low} to {self.high} (name another scale if "
                "the table has one)"
            )
            self._wrong("score", expected, text)
        return score

    def _probability(self, text: str) -> float:
        try:
            probability = float(text or "nan")
        except ValueError:
            probability = 0.0
        if text and not 0 < probability <= 1:
            expected = "nothing, or a number above 0 and at most 1"
            self._wrong(PROBABILITY, expected, text)
        return probability

    def _wrong(self, column: str, expected: str, text: str) -> None:
        self.problems.add(f"{_at(self.line)}, column {column}", expected, text)

    def table(self, most_cells: int) -> TidyTable:
        """Return the table by section; refused if a rater scored an item twice."""
        section, item, rater, line = (
            np.frombuffer(column, dtype=np.int64) for column in self.columns.values()
        )
        scores = np.frombuffer(self.scores, dtype=np.float64)
        self._refuse_repeated(section, item, rater, line)
        sections = []
        self._refuse_wide(section, item, rater, most_cells)
        for number, (dataset, criterion) in enumerate(self.sections.names):
            own = section == number
            sections.append(self._section(dataset, criterion, item[own], rater[own], scores[own]))
        return TidyTable(tuple(sections), scores.size, self.blank, self.ignored)

    def _refuse_wide(self, section: Codes, item: Codes, rater: Codes, most_cells: int) -> None:
        """Refuse more cells than memory should hold, before the table of any section is made."""
        problems = Problems()
        if len(self.sections) > MOST_SECTIONS:
            expected = f"at most {MOST_SECTIONS:,} pairs of a dataset and a criterion"
            problems.add(
                "columns dataset and criterion", expected, Unquoted(f"{len(self.sections):,}")
            )
            problems.check()
        cells = 0
        for number, (dataset, criterion) in enumerate(self.sections.names):
            own = section == number
            items, raters = np.unique(item[own]).size, np.unique(rater[own]).size
            cells += items * raters
            if cells > most_cells:
                problems.add(
                    f"{dataset}, {criterion}",
                    f"at most {most_cells:,} pairs of an item and a rater, those of the sections "
                    "before included",
                    Unquoted(f"{items:,} items and {raters:,} raters here"),
                )
                raise TooWide(problems.kept)

    def _section(
        self, dataset: str, criterion: str, item: Codes, rater: Codes, scores: Floats
    ) -> TableSection:
        items, rows = np.unique(item, return_inverse=True)
        raters, columns = np.unique(rater, return_inverse=True)
        table = np.full((items.size, raters.size), np.nan)
        table[rows, columns] = scores
        item_names, rater_names, task_names = (
            names.names for names in (self.items, self.raters, self.tasks)
        )
        tasks = None
        if self.has_tasks:
            tasks = tuple(task_names[self.task_of[int(i)]][0] for i in items)
        probabilities = None
        if self.has_probabilities:
            probabilities = np.array([self.probability_of[int(i)] for i in items])
        return TableSection(
            dataset,
            criterion,
            tuple(item_names[i][1] for i in items),
            tuple(rater_names[r][0] for r in raters),
            tuple(self.kinds[r] for r in raters),
            table,
            tasks,
            probabilities,
        )

    def _refuse_repeated(self, section: Codes, item: Codes, rater: Codes, line: Codes) -> None:
        keys = (section * len(self.items) + item) * len(self.raters) + rater
        order = np.argsort(keys, kind="stable")
        again = np.flatnonzero(np.diff(keys[order]) == 0) + 1
        problems = Problems()
        for place in sorted(again, key=lambda place: line[order[place]]):
            row, first = order[place], order[place - 1]
            problems.add(
                _at(int(line[row])),
                "one row for each dataset, item, criterion and rater",
                Unquoted(
                    f"{self.raters[int(rater[row])][0]!r} on {self.items[int(item[row])][1]!r} "
                    f"again, as in line {line[first]}"
                ),
            )
        problems.check()


def _text(file: BinaryIO, report_line: Callable[[int], None] | None) -> Iterator[str]:
    """Yield the lines, decoded one by one, so that a fault is known by its line."""
    start = file.read(len(GZIP))
    file.seek(0)
    stream = gzip.GzipFile(fileobj=file) if start == GZIP else file
    for number, line in enumerate(stream):
        if report_line is not None and number % STRIDE == 0:
            report_line(number)
        yield line.decode("utf-8" if number else "utf-8-sig")


def _at(line: int) -> str:
    return f"line {line}"
