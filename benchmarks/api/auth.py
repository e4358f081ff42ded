"""Authentication of the API: a bearer token has the permissions of its user, and no more."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest
from ninja.security import HttpBearer

from benchmarks.api.errors import ApiError
from benchmarks.api.requests import refuse_unknown
from benchmarks.api.tokens import find_token, note_use
from benchmarks.models import ApiToken

SAFE = ("GET", "HEAD")
WINDOW_SECONDS = 60


class Token(HttpBearer):
    """``Authorization: Bearer pj_…``. Sessions of the browser are not accepted here.

    The description of the API names the scheme after this class, so its name stays.
    """

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        found = find_token(token)
        if found is None:
            _count_wrong(request)
            return None
        note_use(found)
        request.user = found.user
        if found.read_only and request.method not in SAFE:
            raise ApiError(403, "This token may only read.", code="read_only")
        refuse_unknown(request)
        return found


def _count_wrong(request: HttpRequest) -> None:
    """Limit requests with wrong tokens from one address.

    Valid tokens are never limited, so that nobody can lock out others behind the same address.
    """
    key = f"api-wrong-token:{request.META.get('REMOTE_ADDR', '')}"
    cache.add(key, 0, WINDOW_SECONDS)
    try:
        wrong = cache.incr(key)
    except ValueError:  # it ran out between the two calls
        return
    if wrong > settings.API_WRONG_TOKENS:
        raise ApiError(429, "Too many requests with a wrong token. Try again in a minute.")


def user_of(request: HttpRequest) -> User:
    """Return the user of the token."""
    assert isinstance(request.user, User)
    return request.user
