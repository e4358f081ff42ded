"""Signs that one person gives the same answers over and over, whatever is asked."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import compress, groupby
from numbers import Real
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.stats.annotators.rater_quality import Sheet, Sheets, read_sheets, robust_z
from analysis.stats.columns import Codes, Floats, encode, is_missing
from analysis.stats.descriptive.means import mean_t
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate

NO_ANSWERS = "no answered item"
NO_FULL_ITEMS = "no item with answers to {questions} questions"
NOT_NUMBERS = "the answers are no numbers"
COUNTED = "a count: no interval"


@dataclass(frozen=True)
class StraightLining:
    """Signs that a rater gives the same answer to everything.

    Attributes
    ----------
    equal
        Share of items whose answers are all equal, among items with enough of them.
    longest_run
        Most items in a row, in the order judged, with identical answers to all questions.
    spread
        Mean over items of the standard deviation of the item's answers, in points.
    spread_z
        Distance of ``spread`` from the other raters' (`robust_z`); negative for less spread.
    """

    equal: Estimate
    longest_run: Estimate
    spread: Estimate
    spread_z: Estimate


def straight_lining(
    sheets: Iterable[Sheet] | Sheets, *, questions: int = 3, others: int = 3, level: float = 0.95
) -> dict[Hashable, StraightLining]:
    """Find raters who give the same answers over and over.

    Parameters
    ----------
    sheets
        (rater, item, answers), each rater's items in the order judged.
    questions
        Answers an item needs for its answers to be compared with each other.
    others
        Raters needed to compare a rater's spread with.

    Raises
    ------
    ValueError
        If a rater answers an item twice.

    Notes
    -----
    *Equal*: items with at least ``questions`` answers that are all equal, over items with that many
    answers; Wilson interval. Good plans earn the same score on every question, so it has to be read
    against the other raters. *Longest run*: identical answers to all questions (left-out ones
    included) in consecutive items; items without any answer neither count nor interrupt.
    *Spread*: population standard deviation of an item's answers, then mean over items with a t
    interval; undefined where answers are no numbers. Its distance from the other raters' means is
    `robust_z`. Everything is undefined for a rater without answers. Kim, Dykema, Stevenson, Black &
    Moberg 2019, Soc. Sci. Comput. Rev. 37:214 (straightlining); Curran 2016, J. Exp. Soc. Psychol.
    66:4 (long strings).
    """
    if questions < 2:
        raise ValueError("one answer is always equal to itself: at least 2 questions")
    read = read_sheets(sheets)
    signs = _signs(read)
    rows = {rater: _Own(signs, read.of(code)) for code, rater in enumerate(read.raters)}
    spreads = {rater: row.spread(questions, level) for rater, row in rows.items()}
    by_rater = {}
    for rater, row in rows.items():
        rest = [s.value for r, s in spreads.items() if r != rater and s.value is not None]
        own = spreads[rater]
        by_rater[rater] = StraightLining(
            row.equal(questions, level),
            row.longest_run(),
            own,
            Estimate.without_value(own.undefined)
            if own.value is None
            else robust_z(own.value, rest, minimum=others),
        )
    return by_rater


class _Signs(NamedTuple):
    """Signs of every sheet.

    How many answers it has, and how many numbers; whether all answers are equal; their standard
    deviation; and the answers as one value, the same where all of them are.
    """

    given: Codes
    numbers: Codes
    equal: npt.NDArray[np.bool_]
    deviation: Floats
    vector: list[bytes]


def _signs(read: Sheets) -> _Signs:
    """Compute the signs of all sheets at once."""
    names, codes = encode(read.answers)
    there = np.array([not is_missing(name) for name in names], dtype=bool)[codes]
    codes = np.where(there, codes, -1)
    sheets, owner = read.sizes.size, read.owner
    given = np.bincount(owner, weights=there, minlength=sheets).astype(np.int64)
    # Equal answers: the smallest code that was given is the largest.
    low, high = np.full(sheets, -1), np.full(sheets, -1)
    filled = read.sizes > 0
    if filled.any():
        starts = read.starts[filled]
        low[filled] = np.minimum.reduceat(np.where(there, codes, len(names)), starts)
        high[filled] = np.maximum.reduceat(codes, starts)
    is_number = np.array([isinstance(name, Real) for name in names], dtype=bool)[codes] & there
    values = np.array(
        [float(name) if isinstance(name, Real) else 0.0 for name in names], dtype=np.float64
    )[codes]
    weights = np.where(is_number, values, 0.0)
    most = np.maximum(given, 1)
    means = np.bincount(owner, weights=weights, minlength=sheets) / most
    squares = np.where(is_number, (values - means[owner]) ** 2, 0.0)
    deviation = np.sqrt(np.bincount(owner, weights=squares, minlength=sheets) / most)
    text, width = codes.tobytes(), codes.itemsize
    ends = zip(read.starts.tolist(), (read.starts + read.sizes).tolist(), strict=True)
    return _Signs(
        given,
        np.bincount(owner, weights=is_number, minlength=sheets).astype(np.int64),
        low == high,
        deviation,
        [text[start * width : end * width] for start, end in ends],
    )


class _Own(NamedTuple):
    """The signs of one rater's sheets, in the order judged."""

    signs: _Signs
    sheets: Codes

    def full(self, questions: int) -> tuple[Codes, dict[str, int]]:
        """Find the sheets with enough answers, and count those with too few."""
        kept = self.sheets[self.signs.given[self.sheets] >= questions]
        gone = self.sheets.size - kept.size
        return kept, {f"fewer than {questions} answers": gone} if gone else {}

    def equal(self, questions: int, level: float) -> Estimate:
        kept, gone = self.full(questions)
        if not kept.size:
            return Estimate.without_value(NO_FULL_ITEMS.format(questions=questions), excluded=gone)
        straight = int(self.signs.equal[kept].sum())
        return share(straight, kept.size, level=level, excluded=gone)

    def longest_run(self) -> Estimate:
        answered = self.signs.given[self.sheets] > 0
        vectors = [self.signs.vector[sheet] for sheet in compress(self.sheets, answered)]
        if not vectors:
            return Estimate.without_value(NO_ANSWERS)
        longest = max(sum(1 for _ in run) for _, run in groupby(vectors))
        return Estimate(longest, len(vectors), no_interval=COUNTED)

    def spread(self, questions: int, level: float) -> Estimate:
        kept, gone = self.full(questions)
        if not kept.size:
            return Estimate.without_value(NO_FULL_ITEMS.format(questions=questions), excluded=gone)
        if (self.signs.numbers[kept] < self.signs.given[kept]).any():
            return Estimate.without_value(NOT_NUMBERS, n=kept.size, excluded=gone)
        return mean_t(self.signs.deviation[kept], level=level, excluded=gone, scale=(0, None))
