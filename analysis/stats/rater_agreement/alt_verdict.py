"""Whether the alternative annotator test's outcome may be read as a verdict on a judge.

The test alone lets a judge pass that always gives the same answer, where people mostly give it too.
So each judge is also compared with the best constant judge and with chance.
"""

from dataclasses import dataclass, replace
from typing import Literal

from analysis.stats.rater_agreement.alt_power import Power
from analysis.stats.results import Estimate

Reason = Literal["", "constant_judge", "chance_agreement", "too_few"]

# The lowest alpha from which tentative conclusions may be drawn: Krippendorff 2004, Content
# Analysis, 2nd ed., p. 241.
LOW_ALPHA = 0.667
ENOUGH_POWER = 0.8

SAME_AS_CONSTANT = "not distinguishable from always answering {answer}"
WORSE_THAN_CONSTANT = "less often as close to people as always answering {answer} is"
ALWAYS = "the judge always answers {own}"
CHANCE = "its agreement with people is not distinguishable from chance"
BELOW_CHANCE = "it agrees with people less than by chance"
ALL_ALIKE = "all answers are equal, so agreement beyond chance is undefined"
CONSTANT_START = "a constant judge also passes"
CONSTANT_PASSES = CONSTANT_START + ": always answering {answer} has winning rate {rate:.2f}"
ALPHA_LOW = "people agree little with each other: ordinal alpha {alpha}, below 0.667"
ALPHA_UNDEFINED = "ordinal alpha of people is undefined, so nobody knows how far they agree"


@dataclass(frozen=True)
class BestConstant:
    """The answer with which a judge that always gives it does best in the same test.

    Attributes
    ----------
    answer
        The answer of the scale with the highest winning rate; of several, the one with the highest
        advantage probability.
    winning_rate, advantage, passes
        As of a judge, adjusted over the people of this test alone.
    """

    answer: int
    winning_rate: float
    advantage: float
    passes: bool


@dataclass(frozen=True)
class Verdict:
    """What may be concluded about a judge.

    Attributes
    ----------
    withheld
        Whether there is no verdict: see ``reason`` and ``text``.
    passes
        Whether the judge may stand in for a person; None where the verdict is withheld.
    reason
        ``too_few``: the test is not available. ``constant_judge``: the judge always gives one
        answer, or cannot be told from the best constant. ``chance_agreement``: its agreement with
        people cannot be told from chance. Empty where there is a verdict.
    why, text
        The same in words: the reason alone, and a sentence with the winning rates.
    best_constant
        None where the test is not available.
    beyond_constant
        Its advantage probability minus the best constant's, on the same items, paired.
    chance_corrected
        Its agreement with single answers of people beyond chance.
    constant
        The judge's only answer; None where it gives several.
    people_alpha
        Ordinal alpha of people on the items tested; None where it is undefined.
    power
        How often a judge as good as a person would pass.
    cautions
        What to keep in mind with the verdict.
    """

    withheld: bool
    passes: bool | None
    reason: Reason
    why: str
    text: str
    best_constant: BestConstant | None
    beyond_constant: Estimate
    chance_corrected: Estimate
    constant: float | None
    people_alpha: float | None
    power: Power | None
    cautions: tuple[str, ...]


def not_available(why: str) -> Verdict:
    """Return the verdict where there is no test."""
    nothing = Estimate.without_value(why)
    return Verdict(
        True, None, "too_few", why, f"Verdict withheld: {why}.", None, nothing, nothing, None,
        None, None, (),
    )  # fmt: skip


def undecided(
    best: BestConstant,
    beyond: Estimate,
    corrected: Estimate,
    *,
    constant: float | None,
    people_alpha: float | None,
    power: Power,
) -> Verdict:
    """Return what a verdict rests on; `decided` says what it is."""
    return Verdict(
        True, None, "", "", "", best, beyond, corrected, constant, people_alpha, power, ()
    )


def decided(verdict: Verdict, *, passed: bool, winning_rate: float) -> Verdict:
    """Decide a verdict from the outcome of the test.

    Notes
    -----
    Withheld where the judge has one answer only; where the interval of ``beyond_constant`` reaches
    0; where that of ``chance_corrected`` does. An interval that lies below 0 altogether withholds
    a pass, and agrees with a failure, which is then the verdict. No interval counts as reaching 0,
    unless the value lies above 0 (then it is the same in every resample).
    """
    best = verdict.best_constant
    if best is None:
        return verdict
    beyond, corrected = verdict.beyond_constant, verdict.chance_corrected
    answer = str(best.answer)
    why: list[str] = []
    reason: Reason = ""
    same = _reaches_zero(beyond)
    if verdict.constant is not None:
        reason = "constant_judge"
        if verdict.constant != best.answer:
            why.append(ALWAYS.format(own=f"{verdict.constant:g}"))
        else:
            same = True
    if same:
        reason = "constant_judge"
        why.append(SAME_AS_CONSTANT.format(answer=answer))
    elif passed and _below_zero(beyond):
        reason = "constant_judge"
        why.append(WORSE_THAN_CONSTANT.format(answer=answer))
    if _reaches_zero(corrected) or passed and _below_zero(corrected):
        reason = reason or "chance_agreement"
        if corrected.value is None:
            why.append(ALL_ALIKE)
        elif verdict.constant is None:
            why.append(BELOW_CHANCE if _below_zero(corrected) else CHANCE)
    rate = f"winning rate {winning_rate:.2f}"
    if reason:
        words = ", and ".join(why)
        text = (
            f"Verdict withheld: {words}. The test alone: {rate}; always answering {answer}: "
            f"{best.winning_rate:.2f}."
        )
        return replace(
            verdict, withheld=True, passes=None, reason=reason, why=words, text=text,
            cautions=_cautions(verdict, passes=False),
        )  # fmt: skip
    may = "May" if passed else "May not"
    text = f"{may} stand in for a person: {rate}; always answering {answer}: " + (
        f"{best.winning_rate:.2f}."
    )
    return replace(
        verdict, withheld=False, passes=passed, reason="", why="", text=text,
        cautions=_cautions(verdict, passes=passed),
    )  # fmt: skip


def _cautions(verdict: Verdict, *, passes: bool) -> tuple[str, ...]:
    best, alpha, power = verdict.best_constant, verdict.people_alpha, verdict.power
    found = []
    if passes and best is not None and best.passes:
        found.append(CONSTANT_PASSES.format(answer=best.answer, rate=best.winning_rate))
    if alpha is None:
        found.append(ALPHA_UNDEFINED)
    elif alpha < LOW_ALPHA:
        found.append(ALPHA_LOW.format(alpha=f"{alpha:.2f}".replace("-", "−")))
    if power is not None and power.power < ENOUGH_POWER:
        found.append(power.in_words)
    return tuple(found)


def _reaches_zero(estimate: Estimate) -> bool:
    if estimate.interval is None:
        return estimate.value is None or estimate.value == 0
    return estimate.interval.low <= 0 <= estimate.interval.high


def _below_zero(estimate: Estimate) -> bool:
    if estimate.interval is None:
        return estimate.value is not None and estimate.value < 0
    return estimate.interval.high < 0
