"""Warnings in plain words from the signs of careless answering, with the thresholds stated."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from analysis.stats.annotators.drift import Drift
from analysis.stats.annotators.rater_quality import Speed
from analysis.stats.annotators.straight_lining import StraightLining
from analysis.stats.results import Estimate


class Sign(StrEnum):
    """The subject of a warning."""

    GOLD = "gold accuracy"
    DRIFT = "drift"
    EQUAL = "equal answers"
    RUN = "identical items in a row"
    SPREAD = "little spread"
    FAST = "fast items"
    PACE = "fast pace"


@dataclass(frozen=True)
class QualityWarning:
    """One sign that crossed its threshold; ``text`` says both in plain words."""

    rater: Hashable
    sign: Sign
    text: str
    value: float
    threshold: float


def quality_warnings(
    *,
    gold: Mapping[Hashable, Estimate] | None = None,
    drifts: Mapping[Hashable, Drift] | None = None,
    straight: Mapping[Hashable, StraightLining] | None = None,
    speeds: Mapping[Hashable, Speed] | None = None,
    least_gold: float = 0.8,
    gold_answers: int = 5,
    most_drift: float = 0.5,
    drift_p: float = 0.05,
    items: int = 10,
    most_equal: float = 0.5,
    longest_run: int = 5,
    least_spread_z: float = -3.0,
    most_fast: float = 0.2,
    least_pace_z: float = -2.0,
) -> tuple[QualityWarning, ...]:
    """Turn the signs of each rater into warnings; an undefined sign gives none.

    Parameters
    ----------
    gold, drifts, straight, speeds
        Results by rater of `rater_quality.gold_accuracy`, `drift.drift`,
        `straight_lining.straight_lining` and `rater_quality.speeding`; what is left out gives none.
    least_gold, gold_answers
        Warn below this gold accuracy, from this many gold answers on.
    most_drift, drift_p
        Warn where drift is at least this many points either way *and* its p-value, times the number
        of raters tested (Bonferroni), is at most this.
    items
        Items that shares of equal answers, runs, spread and speed need before they are a sign.
    most_equal, longest_run, least_spread_z
        Warn above this share of items with equal answers, from this many identical items in a row
        on (meant for forms of several questions), and at or below this distance of the spread.
    most_fast, least_pace_z
        Warn above this share of fast items, and at or below this distance of the pace.

    Notes
    -----
    The thresholds are conventions, no tests, except for drift; choose them before looking. A study
    of many raters will show some warnings by chance alone.
    """
    found = [*_gold_warnings(gold or {}, least_gold, gold_answers)]
    found += _drift_warnings(drifts or {}, most_drift, drift_p)
    found += _straight_warnings(straight or {}, items, most_equal, longest_run, least_spread_z)
    found += _speed_warnings(speeds or {}, items, most_fast, least_pace_z)
    return tuple(found)


def _gold_warnings(
    gold: Mapping[Hashable, Estimate], least: float, answers: int
) -> list[QualityWarning]:
    return [
        QualityWarning(
            rater,
            Sign.GOLD,
            f"{_of(estimate, 'known answers')} are right; {_percent(least)} or more are expected.",
            estimate.value,
            least,
        )
        for rater, estimate in gold.items()
        if estimate.value is not None and estimate.n >= answers and estimate.value < least
    ]


def _drift_warnings(
    drifts: Mapping[Hashable, Drift], most: float, level: float
) -> list[QualityWarning]:
    tested = sum(drift.p_value is not None for drift in drifts.values())
    found = []
    for rater, drift in drifts.items():
        change = drift.difference.value
        if change is None or drift.p_value is None or abs(change) < most:
            continue
        p = min(1.0, drift.p_value * tested)
        if p <= level:
            whose = "the judges'" if drift.reference == "judges" else "other people's"
            text = (
                f"Compared with {whose} scores of the same items, those of the last third are "
                f"{abs(change):.2f} points {'higher' if change > 0 else 'lower'} than in the first "
                f"(p = {p:.3f}, corrected for {tested} tested); noted from {most:g} points on."
            )
            found.append(QualityWarning(rater, Sign.DRIFT, text, change, most))
    return found


def _straight_warnings(
    straight: Mapping[Hashable, StraightLining],
    items: int,
    most_equal: float,
    longest_run: int,
    least_z: float,
) -> list[QualityWarning]:
    found = []
    for rater, signs in straight.items():
        equal, run = signs.equal, signs.longest_run
        if equal.value is not None and equal.n >= items and equal.value > most_equal:
            text = (
                f"{_of(equal, 'items')} have the same answer to every question; noted above "
                f"{_percent(most_equal)}."
            )
            found.append(QualityWarning(rater, Sign.EQUAL, text, equal.value, most_equal))
        if run.value is not None and run.n >= items and run.value >= longest_run:
            text = (
                f"{run.value:.0f} items in a row have exactly the same answers; noted from "
                f"{longest_run} on."
            )
            found.append(QualityWarning(rater, Sign.RUN, text, run.value, longest_run))
        z, spread = signs.spread_z.value, signs.spread
        if z is not None and z <= least_z and spread.value is not None and spread.n >= items:
            text = (
                f"Answers within an item differ far less than other people's ({spread.value:.2f} "
                f"points on average, {z:.1f} robust standard deviations from them); noted from "
                f"{least_z:g} down."
            )
            found.append(QualityWarning(rater, Sign.SPREAD, text, z, least_z))
    return found


def _speed_warnings(
    speeds: Mapping[Hashable, Speed], items: int, most_fast: float, least_z: float
) -> list[QualityWarning]:
    found = []
    for rater, speed in speeds.items():
        fast, z = speed.fast, speed.z.value
        if fast.value is None or speed.median is None or speed.study_median is None:
            continue
        if fast.n < items:
            continue
        if fast.value > most_fast:
            text = (
                f"{_of(fast, 'items')} took under {speed.fraction * speed.study_median:.0f} s, "
                f"which is {_percent(speed.fraction)} of the study's median time; noted above "
                f"{_percent(most_fast)} of items."
            )
            found.append(QualityWarning(rater, Sign.FAST, text, fast.value, most_fast))
        if z is not None and z <= least_z:
            text = (
                f"The median time of an item is {speed.median:.0f} s, the study's is "
                f"{speed.study_median:.0f} s ({z:.1f} robust standard deviations away); noted from "
                f"{least_z:g} down."
            )
            found.append(QualityWarning(rater, Sign.PACE, text, z, least_z))
    return found


def _of(share: Estimate, noun: str) -> str:
    """Write a share as a count and percent: 3 of 10 items (30 %)."""
    value = share.value or 0.0
    return f"{round(value * share.n)} of {share.n} {noun} ({_percent(value)})"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g} %"
