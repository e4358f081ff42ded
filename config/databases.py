"""Which database: SQLite in the data folder by default, another by ``DATABASE_URL``."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from config.env import BadVariable

# WAL and IMMEDIATE are what let several threads write without "database is locked".
# FULL, because a rating or a reply that was acknowledged must survive a power cut.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-64000; "
    "PRAGMA mmap_size=268435456; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=67108864;"
)


def sqlite_database(path: Path | str) -> dict[str, Any]:
    """Settings of the embedded database."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": SQLITE_PRAGMAS,
        },
    }


def database_from_url(url: str, *, name: str) -> dict[str, Any]:
    """Settings from ``postgresql://user:password@host:port/database``, found in ``name``."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadVariable(name, "is not a database URL") from None
    if parts.scheme not in {"postgres", "postgresql"}:
        raise BadVariable(name, "must begin with postgresql:// (leave it empty for SQLite)")
    database = unquote(parts.path.removeprefix("/"))
    if not database or "/" in database:
        raise BadVariable(name, "must end with the name of one database")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": port or "",
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }
