"""A table as CSV: all of its rows, in numbers that are not rounded for reading."""

import csv
import io
from collections.abc import Iterable

from analysis.reports.parts import Datum, Table


def table_csv(table: Table) -> str:
    """The rows of a table under the names of its columns' parts."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.header)
    writer.writerows(_plain(row) for row in table.records())
    return text.getvalue()


def _plain(row: Iterable[Datum]) -> list[Datum]:
    """Cells that a spreadsheet will not take for formulas."""
    return [
        f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" and cell else cell
        for cell in row
    ]
