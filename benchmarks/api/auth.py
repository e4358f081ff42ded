"""Authentication of the API: a bearer token has the permissions of its user, and no more.

Requests are counted by user and minute. The limit, what is left and the seconds until it is whole
again are headers of every answer (`benchmarks.api.errors.ErrorShape`).
"""

from time import time
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest
from ninja.security import HttpBearer

from benchmarks.api.errors import ApiError
from benchmarks.api.requests import KnownFields, refuse_unknown
from benchmarks.api.tokens import find_token, note_use
from benchmarks.models import ApiToken

SAFE = ("GET", "HEAD")
WINDOW_SECONDS = 60


class Token(HttpBearer):
    """``Authorization: Bearer pj_…``. Sessions of the browser are not accepted here.

    The description of the API names the scheme after this class, so its name stays.
    """

    def __init__(self, fields: KnownFields) -> None:
        super().__init__()
        self.fields = fields

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        known = find_token(token)
        if known is None:
            _count_wrong(request)
            return None
        note_use(known)
        request.user = known.user
        _count_request(request, known.user)
        if known.read_only and request.method not in SAFE:
            raise ApiError(403, "This token may only read.", code="read_only")
        refuse_unknown(request, self.fields)
        return known


class RateLimit(NamedTuple):
    """Requests that a user may send in a minute, those left of this minute, seconds to its end."""

    limit: int
    left: int
    seconds: int


def _count_request(request: HttpRequest, user: User) -> None:
    """Count a request of a user, with whatever token; refuse it beyond the limit of a minute."""
    now = int(time())
    count = _count(f"api-requests:{user.pk}:{now // WINDOW_SECONDS}")
    limit = settings.API_REQUESTS_PER_MINUTE
    rate = RateLimit(limit, max(0, limit - count), WINDOW_SECONDS - now % WINDOW_SECONDS)
    request.rate_limit = rate  # type: ignore[attr-defined]
    if count > limit:
        raise ApiError(
            429, f"More than {limit:,} requests in a minute. Try again in {rate.seconds} seconds."
        )


def _count(key: str) -> int:
    """Return how often this key was counted, with this time."""
    cache.add(key, 0, WINDOW_SECONDS)
    try:
        return int(cache.incr(key))
    except ValueError:  # it ran out between the two calls
        return 1


def _count_wrong(request: HttpRequest) -> None:
    """Limit requests with wrong tokens from one address.

    Valid tokens do not count here, so that nobody can lock out others behind the same address.
    """
    if _count(f"api-wrong-token:{request.META.get('REMOTE_ADDR', '')}") > settings.API_WRONG_TOKENS:
        raise ApiError(429, "Too many requests with a wrong token. Try again in a minute.")


def user_of(request: HttpRequest) -> User:
    """Return the user of the token."""
    assert isinstance(request.user, User)
    return request.user
