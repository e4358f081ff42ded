"""Who a token acts for."""

from django.contrib.auth.models import User
from django.http import HttpRequest


def user_of(request: HttpRequest) -> User:
    """The user that the token acts for."""
    assert isinstance(request.user, User)
    return request.user
