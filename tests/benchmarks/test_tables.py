"""Cells of CSV files: spreadsheets run none of them, and numbers stay numbers."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.reports.content import Cell, Column, Table
from annotation.exports.writing import csv_row_writer
from benchmarks.tables import cell, csv_lines

FORMULAS = [
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", " \n\t-2+3", "\u00a0=1",
    "\ufeff=1", "\u200b=1", "\x00=1", "\x0b@x", "＝1+1", "-", "+", "-0.5.1", "-1e", "- 1",
    "-0x1F", "--1",
]  # fmt: skip
TEXTS = ["", "a = b", "x-1", "1-2", "user@example.org", "'=1", "-0.5", "+3", "-1e-9", "-.5", "-12."]


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_would_run_becomes_plain_text(text: str) -> None:
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("text", TEXTS)
def test_other_texts_and_numbers_stay_as_they_are(text: str) -> None:
    assert cell(text) == text


@pytest.mark.parametrize("number", [-0.5, -3, 0, 1e300])
def test_numbers_stay_numbers(number: float) -> None:
    assert next(csv_lines([[number, f"{number}"]])) == f"{number},{number}\r\n"


@given(
    st.text(alphabet=st.sampled_from("=+-@ \t\r\n\x0b\u00a0\ufeff\u200b0.5eE'\"a＝"), max_size=6)
)
def test_no_cell_is_a_formula_however_it_begins(text: str) -> None:
    (row,) = csv.reader(io.StringIO(next(csv_lines([[text, "end"]])), newline=""))
    shown = row[0].strip(" \t\r\n\x0b\x00\u00a0\ufeff\u200b")
    try:
        float(shown)
    except ValueError:
        assert shown[:1] not in set("=+-@＝")
    assert row[0].removeprefix("'") == text.removeprefix("'")


@pytest.mark.parametrize("text", ["=1+1", "\n=1+1", "  @A1", "-0.5"])
def test_every_exporter_escapes_alike(text: str) -> None:
    expected = next(csv_lines([[text]])).removesuffix("\r\n")
    table = Table("t", "T", (Column("Name", ("name",)),), ((Cell(text, data=(text,)),),))
    assert table.csv().removesuffix("\r\n").endswith(expected)
    assert csv_row_writer().write({"name": text}) == expected
