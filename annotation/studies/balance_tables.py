"""The tables of a balance certificate as pages show them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.designs.balance import Balance
from annotation.designs.certificate import Certificate

# More than this is not read on a page; the files hold everything.
MOST_ROWS, MOST_COLUMNS = 120, 40
WIDE = 12


@dataclass(frozen=True)
class BalanceTable:
    """One cross table of counts; ``rows`` is empty where it is too large to be shown."""

    title: str
    head: str
    words: str
    span: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int | None]]]

    @property
    def shown(self) -> bool:
        return bool(self.rows)


def balance_tables(certificate: Certificate, *, hide_models: bool) -> list[BalanceTable]:
    """The tables that say something, without those that name models where these are hidden."""
    return [
        _table(table)
        for table in certificate.tables
        if _tells(table) and not (hide_models and "model" in table.name)
    ]


def _tells(table: Balance) -> bool:
    """Whether there is anything to compare: items without models have no tables of models."""
    if not table.total:
        return False
    sides = zip(table.name.split(" × "), (table.rows, table.columns), strict=True)
    return all(set(names) - {"", "pool"} for side, names in sides if side == "model")


def _table(table: Balance) -> BalanceTable:
    down, across = list(table.rows), list(table.columns)
    first, _, second = table.name.partition(" × ")
    turned = len(across) > max(WIDE, len(down)) and not all(map(str.isdecimal, across))
    if turned:
        down, across, first, second = across, down, second, first
    fits = len(down) <= MOST_ROWS and len(across) <= MOST_COLUMNS
    summary = table.summary()
    rows = list(_rows(table, down, across, turned)) if fits else []
    return BalanceTable(
        title=f"{first} × {second}".capitalize(),
        head=first.capitalize(),
        words=str(summary["words"]),
        span=_span(summary["least"], summary["most"]),
        columns=[name or "no model" for name in across],
        rows=rows,
    )


def _rows(
    table: Balance, down: Sequence[str], across: Sequence[str], turned: bool
) -> Iterator[tuple[str, Sequence[int | None]]]:
    for row in down:
        cells: list[int | None] = []
        for column in across:
            pair = (column, row) if turned else (row, column)
            met = not (table.off_diagonal and row == column)
            cells.append(table.counts.get(pair, 0) if met else None)
        yield row or "no model", cells


def _span(least: int | None, most: int | None) -> str:
    if least is None:
        return "nothing to count"
    return f"{least:,} each" if least == most else f"{least:,} to {most:,}"
