"""Check a backup by restoring it, or a random part of it, into a database that is thrown away."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DEFAULT_DB_ALIAS, load_backend

from config.backups import postgresql, sqlite
from config.backups.archive import Manifest, extract_database, read_manifest
from config.backups.errors import BackupError
from config.backups.postgresql import SampledTable
from config.backups.restore import count_data
from config.upgrades import is_behind


@dataclass(frozen=True)
class CheckedBackup:
    """A backup that was restored, and how many rows of what it holds.

    ``sample`` has the rows of each table where only a part was restored, drawn with ``seed``.
    """

    path: Path
    manifest: Manifest
    counts: dict[str, int] = field(default_factory=dict)
    sample: dict[str, SampledTable] = field(default_factory=dict)
    seed: int = 0


def newest_backup(folder: Path) -> Path:
    """Return the newest backup that ``manage.py backup FOLDER`` made."""
    # Their names are their times.
    backups = sorted(folder.glob("planjury-*.zip"))
    if not backups:
        raise BackupError(f"There is no backup in {folder}.")
    return backups[-1]


def check_backup(path: Path, *, part: float = 1.0, seed: int = 0) -> CheckedBackup:
    """Restore a backup aside, bring it up to date, and count its rows.

    With ``part`` below 1, a backup of PostgreSQL is read whole, and this part of its rows is
    restored. One of SQLite is a database already, and is always checked whole.
    """
    manifest = read_manifest(path)
    with tempfile.TemporaryDirectory(prefix="checking-", dir=settings.DATA_DIR) as folder:
        database = Path(folder) / "database"
        extract_database(path, manifest, database)
        if manifest.engine == "sqlite":
            sqlite.check_database(database)
            with sqlite.open_aside(database) as aside:
                return CheckedBackup(path, manifest, _bring_up_to_date(aside))
        with _scratch_database() as aside:
            if part < 1.0:
                with transaction.atomic():
                    sample = postgresql.restore_sample(aside, database, part=part, seed=seed)
                return CheckedBackup(path, manifest, sample=sample, seed=seed)
            with transaction.atomic():
                postgresql.restore_dump(aside, database)
            return CheckedBackup(path, manifest, _bring_up_to_date(aside))


def _bring_up_to_date(aside: BaseDatabaseWrapper) -> dict[str, int]:
    if is_behind(aside):
        call_command("migrate", interactive=False, verbosity=0)
    return count_data(aside)


@contextmanager
def _scratch_database() -> Iterator[BaseDatabaseWrapper]:
    """Make an empty database beside the live one, which is the default one within the block."""
    live = connections[DEFAULT_DB_ALIAS]
    if live.vendor != "postgresql":
        raise BackupError("The backup was made on PostgreSQL; check it where DATABASE_URL is one.")
    postgresql.refuse_pooler(live)
    name = f"{live.settings_dict['NAME']}_check_{secrets.token_hex(4)}"
    quoted = live.ops.quote_name(name)
    with live.cursor() as cursor:
        cursor.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
        if cursor.fetchone() != (True,):
            raise BackupError(
                "The backup cannot be checked: its user of PostgreSQL may not create databases. "
                "Allow it (ALTER ROLE … CREATEDB), or check the backup on another server."
            )
        cursor.execute(f"CREATE DATABASE {quoted} TEMPLATE template0")
    backend = load_backend(live.settings_dict["ENGINE"])
    aside = backend.DatabaseWrapper({**live.settings_dict, "NAME": name}, DEFAULT_DB_ALIAS)
    connections[DEFAULT_DB_ALIAS] = aside
    try:
        yield aside
    finally:
        aside.close()
        connections[DEFAULT_DB_ALIAS] = live
        with live.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {quoted} WITH (FORCE)")
