"""What counts as a word: letters and digits in a row, whatever their case and accents."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

# Longer ones are data, not words; PostgreSQL has a limit of its own that is further away.
LONGEST = 60
# Scripts without spaces between words: each of their characters is a word.
_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
_PLAIN = re.compile(r"[a-z0-9]+")


class Found(NamedTuple):
    """A word where it stands: ``text[start:end]`` reads as ``word``."""

    start: int
    end: int
    word: str


def words_of(text: str) -> list[str]:
    """The words of a text in their order."""
    if text.isascii():
        return [word[:LONGEST] for word in _PLAIN.findall(text.lower())]
    return [found.word for found in spans_of(unicodedata.normalize("NFC", text))]


def spans_of(text: str) -> Iterator[Found]:
    """Yield the words of a text (in Unicode's form NFC) with their places."""
    for match in _WORD.finditer(text):
        if word := folded(match.group()):
            yield Found(match.start(), match.end(), word)


@lru_cache(maxsize=20_000)
def folded(word: str) -> str:
    """A word as it is compared: without case, accents and ligatures; empty if nothing is left."""
    if word.isascii():
        return word.lower()[:LONGEST]
    plain = unicodedata.normalize("NFKD", word).casefold()
    return "".join(char for char in plain if char.isalnum())[:LONGEST]
