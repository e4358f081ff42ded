"""Workbooks made to hurt whoever reads them; each is small as a file."""

import io
import zipfile

from openpyxl import Workbook

from benchmarks.systems.adaplanbench.macgyver.reader import COLUMNS

SHEET = "xl/worksheets/sheet1.xml"
_HEAD = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
_TAIL = "</sheetData></worksheet>"


def plain() -> bytes:
    """A sound workbook of one problem."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(COLUMNS))
    sheet.append([1, "A kite hangs in a tree.", "Yes", "No", "Step1: Fetch a rake.", "x"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def with_part(name: str, content: str) -> bytes:
    """The sound workbook with another content of one of its parts."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(plain())) as before,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after,
    ):
        for part in before.namelist():
            after.writestr(part, content.encode() if part == name else before.read(part))
    return out.getvalue()


def with_sheet(rows: str) -> bytes:
    """The sound workbook with other rows in its sheet."""
    return with_part(SHEET, f"{_HEAD}{rows}{_TAIL}")


def header() -> str:
    """The first row as XML."""
    cells = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in COLUMNS)
    return f'<row r="1">{cells}</row>'


def high_row(number: object = 99_999_999_999) -> bytes:
    """One row is numbered as no workbook's is, so that a reader fills the gap before it."""
    return with_sheet(f'{header()}<row r="{number}"><c r="A2"><v>1</v></c></row>')


HOSTILE: dict[str, bytes] = {
    "a row of a high number": high_row(),
    "a row beyond any number": high_row("9" * 5000),
    "a row below zero": high_row(-99_999_999_999),
    "a row that is no number": high_row("nan"),
    "a row without end": high_row("1e300"),
    "a column of a high number": with_sheet(f'{header()}<row r="2"><c r="ZZZ2"><v>1</v></c></row>'),
    "a cell without a place": with_sheet(f'{header()}<row r="2"><c r="!"><v>1</v></c></row>'),
    "a text that is not there": with_sheet(
        f'{header()}<row r="2"><c t="s"><v>99999999</v></c></row>'
    ),
    "a date out of range": with_sheet(
        f'{header()}<row r="2"><c t="d"><v>99999-99-99</v></c></row>'
    ),
    "a number out of range": with_sheet(f'{header()}<row r="2"><c><v>1e999</v></c></row>'),
    "no number": with_sheet(f'{header()}<row r="2"><c><v>nan</v></c></row>'),
    "digits by the hundred thousand": with_sheet(
        f'{header()}<row r="2"><c><v>{"9" * 100_000}</v></c></row>'
    ),
    "deep": with_sheet("<row>" * 3_000 + "</row>" * 3_000),
    "rows without end": with_sheet(header() + "<row/>" * 30_000),
    "no sheet": with_part("xl/workbook.xml", "<workbook/>"),
    "no relations": with_part("xl/_rels/workbook.xml.rels", "<Relationships/>"),
    "broken XML": with_part(SHEET, "<worksheet"),
    "no XML": with_part(SHEET, "\x00"),
}
