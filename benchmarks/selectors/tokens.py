"""Reading tokens of the HTTP API."""

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
