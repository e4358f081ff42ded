"""Workbooks (.xlsx) from outside: rows as values, within limits.

A workbook is a zip archive of XML. What it claims to unpack to is checked before anything is
unpacked, and rows and columns are bounded before they are gone through: a row may be numbered as
its file likes. Entities in XML are refused (defusedxml, which openpyxl uses where it is installed).
"""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NoReturn
from xml.etree.ElementTree import ParseError

from benchmarks.core.problems import FileRefused, Problem

LARGEST = 32 << 20
MOST_UNPACKED = 96 << 20
MOST_RATIO = 200
MOST_PARTS = 500
MOST_ROWS = 20_000
MOST_COLUMNS = 100
_UNREADABLE = (
    zipfile.BadZipFile, zlib.error, ParseError, KeyError, ValueError, struct.error,
    TypeError, IndexError, AttributeError, EOFError, NotImplementedError, OSError, RecursionError,
)  # fmt: skip
# The end of an archive says how many parts there are and how long their list is.
_END, _END64 = b"PK\x05\x06", b"PK\x06\x07"
_LONGEST_END = 22 + (1 << 16)
_LONGEST_LIST = 1 << 20


def check_declared(name: str, file: BinaryIO) -> None:
    """Refuse what is no workbook, or claims to unpack to more than a sound one can hold.

    Reads the list of parts alone, which is bounded too, so that a request may call it.
    """

    def refuse(expected: str, found: str) -> NoReturn:
        raise FileRefused([Problem(name, expected, found)])

    file.seek(0, os.SEEK_END)
    size = file.tell()
    if size > LARGEST:
        refuse(f"a workbook of at most {LARGEST >> 20} MB", f"{size >> 20} MB")
    file.seek(max(0, size - _LONGEST_END))
    end = file.read()
    place = end.rfind(_END)
    if place < 0 or len(end) < place + 22:
        refuse("an xlsx workbook", "a file that is no zip archive")
    if end[max(0, place - 20) : place].startswith(_END64):
        refuse(f"a workbook of at most {MOST_PARTS} parts", "an archive for more")
    count, length = struct.unpack("<HI", end[place + 10 : place + 16])
    if count > MOST_PARTS or length > _LONGEST_LIST:
        refuse(f"a workbook of at most {MOST_PARTS} parts", f"{count:,} parts")
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            parts = archive.infolist()
    except _UNREADABLE:
        refuse("an xlsx workbook", "a file that is no zip archive")
    unpacked = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    if len(parts) > MOST_PARTS:
        refuse(f"a workbook of at most {MOST_PARTS} parts", f"{len(parts):,} parts")
    if any(part.flag_bits & 1 for part in parts):
        refuse("a workbook without a password", "an encrypted one")
    if unpacked > MOST_UNPACKED:
        refuse(f"a workbook of at most {MOST_UNPACKED >> 20} MB unpacked", f"{unpacked >> 20} MB")
    if unpacked > MOST_RATIO * max(packed, 4096):
        refuse(f"contents packed at most {MOST_RATIO} to 1", f"{unpacked // max(packed, 1)} to 1")
    if "[Content_Types].xml" not in {part.filename for part in parts}:
        refuse("an xlsx workbook", "another kind of zip archive")
    file.seek(0)


def workbook_rows(path: Path) -> Iterator[Sequence[Any]]:
    """Yield the rows of the first sheet as values. Whatever is no readable workbook is refused."""
    # Here, because it brings numpy, which no page needs to start.
    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        # Opened here, because openpyxl leaves a file open that it fails to read.
        opened = path.open("rb")
    except OSError as error:
        _refuse(path, "a file to read", error.strerror or "none")
    try:
        with opened as file:
            check_declared(path.name, file)
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            # With a last row and column no gap is filled beyond them.
            rows = sheet.iter_rows(
                max_row=MOST_ROWS + 1, max_col=MOST_COLUMNS + 1, values_only=True
            )
            for number, row in enumerate(rows, 1):
                if number > MOST_ROWS:
                    _refuse(path, f"at most {MOST_ROWS:,} rows", "a row of a higher number")
                if len(row) > MOST_COLUMNS and row[MOST_COLUMNS] is not None:
                    where = f"at most {MOST_COLUMNS} columns"
                    _refuse(path, where, f"more in row {number}")
                yield row
    except (*_UNREADABLE, InvalidFileException) as error:
        cause = error.__cause__ or error
        text = str(cause).replace(str(path), path.name).splitlines() or [""]
        _refuse(path, "a readable xlsx workbook", f"{type(cause).__name__}: {text[0][:100]}")


def _refuse(path: Path, expected: str, found: str) -> NoReturn:
    raise FileRefused([Problem(path.name, expected, found)]) from None
