"""What people type into a search: words, "phrases", -without, and beginnings*.

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

from analysis.browser.search.tokens import words_of

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
class Term:
    """One thing to look for: a word, or several one after the other; ``begins``: so begins the
    last of them.
    """

    words: tuple[str, ...]
    begins: bool = False


@dataclass(frozen=True)
class Ignored:
    """A part of what was typed that is not searched for, and why."""

    typed: str
    why: str


@dataclass(frozen=True)
class Query:
    """All of ``wanted`` and none of ``without``."""

    wanted: tuple[Term, ...] = ()
    without: tuple[Term, ...] = ()
    ignored: tuple[Ignored, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """What has to be looked up."""
        return (*self.wanted, *self.without)


def read_words(typed: str) -> Query:
    """Take apart what was typed. Never raises."""
    wanted: dict[Term, None] = {}
    without: dict[Term, None] = {}
    ignored: list[Ignored] = []
    for shown, minus, text, begins in _parts(typed):
        words = tuple(words_of(text))
        if not words:
            if text.strip() or shown.strip("-"):
                ignored.append(Ignored(shown, NO_WORD))
            continue
        if len(words) > MOST_IN_PHRASE:
            ignored.append(Ignored(shown, TOO_LONG))
            words, begins = words[:MOST_IN_PHRASE], False
        if begins and len(words[-1]) < SHORTEST_BEGINNING:
            ignored.append(Ignored(shown, TOO_SHORT))
            continue
        term, into = Term(words, begins), without if minus else wanted
        if term not in into and len(wanted) + len(without) == MOST_TERMS:
            ignored.append(Ignored(shown, TOO_MANY))
            continue
        into[term] = None
    return Query(tuple(wanted), tuple(without), tuple(ignored))


def _parts(typed: str) -> Iterator[tuple[str, bool, str, bool]]:
    """(as typed, to be left out, text, begins) of every part."""
    for match in _TYPED.finditer(unicodedata.normalize("NFC", typed)):
        minus, phrase, star, word = match.groups()
        if word is None:
            yield match.group(), bool(minus), phrase, bool(star) or phrase.endswith("*")
        else:
            yield match.group(), bool(minus), word, word.endswith("*")
