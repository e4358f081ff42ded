"""Signs that one person answers with less care than the others: known answers, and speed.

Signs, not proof: each has innocent explanations, and none is a reason to drop anybody's answers
without looking. `straight_lining` and `drift` hold the others; `comparison_notes` puts
them into words.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from analysis.stats.columns import MISSING, Codes, Floats, as_column, encode, is_missing, present
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate

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


NO_GOLD = "answered no item with a known answer"
NO_TIMES = "no item with an active time"
NO_OTHERS = "nobody else's times to compare with"
FEW_VALUES = "only {n} values to compare with, of {minimum} needed"
NO_SPREAD = "half of the values to compare with, or more, are equal: no distance from them"
STANDARDISED = "a distance in robust standard deviations: no interval"
# Scales the median absolute deviation to the standard deviation of a normal distribution.
NORMAL = 1.4826


@dataclass(frozen=True)
class Speed:
    """The speed of a rater, by active seconds per item.

    Attributes
    ----------
    fast
        Share of items done in less than ``fraction`` of the study's median.
    z
        Distance of the rater's median log time from that of all items (`robust_z`); negative for
        faster.
    median, study_median
        In seconds; None without times.
    """

    fast: Estimate
    z: Estimate
    median: float | None
    study_median: float | None
    fraction: float


def gold_accuracy(
    sheets: Iterable[Sheet],
    gold: Mapping[Hashable, Sequence[Any]],
    *,
    tolerance: float = 0,
    level: float = 0.95,
) -> dict[Hashable, Estimate]:
    """Compute each rater's share of gold answers that are right.

    Parameters
    ----------
    sheets
        (rater, item, answers): numbers, words or frozensets, None for a question left out.
    gold
        The known answers by item, in the same order of questions; None where none is known.
    tolerance
        Distance in points at which a number is still right; everything else has to be equal.

    Raises
    ------
    ValueError
        If a rater answers an item twice, or the numbers of questions differ.

    Notes
    -----
    Right answers over answers to questions with a known answer, all gold items of a rater together,
    with a Wilson interval (`proportions.share`), which takes answers as independent: of one item
    they are not, so with several questions it is too narrow. Questions left out are counted as
    missing, not as wrong. Undefined for a rater without gold items.
    """
    read = read_sheets(sheets)
    right: dict[Hashable, list[bool | None]] = {rater: [] for rater in read.raters}
    for sheet, (rater, item) in enumerate(zip(read.rater, read.item, strict=True)):
        name, answers = read.items[item], read.given(sheet)
        known = gold.get(name, [None] * len(answers))
        if len(known) != len(answers):
            raise ValueError(f"{name!r}: {len(answers)} answers for {len(known)} gold answers")
        right[read.raters[rater]] += [
            None if is_missing(answer) else _is_right(answer, truth, tolerance)
            for answer, truth in zip(answers, known, strict=True)
            if not is_missing(truth)
        ]
    return {rater: _gold_share(outcomes, level) for rater, outcomes in right.items()}


def speeding(
    times: Iterable[tuple[Hashable, Hashable, float | None]],
    *,
    fraction: float = 1 / 3,
    shortest: float = 1.0,
    items: int = 10,
    level: float = 0.95,
) -> dict[Hashable, Speed]:
    """Find raters who are much faster than the study.

    Parameters
    ----------
    times
        (rater, item, active seconds); None where no time is known.
    fraction
        An item is fast below this fraction of the study's median.
    shortest
        Shorter times count as this many seconds in the logarithm.
    items
        Times the study needs for the distance.

    Raises
    ------
    ValueError
        If a rater has two times for an item, or a time is negative or not finite.

    Notes
    -----
    The study's median is over all items of all raters. Share of the rater's items below
    ``fraction`` times it, Wilson interval. Distance: (m_r − M)/(1.4826·MAD), with m_r the median of
    the rater's log times, M and MAD the median and the median absolute deviation of all log times
    (`robust_z`): logarithms because times are skewed. A rater with many items pulls the study's
    median towards themselves, and short items are done faster: a balanced design makes up for the
    latter. Undefined without times, and where nobody else has any. Greszki, Meyer & Schoen 2015,
    Public Opin. Q. 79:471 (fractions of the median).
    """
    if not 0 < fraction < 1 or shortest <= 0:
        raise ValueError("the fraction lies between 0 and 1, the shortest time above 0")
    by_rater: dict[Hashable, dict[Hashable, float | None]] = {}
    for rater, item, seconds in times:
        own = by_rater.setdefault(rater, {})
        if item in own:
            raise ValueError(f"{rater!r} has two times for {item!r}: give one per rater and item")
        if seconds is not None and seconds < 0:
            raise ValueError(f"{rater!r}, {item!r}: {seconds} seconds")
        own[item] = seconds
    known = {rater: present(list(own.values())) for rater, own in by_rater.items()}
    pooled = np.concatenate([own for own, _ in known.values()]) if known else np.empty(0)
    centre = float(np.median(pooled)) if pooled.size else None
    logs = _Others.of(np.log(np.maximum(pooled, shortest)))
    speeds = {}
    for rater, (own_times, gone) in known.items():
        n = own_times.size
        middle = float(np.median(own_times)) if n else None
        if middle is None or centre is None or n == pooled.size:
            reason = NO_OTHERS if n else NO_TIMES
            nothing = Estimate.without_value(reason, n=n, excluded=gone)
            speeds[rater] = Speed(nothing, nothing, middle, centre, fraction)
            continue
        fast = int((own_times < fraction * centre).sum())
        own_log = float(np.median(np.log(np.maximum(own_times, shortest))))
        speeds[rater] = Speed(
            share(fast, n, level=level, excluded=gone),
            logs.distance(own_log, minimum=items),
            middle,
            centre,
            fraction,
        )
    return speeds


def robust_z(value: float, values: Sequence[float], *, minimum: int) -> Estimate:
    """Compute how far a value lies from others, in robust standard deviations.

    Notes
    -----
    (x − median)/(1.4826·MAD), with MAD the median of the others' absolute deviations from their
    median; 1.4826 makes it a standard deviation for normal values. ``n`` is the number of others.
    Undefined with fewer than ``minimum`` others, and where MAD = 0. Few raters make it coarse.
    Iglewicz & Hoaglin 1993, How to Detect and Handle Outliers (they suggest |z| > 3.5).
    """
    return _Others.of(as_column(values)).distance(value, minimum=minimum)


class _Others(NamedTuple):
    """Values that others are compared with: how many, their median, and what stands for an SD."""

    n: int
    centre: float
    scale: float

    @classmethod
    def of(cls, values: Floats) -> "_Others":
        if not values.size:
            return cls(0, 0.0, 0.0)
        centre = float(np.median(values))
        return cls(values.size, centre, NORMAL * float(np.median(np.abs(values - centre))))

    def distance(self, value: float, *, minimum: int) -> Estimate:
        n, least = self.n, max(minimum, 1)
        if n < least:
            return Estimate.without_value(FEW_VALUES.format(n=n, minimum=least), n=n)
        if self.scale <= 1e-12 * max(1.0, abs(self.centre)):
            return Estimate.without_value(NO_SPREAD, n=n)
        return Estimate((value - self.centre) / self.scale, n, no_interval=STANDARDISED)


def _is_right(answer: Any, truth: Any, tolerance: float) -> bool:
    if isinstance(answer, Real) and isinstance(truth, Real):
        # 3.3 − 3 is a little more than 0.3 in floats.
        return bool(abs(float(answer) - float(truth)) <= tolerance + 1e-9)
    return bool(answer == truth)


def _gold_share(outcomes: Sequence[bool | None], level: float) -> Estimate:
    known = [outcome for outcome in outcomes if outcome is not None]
    gone = {MISSING: len(outcomes) - len(known)} if len(known) < len(outcomes) else {}
    if not known:
        return Estimate.without_value(NO_GOLD, excluded=gone)
    return share(sum(known), len(known), level=level, excluded=gone)
