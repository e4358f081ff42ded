"""Keeps the data folder and the database readable by their owner alone."""

import os
import stat
from contextlib import suppress
from pathlib import Path

FOLDER_MODE = 0o700
FILE_MODE = 0o600
# Of a folder that others may pass through by name, but not list.
PASSAGE_MODE = 0o711
# What `make services` makes in the data folder: its servers run as users of their own under root.
SERVICES = "services"
# Files that SQLite keeps beside a database.
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")


def make_data_private(folder: Path, database: Path | None = None) -> None:
    """Make the data folder, and close it and what lies in it to everybody but its owner.

    Installations of earlier versions left it readable, so this is repeated at each start.
    ``database`` is a SQLite file, which may lie elsewhere. What belongs to another user, or lies on
    a file system without rights, stays as it is.
    """
    with suppress(OSError):  # a system check says so in words
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        services = folder / SERVICES
        passage = os.geteuid() == 0 and services.is_dir()
        _restrict(folder.resolve(), PASSAGE_MODE if passage else FOLDER_MODE)
        for path in folder.iterdir():
            _restrict(path, PASSAGE_MODE if passage and path == services else FOLDER_MODE)
    if database is not None:
        for suffix in SQLITE_SUFFIXES:
            _restrict(database.with_name(database.name + suffix))


def create_private(path: Path) -> None:
    """Make an empty file that only its owner may read, unless there is a file already."""
    with suppress(OSError):  # whoever opens it then says why it cannot be made
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))


def _restrict(path: Path, most: int = FOLDER_MODE) -> None:
    """Take rights beyond ``most`` from others; the target of a link may be anybody's."""
    with suppress(OSError):
        status = path.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if mode & ~most and (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
            path.chmod(mode & most)
