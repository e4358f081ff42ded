"""Compare the counts of a cross table with those of an even distribution."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


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
    same name, and these cells do not count. ``note`` says what of the imbalance is intended.
    """

    name: str
    counts: Mapping[tuple[str, str], int]
    rows: Mapping[str, int]
    columns: Mapping[str, int]
    total: int
    weight: int
    off_diagonal: bool = False
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

    def summary(self) -> dict[str, Any]:
        """Return least and most, found and expected, and the cell furthest from what was expected.

        Of several equally far the first by name; all None where there is no cell.
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
        found = self._cell(*worst[1:]) if spans else None
        return {
            "least": min(least, default=None),
            "most": max(most, default=None),
            "expected_least": _rounded(min(low, default=None)),
            "expected_most": _rounded(max(high, default=None)),
            "worst": found,
            "words": self._words(found),
        }

    def _cell(self, row: str, column: str) -> BalanceCell:
        return BalanceCell(
            row, column, self.counts.get((row, column), 0), self.expected(row, column)
        )

    def _words(self, worst: BalanceCell | None) -> str:
        if worst is None:
            words = "nothing to count"
        elif abs(worst.count - worst.expected) < 1e-9:
            words = "every count is as expected"
        else:
            across = self.name.partition(" × ")[2]
            where = (
                f"at {across} {worst.column}"
                if worst.column.isdecimal()
                else (f"with {worst.column or 'no model'}")
            )
            words = (
                f"largest imbalance: {worst.row or 'no model'} {where}, "
                f"{worst.count:,} ({_short(worst.expected)} expected)"
            )
        return words + (f" ({self.note})" if self.note else "")


def count_pairs(
    name: str,
    pairs: Iterable[tuple[str, str]],
    *,
    rows: Iterable[str] = (),
    columns: Iterable[str] = (),
    off_diagonal: bool = False,
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
        note=note,
    )


def _by_number(item: tuple[str, int]) -> tuple[str, int]:
    """Sort names by the number at their end, "Annotator 2" before "Annotator 10"."""
    name = item[0]
    text = name.rstrip("0123456789")
    return text, int(name[len(text) :] or 0)


def _short(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
