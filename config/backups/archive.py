"""The backup file: a ZIP with a manifest and the database as its engine's own tool wrote it.

The manifest holds the digest of the database, and ZIP has a checksum of every file in it. So any
program can open a backup, and none that is damaged or cut off is restored.
"""

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from config.backups.errors import BackupError

PRODUCT = "PlanJury"
# Raise it when an older PlanJury could not read what this one writes. Format 1 held rows as JSON.
FORMAT = 2
# The first file in the ZIP: it tells people what this is, and the program that it is a backup.
ABOUT_MEMBER = "planjury-backup.txt"
ABOUT = """\
This is a backup of PlanJury. To restore it:

    manage.py restore THIS_FILE

It holds password hashes, sessions and second factors: keep it where others cannot read it.
manifest.json says which version made it, and when. The database itself is database.sqlite3 (an
SQLite file) or database.pgdump (for pg_restore).
"""
MANIFEST_MEMBER = "manifest.json"
DATABASE_MEMBERS = {"sqlite": "database.sqlite3", "postgresql": "database.pgdump"}
# Level 6 takes twice the time for a tenth less.
COMPRESS_LEVEL = 3
BLOCK = 1 << 20


@dataclass(frozen=True)
class Manifest:
    """The description of a backup; ``migrations`` are the applied ones by app."""

    version: str
    made_at: datetime
    engine: str
    engine_version: str
    migrations: Mapping[str, list[str]]
    sha256: str

    def to_json(self) -> str:
        """Return the text of the manifest's file."""
        head = {"product": PRODUCT, "format": FORMAT}
        return json.dumps(head | asdict(self), default=datetime.isoformat, indent=1)


def product_version() -> str:
    """Return the version of this PlanJury."""
    return str(settings.VERSION)


@contextmanager
def open_draft_folder(path: Path, *, force: bool) -> Iterator[Path]:
    """Yield a private folder beside ``path`` for what is put together to become it."""
    refuse_existing(path, force=force)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        yield Path(folder)


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise an error where a file is in the way."""
    if path.exists() and not force:
        raise BackupError(f"There is a file {path} already; --force replaces it.")


def digest_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_archive(draft: Path, manifest: Manifest, database: Path) -> None:
    """Write the backup to ``draft`` and see it onto the disk."""
    with draft.open("xb") as file:
        with zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESS_LEVEL
        ) as archive:
            archive.writestr(ABOUT_MEMBER, ABOUT)
            archive.writestr(MANIFEST_MEMBER, manifest.to_json())
            # pg_dump compresses by itself.
            kind = zipfile.ZIP_STORED if manifest.engine == "postgresql" else zipfile.ZIP_DEFLATED
            archive.write(database, DATABASE_MEMBERS[manifest.engine], kind)
        file.flush()
        os.fsync(file.fileno())
    draft.chmod(0o600)


def put_in_place(draft: Path, path: Path) -> None:
    """Give the finished backup its name, so that it survives a power cut."""
    os.replace(draft, path)
    # Not every file system lets a folder be opened or synced.
    with suppress(OSError):
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of a backup, or raise an error that says why this is none to restore."""
    with path.open("rb") as file:
        head = file.read(30 + len(ABOUT_MEMBER))
    if head[:4] != b"PK\x03\x04" or head[30:] != ABOUT_MEMBER.encode():
        raise BackupError(f"{path} is not a backup of {PRODUCT}.")
    with _reading(path), zipfile.ZipFile(path) as archive:
        given = json.loads(archive.read(MANIFEST_MEMBER))
        if given["format"] == FORMAT:
            return _manifest(given)
    raise BackupError(_wrong_format(given))


def _manifest(given: Mapping[str, Any]) -> Manifest:
    if given["engine"] not in DATABASE_MEMBERS:
        raise ValueError(given["engine"])
    return Manifest(
        version=str(given["version"]),
        made_at=datetime.fromisoformat(given["made_at"]),
        engine=given["engine"],
        engine_version=str(given["engine_version"]),
        migrations={str(app): list(names) for app, names in given["migrations"].items()},
        sha256=str(given["sha256"]),
    )


def _wrong_format(given: Mapping[str, Any]) -> str:
    version, number = given["version"], given["format"]
    if number == 1:
        return (
            f"The backup was made by {PRODUCT} {version} in an older format (rows as JSON), which "
            f"only the version that made it can restore. Install {PRODUCT} {version}, restore the "
            "backup there, then upgrade."
        )
    return (
        f"The backup was made by {PRODUCT} {version} in format {number}; this is {PRODUCT} "
        f"{product_version()}, which reads format {FORMAT}. Restore it with a newer {PRODUCT}."
    )


def extract_database(path: Path, manifest: Manifest, target: Path) -> None:
    """Write the database of a backup to ``target``, and raise an error if it is not as made."""
    with (
        target.open("xb") as out,
        _reading(path),
        zipfile.ZipFile(path) as archive,
        archive.open(DATABASE_MEMBERS[manifest.engine]) as stored,
    ):
        shutil.copyfileobj(stored, out, BLOCK)
    if digest_file(target) != manifest.sha256:
        raise BackupError(f"{path} is damaged: its database does not match its digest.")


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file does to its reader into one error."""
    try:
        yield
    except BackupError:
        raise
    except OSError as error:
        # A full disk, a medium that cannot be read, or a damaged file that points to nowhere.
        reason = os.strerror(error.errno) if error.errno else "it is cut off or damaged"
        raise BackupError(f"{path} cannot be unpacked: {reason}.") from None
    except Exception:
        # Damage can look like anything to a reader of ZIP files.
        raise BackupError(f"{path} is cut off or damaged.") from None
