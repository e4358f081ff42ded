"""Who gets an account: nobody by themselves."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Closes the sign-up page; administrators and invitations make accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Never."""
        return False
