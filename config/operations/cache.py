"""The cache in Redis, without which pages go on.

While Redis does not answer, values are kept in the memory of the process: limits on sign-in go on
counting, for each process by itself, and reports are computed again.
"""

import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

from benchmarks.outages import CACHE, note_outage, note_recovery

# While Redis is away it is asked again this often, so that not every page waits for it.
RETRY_SECONDS = 5.0


class RedisOrMemoryCache(RedisCache):
    """Django's cache in Redis; each operation that fails is done in memory instead."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._memory = LocMemCache(f"instead-of-redis:{self.key_prefix}", params_of_memory(params))
        self._away_until = 0.0

    def _do(self, name: str, in_redis: Callable[[], Any], *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() >= self._away_until:
            try:
                value = in_redis()
            except RedisError as error:
                self._away_until = time.monotonic() + RETRY_SECONDS
                note_outage(CACHE, f"Redis does not answer ({error}); the cache is in memory")
            else:
                note_recovery(CACHE)
                return value
        return getattr(self._memory, name)(*args, **kwargs)


def params_of_memory(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of the cache in memory: the same, but for options of Redis."""
    return {**params, "OPTIONS": {"MAX_ENTRIES": 10_000}}


def _guarded(name: str) -> Callable[..., Any]:
    plain = getattr(RedisCache, name)

    def operation(self: RedisOrMemoryCache, *args: Any, **kwargs: Any) -> Any:
        return self._do(name, lambda: plain(self, *args, **kwargs), *args, **kwargs)

    operation.__name__ = name
    return operation


for _name in (
    "add",
    "get",
    "set",
    "touch",
    "delete",
    "get_many",
    "has_key",
    "incr",
    "set_many",
    "delete_many",
    "clear",
):
    setattr(RedisOrMemoryCache, _name, _guarded(_name))
