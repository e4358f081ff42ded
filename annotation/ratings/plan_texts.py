"""The text of a plan as the desk shows it: its steps, one a line, or the original text."""

import re
from collections.abc import Sequence

_NO_LETTERS = re.compile(r"[\W\d_]+")
_STEP_WORD = re.compile(r"^[^\S\n]*step(?=\s*\d)", re.IGNORECASE | re.MULTILINE)


def is_all(text: str, steps: Sequence[str]) -> bool:
    """Return whether the steps are the whole text, numbers aside; else the text is shown as it
    is.
    """
    bare, listed = _STEP_WORD.sub("", text), "".join(steps)
    # Nearly always they are the same in all that is in words, which is found sooner.
    return _in_words(bare) == _in_words(listed) or _letters(bare) == _letters(listed)


def _in_words(text: str) -> str:
    """Return the letters, and numerals that are no digits, such as ½."""
    return _NO_LETTERS.sub("", text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def shown_text(text: str, steps: Sequence[str]) -> str:
    """Return what stands at the desk of a plan, as evidence and passages count its characters."""
    return "\n".join(steps) if is_all(text, steps) else text
