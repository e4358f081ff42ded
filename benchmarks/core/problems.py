"""Faults of a file, collected so that the first twenty are reported at once."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.errors import CoreError

SHOWN = 20
_LONGEST_FOUND = 120


@dataclass(frozen=True)
class Problem:
    """One fault of an input: where it stands, what was expected there and what was found."""

    where: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, found {self.found}"


class FileRefused(CoreError):
    """A file that is not imported; ``problems`` holds the first faults, ``total`` counts all."""

    def __init__(self, problems: Sequence[Problem], total: int | None = None) -> None:
        self.problems = tuple(problems)
        self.total = len(self.problems) if total is None else total
        super().__init__("\n".join(_lines(self.problems, self.total)))


class Problems:
    """Collects faults; all are counted, the first twenty are kept."""

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.total = 0

    def add(self, where: str, expected: str, found: Any) -> None:
        self.total += 1
        if len(self.kept) < SHOWN:
            self.kept.append(Problem(where, expected, describe(found)))

    def extend(self, refused: FileRefused) -> None:
        """Take over what made another reader refuse its file."""
        self.total += refused.total
        self.kept += refused.problems[: SHOWN - len(self.kept)]

    def lines(self) -> list[str]:
        """Return what was found, a line each; the last line counts what was not kept."""
        return _lines(self.kept, self.total)

    def check(self) -> None:
        """Raise ``FileRefused`` if anything was found."""
        if self.total:
            raise FileRefused(self.kept, self.total)


def _lines(problems: Sequence[Problem], total: int) -> list[str]:
    more = total - len(problems)
    return [*map(str, problems), *([f"… and {more} more"] if more > 0 else [])]


@dataclass(frozen=True)
class Unquoted:
    """Words that describe what was found, as against a value that is quoted."""

    words: str


def describe(value: Any) -> str:
    """Return a value as a person may read it in a message: short, and with its kind where that
    helps.
    """
    match value:
        case Unquoted(words):
            return words
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text {_short(value)!r}" if value else "an empty text"
        case dict():
            return f"an object with {', '.join(map(_short, list(value)[:4])) or 'no fields'}"
        case list():
            return f"a list of {len(value)}"
        case _:
            return f"the number {_short(str(value))}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_FOUND else text[: _LONGEST_FOUND - 1] + "…"


def text_fault(value: Any, longest: int) -> str:
    """Return why a value is no text that can be stored: its expectation in words, or ''."""
    if not isinstance(value, str):
        return "a text"
    if not value.strip():
        return "a text that is not blank"
    if len(value) > longest:
        return f"a text of at most {longest} characters"
    # Neither can be stored by every database: one ends a text in C, the other is half a character.
    if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "a text without NUL and without half characters"
    return ""


# What the json module finds wrong, by the beginning of its message.
_JSON_FAULTS = {
    "Expecting value": "a value is missing",
    "Extra data": "more text after the value",
    "Expecting property name": "a name in double quotes is missing",
    "Expecting ':'": "a colon is missing",
    "Expecting ','": "a comma or a closing bracket is missing",
    "Illegal trailing comma": "a comma before a closing bracket",
    "Unterminated string": "a text without its closing quote",
    "Invalid control character": "a line break or control character within a text",
    "Invalid \\": "a backslash with an unknown character",
}


def json_fault(error: Exception) -> str:
    """Return in words why a text is no JSON, with the place; for what ``json.loads`` raises."""
    if isinstance(error, RecursionError):
        return "too many levels"
    if isinstance(error, UnicodeDecodeError):
        return f"a byte that is no UTF-8 (byte {error.start + 1})"
    if isinstance(error, json.JSONDecodeError):
        fault = next((w for key, w in _JSON_FAULTS.items() if error.msg.startswith(key)), "a fault")
        line = f"line {error.lineno}, " if "\n" in error.doc else ""
        return f"{fault} ({line}column {error.colno})"
    return str(error)[:120] or type(error).__name__
