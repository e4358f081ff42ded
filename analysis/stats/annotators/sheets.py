"""Answer sheets in columns: one person's answers to one item after the other's."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from analysis.stats.columns import Codes, encode

# (rater, item, answers): answers in the order of the item's questions, None for one left out.
Sheet = tuple[Hashable, Hashable, Sequence[Any]]


@dataclass(frozen=True)
class Sheets:
    """Sheets in the order given.

    Attributes
    ----------
    raters, items
        Whoever and whatever is in them, in order of first appearance.
    rater, item
        Of each sheet, as indices in these.
    sizes, starts
        Answers of each sheet, left-out ones included, and where they begin in ``answers``.
    answers
        All answers, one sheet after the other.
    """

    raters: tuple[Hashable, ...]
    items: tuple[Hashable, ...]
    rater: Codes
    item: Codes
    sizes: Codes
    starts: Codes
    answers: list[Any]

    @property
    def owner(self) -> Codes:
        """Return the sheet of each answer."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    def given(self, sheet: int) -> list[Any]:
        """Take the answers of one sheet."""
        return self.answers[self.starts[sheet] : self.starts[sheet] + self.sizes[sheet]]

    def of(self, rater: int) -> Codes:
        """Find the sheets of one rater, in the order given."""
        return np.flatnonzero(self.rater == rater)


def read_sheets(sheets: Iterable[Sheet] | Sheets, *, does: str = "answers") -> Sheets:
    """Put sheets into columns; refuse a second one by the same rater on the same item.

    Sheets that are in columns already stay as they are: several statistics take the same.
    """
    if isinstance(sheets, Sheets):
        return sheets
    rows = list(sheets)
    who = [row[0] for row in rows]
    what = [row[1] for row in rows]
    given = [row[2] for row in rows]
    if len(set(zip(who, what, strict=True))) < len(rows):
        ((rater, item), _), *_ = Counter(zip(who, what, strict=True)).most_common(1)
        raise ValueError(f"{rater!r} {does} {item!r} twice: give one row per rater and item")
    raters, rater_codes = encode(who)
    items, item_codes = encode(what)
    sizes = np.fromiter(map(len, given), dtype=np.int64, count=len(given))
    starts = np.cumsum(sizes) - sizes
    answers = list(chain.from_iterable(given))
    return Sheets(raters, items, rater_codes, item_codes, sizes, starts, answers)
