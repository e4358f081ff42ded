"""Tokens of the HTTP API: made, found by what a request brings, and revoked."""

import hashlib
import re
import secrets
from datetime import datetime, timedelta
from hmac import compare_digest

from django.contrib.auth.models import User
from django.utils import timezone

from benchmarks.api.token_selectors import is_live, live_tokens
from benchmarks.core.errors import CoreError
from benchmarks.models import ApiToken

MARK = "pj_"
SHOWN = 8
MOST_LIVE = 50
# A token that is used all the time need not be written at each request.
USE_IS_NOTED_EVERY = timedelta(minutes=1)
_FORM = re.compile(MARK + r"[A-Za-z0-9_-]{43}")


class TokenRefused(CoreError):
    """A token that cannot be made; the text says why."""


def create_token(
    *, user: User, name: str, read_only: bool = False, expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """A new token with its secret, which is told this once and stored nowhere."""
    if live_tokens(user).count() >= MOST_LIVE:
        raise TokenRefused(f"you have {MOST_LIVE} tokens; revoke one first")
    if expires_at is not None and expires_at <= timezone.now():
        raise TokenRefused("the token would have expired already; choose a later day")
    secret = MARK + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        prefix=_prefix(secret),
        digest=_digest(secret),
        read_only=read_only,
        expires_at=expires_at,
    )
    return token, secret


def find_token(secret: str) -> ApiToken | None:
    """The living token with this secret, or None, whatever the reason.

    Looked up by the part that is no secret; the rest is compared in constant time.
    """
    if not _FORM.fullmatch(secret):
        return None
    digest = _digest(secret)
    rows = ApiToken.objects.filter(is_live(), prefix=_prefix(secret)).select_related("user")
    found = None
    for row in rows:
        if compare_digest(row.digest, digest):
            found = row
    return found


def note_use(token: ApiToken) -> None:
    """Remember that a token was used, to the minute."""
    now = timezone.now()
    if token.used_at is None or token.used_at < now - USE_IS_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(used_at=now)


def revoke_token(*, token: ApiToken) -> None:
    """End a token for good; a second time changes nothing."""
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def _prefix(secret: str) -> str:
    return secret[: len(MARK) + SHOWN]


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
