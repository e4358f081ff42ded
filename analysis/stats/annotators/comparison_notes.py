"""Notes in plain words where an annotator differs from the others, with the thresholds stated.

Signs of carelessness in one person's answers alone are `annotation.annotator_quality.signs`, the
same on all pages; these notes need other people's answers, and name nobody as careless.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from analysis.stats.annotators.drift import Drift
from analysis.stats.annotators.rater_quality import Speed
from analysis.stats.annotators.straight_lining import StraightLining
from analysis.stats.results import Estimate


class Comparison(StrEnum):
    """The subject of a note."""

    DRIFT = "drift"
    SPREAD = "little spread"
    FAST = "fast items"
    PACE = "fast pace"


@dataclass(frozen=True)
class ComparisonNote:
    """One comparison that crossed its threshold; ``text`` says both in plain words."""

    rater: Hashable
    sign: Comparison
    text: str
    value: float
    threshold: float


def comparison_notes(
    *,
    drifts: Mapping[Hashable, Drift] | None = None,
    straight: Mapping[Hashable, StraightLining] | None = None,
    speeds: Mapping[Hashable, Speed] | None = None,
    most_drift: float = 0.5,
    drift_p: float = 0.05,
    items: int = 10,
    least_spread_z: float = -3.0,
    most_fast: float = 0.2,
    least_pace_z: float = -2.0,
) -> tuple[ComparisonNote, ...]:
    """Note where a rater differs from the others; an undefined comparison gives no note.

    Parameters
    ----------
    drifts, straight, speeds
        Results by rater of `drift.drift`, `straight_lining.straight_lining` and
        `rater_quality.speeding`; what is left out gives none.
    most_drift, drift_p
        Note where drift is at least this many points either way *and* its p-value, times the number
        of raters tested (Bonferroni), is at most this.
    items
        Items that spread and speed need before they are noted.
    least_spread_z
        Note at or below this distance of the spread.
    most_fast, least_pace_z
        Note above this share of fast items, and at or below this distance of the pace.

    Notes
    -----
    The thresholds are conventions, no tests, except for drift; choose them before looking. A study
    of many raters will show some notes by chance alone.
    """
    notes = _drift_notes(drifts or {}, most_drift, drift_p)
    notes += _spread_notes(straight or {}, items, least_spread_z)
    notes += _speed_notes(speeds or {}, items, most_fast, least_pace_z)
    return tuple(notes)


def _drift_notes(
    drifts: Mapping[Hashable, Drift], most: float, level: float
) -> list[ComparisonNote]:
    tested = sum(drift.p_value is not None for drift in drifts.values())
    notes = []
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
            notes.append(ComparisonNote(rater, Comparison.DRIFT, text, change, most))
    return notes


def _spread_notes(
    straight: Mapping[Hashable, StraightLining], items: int, least_z: float
) -> list[ComparisonNote]:
    notes = []
    for rater, signs in straight.items():
        z, spread = signs.spread_z.value, signs.spread
        if z is not None and z <= least_z and spread.value is not None and spread.n >= items:
            text = (
                f"Answers within an item differ far less than other people's ({spread.value:.2f} "
                f"points on average, {z:.1f} robust standard deviations from them); noted from "
                f"{least_z:g} down."
            )
            notes.append(ComparisonNote(rater, Comparison.SPREAD, text, z, least_z))
    return notes


def _speed_notes(
    speeds: Mapping[Hashable, Speed], items: int, most_fast: float, least_z: float
) -> list[ComparisonNote]:
    notes = []
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
            notes.append(ComparisonNote(rater, Comparison.FAST, text, fast.value, most_fast))
        if z is not None and z <= least_z:
            text = (
                f"The median time of an item is {speed.median:.0f} s, the study's is "
                f"{speed.study_median:.0f} s ({z:.1f} robust standard deviations away); noted from "
                f"{least_z:g} down."
            )
            notes.append(ComparisonNote(rater, Comparison.PACE, text, z, least_z))
    return notes


def _of(share: Estimate, noun: str) -> str:
    """Write a share as a count and percent: 3 of 10 items (30 %)."""
    value = share.value or 0.0
    return f"{round(value * share.n)} of {share.n} {noun} ({_percent(value)})"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g} %"
