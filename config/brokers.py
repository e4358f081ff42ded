"""Which broker and which cache: both embedded by default, both in Redis by ``PLANJURY_BROKER_URL``.

A message is only a doorbell: Job and Trajectory rows are the truth, and the sweep rings again.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from config.env import BadVariable

REDIS_SCHEMES = ("redis", "rediss")
_DAY = 24 * 60 * 60
_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 5


def is_redis(url: str) -> bool:
    """Whether the broker's address is one of Redis."""
    return url.partition(":")[0] in REDIS_SCHEMES


def checked_broker(url: str, *, name: str) -> str:
    """The broker's address as found in ``name``, or what is wrong with it."""
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
    """What Celery is to know about its broker."""
    if not is_redis(url):
        return {"folder": str(folder)}
    return {
        # After this time Redis gives a message to a second worker, although the first may be busy
        # with it: a run takes as long as it takes. What a dead worker held is rung for anew by the
        # sweep, within a minute, so nobody waits for this.
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


def caches(url: str) -> dict[str, dict[str, Any]]:
    """Where limits are counted (``default``), and where finished analyses are kept.

    In Redis, where there is one, so that processes and machines share them. It may share a Redis
    with other programs: every key begins with ``planjury:``. Without one, limits and the analyses
    that pages write (``reports``) are in the memory of the one web process, apart, so that reports
    cannot push out a counter; those that workers write (``kept``) are in the database, which both
    kinds of process see.
    """
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
        }
    return {
        name: {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
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
        )
    }
