"""A table as CSV: all of its rows, in numbers that are not rounded for reading."""

from analysis.reports.content import Table
from benchmarks.tables import csv_lines


def table_csv(table: Table) -> str:
    """The rows of a table under the names of its columns' parts."""
    return "".join(csv_lines([table.header, *table.records()]))
