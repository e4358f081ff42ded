"""Errors raised when a request breaks a rule of a study.

Nothing was changed then, and the text can be shown to the user.
"""

from typing import Literal

from django.http import Http404

# ``paused`` may be tried again later with the same answers; ``gone`` says that the item went to
# somebody else, or back to the managers.
Code = Literal[
    "invalid", "not_yours", "not_open", "closed", "paused", "gone", "conflict", "incomplete"
]


class Refused(Exception):
    """A request that would break a rule of the study. ``code`` is stable, for scripts."""

    def __init__(self, code: Code, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(reason)


class NoAssignment(Http404):
    """Nothing is assigned to this person in that position; pages and API answer 404."""


class Incomplete(Refused):
    """An item that cannot be submitted yet; ``missing`` are the names of unanswered places."""

    def __init__(self, missing: list[str], titles: list[str]) -> None:
        self.missing = missing
        super().__init__("incomplete", "not answered yet: " + ", ".join(titles))


def refuse_longer(text: str, most: int, name: str) -> None:
    """Refuse a text of more than ``most`` characters with its count; ``name`` is what it is of.

    Texts are never cut: their author would not notice.
    """
    if len(text) > most:
        words = f"{name} has {len(text):,} characters, but at most {most:,} are allowed"
        raise Refused("invalid", words)
