"""Where a file comes from: which version made it, when, from which address."""

import tomllib
from functools import cache

from django.conf import settings
from django.utils import timezone


@cache
def version() -> str:
    """The version of this product."""
    with (settings.BASE_DIR / "pyproject.toml").open("rb") as file:
        return str(tomllib.load(file)["project"]["version"])


def made_at() -> str:
    """The time of making, to the minute."""
    return f"{timezone.now():%Y-%m-%d %H:%M} UTC"


def about_file(url: str) -> tuple[str, ...]:
    """Lines for the head of a file: by what and when it was made, and from which page."""
    return (f"Made by PlanJury {version()}, {made_at()}.", f"From {url}")
