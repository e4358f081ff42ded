"""Workbooks from outside: rows within limits; every hostile one is refused, and soon."""

import io
import random
import struct
import zipfile
from pathlib import Path

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.core.workbooks import MOST_ROWS, check_declared, workbook_rows
from benchmarks.systems.adaplanbench.macgyver.reader import check_files
from tests.benchmarks.hostile_workbooks import HOSTILE, high_row, plain, with_sheet


def read(content: bytes, folder: Path) -> list[object]:
    path = folder / "book.xlsx"
    path.write_bytes(content)
    return list(workbook_rows(path))


def test_a_row_of_a_high_number_is_refused_before_the_gap_is_filled(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=f"at most {MOST_ROWS:,} rows, found a row of a higher"):
        read(high_row(), tmp_path)


def test_gaps_within_the_limit_are_filled(tmp_path: Path) -> None:
    rows = read(high_row(5), tmp_path)
    assert len(rows) == 5


def test_more_columns_than_the_limit_are_refused(tmp_path: Path) -> None:
    cells = "<c><v>1</v></c>" * 101
    with pytest.raises(FileRefused, match="at most 100 columns, found more in row 1"):
        read(with_sheet(f"<row>{cells}</row>"), tmp_path)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_workbook_is_refused_in_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(FileRefused) as refused:
        check_files(path)
    assert all(fault.where.startswith("book.xlsx") for fault in refused.value.problems)


def archive(*, parts: int = 1, comment: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for number in range(parts):
            file.writestr(f"part-{number}", b"")
        file.comment = comment
    return out.getvalue()


def declared(content: bytes) -> str:
    with pytest.raises(FileRefused) as refused:
        check_declared("book.xlsx", io.BytesIO(content))
    return str(refused.value)


def test_what_an_archive_declares_is_refused_before_its_list_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many, one = archive(parts=600), archive()
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert "at most 500 parts, found 600 parts" in declared(many)
    lying = bytearray(one)
    struct.pack_into("<I", lying, len(lying) - 10, 1 << 30)  # the length of the list
    assert "at most 500 parts" in declared(bytes(lying))
    larger = one[:-22] + b"PK\x06\x07" + b"\x00" * 16 + one[-22:]
    assert "an archive for more" in declared(larger)
    for content in (b"", b"PK", b"PK\x05\x06", b"x" * 100_000):
        assert "no zip archive" in declared(content)


def test_a_comment_does_not_hide_the_list() -> None:
    assert "another kind of zip archive" in declared(archive(comment=b"c" * 60_000))


@pytest.mark.parametrize("seed", range(4))
def test_bytes_that_are_changed_at_random_are_read_or_refused(seed: int, tmp_path: Path) -> None:
    rng, sound = random.Random(seed), plain()
    path = tmp_path / "book.xlsx"
    for _ in range(15):
        content = bytearray(sound)
        for _ in range(rng.choice([1, 3, 20])):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content[: rng.choice([len(content), rng.randrange(len(content))])])
        try:
            check_files(path)
        except FileRefused as refused:
            assert refused.problems
