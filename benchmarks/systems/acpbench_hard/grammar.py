"""Readers of responses: by the reference's grammar, and so that no right answer gets lost.

The reference's grammar is figure 8 of the paper. Its parser skips whatever does not fit at its
place: a whole word where the grammar has names, otherwise one character. At the end of the text it
supplies one missing token. What that does to odd responses is kept exactly, because the reference
score depends on it; ``corrected`` readings are in ``corrected_reading.py``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

NONE = "None"
_PART_OF_INTEREST = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*|[()\[\], ]")
_INDEX = re.compile(r"[0-9]+")
_LABELS = ("positive effects", "negative effects")
_SIMPLIFIED = "simplified plan:"


@dataclass(frozen=True)
class ReferenceReading:
    """The reading of a response by the reference's parser; ``parsed`` is false where it fails.

    ``names`` are the actions or atoms in the order read (one, or ``None`` as a word, where the task
    wants one), ``lists`` the two lists of a progression, ``index`` the digits of a validation.
    """

    parsed: bool
    names: tuple[str, ...] = ()
    lists: tuple[tuple[str, ...], ...] = ()
    index: str = ""


FAILED = ReferenceReading(False)


def read_reference(task: str, response: str) -> ReferenceReading:
    """Read a response to a task (``app``, ``land``, …) as the reference does."""
    if task == "prog":
        response = _effects_in_brackets(response)
    elif task == "just":
        response = _simplified_plan(response)
    text = response.replace("\n", "").strip()
    match task:
        case "val":
            match = _INDEX.search(text)
            return ReferenceReading(True, index=match.group()) if match else FAILED
        case "app" | "just":
            names = _read_names(text)
            return FAILED if names is None else ReferenceReading(True, names=tuple(names))
        case "prog":
            return _read_progression(text)
        case _:
            return _read_first(text, none=task != "nexta")


def _effects_in_brackets(response: str) -> str:
    lowered = response.lower()
    if "[" in response or not all(label in lowered for label in _LABELS):
        return response
    return lowered.replace("*", "").replace(_LABELS[0], "[").replace(_LABELS[1], "] [") + "]"


def _simplified_plan(response: str) -> str:
    lowered = response.lower()
    if _SIMPLIFIED not in lowered:
        return response
    return lowered.replace("*", "").split(_SIMPLIFIED)[1]


class _Name:
    """An action or atom that is being read: ``(``, a name, then names after single spaces."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        # A name is wanted after the parenthesis and after a space, otherwise a space or the end.
        self.wants_name = True

    def feed(self, token: str) -> bool:
        """Take a token if it fits, and tell whether the name is complete."""
        if self.wants_name:
            if token[0].isalpha() and token[0].isascii():
                self.parts.append(token)
                self.wants_name = False
        elif token == " ":
            self.wants_name = True
        elif token == ")":
            return True
        return False

    @property
    def can_end(self) -> bool:
        """Return whether one closing parenthesis, supplied at the end of the text, completes it."""
        return not self.wants_name

    def __str__(self) -> str:
        return f"({' '.join(self.parts)})"


def _read_first(text: str, none: bool) -> ReferenceReading:
    name: _Name | None = None
    for match in _PART_OF_INTEREST.finditer(text):
        token = match.group()
        if name is None:
            if token == "(":
                name = _Name()
            elif none and token.startswith(NONE):
                return ReferenceReading(True, names=(NONE,))
        elif name.feed(token):
            return ReferenceReading(True, names=(str(name),))
    return ReferenceReading(True, names=(str(name),)) if name and name.can_end else FAILED


def _read_names(text: str) -> list[str] | None:
    names: list[str] = []
    name: _Name | None = None
    for match in _PART_OF_INTEREST.finditer(text):
        token = match.group()
        if name is None:
            if token == "(":
                name = _Name()
        elif name.feed(token):
            names.append(str(name))
            name = None
    if name is None:
        return names
    return [*names, str(name)] if name.can_end else None


def _read_progression(text: str) -> ReferenceReading:
    lists: list[tuple[str, ...]] = []
    current: list[str] | None = None
    name: _Name | None = None
    # After the first comma of a list every further atom needs a comma before it.
    commas = after_comma = False
    for match in _PART_OF_INTEREST.finditer(text):
        token = match.group()
        if name is not None:
            if name.feed(token) and current is not None:
                current.append(str(name))
                name = None
        elif current is None:
            if token == "[":
                current, commas, after_comma = [], False, False
        elif token == "(":
            if after_comma or not commas:
                name, after_comma = _Name(), False
        elif token == ",":
            if not after_comma:
                commas = after_comma = True
        elif token == "]" and not after_comma:
            lists.append(tuple(current))
            current = None
            if len(lists) == 2:
                # Two equal lists become one.
                return ReferenceReading(True, lists=tuple(dict.fromkeys(lists)))
    return FAILED


def same_name(one: str, other: str) -> bool:
    """Compare two actions or atoms as the reference does: without case."""
    return one.lower() == other.lower()


def same_names(names: Sequence[str], others: Sequence[str]) -> bool:
    """Compare two lists of actions or atoms as sets, without case."""
    return {name.lower() for name in names} == {other.lower() for other in others}
