"""What a reader chose of a table: its columns, its digits, and its width on paper."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.text import slugify

from analysis.reports.content import Cell, Column, Datum, Table
from analysis.reports.formatting import MINUS, Unit, ends

# The widths of a column and of a page of a paper, in millimetres, by their name in an address.
WIDTHS: Mapping[str, int] = {"85": 85, "170": 170}
MOST_DIGITS = 4
# Letters of a line of a table at three quarters of the size of the text, for each millimetre, and
# of the gap between columns. Where nobody chose the columns, those that fit at that size are taken.
LETTERS_A_MM, GAP = 0.86, 2.4
# Three quarters of a text of ten points; what is smaller than the second cannot be read on paper.
FITTING_POINTS, LEGIBLE_POINTS = 7.5, 5.0
# Units whose values are shown a hundred times as large as they are stored.
_PERCENT = (" %", " pt")


@dataclass(frozen=True)
class TableChoice:
    """The columns of a table (by `column_key`; none: the first that fit), its width in millimetres,
    and the decimals of its numbers (None: those of the page). ``every``: all columns, however small
    they become.
    """

    columns: tuple[str, ...] = ()
    width: int = WIDTHS["170"]
    every: bool = False
    digits: int | None = None

    @property
    def key(self) -> str:
        """A text that differs between choices."""
        return f"{self.width} {self.digits} {' '.join(self.columns)}"


def read_choice(params: QueryDict) -> TableChoice:
    """Return the choice of an address; what it cannot mean is left out."""
    width = WIDTHS.get(params.get("width", ""), TableChoice.width)
    return TableChoice(
        tuple(params.getlist("column")[:100]), width, digits=read_digits(params.get("digits", ""))
    )


def read_digits(text: str) -> int | None:
    """Return a number of decimals, None for those of the page and for what is no such number."""
    return int(text) if text in map(str, range(MOST_DIGITS + 1)) else None


def column_key(column: Column) -> str:
    """Return the name of a column in an address."""
    return slugify(column.label) or "-".join(column.parts)


def chosen_table(table: Table, choice: TableChoice) -> Table:
    """Return the table with the chosen columns and digits; the first column names the rows and
    always stays.
    """
    wanted = [
        i
        for i, column in enumerate(table.columns)
        if not i or not choice.columns or column_key(column) in choice.columns
    ]
    chosen = with_columns(table, wanted if len(wanted) > 1 else range(len(table.columns)))
    return chosen if choice.digits is None else _with_digits(chosen, choice.digits)


def fitting(letters: Sequence[float], width: int) -> list[int]:
    """Return the places of the first columns that fit, by the letters of their widest cells; the
    second one is always among them.
    """
    room, places = width * LETTERS_A_MM, []
    for place, count in enumerate(letters):
        room -= count + GAP
        if place < 2 or room >= 0:
            places.append(place)
    return places


def with_columns(table: Table, places: Sequence[int]) -> Table:
    """Return the table with these columns alone."""
    return replace(
        table,
        columns=tuple(table.columns[i] for i in places),
        rows=tuple(tuple(row[i] for i in places) for row in table.rows),
    )


def _with_digits(table: Table, digits: int) -> Table:
    rows = tuple(tuple(_rounded_cell(cell, digits) for cell in row) for row in table.rows)
    return replace(table, rows=rows)


def _rounded_cell(cell: Cell, digits: int) -> Cell:
    """Return a cell with so many decimals, if it shows a measured number of our own.

    Counts stay whole, and published values keep the digits of their paper.
    """
    value = cell.data[0] if cell.data else None
    ending = next((unit for unit in _PERCENT if cell.text.endswith(unit)), "")
    shown = cell.text.removesuffix(ending)
    if cell.source or not isinstance(value, float) or not _shows(shown, value, bool(ending)):
        return cell
    signed, scale = shown.startswith("+"), 100 if ending else 1
    sub, estimate = cell.sub, cell.estimate
    if estimate is not None and estimate.interval is not None and cell.unit:
        known: Unit = cell.unit
        for plus in (False, True):
            before = ends(estimate.interval, known, signed=plus).removesuffix(" %")
            low, high = (
                _decimal(scale * end, digits, signed=plus)
                for end in (estimate.interval.low, estimate.interval.high)
            )
            sub = sub.replace(before, f"{low} to {high}")
    return replace(cell, text=_decimal(scale * value, digits, signed=signed) + ending, sub=sub)


def _shows(text: str, value: Datum, percent: bool) -> bool:
    """Return whether a text is this value, rounded."""
    plain = text.replace(",", "").replace(MINUS, "-")
    try:
        read = float(plain)
    except ValueError:
        return False
    decimals = len(plain.partition(".")[2])
    wanted = float(value or 0) * (100 if percent else 1)
    return "." in plain and abs(read - wanted) <= 10**-decimals


def _decimal(value: float, digits: int, *, signed: bool) -> str:
    text = f"{abs(value):.{digits}f}"
    if not any(digit in text for digit in "123456789"):
        return text
    return f"{MINUS if value < 0 else '+' if signed else ''}{text}"
