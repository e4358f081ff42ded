"""The search syntax: words, "phrases", -without, and beginnings*; and the words of a text.

    broken hammer      both words, wherever in the trajectory
    "broken hammer"    these words one after the other
    -hammer            nowhere in the trajectory
    hamm*              words that begin so

A word that is several to the index (``low-fat``) is a phrase. Nothing typed is an error: what
cannot be searched for is named with the reason, and the rest is searched.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

# Longer ones are data, not words; PostgreSQL has a limit of its own that is further away.
LONGEST = 60
# Scripts without spaces between words: each of their characters is a word.
_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_ALONE}]|[^\W_{_ALONE}]+")
_PLAIN = re.compile(r"[a-z0-9]+")


class SearchToken(NamedTuple):
    """A word in a text: ``text[start:end]``, folded for comparison in ``word``."""

    start: int
    end: int
    word: str


def words_of(text: str) -> list[str]:
    """Return the words of a text in their order."""
    if text.isascii():
        return [word[:LONGEST] for word in _PLAIN.findall(text.lower())]
    return [span.word for span in spans_of(unicodedata.normalize("NFC", text))]


def spans_of(text: str) -> Iterator[SearchToken]:
    """Yield the words of a text (in Unicode's form NFC) with their places."""
    for match in _WORD.finditer(text):
        if word := folded(match.group()):
            yield SearchToken(match.start(), match.end(), word)


@lru_cache(maxsize=20_000)
def folded(word: str) -> str:
    """Return a word as it is compared: without case, accents and ligatures; empty if nothing is
    left.
    """
    if word.isascii():
        return word.lower()[:LONGEST]
    plain = unicodedata.normalize("NFKD", word).casefold()
    return "".join(char for char in plain if char.isalnum())[:LONGEST]


MOST_TERMS = 10
# The pieces of long texts overlap by as much, so that no phrase is torn.
MOST_IN_PHRASE = 16
SHORTEST_BEGINNING = 2

NO_WORD = "there is no letter or digit in it"
TOO_SHORT = f"a beginning needs at least {SHORTEST_BEGINNING} letters"
TOO_LONG = f"a phrase has at most {MOST_IN_PHRASE} words"
TOO_MANY = f"at most {MOST_TERMS} words and phrases are searched for"
_TYPED = re.compile(r'(-?)(?:"([^"]*)(?:"(\*?)|$)|([^\s"]+))')


@dataclass(frozen=True)
class SearchTerm:
    """One thing to look for: a word, or several one after the other; ``begins``: so begins the
    last of them.
    """

    words: tuple[str, ...]
    begins: bool = False


class IgnoredTerm(NamedTuple):
    """A part of what was typed that is not searched for, and why."""

    typed: str
    why: str


class SearchQuery(NamedTuple):
    """All of ``wanted`` and none of ``without``."""

    wanted: tuple[SearchTerm, ...] = ()
    without: tuple[SearchTerm, ...] = ()
    ignored: tuple[IgnoredTerm, ...] = ()

    @property
    def terms(self) -> tuple[SearchTerm, ...]:
        """The terms that have to be looked up."""
        return (*self.wanted, *self.without)


def read_words(typed: str) -> SearchQuery:
    """Take apart what was typed. Never raises."""
    wanted: dict[SearchTerm, None] = {}
    without: dict[SearchTerm, None] = {}
    ignored: list[IgnoredTerm] = []
    for shown, minus, text, begins in _parts(typed):
        words = tuple(words_of(text))
        if not words:
            if text.strip() or shown.strip("-"):
                ignored.append(IgnoredTerm(shown, NO_WORD))
            continue
        if len(words) > MOST_IN_PHRASE:
            ignored.append(IgnoredTerm(shown, TOO_LONG))
            words, begins = words[:MOST_IN_PHRASE], False
        if begins and len(words[-1]) < SHORTEST_BEGINNING:
            ignored.append(IgnoredTerm(shown, TOO_SHORT))
            continue
        term, into = SearchTerm(words, begins), without if minus else wanted
        if term not in into and len(wanted) + len(without) == MOST_TERMS:
            ignored.append(IgnoredTerm(shown, TOO_MANY))
            continue
        into[term] = None
    return SearchQuery(tuple(wanted), tuple(without), tuple(ignored))


def _parts(typed: str) -> Iterator[tuple[str, bool, str, bool]]:
    """Yield (as typed, to be left out, text, begins) of every part."""
    for match in _TYPED.finditer(unicodedata.normalize("NFC", typed)):
        minus, phrase, star, word = match.groups()
        if word is None:
            yield match.group(), bool(minus), phrase, bool(star) or phrase.endswith("*")
        else:
            yield match.group(), bool(minus), word, word.endswith("*")
