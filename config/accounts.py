"""Rules of accounts: nobody signs up on their own, and attempts to sign in are limited."""

import math
import time
from collections.abc import Mapping
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core import ratelimit as ratelimits
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from allauth.decorators import rate_limit
from django.conf import settings
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

# The limit that each page of accounts has; names as in ACCOUNT_RATE_LIMITS.
ACTIONS = {
    "account_login": "login",
    "account_change_password": "change_password",
    "account_reauthenticate": "reauthenticate",
    "join": "join",
    "recruit": "join",
    "account_start": "join",
}
FAILED = "login_failed"
# Counted for a name alone, from whatever address: wrong passwords, and attempts once there were
# too many of those.
FAILED_ANYWHERE = "login_failed_anywhere"
SLOWED = "login_slowed"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Closes the sign-up page; answers too many wrong passwords or codes with 429."""

    error_messages: Mapping[str, Any] = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "The username or the password is not correct.",
        "rate_limited": "Too many requests. Wait a moment, then try again.",
    }
    _tried: str | None = None

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: administrators and invitations make accounts."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt, or refuse it where there were too many.

        Wrong passwords from one address do not close a name to other addresses. Many from anywhere
        slow all attempts on that name down.
        """
        self._tried = self._get_login_attempts_cache_key(request, **credentials)
        super().pre_authenticate(request, **credentials)
        name = name_key(credentials)
        many = not ratelimits.consume(request, action=FAILED_ANYWHERE, key=name, dry_run=True)
        if many and not ratelimits.consume(request, action=SLOWED, key=name):
            wait = seconds_to_wait(request, SLOWED, key=name)
            raise ImmediateHttpResponse(refuse_for_now(request, seconds=wait))

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a wrong password for its name."""
        super().authentication_failed(request, **credentials)
        ratelimits.consume(request, action=FAILED_ANYWHERE, key=name_key(credentials))

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Name and address together; by itself allauth would count for the name alone."""
        return f"{name_key(credentials)}|{ratelimit.get_ip(request)}"

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """Return the error of a form, except that too many attempts end the request with 429.

        By itself allauth would answer 200 with an error above the form, and not say until when.
        """
        if code == "too_many_login_attempts":
            wait = seconds_to_wait(context.request, FAILED, key=self._tried)
            raise ImmediateHttpResponse(refuse_for_now(context.request, seconds=wait))
        error: ValidationError = super().validation_error(code, *args)
        return error


def name_key(credentials: Mapping[str, Any]) -> str:
    """Return the name that somebody tries to sign in with, as it is counted."""
    return str(credentials.get("email") or credentials.get("username") or "").lower()


def too_many_requests(request: HttpRequest) -> HttpResponse:
    """Show the page of allauth's limits on how often pages of accounts may be asked
    (``handler429``).
    """
    match = request.resolver_match
    action = ACTIONS.get(match.url_name or "", "") if match else ""
    return refuse_for_now(request, seconds=seconds_to_wait(request, action))


def refuse_for_now(request: HttpRequest, *, seconds: int) -> HttpResponse:
    """Show a page that says when to try again, in its header too."""
    context = {"seconds": seconds, "minutes": math.ceil(seconds / 60)}
    response = render(request, "429.html", context, status=429)
    response["Retry-After"] = str(seconds)
    return response


def seconds_to_wait(request: HttpRequest, action: str, *, key: str | None = None) -> int:
    """Return seconds until the next attempt is let through, at least 1.

    Where a limit goes by a key that is not known here, its whole duration: no shorter wait can be
    promised.
    """
    waits = [1.0]
    for rate in ratelimit.get_rates(app="allauth.account", action=action):
        if rate.per == "key" and key is None:
            waits.append(rate.duration)
            continue
        counter = ratelimit.get_cache_key(
            request, app="allauth.account", action=action, rate=rate, key=key
        )
        # Times of the attempts that counted, the latest first.
        tried: list[float] = cache.get(counter, [])
        if len(tried) >= rate.amount:
            waits.append(tried[rate.amount - 1] + rate.duration - time.time())
    return math.ceil(max(waits))


@rate_limit(action="join", limit_get=True)  # type: ignore[untyped-decorator]  # has no types
def first_password(request: HttpRequest, uidb64: str, token: str) -> HttpResponseBase:
    """Let somebody choose the password of an account that was made for them, and sign in.

    Django's own view: it moves the token into the session at once, and a token works once, because
    the new password changes what it is computed from.
    """
    view = PasswordResetConfirmView.as_view(
        template_name="account/first_password.html",
        success_url="/",
        post_reset_login=True,
        post_reset_login_backend=settings.AUTHENTICATION_BACKENDS[0],
    )
    response = view(request, uidb64=uidb64, token=token)
    response["Referrer-Policy"] = "no-referrer" if response.status_code == 302 else "same-origin"
    return response
