"""What differs between the engines and is asked of both."""

from types import ModuleType

from django.db.backends.base.base import BaseDatabaseWrapper

from config.backups import postgresql, sqlite
from config.backups.errors import BackupError
from config.backups.schema import Schema

_ENGINES: dict[str, ModuleType] = {"sqlite": sqlite, "postgresql": postgresql}


def engine_of(connection: BaseDatabaseWrapper) -> ModuleType:
    """The module for a connection's engine."""
    if connection.vendor not in _ENGINES:
        raise BackupError(f"Databases of the kind {connection.vendor} cannot be backed up.")
    return _ENGINES[connection.vendor]


def describe(connection: BaseDatabaseWrapper) -> str:
    """The engine and its version."""
    version = ".".join(map(str, connection.get_database_version()))
    return f"{connection.display_name} {version}"


def last_ids(connection: BaseDatabaseWrapper, schema: Schema) -> dict[str, int]:
    """By table, the last number that was given out."""
    found: dict[str, int] = engine_of(connection).last_ids(connection, schema)
    return found
