"""Reading tokens of the HTTP API."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from benchmarks.models import ApiToken


def is_live() -> Q:
    """Neither revoked nor expired, of somebody whose account is in use."""
    not_expired = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return not_expired & Q(revoked_at=None, user__is_active=True)


def live_tokens(user: User) -> QuerySet[ApiToken]:
    """The tokens of a person that still open something."""
    return ApiToken.objects.filter(is_live(), user=user)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """All tokens of a person, those that are not revoked first."""
    rows = ApiToken.objects.filter(user=user)
    return rows.order_by(F("revoked_at").asc(nulls_first=True), "-pk")


@dataclass(frozen=True)
class TokenRow:
    """A token in its owner's list; ``state`` is one word, ``tone`` its colour."""

    token: ApiToken
    state: str
    tone: str


def token_rows(user: User) -> list[TokenRow]:
    """The tokens of a person as their page lists them."""
    now = timezone.now()
    return [TokenRow(token, *_state(token, now)) for token in tokens_of(user)]


def _state(token: ApiToken, now: datetime) -> tuple[str, str]:
    if token.revoked_at is not None:
        return "revoked", "idle"
    if token.expires_at is not None and token.expires_at <= now:
        return "expired", "warn"
    return ("reads", "ok") if token.read_only else ("reads and starts", "ok")
