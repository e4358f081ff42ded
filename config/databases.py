"""Which database: SQLite in the data folder by default, PostgreSQL by ``DATABASE_URL``."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from config.env import BadVariable

# WAL and IMMEDIATE are what let several threads write without "database is locked".
# FULL, because a rating or a reply that was acknowledged must survive a power cut.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-64000; "
    "PRAGMA mmap_size=268435456; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=67108864;"
)
# What may stand behind the question mark of an address; libpq knows more, but those are typos as a
# rule, and libpq would name them only when somebody first opens a page.
POSTGRESQL_PARAMETERS = (
    "application_name",
    "channel_binding",
    "connect_timeout",
    "gssencmode",
    "host",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "options",
    "sslcert",
    "sslcrl",
    "sslkey",
    "sslmode",
    "sslpassword",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
)
CONNECT_SECONDS = 10


def sqlite_database(path: Path | str) -> dict[str, Any]:
    """Settings of the embedded database."""
    return {
        "ENGINE": "config.sqlite",  # Django's own, with a queue for those who write
        "NAME": path,
        # Opening it anew for each request would cost more CPU than most requests do; a thread that
        # has nothing to do keeps no lock and sees what others wrote, a restored backup included.
        "CONN_MAX_AGE": 60,
        "OPTIONS": {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            "init_command": SQLITE_PRAGMAS,
        },
    }


def database_from_url(url: str, *, name: str) -> dict[str, Any]:
    """Settings from ``postgresql://user:password@host:port/database``, found in ``name``.

    Parameters such as ``?sslmode=require`` go to libpq; ``?host=/run/postgresql`` is a socket.
    """
    if "#" in url:
        raise BadVariable(name, "holds a #; in a password write it as %23")
    try:
        parts = urlsplit(url)
        port = parts.port
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        raise BadVariable(name, "is not a database URL") from None
    if parts.scheme not in {"postgres", "postgresql"}:
        raise BadVariable(name, "must begin with postgresql:// (leave it empty for SQLite)")
    database = unquote(parts.path.removeprefix("/"))
    if not database or "/" in database:
        raise BadVariable(name, "must end with the name of one database")
    options: dict[str, Any] = {"connect_timeout": CONNECT_SECONDS}
    for key, value in given:
        if key not in POSTGRESQL_PARAMETERS:
            known = ", ".join(POSTGRESQL_PARAMETERS)
            raise BadVariable(name, f"has the unknown parameter {key}; known are {known}")
        options[key] = value
    host = options.pop("host", "") or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": port or "",
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }
