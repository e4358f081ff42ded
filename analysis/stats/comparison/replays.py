"""What one turn did: replays of a trajectory from that turn, with and without another answer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from scipy import stats

from analysis.stats.columns import check_level, present
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.descriptive.means import mean_t, t_quantile
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import ALL_EQUAL, Estimate, Interval

Values = Sequence[float | None]
NO_REPLAYS = "no replay has a value"
NEWCOMBE = "Newcombe hybrid score"
WELCH = "Welch t"


@dataclass(frozen=True)
class ReplayEffect:
    """A measure under two answers at a turn; ``difference`` is ``first`` minus ``second``.

    ``p_value`` is None where the difference could not be tested.
    """

    first: Estimate
    second: Estimate
    difference: Estimate
    p_value: float | None


def replay_effect(
    first: Values, second: Values, *, rate: bool, copies: bool = False, level: float = 0.95
) -> ReplayEffect:
    """Compare replays under two answers at the same turn.

    Parameters
    ----------
    first, second
        The measure of each replay; None is excluded and counted. Replays are independent: each has
        seeds of its own.
    rate
        Whether values are 0 or 1.
    copies
        Whether all replays under each answer are word for word the same, since nothing in them was
        left to chance. Then there is a difference and neither interval nor test.
    level
        Confidence level as a fraction.

    Notes
    -----
    Rates: difference with Newcombe's hybrid score interval (1998, Stat. Med. 17:873, method 10),
    which needs no spread, and Fisher's exact test, two-sided. Means: Welch's t interval and test
    (1947, Biometrika 34:28); without both where all values of both are equal, since their spread
    then says nothing. Everything is given the shared turns, and the environment's draws in them.
    """
    check_level(level)
    kept_first, gone_first = present(list(first))
    kept_second, gone_second = present(list(second))
    excluded = dict(Counter(gone_first) + Counter(gone_second))
    one, other = (
        share(int(kept.sum()), kept.size, level=level, excluded=gone)
        if rate
        else mean_t(kept, level=level, excluded=gone)
        for kept, gone in ((kept_first, gone_first), (kept_second, gone_second))
    )
    n = kept_first.size + kept_second.size
    if not kept_first.size or not kept_second.size:
        undefined = Estimate.without_value(NO_REPLAYS, n=n, excluded=excluded)
        return ReplayEffect(one, other, undefined, None)
    value = float(kept_first.mean() - kept_second.mean())
    if copies:
        bare = Estimate(value, n, no_interval="all replays are copies", excluded=excluded)
        return ReplayEffect(one, other, bare, None)
    if rate:
        low, high = newcombe_interval(
            int(kept_first.sum()), kept_first.size, int(kept_second.sum()), kept_second.size, level
        )
        wins = [int(kept_first.sum()), int(kept_second.sum())]
        losses = [kept_first.size - wins[0], kept_second.size - wins[1]]
        p = float(stats.fisher_exact(np.array([wins, losses])).pvalue)
        interval = Interval(low, high, level, NEWCOMBE)
        return ReplayEffect(one, other, Estimate(value, n, interval, excluded=excluded), p)
    variances = [
        float(kept.var(ddof=1)) / kept.size if kept.size > 1 else 0.0
        for kept in (kept_first, kept_second)
    ]
    error = sqrt(sum(variances))
    if min(kept_first.size, kept_second.size) < 2 or error < 1e-9:
        bare = Estimate(value, n, no_interval=ALL_EQUAL, excluded=excluded)
        return ReplayEffect(one, other, bare, None)
    parts = zip(variances, (kept_first.size, kept_second.size), strict=True)
    df = error**4 / sum(v * v / (size - 1) for v, size in parts)
    half = t_quantile(df, level) * error
    interval = Interval(value - half, value + half, level, WELCH)
    p = float(2 * stats.t.sf(abs(value) / error, df))
    return ReplayEffect(one, other, Estimate(value, n, interval, excluded=excluded), p)


def newcombe_interval(
    wins: int, n: int, other_wins: int, other_n: int, level: float = 0.95
) -> tuple[float, float]:
    """Return the interval of a difference of two independent rates.

    With the Wilson limits l, u of each rate p: d − sqrt((p₁ − l₁)² + (u₂ − p₂)²) and
    d + sqrt((u₁ − p₁)² + (p₂ − l₂)²). Newcombe 1998, Stat. Med. 17:873, method 10. Needs n > 0.
    """
    z = NormalDist().inv_cdf((1 + level) / 2)

    def wilson(k: int, total: int) -> tuple[float, float, float]:
        p = k / total
        middle = (p + z * z / (2 * total)) / (1 + z * z / total)
        half = z * sqrt(p * (1 - p) / total + z * z / (4 * total**2)) / (1 + z * z / total)
        return p, max(0.0, middle - half), min(1.0, middle + half)

    p1, low1, high1 = wilson(wins, n)
    p2, low2, high2 = wilson(other_wins, other_n)
    low = p1 - p2 - sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2)
    high = p1 - p2 + sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2)
    return max(-1.0, low), min(1.0, high)


# --- Which turn decided it? -----------------------------------------------------------------------


@dataclass(frozen=True)
class TurnTest:
    """Replays that answer anew at a turn, against those that keep it.

    ``difference`` is again minus kept: what this turn cost. ``clear`` says whether
    it is above 0 in the family of all turns; None where it was not tested.
    """

    turn: int
    again: Estimate
    kept: Estimate
    difference: Estimate
    p_value: float | None
    p_adjusted: float | None
    clear: bool | None


@dataclass(frozen=True)
class DecisiveTurns:
    """The tests of all turns; ``decisive`` is the clear turn with the largest difference."""

    turns: tuple[TurnTest, ...]
    family: Family
    decisive: int | None


def decisive_turns(
    before: Sequence[Values], after: Values, *, copies: bool = False, alpha: float = 0.05
) -> DecisiveTurns:
    """Find the turn whose answer lost a trajectory.

    Parameters
    ----------
    before
        For each turn in order, whether (1 or 0) the replays were right that answered anew from
        there on; None is excluded and counted.
    after
        The same of replays that kept all answers.
    copies
        As in `replay_effect`.
    alpha
        Level of the family of all turns.

    Notes
    -----
    A turn is the agent's answer with the replies to it. A replay that answers anew at turn t + 1
    keeps turn t, so the replays of turn t + 1 are the unedited ones of turn t; of the last turn the
    answer is kept and the replies are given anew, so that a judge's luck names no turn. Turn t is
    tested by Fisher's exact test, one-sided: is a new answer right more often than the turn as it
    was? Holm's correction over all turns allows
    for neighbours that share replays, as it holds under any dependence (Holm 1979, Scand. J. Stat.
    6:65). With k = 10, 10 right of 10 against 0 of 10 has p = 5·10⁻⁶ and 7 against 0 has
    p = 0.0015.
    """
    sequence = [*before, after]
    effects = [
        replay_effect(again, kept, rate=True, copies=copies)
        for again, kept in zip(sequence, sequence[1:], strict=False)
    ]
    p_values: Mapping[str, float | None] = {
        str(turn): None if effect.p_value is None else _one_sided(again, kept)
        for turn, (effect, again, kept) in enumerate(
            zip(effects, sequence, sequence[1:], strict=False), 1
        )
    }
    family = adjust_family(p_values, statement="the answers of all turns", alpha=alpha)
    tests = tuple(
        TurnTest(
            turn, effect.first, effect.second, effect.difference, family[str(turn)].p_value,
            family[str(turn)].adjusted, family[str(turn)].clear,
        )
        for turn, effect in enumerate(effects, 1)
    )  # fmt: skip
    clear = [test for test in tests if test.clear]
    best = max(clear, key=lambda test: (test.difference.value or 0.0, -test.turn), default=None)
    return DecisiveTurns(tests, family, best.turn if best else None)


def _one_sided(again: Values, kept: Values) -> float:
    first, second = present(list(again))[0], present(list(kept))[0]
    table = [
        [int(first.sum()), int(second.sum())],
        [int(first.size - first.sum()), int(second.size - second.sum())],
    ]
    return float(stats.fisher_exact(np.array(table), alternative="greater").pvalue)
