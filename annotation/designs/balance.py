"""Compare the counts of a cross table with those of an even distribution."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ORDINALS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True, slots=True)
class BalanceCell:
    row: str
    column: str
    count: int
    expected: float


@dataclass(frozen=True, slots=True)
class Balance:
    """A cross table. ``counts`` holds cells above 0; ``rows`` and ``columns`` the margins.

    The expected count of a cell is row total × column total × total / ``weight``, the sum of such
    products over all cells that count. With ``off_diagonal`` a row cannot meet the column of the
    same name, and these cells do not count. ``whole_tasks``: the imbalance is intended. ``note``
    says what the table does not count.
    """

    name: str
    counts: Mapping[tuple[str, str], int]
    rows: Mapping[str, int]
    columns: Mapping[str, int]
    total: int
    weight: int
    off_diagonal: bool = False
    whole_tasks: bool = False
    note: str = ""

    def _counted(self, row: str, column: str) -> bool:
        return not (self.off_diagonal and row == column)

    def expected(self, row: str, column: str) -> float:
        """Return what even mixing would give; 0 where a margin is 0."""
        share = self.rows[row] * self.columns[column]
        return share * self.total / self.weight if share else 0.0

    def cells(self) -> Iterator[BalanceCell]:
        """Yield every cell that counts, empty ones too."""
        for row in self.rows:
            for column in self.columns:
                if self._counted(row, column):
                    yield self._cell(row, column)

    def summary(self, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return least and most, found and expected, and the cell furthest from what was expected.

        Of several equally far the first by name; all None where there is no cell. ``labels`` are
        names for rows and columns in the sentence.
        """
        spans: list[tuple[int, int, float, float]] = []
        worst: tuple[float, str, str] = (-1.0, "", "")
        for row, of_row in self.rows.items():
            names = [column for column in self.columns if self._counted(row, column)]
            counts = [self.counts.get((row, column), 0) for column in names]
            scale = of_row * self.total / self.weight if self.weight else 0.0
            expected = [scale * self.columns[column] for column in names]
            if not names:
                continue
            spans.append((min(counts), max(counts), min(expected), max(expected)))
            off = [abs(count - wish) for count, wish in zip(counts, expected, strict=True)]
            # Tolerance: equal distances must not be told apart by rounding.
            if max(off) > worst[0] + 1e-9:
                place = next(n for n, distance in enumerate(off) if distance > max(off) - 1e-9)
                worst = off[place], row, names[place]
        least, most, low, high = zip(*spans, strict=True) if spans else ((), (), (), ())
        worst_cell = self._cell(*worst[1:]) if spans else None
        return {
            "least": min(least, default=None),
            "most": max(most, default=None),
            "expected_least": _rounded(min(low, default=None)),
            "expected_most": _rounded(max(high, default=None)),
            "worst": worst_cell,
            "words": self._words(worst_cell, labels or {}),
        }

    def _cell(self, row: str, column: str) -> BalanceCell:
        return BalanceCell(
            row, column, self.counts.get((row, column), 0), self.expected(row, column)
        )

    def _words(self, worst: BalanceCell | None, labels: Mapping[str, str]) -> str:
        if worst is None:
            return "nothing to count"
        if abs(worst.count - worst.expected) < 1e-9:
            return "all counts match" + (f" ({self.note})" if self.note else "")
        row, column = (labels.get(name, name) or "no model" for name in (worst.row, worst.column))
        words = f"least balanced: {self._cell_words(row, column, worst.count)}"
        words += f" ({_short(worst.expected)} expected{f'; {self.note}' if self.note else ''})"
        return words + (", because whole tasks are kept together" if self.whole_tasks else "")

    def _cell_words(self, row: str, column: str, count: int) -> str:
        """Return a count as a clause, such as "Careful tracker comes first for 4 people"."""
        times = f"{count:,} time{'s' * (count != 1)}"
        items = f"{count:,} item{'s' * (count != 1)}"
        match self.name:
            case "model × position":
                people = "person" if count == 1 else "people"
                return f"{row} comes {_ordinal(int(column))} for {count:,} {people}"
            case "model × place in task":
                return f"{row} comes {_ordinal(int(column))} within a task {times}"
            case "model × predecessor":
                return f"{row} follows {column}: {times}"
            case "model × third":
                return f"{row} is in the {column} {times}"
            case "annotator × annotator":
                return f"{row} and {column} share {items}"
        return f"{row} has {items} of {column}"


def count_pairs(
    name: str,
    pairs: Iterable[tuple[str, str]],
    *,
    rows: Iterable[str] = (),
    columns: Iterable[str] = (),
    off_diagonal: bool = False,
    whole_tasks: bool = False,
    note: str = "",
) -> Balance:
    """Return the cross table of ``pairs``, with ``rows`` and ``columns`` also where nothing
    fell.
    """
    counts = Counter(pairs)
    of_rows, of_columns = Counter(dict.fromkeys(rows, 0)), Counter(dict.fromkeys(columns, 0))
    for (row, column), count in counts.items():
        of_rows[row] += count
        of_columns[column] += count
    return Balance(
        name=name,
        counts=dict(sorted(counts.items())),
        rows=dict(sorted(of_rows.items(), key=_by_number)),
        columns=dict(sorted(of_columns.items(), key=_by_number)),
        total=counts.total(),
        weight=counts.total() ** 2
        - sum(n * of_columns[row] for row, n in of_rows.items() if off_diagonal),
        off_diagonal=off_diagonal,
        whole_tasks=whole_tasks,
        note=note,
    )


def _by_number(item: tuple[str, int]) -> tuple[str, int]:
    """Sort names by the number at their end, "Annotator 2" before "Annotator 10"."""
    name = item[0]
    text = name.rstrip("0123456789")
    return text, int(name[len(text) :] or 0)


def _ordinal(number: int) -> str:
    if number == 1:
        return "first"
    ending = "th" if number % 100 in (11, 12, 13) else ORDINALS.get(number % 10, "th")
    return f"{number}{ending}"


def _short(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
