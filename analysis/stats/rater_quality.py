"""Signs that one person answers with less care than the others: gold, straight lines, speed.

Signs, not proof: each has innocent explanations, and none is a reason to drop anybody's answers
without looking. `drift` holds the fourth; `rater_warnings` turns them into warnings.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log
from numbers import Real
from statistics import median
from typing import Any

import numpy as np

from analysis.stats.columns import MISSING, is_missing, present
from analysis.stats.means import mean_t
from analysis.stats.proportions import share
from analysis.stats.results import Estimate

# One rater's answers to one item, in the order of its questions; None for a question left out.
Sheet = tuple[Hashable, Hashable, Sequence[Any]]

NO_GOLD = "answered no item with a known answer"
NO_ANSWERS = "no answered item"
NO_FULL_ITEMS = "no item with answers to {questions} questions"
NOT_NUMBERS = "the answers are no numbers"
NO_TIMES = "no item with an active time"
NO_OTHERS = "nobody else's times to compare with"
FEW_VALUES = "only {n} values to compare with, of {minimum} needed"
NO_SPREAD = "half of the values to compare with, or more, are equal: no distance from them"
COUNTED = "a count: no interval"
STANDARDISED = "a distance in robust standard deviations: no interval"
# Scales the median absolute deviation to the standard deviation of a normal distribution.
NORMAL = 1.4826


@dataclass(frozen=True)
class StraightLining:
    """Whether a rater gives the same answer to everything.

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


@dataclass(frozen=True)
class Speed:
    """How fast a rater works, by active seconds per item.

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
    right: dict[Hashable, list[bool | None]] = {}
    for rater, rows in _by_rater(sheets).items():
        outcomes = right.setdefault(rater, [])
        for item, answers in rows:
            known = gold.get(item, [None] * len(answers))
            if len(known) != len(answers):
                raise ValueError(f"{item!r}: {len(answers)} answers for {len(known)} gold answers")
            outcomes += [
                None if is_missing(answer) else _is_right(answer, truth, tolerance)
                for answer, truth in zip(answers, known, strict=True)
                if not is_missing(truth)
            ]
    return {rater: _gold_share(outcomes, level) for rater, outcomes in right.items()}


def straight_lining(
    sheets: Iterable[Sheet], *, questions: int = 3, others: int = 3, level: float = 0.95
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
    by_rater = _by_rater(sheets)
    spreads = {rater: _spread(rows, questions, level) for rater, rows in by_rater.items()}
    found = {}
    for rater, rows in by_rater.items():
        rest = [s.value for r, s in spreads.items() if r != rater and s.value is not None]
        own = spreads[rater]
        found[rater] = StraightLining(
            _equal_share(rows, questions, level),
            _longest_run(rows),
            own,
            Estimate.without_value(own.undefined)
            if own.value is None
            else robust_z(own.value, rest, minimum=others),
        )
    return found


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
    pooled = [float(t) for own, _ in known.values() for t in own]
    logs = [log(max(t, shortest)) for t in pooled]
    found = {}
    for rater, (own_times, gone) in known.items():
        n = own_times.size
        middle = float(np.median(own_times)) if n else None
        centre = float(np.median(pooled)) if pooled else None
        if middle is None or centre is None or n == len(pooled):
            reason = NO_OTHERS if n else NO_TIMES
            nothing = Estimate.without_value(reason, n=n, excluded=gone)
            found[rater] = Speed(nothing, nothing, middle, centre, fraction)
            continue
        fast = int((own_times < fraction * centre).sum())
        own_log = float(np.median(np.log(np.maximum(own_times, shortest))))
        found[rater] = Speed(
            share(fast, n, level=level, excluded=gone),
            robust_z(own_log, logs, minimum=items),
            middle,
            centre,
            fraction,
        )
    return found


def robust_z(value: float, values: Sequence[float], *, minimum: int) -> Estimate:
    """Compute how far a value lies from others, in robust standard deviations.

    Notes
    -----
    (x − median)/(1.4826·MAD), with MAD the median of the others' absolute deviations from their
    median; 1.4826 makes it a standard deviation for normal values. ``n`` is the number of others.
    Undefined with fewer than ``minimum`` others, and where MAD = 0. Few raters make it coarse.
    Iglewicz & Hoaglin 1993, How to Detect and Handle Outliers (they suggest |z| > 3.5).
    """
    n = len(values)
    if n < max(minimum, 1):
        return Estimate.without_value(FEW_VALUES.format(n=n, minimum=max(minimum, 1)), n=n)
    centre = median(values)
    scale = NORMAL * median(abs(v - centre) for v in values)
    if scale <= 1e-12 * max(1.0, abs(centre)):
        return Estimate.without_value(NO_SPREAD, n=n)
    return Estimate((value - centre) / scale, n, no_interval=STANDARDISED)


def _by_rater(sheets: Iterable[Sheet]) -> dict[Hashable, list[tuple[Hashable, tuple[Any, ...]]]]:
    """Each rater's items and answers in the order given."""
    found: dict[Hashable, dict[Hashable, tuple[Any, ...]]] = {}
    for rater, item, answers in sheets:
        own = found.setdefault(rater, {})
        if item in own:
            raise ValueError(f"{rater!r} answers {item!r} twice: give one row per rater and item")
        own[item] = tuple(None if is_missing(answer) else answer for answer in answers)
    return {rater: list(own.items()) for rater, own in found.items()}


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


def _answered(
    rows: Sequence[tuple[Hashable, tuple[Any, ...]]], questions: int
) -> tuple[list[list[Any]], dict[str, int]]:
    """Given answers of the items that have enough of them, and how many items have too few."""
    given = [[a for a in answers if a is not None] for _, answers in rows]
    kept = [answers for answers in given if len(answers) >= questions]
    gone = len(given) - len(kept)
    return kept, {f"fewer than {questions} answers": gone} if gone else {}


def _equal_share(
    rows: Sequence[tuple[Hashable, tuple[Any, ...]]], questions: int, level: float
) -> Estimate:
    kept, gone = _answered(rows, questions)
    if not kept:
        return Estimate.without_value(NO_FULL_ITEMS.format(questions=questions), excluded=gone)
    straight = sum(all(answer == answers[0] for answer in answers) for answers in kept)
    return share(straight, len(kept), level=level, excluded=gone)


def _longest_run(rows: Sequence[tuple[Hashable, tuple[Any, ...]]]) -> Estimate:
    vectors = [answers for _, answers in rows if any(a is not None for a in answers)]
    if not vectors:
        return Estimate.without_value(NO_ANSWERS)
    longest = max(sum(1 for _ in run) for _, run in groupby(vectors))
    return Estimate(longest, len(vectors), no_interval=COUNTED)


def _spread(
    rows: Sequence[tuple[Hashable, tuple[Any, ...]]], questions: int, level: float
) -> Estimate:
    kept, gone = _answered(rows, questions)
    if not kept:
        return Estimate.without_value(NO_FULL_ITEMS.format(questions=questions), excluded=gone)
    if not all(isinstance(answer, Real) for answers in kept for answer in answers):
        return Estimate.without_value(NOT_NUMBERS, n=len(kept), excluded=gone)
    return mean_t([float(np.std(answers)) for answers in kept], level=level, excluded=gone)
