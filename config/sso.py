"""Signing in through an OpenID Connect server, for those whose institution has one."""

import re
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST


class IdentityAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """An identity opens the account that it is linked to.

    It is linked by its owner while signed in, or, the first time that it comes, to the one account
    whose e-mail address is the one that the server has verified, or to a new one where the settings
    say so.
    """

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Return False: administrators, invitations and `new_account` make accounts."""
        return False

    def list_apps(self, request: HttpRequest, **wanted: Any) -> list[SocialApp]:
        """Return the server of the environment alone: no secret is looked for in the database."""
        return [app for app in super().list_apps(request, **wanted) if app.pk is None]

    def authenticate_by_email(self, sociallogin: SocialLogin) -> None:
        """Find nobody: allauth's way takes away the password of the account that it finds."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link an identity that comes for the first time, or say why it opens nothing."""
        if sociallogin.is_existing or sociallogin.state.get("process") != AuthProcess.LOGIN:
            return
        user = account_of(sociallogin) or new_account(sociallogin)
        if user is None:
            page = render(request, "socialaccount/unknown.html", status=403)
            raise ImmediateHttpResponse(page)
        sociallogin.connect(request, user)


def account_of(sociallogin: SocialLogin) -> User | None:
    """Return the one account with the verified e-mail address of an identity.

    None where two accounts have it. Nor is an administrator's account found so: what opens every
    door is linked by its owner.
    """
    # Some servers say "false" in words, which would count as true.
    verified = [each.email for each in sociallogin.email_addresses if each.verified is True]
    for address in verified:
        accounts = list(User.objects.filter(email__iexact=address, is_active=True)[:2])
        if len(accounts) == 1 and not (accounts[0].is_staff or accounts[0].is_superuser):
            return accounts[0]
    return None


def new_account(sociallogin: SocialLogin) -> User | None:
    """Make an account for an identity that the settings let in, without rights and password.

    None where no verified address of it is in one of the domains, or another account has one of its
    addresses.
    """
    every = [each.email for each in sociallogin.email_addresses]
    taken = Q()
    for address in every:
        taken |= Q(email__iexact=address)
    if not every or User.objects.filter(taken).exists():
        return None
    for each in sociallogin.email_addresses:
        if each.verified is True and settings.OIDC.makes_account(each.email):
            wanted = str(sociallogin.user.username or "") or each.email.partition("@")[0]
            user = User(username=_free_name(wanted), email=each.email)
            user.first_name = str(sociallogin.user.first_name or "")[:150]
            user.last_name = str(sociallogin.user.last_name or "")[:150]
            user.set_unusable_password()
            user.save()
            return user
    return None


def _free_name(wanted: str) -> str:
    """Return a user name like the wanted one that nobody has."""
    # Without a domain, so that it does not pass for an e-mail address.
    name = re.sub(r"[^\w.+-]", "", wanted.partition("@")[0])[:140] or "person"
    names = (name, *(f"{name}{number}" for number in range(2, 1000)))
    return next(each for each in names if not User.objects.filter(username__iexact=each).exists())


@require_POST
def leave(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Send a person to the server, to sign in or, signed in already, to link their identity.

    The browser is sent on by a header of a page of ours and not by a redirect: forms may be sent to
    this site alone (form-action), and browsers hold redirects of a form to that.
    """
    from allauth.socialaccount.providers.openid_connect import views

    try:
        answer: HttpResponse = views.login(request, provider_id)
    except (OSError, KeyError):
        # Not there (what requests raises are OSErrors), or it does not say where people sign in.
        name = get_adapter().get_provider(request, provider_id).name
        return render(request, "socialaccount/unreachable.html", {"name": name}, status=503)
    target = answer.headers.get("Location", "")
    if answer.status_code != 302 or not target.startswith(("https://", "http://")):
        return answer
    page = render(request, "socialaccount/leaving.html", {"target": target})
    page["Refresh"] = f"0; url={target}"
    return page


def sso_urls() -> list[URLPattern]:
    """Return the addresses of signing in through a server, for where one is configured."""
    from allauth.socialaccount import views as identities
    from allauth.socialaccount.providers.openid_connect import views as provider

    return [
        path("", identities.connections, name="socialaccount_connections"),
        path("cancelled/", identities.login_cancelled, name="socialaccount_login_cancelled"),
        path("error/", identities.login_error, name="socialaccount_login_error"),
        path("<str:provider_id>/login/", leave, name="openid_connect_login"),
        path(
            "<str:provider_id>/login/callback/", provider.callback, name="openid_connect_callback"
        ),
    ]
