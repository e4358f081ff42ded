"""Uploading tables of ratings: checked as a whole, stored, identified by their content."""

import gzip
import io
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from hashlib import sha256
from math import comb
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.core.files import File
from django.db import transaction

from analysis.agreement.inputs import GZIP, MOST_RATERS, AgreementSettings
from analysis.models import RatingTable
from benchmarks.core.problems import Problems, Unquoted, text_fault
from benchmarks.imports.uploads import UploadTooLarge, safe_name

if TYPE_CHECKING:
    from analysis.agreement.csv_table import TidyTable

CHUNK = 1 << 20
LONGEST_NAME = 120
MOST_RATINGS = 1_000_000
MOST_SECTIONS = 200
# What a file may come to when it is unpacked: a bound for the memory of the web process.
MOST_UNPACKED = 256 << 20
LONGEST_LINE = 64 << 10
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)
# Of gzip: the hardest work makes these files a tenth smaller and takes several times as long.
PACKING = 6
# A file is checked while its sender waits if it has no more than this when it is unpacked.
QUICK_BYTES = 2 << 20
# And if its table, which has a cell for each pair of an item and a rater, is no larger than this.
QUICK_CELLS = 2_000_000
# A report is made while its reader waits if it has few comparisons, on few ratings.
FEW_RATINGS, FEW_COMPARISONS = 3_000, 20


def too_large() -> str:
    """Return the advice for a file above the size limit."""
    return (
        f"The file is larger than {django_settings.TABLE_BYTES >> 20} MB. Gzip it, or compute the "
        "same on the server: manage.py agreement FILE."
    )


def check_table_size(upload: "File[bytes]") -> None:
    """Refuse a file above ``PLANJURY_TABLE_MB``."""
    if (upload.size or 0) > django_settings.TABLE_BYTES:
        raise UploadTooLarge(too_large())


def is_small(upload: "File[bytes]") -> bool:
    """Return whether a file is checked and packed in some tenths of a second, so that its sender
    may wait.

    A damaged one is small: its faults are soon found. Whether it has too many items and
    raters only its check finds out: give ``QUICK_CELLS`` to `store_table`.
    """
    if (upload.size or 0) > QUICK_BYTES:
        return False
    try:
        return len(_stream(upload).read(QUICK_BYTES + 1)) <= QUICK_BYTES
    except DAMAGED:
        return True


# Receives how far the check of a table is: in words, lines read, and all lines.
ProgressReport = Callable[[str, int, int], None]
READING, STORING = "Reading", "All lines are right; storing"


def store_table(
    *,
    upload: "File[bytes]",
    name: str,
    settings: AgreementSettings,
    created_by: User,
    report_progress: ProgressReport = lambda words, done, total: None,
    most_cells: int | None = None,
) -> tuple[RatingTable, bool]:
    """Check a table and keep it; the first one, and False, where this person has it already.

    The same means: the same content, packed or not, with the same settings. Raises ``FileRefused``
    with line and column of the first faults, and ``UploadTooLarge``; then nothing is stored.
    ``TooWide`` refuses more cells than ``most_cells``, which may be larger elsewhere.
    """
    check_table_size(upload)
    content, lines = _unpacked(upload)
    checksum = sha256(content).hexdigest()
    given = as_stored(settings)
    file = safe_name(upload.name or "")
    if known := _known(created_by, checksum, given):
        return known, False
    table = _checked(
        content, settings, lambda done: report_progress(READING, done, lines), most_cells
    )
    report_progress(STORING, lines, lines)
    packed = gzip.compress(content, PACKING, mtime=0)
    with transaction.atomic():
        # One at a time: a form that is sent twice must not store two.
        User.objects.select_for_update().get(pk=created_by.pk)
        if known := _known(created_by, checksum, given):
            return known, False
        row = RatingTable.objects.create(
            name=name or file,
            file=file,
            checksum=checksum,
            rows=table.rows,
            settings=given,
            content=packed,
            created_by=created_by,
        )
    return row, True


def _known(person: User, checksum: str, given: dict[str, object]) -> RatingTable | None:
    rows = RatingTable.objects.filter(created_by=person, checksum=checksum)
    same = (row for row in rows.defer("content").order_by("pk") if row.settings == given)
    return next(same, None)


def as_stored(settings: AgreementSettings) -> dict[str, object]:
    """Return the settings as JSON has them."""
    return asdict(settings) | {"scale": list(settings.scale)}


def settings_from(stored: Mapping[str, Any]) -> AgreementSettings:
    """Return the settings from what `as_stored` wrote."""
    low, high = stored["scale"]
    return AgreementSettings(**{**stored, "scale": (low, high)})


def settings_of(row: RatingTable) -> AgreementSettings:
    return settings_from(row.settings)


def read_table(row: RatingTable) -> "TidyTable":
    """Return the table again, as it was checked."""
    packed = io.BytesIO(bytes(row.content))
    return _read(packed, settings_of(row).scale)


def rename_table(*, table: RatingTable, name: str) -> None:
    """Call it otherwise; raises ValueError for what is no name."""
    if fault := text_fault(name, LONGEST_NAME):
        raise ValueError(f"Expected {fault}.")
    table.name = name
    table.save(update_fields=["name"])


def share_table(*, table: RatingTable, shared: bool) -> None:
    """Show it to everybody who may see results, or to its owner alone again."""
    table.shared = shared
    table.save(update_fields=["shared"])


def delete_table(*, table: RatingTable) -> None:
    """Delete the table and its content for good."""
    table.delete()


def is_quick(row: RatingTable) -> bool:
    """Return whether a report on it takes about a second, so that its reader may wait."""
    return row.rows <= FEW_RATINGS and _comparisons(read_table(row)) <= FEW_COMPARISONS


def _comparisons(table: "TidyTable") -> int:
    """Return how many pairs of raters, and judges against people, a report computes."""
    total = 0
    for section in table.sections:
        kinds = Counter(section.kinds)
        total += sum(comb(n, 2) for n in kinds.values() if n <= MOST_RATERS)
        total += 2 * kinds["llm"]
    return total


def _read(
    file: BinaryIO,
    scale: tuple[int, int],
    report_line: Callable[[int], None] | None = None,
    most_cells: int | None = None,
) -> "TidyTable":
    from analysis.agreement.csv_table import (
        read_tidy,  # brings numpy, which the start does without
    )

    return read_tidy(file, scale=scale, report_line=report_line, most_cells=most_cells)


def _checked(
    content: bytes,
    settings: AgreementSettings,
    report_line: Callable[[int], None],
    most_cells: int | None,
) -> "TidyTable":
    table = _read(io.BytesIO(content), settings.scale, report_line, most_cells)
    if len(table.sections) > MOST_SECTIONS:
        problems = Problems()
        expected = f"at most {MOST_SECTIONS} pairs of a dataset and a criterion"
        problems.add(
            "columns dataset and criterion", expected, Unquoted(f"{len(table.sections):,}")
        )
        problems.check()
    return table


def _stream(upload: "File[bytes]") -> BinaryIO:
    """Return the file from its beginning, unpacked if it is packed."""
    upload.seek(0)
    start = upload.read(len(GZIP))
    upload.seek(0)
    file = cast(BinaryIO, upload)
    return cast(BinaryIO, gzip.GzipFile(fileobj=file)) if start == GZIP else file


def _unpacked(upload: "File[bytes]") -> tuple[bytes, int]:
    """Return the content and its number of lines, unpacked piece by piece so that a small file
    cannot grow without end.
    """
    stream = _stream(upload)
    pieces: list[bytes] = []
    size = lines = since = 0
    try:
        while piece := stream.read(CHUNK):
            size += len(piece)
            lines += piece.count(b"\n")
            last = piece.rfind(b"\n")
            since = since + len(piece) if last < 0 else len(piece) - last - 1
            _bounded(size, lines, since)
            pieces.append(piece)
    except DAMAGED:
        upload.seek(0)
        _read(
            cast(BinaryIO, upload), AgreementSettings().scale
        )  # refuses it, and says after which line it is damaged
        raise
    return b"".join(pieces), lines


def _bounded(size: int, lines: int, since: int) -> None:
    problems = Problems()
    if lines > MOST_RATINGS + 1:
        more = Unquoted(f"more than {MOST_RATINGS:,}")
        problems.add(f"line {MOST_RATINGS + 2}", f"at most {MOST_RATINGS:,} ratings", more)
    elif size > MOST_UNPACKED:
        most = f"at most {MOST_UNPACKED >> 20} MB when it is unpacked"
        problems.add(f"line {lines}", most, Unquoted("more"))
    elif since > LONGEST_LINE + CHUNK:
        most = f"lines of at most {LONGEST_LINE >> 10} KB"
        problems.add(f"line {lines + 1}", most, Unquoted("a longer one"))
    problems.check()
