"""Refusals: nothing was changed, and the text says why in words that can be shown."""

from typing import Literal

Code = Literal["invalid", "not_yours", "not_open", "closed", "conflict", "incomplete"]


class Refused(Exception):
    """A request that would break a rule of the study. ``code`` is stable, for scripts."""

    def __init__(self, code: Code, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(reason)


class Incomplete(Refused):
    """An item that cannot be submitted yet; ``missing`` are the keys of unanswered questions."""

    def __init__(self, missing: list[str], titles: list[str]) -> None:
        self.missing = missing
        super().__init__("incomplete", "not answered yet: " + ", ".join(titles))
