"""The file: a ZIP with one file of JSON lines per table, and a seal over every byte.

The seal is the ZIP's comment, so that any program can open the file. It stands at the very end: a
file that was cut off has none, and one changed byte anywhere makes it wrong.
"""

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from config.backups.errors import BackupError
from config.backups.manifest import Manifest, Table, read_manifest

# The first file within a backup tells people what it is, and us that it is one.
ABOUT_MEMBER = "planjury-backup.txt"
ABOUT = b"""\
This is a backup of PlanJury. To restore it:

    manage.py restore THIS_FILE

It holds password hashes, sessions and second factors: keep it where others cannot read it.
manifest.json lists the tables; tables/*.jsonl hold one row per line, columns as in the manifest.
"""
MANIFEST_MEMBER = "manifest.json"
SEAL = b"planjury-backup sha256 "
# Level 6 takes twice the time for a tenth less.
COMPRESS_LEVEL = 3
BLOCK = 1 << 20
_HEX = 64


class ArchiveWriter:
    """Takes a backup's tables, one after the other."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESS_LEVEL, allowZip64=True
        )
        self._zip.comment = SEAL + b"0" * _HEX
        self._zip.writestr(ABOUT_MEMBER, ABOUT)

    def add(self, member: str, lines: Iterable[bytes]) -> tuple[int, str]:
        """Write the rows of one table; their number and SHA-256."""
        count, digest, block = 0, hashlib.sha256(), bytearray()
        with self._zip.open(member, "w", force_zip64=True) as out:
            for line in lines:
                count += 1
                block += line
                if len(block) >= BLOCK:
                    digest.update(block)
                    out.write(block)
                    block.clear()
            digest.update(block)
            out.write(block)
        return count, digest.hexdigest()

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest and the ZIP's directory."""
        self._zip.writestr(MANIFEST_MEMBER, manifest.to_json())
        self._zip.close()

    def abandon(self) -> None:
        """Let go of the file, which is about to be deleted."""
        with suppress(OSError, ValueError):
            self._zip.close()


@contextmanager
def new_archive(path: Path, *, force: bool) -> Iterator[ArchiveWriter]:
    """A backup that is at ``path`` when the block has ended, and leaves nothing when it fails."""
    _refuse_existing(path, force)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            writer = ArchiveWriter(file)
            try:
                yield writer
            except BaseException:
                writer.abandon()
                raise
            _seal(file)
            file.flush()
            os.fsync(file.fileno())
        _refuse_existing(path, force)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _refuse_existing(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise BackupError(f"There is a file {path} already; --force replaces it.")


def _sync_folder(folder: Path) -> None:
    # Not every file system lets a folder be opened or synced.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _seal(file: IO[bytes]) -> None:
    digest = _digest_before_seal(file)
    file.seek(-_HEX, os.SEEK_END)
    file.write(digest)


def _digest_before_seal(file: IO[bytes]) -> bytes:
    left = file.seek(0, os.SEEK_END) - _HEX
    file.seek(0)
    digest = hashlib.sha256()
    while left > 0 and (block := file.read(min(BLOCK, left))):
        digest.update(block)
        left -= len(block)
    return digest.hexdigest().encode()


class Archive:
    """A backup that was found whole."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        try:
            _check_whole(self._file, path)
            self._zip = zipfile.ZipFile(self._file)
            self.manifest = read_manifest(self._zip.read(MANIFEST_MEMBER))
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()
        self._file.close()

    def lines(self, table: Table) -> Iterator[bytes]:
        """The rows of a table as they stand in the file; see ``checked_lines``."""
        return checked_lines(self._zip, table)


def checked_lines(archive: zipfile.ZipFile, table: Table) -> Iterator[bytes]:
    """The rows of a table, and an error at their end if they do not add up."""
    count, digest = 0, hashlib.sha256()
    with archive.open(table.member) as raw:
        for line in io.BufferedReader(cast(io.RawIOBase, raw), BLOCK):
            count += 1
            digest.update(line)
            yield line
    if digest.hexdigest() != table.sha256:
        raise BackupError(f"the rows of table {table.name} do not match their checksum")
    if count != table.rows:
        raise BackupError(f"table {table.name} has {count} rows, not {table.rows}")


def _check_whole(file: IO[bytes], path: Path) -> None:
    """Refuse what is no backup, is cut off, or differs from what was written."""
    head = file.read(30 + len(ABOUT_MEMBER))
    if head[:4] != b"PK\x03\x04" or head[30:] != ABOUT_MEMBER.encode():
        raise BackupError(f"{path} is not a backup of PlanJury.")
    size = file.seek(0, os.SEEK_END)
    file.seek(-min(len(SEAL) + _HEX, size), os.SEEK_END)
    tail = file.read()
    if not tail.startswith(SEAL):
        raise BackupError(f"{path} is cut off or damaged: the end of the backup is missing.")
    if _digest_before_seal(file) != tail[len(SEAL) :]:
        raise BackupError(f"{path} is damaged: {_damage(file)}.")


def _damage(file: IO[bytes]) -> str:
    """Where a backup differs from what was written, as far as can be told."""
    place = "its list of tables cannot be read"
    try:
        with zipfile.ZipFile(file) as archive:
            for table in read_manifest(archive.read(MANIFEST_MEMBER)).tables:
                place = f"table {table.name} cannot be read"
                for _ in checked_lines(archive, table):
                    pass
    except BackupError as error:
        return str(error) if place.startswith("table") else place
    except Exception:
        # Damage can look like anything to a reader of ZIP files.
        return place
    return "a byte outside its tables has changed"
