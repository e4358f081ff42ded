"""Find the data type that a phrase most resembles, by hashed words and trigrams.

Counts are whole numbers, so that equal similarities are recognised as equal on every machine.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUCKETS = 512
# Scores closer than this may be equal; whole numbers decide.
_CLOSE = 1e-9
# Phrases come from agents, who never run out of them.
_REMEMBERED = 4096
_TOKEN = re.compile("[a-z0-9]+")


class DataType(NamedTuple):
    """The meaning of a value, and what it may be called."""

    name: str
    aliases: tuple[str, ...]
    description: str

    @property
    def forms(self) -> tuple[str, ...]:
        """Name, name in words, aliases and description, each once whatever its case."""
        named = (self.name, self.name.replace("_", " "), *self.aliases, self.description)
        collapsed = (" ".join(form.lower().split()) for form in named)
        return tuple(dict.fromkeys(form for form in collapsed if form))


@dataclass(frozen=True)
class Match:
    """The best data type for a phrase, its similarity, and how far behind the next one is."""

    name: str
    score: float
    gap: float


def features(text: str) -> Iterator[str]:
    """Return words, neighbouring words and trigrams of a text."""
    plain = text.strip().lower().replace("_", " ")
    words = _TOKEN.findall(plain)
    yield from words
    yield from (f"{first}__{second}" for first, second in zip(words, words[1:], strict=False))
    if collapsed := " ".join(plain.split()):
        padded = f"  {collapsed}  "
        yield from (f"char::{padded[at : at + 3]}" for at in range(len(padded) - 2))


@lru_cache(1 << 14)
def bucket(feature: str) -> int:
    return int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big") % BUCKETS


def encode(text: str) -> "NDArray[np.float64]":
    """Return how often each bucket is hit; whole numbers, kept as floats for the sake of
    products.
    """
    import numpy as np  # not before it is needed: pages of other systems start without it

    vector = np.zeros(BUCKETS)
    for number, times in Counter(map(bucket, features(text))).items():
        vector[number] = times
    return vector


class Matcher:
    """Finds the data type for a phrase: always one, the first where nothing resembles it."""

    def __init__(self, datatypes: Sequence[DataType]) -> None:
        import numpy as np

        self.names = [datatype.name for datatype in datatypes]
        self.forms = {datatype.name: datatype.forms for datatype in datatypes}
        owners = [(n, form) for n, datatype in enumerate(datatypes) for form in datatype.forms]
        self._owners = np.array([number for number, _ in owners])
        self._vectors = np.array([encode(form) for _, form in owners])
        self._squares = (self._vectors**2).sum(axis=1)
        self._known: dict[str, Match] = {}

    def match(self, phrase: str) -> Match:
        """Return the best match; a data type's own name stands for all of its forms."""
        match = self._known.get(phrase)
        if match is None:
            match = self._best(self.forms.get(phrase, (phrase,)))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[phrase] = match
        return match

    def _best(self, phrases: Sequence[str]) -> Match:
        import numpy as np

        vectors = [encode(phrase) for phrase in phrases]
        squares = [float(vector @ vector) for vector in vectors]
        dots = np.array([self._vectors @ vector for vector in vectors])
        norms = np.sqrt(np.outer(squares, self._squares))
        scores = np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0)
        near = np.argwhere(scores > scores.max() - _CLOSE)

        def rank(place: "NDArray[np.intp]") -> tuple[Fraction, int]:
            one, two = (int(at) for at in place)
            if not scores[one, two]:
                return Fraction(0), -int(self._owners[two])
            product = Fraction(int(squares[one])) * int(self._squares[two])
            return Fraction(int(dots[one, two])) ** 2 / product, -int(self._owners[two])

        owner = -max(rank(place) for place in near)[1]
        best = float(scores[:, self._owners == owner].max())
        others = scores[:, self._owners != owner]
        return Match(self.names[owner], best, best - float(others.max()) if others.size else best)
