"""The origin of an exported file: version, time, address and person."""

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone


def made_at() -> str:
    """Return the current time to the minute."""
    return f"{timezone.now():%Y-%m-%d %H:%M} UTC"


def about_file(url: str) -> tuple[str, ...]:
    """Return the lines for the head of a file: version, time and page."""
    return (f"Made by PlanJury {settings.VERSION}, {made_at()}.", f"From {url}")


def maker_name(user: User) -> str:
    """Return the name under which a file says who made it."""
    return user.get_full_name() or user.get_username()
