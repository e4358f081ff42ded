"""Create, find and revoke tokens of the HTTP API."""

import hashlib
import re
import secrets
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.utils import timezone

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
    """Create a token and return its secret, which is shown this once and stored nowhere."""
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
    """Return the live token with this secret, or None, whatever the reason.

    Looked up by the part that is no secret; the rest is compared in constant time.
    """
    if not _FORM.fullmatch(secret):
        return None
    digest = _digest(secret)
    rows = ApiToken.objects.filter(is_live(), prefix=_prefix(secret)).select_related("user")
    match = None
    for row in rows:
        if compare_digest(row.digest, digest):
            match = row
    return match


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


def is_live() -> Q:
    """Return the condition for tokens of active accounts, neither revoked nor expired."""
    not_expired = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return not_expired & Q(revoked_at=None, user__is_active=True)


def live_tokens(user: User) -> QuerySet[ApiToken]:
    """Return the tokens of a person that are neither revoked nor expired."""
    return ApiToken.objects.filter(is_live(), user=user)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """Return all tokens of a person, those that are not revoked first."""
    rows = ApiToken.objects.filter(user=user)
    return rows.order_by(F("revoked_at").asc(nulls_first=True), "-pk")


class TokenRow(NamedTuple):
    """A token in its owner's list; ``state`` is one word, ``tone`` its colour."""

    token: ApiToken
    state: str
    tone: str


def token_rows(user: User) -> list[TokenRow]:
    """Return the tokens of a person as their page lists them."""
    now = timezone.now()
    return [TokenRow(token, *_state(token, now)) for token in tokens_of(user)]


def _state(token: ApiToken, now: datetime) -> tuple[str, str]:
    if token.revoked_at is not None:
        return "revoked", "idle"
    if token.expires_at is not None and token.expires_at <= now:
        return "expired", "warn"
    return ("reads", "ok") if token.read_only else ("reads and starts", "ok")
