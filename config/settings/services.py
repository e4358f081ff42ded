"""The servers that environment variables name: database, broker and cache, single sign-on."""

import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from config.settings.env import BadVariable

# WAL and IMMEDIATE are what let several threads write without "database is locked".
# FULL, because a rating or a reply that was acknowledged must survive a power cut.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-64000; "
    "PRAGMA mmap_size=268435456; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=67108864; "
    # What is erased or deleted is overwritten in the file, too.
    "PRAGMA secure_delete=ON;"
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
    """Return settings of the embedded database."""
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
    """Return settings from ``postgresql://user:password@host:port/database``, found in ``name``.

    Parameters such as ``?sslmode=require`` go to libpq; ``?host=/run/postgresql`` is a socket.
    ``?pooler=transaction`` says that the address is that of a pooler such as PgBouncer, which gives
    each transaction a connection of its own.
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
    pooled = ("pooler", "transaction") in given
    for key, value in given:
        if pooled and key == "pooler":
            continue
        if key not in POSTGRESQL_PARAMETERS:
            known = ", ".join((*POSTGRESQL_PARAMETERS, "pooler=transaction"))
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
        # A cursor of the server lives as long as its connection, here as long as the transaction.
        "DISABLE_SERVER_SIDE_CURSORS": pooled,
        "OPTIONS": options,
    }


# --- Broker and cache -----------------------------------------------------------------------------

REDIS_SCHEMES = ("redis", "rediss")
_DAY = 24 * 60 * 60
_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 5


def is_redis(url: str) -> bool:
    """Return whether the broker's address is one of Redis."""
    return url.partition(":")[0] in REDIS_SCHEMES


def checked_broker(url: str, *, name: str) -> str:
    """Return the broker's address as found in ``name``, or what is wrong with it."""
    scheme = url.partition(":")[0]
    if scheme == "fsq":
        return url
    if scheme not in REDIS_SCHEMES or "://" not in url:
        raise BadVariable(
            name, "must begin with redis:// or rediss:// (leave it empty for the embedded broker)"
        )
    if "#" in url:
        raise BadVariable(name, "holds a #; in a password write it as %23")
    try:
        parts = urlsplit(url)
        host, number = parts.hostname, parts.path.removeprefix("/")
        _ = parts.port
    except ValueError:
        raise BadVariable(name, "is not the address of a Redis") from None
    if not host:
        raise BadVariable(name, "names no host")
    if number and not (number.isascii() and number.isdigit()):
        raise BadVariable(name, "must end with the number of a database, such as /0")
    if scheme == "rediss" and "ssl_cert_reqs" not in parts.query:
        # Without it Celery refuses to start; any less than a checked certificate must be asked for.
        url += ("&" if parts.query else "?") + "ssl_cert_reqs=required"
    return url


def transport_options(url: str, *, folder: Path) -> dict[str, Any]:
    """Return the options of Celery's broker connection."""
    if not is_redis(url):
        return {"folder": str(folder)}
    return {
        # After this time Redis gives a message to a second worker, although the first may be busy
        # with it: a run takes as long as it takes. For what a dead worker held, the sweep wakes a
        # worker again within a minute, so nobody waits for this.
        "visibility_timeout": 7 * _DAY,
        # A worker looks for such messages every 10 seconds, each time (by default each tenth time).
        "unacked_restore_interval": 10,
        "unacked_restore_throttle": 1,
        # Neither a page nor a worker may wait for ever for a Redis that does not answer.
        "socket_connect_timeout": _CONNECT_SECONDS,
        "socket_timeout": _ANSWER_SECONDS,
        "socket_keepalive": True,
        "health_check_interval": 25,
        "global_keyprefix": "planjury:",
    }


def caches(url: str, *, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the caches: where limits are counted (``default``), and where finished analyses are
    kept.

    In Redis, where there is one, so that processes and machines share them; while it is away, in
    the memory of each process. It may share a Redis with other programs: every key begins with
    ``planjury:``. Without one, limits and the analyses
    that pages write (``reports``) are in the memory of the one web process, apart, so that reports
    cannot push out a counter; those that workers write (``kept``) are in the database, which both
    kinds of process see. Replies that a worker is receiving (``growing``) change several times a
    second and may be lost, so without Redis they are in files below ``folder``, on the one machine
    on which web server and worker are then. ``template_fragments``, which Django's ``cache`` tag
    uses, is in the memory of each process everywhere: a fragment is quicker made than fetched from
    elsewhere.
    """
    fragments = {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "fragments",
        "OPTIONS": {"MAX_ENTRIES": 2_000},
    }
    if not is_redis(url):
        memory = "django.core.cache.backends.locmem.LocMemCache"
        return {
            "default": {
                "BACKEND": memory,
                "LOCATION": "limits",
                # A counter is small, and one that is pushed out forgets who tried how often.
                "OPTIONS": {"MAX_ENTRIES": 50_000},
            },
            "reports": {"BACKEND": memory, "LOCATION": "reports"},
            "kept": {
                "BACKEND": "django.core.cache.backends.db.DatabaseCache",
                "LOCATION": "analysis_kept",
                "OPTIONS": {"MAX_ENTRIES": 2_000},
            },
            "growing": {
                "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
                "LOCATION": folder / "growing",
                "OPTIONS": {"MAX_ENTRIES": 2_000},
            },
            "template_fragments": fragments,
        }
    shared = {
        name: {
            "BACKEND": "config.operations.cache.RedisOrMemoryCache",
            "LOCATION": url,
            "KEY_PREFIX": prefix,
            # A page must not wait for a Redis that does not answer.
            "OPTIONS": {
                "socket_connect_timeout": _CONNECT_SECONDS,
                "socket_timeout": _ANSWER_SECONDS,
            },
        }
        for name, prefix in (
            ("default", "planjury:cache"),
            ("reports", "planjury:reports"),
            ("kept", "planjury:kept"),
            ("growing", "planjury:growing"),
        )
    }
    return {**shared, "template_fragments": fragments}


# --- Mail -----------------------------------------------------------------------------------------


def mail_settings(url: str, *, name: str) -> dict[str, Any]:
    """Return Django's settings of a mail server, from an address such as
    ``smtp://user:word@host:587``.

    ``smtp`` asks for encryption by STARTTLS, which ``?tls=off`` leaves out; ``smtps`` is encrypted
    from the beginning.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
        given = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    except ValueError:
        raise BadVariable(name, "is not the address of a mail server") from None
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname or "#" in url:
        raise BadVariable(name, "must look like smtp://user:password@host:587, # written as %23")
    if given not in ({}, {"tls": "off"}):
        raise BadVariable(name, "may end with ?tls=off and nothing else")
    direct = parts.scheme == "smtps"
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or (465 if direct else 587),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": direct,
        "EMAIL_USE_TLS": not direct and not given,
        # A page waits for it.
        "EMAIL_TIMEOUT": 15,
    }


# --- Single sign-on -------------------------------------------------------------------------------

OIDC_APP = "allauth.socialaccount.providers.openid_connect"
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class OidcServer(NamedTuple):
    """The server that three variables describe, and a name for the button. ``repr`` shows no
    secret.
    """

    url: str
    client_id: str
    name: str
    has_secret: bool
    # Domains of verified addresses whose owners get an account on first use; "*" is all.
    new_accounts: tuple[str, ...] = ()

    @property
    def given(self) -> bool:
        """Return whether anything was set."""
        return bool(self.url or self.client_id or self.has_secret)

    @property
    def complete(self) -> bool:
        """Return whether it can be used."""
        return bool(self.url and self.client_id and self.has_secret)

    @property
    def secure(self) -> bool:
        """Return whether secrets are sent to it encrypted, or stay on this machine."""
        parts = urlsplit(self.url)
        if not parts.hostname:
            return False
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)

    def makes_account(self, address: str) -> bool:
        """Return whether the owner of a verified e-mail address gets an account."""
        domain = address.rpartition("@")[2].lower()
        return bool(domain) and ("*" in self.new_accounts or domain in self.new_accounts)

    @property
    def key(self) -> str:
        """Its name in addresses and beside stored identities.

        Made of the whole address: where another server takes its place, nobody who happens to have
        the same number there comes into somebody's account.
        """
        parts = urlsplit(self.url)
        path = parts.path.partition("/.well-known/")[0]
        return re.sub(r"[^a-z0-9]+", "-", f"{parts.netloc}{path}".lower()).strip("-")


def provider_settings(server: OidcServer, *, secret: str) -> dict[str, Any]:
    """Return the server in allauth's words."""
    app = {
        "provider_id": server.key,
        "name": server.name,
        "client_id": server.client_id,
        "secret": secret,
        "settings": {"server_url": server.url},
    }
    return {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}}
