"""Whose account an identity opens: never a new one."""

from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.shortcuts import render


class IdentityAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """An identity opens the account that it is linked to.

    It is linked by its owner while signed in, or, the first time that it comes, to the one account
    whose e-mail address is the one that the server has verified.
    """

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Never: administrators and invitations make accounts."""
        return False

    def list_apps(self, request: HttpRequest, **wanted: Any) -> list[SocialApp]:
        """The server of the environment alone: a secret in the database is not looked for."""
        return [app for app in super().list_apps(request, **wanted) if app.pk is None]

    def authenticate_by_email(self, sociallogin: SocialLogin) -> None:
        """Not allauth's way, which takes away the password of the account that it finds."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Link an identity that comes for the first time, or say why it opens nothing."""
        if sociallogin.is_existing or sociallogin.state.get("process") != AuthProcess.LOGIN:
            return
        user = account_of(sociallogin)
        if user is None:
            page = render(request, "socialaccount/unknown.html", status=403)
            raise ImmediateHttpResponse(page)
        sociallogin.connect(request, user)


def account_of(sociallogin: SocialLogin) -> User | None:
    """The one account with the verified e-mail address of an identity.

    None where two accounts have it. Nor is an administrator's account found so: what opens every
    door is linked by its owner.
    """
    # Some servers say "false" in words, which would count as true.
    verified = [each.email for each in sociallogin.email_addresses if each.verified is True]
    for address in verified:
        found = list(User.objects.filter(email__iexact=address, is_active=True)[:2])
        if len(found) == 1 and not (found[0].is_staff or found[0].is_superuser):
            return found[0]
    return None
