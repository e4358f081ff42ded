"""The origin of an exported file: the version that made it, the time and the address."""

import tomllib
from functools import cache

from django.conf import settings
from django.utils import timezone


@cache
def version() -> str:
    """Return the version of this product."""
    with (settings.BASE_DIR / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def made_at() -> str:
    """Return the current time to the minute."""
    return f"{timezone.now():%Y-%m-%d %H:%M} UTC"


def about_file(url: str) -> tuple[str, ...]:
    """Return the lines for the head of a file: version, time and page."""
    return (f"Made by PlanJury {version()}, {made_at()}.", f"From {url}")
