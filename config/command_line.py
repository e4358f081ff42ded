"""Run management commands; a database or a disk that they cannot use is explained in a sentence."""

import errno
import sys
from collections.abc import Sequence

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import DatabaseError, OperationalError, ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor

NOT_SET_UP = (
    "The tables of the database are missing or of another version. Run `manage.py migrate` first; "
    "`manage.py serve` does so by itself. Nothing was changed."
)


def run_command(arguments: Sequence[str]) -> None:
    """Run the command; with ``--traceback`` every error keeps its traceback."""
    try:
        execute_from_command_line(list(arguments))
    except (DatabaseError, OSError) as error:
        if "--traceback" in arguments:
            raise
        if isinstance(error, OSError):
            words = explain_file(error)
        else:
            words = explain(error, list(arguments[1:2]))
        if words is None:
            raise
        sys.exit(words)


def explain_file(error: OSError) -> str | None:
    """Return why the data folder cannot be written and what to do; None for any other error."""
    folder = settings.DATA_DIR
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _disk_full(error.filename or folder)
    writing = error.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    if writing and error.filename and str(error.filename).startswith(str(folder)):
        return (
            f"Cannot write {error.filename}: {error.strerror}. Make it writable for this user, or "
            "name another data folder in PLANJURY_DATA_DIR."
        )
    return None


def _disk_full(path: object) -> str:
    return (
        f"The disk is full. Make room on the disk of {path}, or name another data folder in "
        "PLANJURY_DATA_DIR, and try again. What was saved is safe."
    )


def explain(error: DatabaseError, command: Sequence[str] = ()) -> str | None:
    """Return what is wrong with the database and what to do; None for a fault of the program.

    An error while tables are changed is never explained by the tables: it would hide its cause.
    """
    from benchmarks.outages import FULL, outage_behind

    if outage := outage_behind(error):
        if outage is FULL and connection.vendor == "sqlite":
            return _disk_full(settings.DATA_DIR)
        return f"{outage.reason[:1].upper()}{outage.reason[1:]}. {outage.remedy}"
    # A missing table is the first kind of error to SQLite, the second to PostgreSQL.
    if "migrate" in command or not isinstance(error, OperationalError | ProgrammingError):
        return None
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return NOT_SET_UP
    return None
