"""The alternative annotator test: whether a judge may stand in for one of the people who annotate.

`alt_test` makes one test; where several are made, `adjust_together` adjusts their p-values as one
family. Calderon, Reichart & Dror 2025, ACL, "The Alternative Annotator Test for LLM-as-a-Judge".
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import ceil, sqrt
from statistics import NormalDist, median
from typing import Any

import numpy as np

from analysis.stats.columns import (
    Floats,
    as_column,
    as_floats,
    check_length_of,
    check_level,
    encode,
)
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.rater_agreement.alpha import alphas, coincidences
from analysis.stats.rater_agreement.alt_verdict import (
    Power,
    StandInVerdict,
    basis,
    compared_wins,
    decided,
    mean_share,
    not_available,
    power_for,
)
from analysis.stats.rater_agreement.non_inferiority import (
    MARGIN,
    MOST_ITEMS,
    Answer,
    non_inferiority,
)
from analysis.stats.resampling import (
    RESAMPLES,
    Units,
    distinct_rows,
    estimate_from_draws,
    repeated,
    resampled,
    units_to_draw,
)
from analysis.stats.results import Estimate

PASSING = 0.5
RATE = "winning rate: share of people against whom the judge wins"
NO_SAMPLE = "a share of these people, who are no sample: no interval"
NEAR_START = "one person away"
NEAR = NEAR_START + " from the other verdict (winning rate {rate:.2f}): read the p-values"


@dataclass(frozen=True)
class AnnotatorResult:
    """The judge against one person, both compared with the other people.

    Attributes
    ----------
    n
        Items that the person, the judge and another person scored.
    advantage
        Share of them on which the judge is at least as close to the others as the person (ρ^f).
    person
        The same share for the person (ρ^h); they add up to more than 1, since ties count for both.
    p
        Of the one-sided test that the judge is worse by ε or more.
    adjusted
        The same after Benjamini and Yekutieli's control over the family.
    won
        ``adjusted`` ≤ q: the judge holds its own against this person.
    p_worse
        Of the opposite test: small where the judge is shown to be worse by more than ε.
    lost
        ``p_worse`` ≤ q after the same adjustment.
    """

    annotator: str
    n: int
    advantage: float
    person: float
    p: float
    adjusted: float
    won: bool
    p_worse: float = 1.0
    lost: bool = False


@dataclass(frozen=True)
class AltTest:
    """The result of the alternative annotator test: whether a judge may replace people.

    Attributes
    ----------
    judge, criterion
        Who was tested, on what.
    epsilon, q, margin
        How much worse the judge may be because it is cheaper; the false discovery rate; how far its
        kappa may lie below people's.
    winning_rate
        Share of the people tested against whom the judge won; ``n`` is how many they are.
    advantage
        Mean of their ``AnnotatorResult.advantage``, with a bootstrap interval over items or tasks.
    passed
        Outcome of the test alone, winning rate ≥ 0.5, which a judge that always gives the same
        answer can reach: read ``verdict``. None where the test is not available.
    annotators, left_out
        Results by person, and people left out with the number of their items.
    verdict
        What may be concluded from non-inferiority and this test together.
    family, tests
        Which p-values were adjusted together, and how many they are.
    """

    judge: str
    criterion: str
    epsilon: float
    q: float
    margin: float
    winning_rate: Estimate
    advantage: Estimate
    passed: bool | None
    annotators: tuple[AnnotatorResult, ...]
    left_out: Mapping[str, int]
    verdict: StandInVerdict
    family: str = ""
    tests: int = 0
    warnings: tuple[str, ...] = ()
    method: str = "alternative annotator test, negative root mean squared error"


def adjust_together(tests: Sequence[AltTest], *, statement: str) -> tuple[AltTest, ...]:
    """Adjust the p-values of several tests as one family, and decide winning rates anew.

    Parameters
    ----------
    tests
        Those that are not available stay as they are and do not make the family larger.
    statement
        Which tests these are, in words.

    Raises
    ------
    ValueError
        If their q differ.

    Notes
    -----
    Where judges and criteria are screened together, people's p-values of all tests form the family:
    a judge that passes by luck is likelier the more of them are tried. Benjamini & Yekutieli 2001
    (`multiplicity.adjust_family`).
    """
    if len({test.q for test in tests}) > 1:
        raise ValueError("tests of one family need the same q")
    if not tests:
        return ()
    better, worse = (
        adjust_family(
            {
                f"{t} {result.annotator}": getattr(result, p)
                for t, test in enumerate(tests)
                for result in test.annotators
            },
            statement=statement,
            method="by",
            alpha=tests[0].q,
        )
        for p in ("p", "p_worse")
    )
    return tuple(
        _decided(
            test,
            [
                replace(
                    result,
                    adjusted=float(better[key].adjusted or 0),
                    won=bool(better[key].clear),
                    lost=bool(worse[key].clear),
                )
                for result in test.annotators
                for key in [f"{t} {result.annotator}"]
            ],
            better,
        )
        for t, test in enumerate(tests)
    )


def _decided(test: AltTest, results: list[AnnotatorResult], family: Family) -> AltTest:
    if not results:
        return test
    won, n = sum(result.won for result in results), len(results)
    rate = won / n
    passed = rate >= PASSING
    # So many people that the winning rate could not reach its threshold with more items.
    lost = sum(result.lost for result in results) / n > 1 - PASSING
    answer: Answer = "passes" if passed else "worse" if lost else "undecided"
    near = (won - 1) / n < PASSING if passed else (won + 1) / n >= PASSING
    warnings = [warning for warning in test.warnings if not warning.startswith(NEAR_START)]
    return replace(
        test,
        annotators=tuple(results),
        winning_rate=Estimate(rate, n, no_interval=NO_SAMPLE, method=RATE),
        passed=passed,
        verdict=decided(
            test.verdict,
            answer,
            winning_rate=rate,
            items_to_decide=_items_to_decide(results, test.advantage.n, test.q, family.size),
        ),
        family=family.statement,
        tests=family.size,
        warnings=(*warnings, *([NEAR.format(rate=rate)] if near else [])),
    )


def _items_to_decide(
    results: Sequence[AnnotatorResult], items: int, q: float, tests: int
) -> int | None:
    """Return with how many items the test would be decided, if the judge stays as it is.

    A p-value says how many standard errors a difference lies from ε; they shrink with √n. The
    threshold is that of the middle one of all p-values of the family.
    """
    half = ceil(tests / 2)
    line = -NormalDist().inv_cdf(q * half / (tests * sum(1 / rank for rank in range(1, tests + 1))))
    far = [abs(NormalDist().inv_cdf(min(max(result.p, 1e-12), 1 - 1e-12))) for result in results]
    away = median(far)
    needed = items * max(1.0, (line / away) ** 2) if away > 0 else float(MOST_ITEMS + 1)
    return ceil(needed) if needed <= MOST_ITEMS else None


PEOPLE_NEEDED, ITEMS_NEEDED = 3, 30

TOO_FEW_PEOPLE = (
    "not available: {n} of {of} people scored {items} items or more together with the judge and "
    "another person; {needed} are needed"
)
SHARED_TASKS = (
    "items of one {unit} are not independent: p-values are by {unit}, with as many degrees of "
    "freedom less one"
)
ADVANTAGE = "advantage probability: mean over people"


def alt_test(
    people: Any,
    judge: Any,
    *,
    epsilon: float,
    margin: float = MARGIN,
    names: Sequence[str] | None = None,
    label: str = "judge",
    criterion: str = "",
    scale: tuple[int, int] = (1, 5),
    q: float = 0.05,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> AltTest:
    """Test whether a judge, or a panel of judges, may stand in for one of the people.

    Parameters
    ----------
    people
        n rows of h numbers, one row per item and one column per person; None or NaN for no score.
    judge
        n numbers: the judge's scores, or a panel's rounded to the scale; None or NaN for no score.
    epsilon
        How much worse the judge may be, because it is cheaper. It has no default: choose it before
        looking. Customary are 0.1 beside crowd workers, 0.15 beside skilled annotators, 0.2 beside
        experts.
    margin
        How far the judge's kappa with people may lie below people's own (`non_inferiority`); it is
        chosen before looking, too.
    names, label, criterion
        Of people, judge and what is scored.
    scale
        Lowest and highest score.
    q
        False discovery rate over the people of this test.
    clusters, unit
        What each item belongs to. Where one occurs twice, tests and interval go by clusters.
    seed, resamples, level
        Of the interval of the advantage probability.

    Raises
    ------
    ValueError
        If epsilon or q lies outside 0 to 1, or shapes do not fit.

    Notes
    -----
    For person j and each of the items that j, the judge f and at least one more person scored:
    S(x) = −sqrt(mean over the other people r of (x − h_r)²); W^f = 1 if S(f) ≥ S(h_j), W^h = 1 if
    S(h_j) ≥ S(f). H₀: ρ^f ≤ ρ^h − ε, tested by a one-sided t test of d = W^h − W^f against ε.
    Over the people p-values are adjusted by Benjamini & Yekutieli 2001, Ann. Stat. 29:1165 (they
    depend on each other). Winning rate ω: share of people with adjusted p ≤ q; the judge passes
    where ω ≥ 0.5. Advantage probability: mean of ρ^f over people.

    Where clusters repeat, the t test has the standard error that allows for dependence inside
    clusters, sqrt(G/(G − 1) Σ_g (Σ_{i∈g} (d_i − d̄))²)/n, and G − 1 degrees of freedom; with one
    item in each it is the ordinary t test. Where all d are equal there is no standard error: p = 0
    if their mean lies below ε, else 1. Scores closer to the others by less than 10⁻⁹ points are
    ties.

    Not available under three people with 30 such items each: people with fewer are left out. The
    outcome is fragile at its threshold, so read p-values and advantage beside it.

    ``passed`` is the outcome of the test alone, which a judge that always gives the same answer can
    reach. ``verdict`` is what may be concluded: standing in takes non-inferiority as well
    (`alt_verdict.decided`). The mean of several judges' whole scores hardly ever ties with a person
    where a single judge does, so round a panel's before it is tested.
    """
    check_level(level)
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon is a fraction from 0 to 1, such as 0.1, not {epsilon}")
    if not 0 < q < 1:
        raise ValueError(f"q is a fraction between 0 and 1, such as 0.05, not {q}")
    scores, own = as_floats(people), as_column(judge)
    if scores.ndim != 2 or len(scores) != own.size:
        raise ValueError(f"people: shape {scores.shape} for {own.size} items")
    labels = [f"person {j + 1}" for j in range(scores.shape[1])] if names is None else list(names)
    check_length_of(labels, scores.shape[1], "names")
    if clusters is not None:
        check_length_of(clusters, own.size, "clusters")
    person_wins, judge_wins, compared = compared_wins(scores, own)
    ns = compared.sum(axis=0)
    tested = np.flatnonzero(ns >= ITEMS_NEEDED)
    left_out = {labels[j]: int(n) for j, n in enumerate(ns) if n < ITEMS_NEEDED}
    if len(tested) < PEOPLE_NEEDED:
        nothing = Estimate.without_value(
            TOO_FEW_PEOPLE.format(
                n=len(tested), of=len(labels), items=ITEMS_NEEDED, needed=PEOPLE_NEEDED
            ),
            n=len(tested),
        )
        return AltTest(
            label, criterion, epsilon, q, margin, nothing, nothing, None, (), left_out,
            not_available(nothing.undefined.removeprefix("not available: ")),
        )  # fmt: skip
    groups = None if clusters is None else repeated(list(clusters))
    results = []
    for j in tested:
        rows = compared[:, j]
        d = person_wins[rows, j] - judge_wins[rows, j]
        own_groups = None if groups is None else list(compress(groups, rows))
        results.append(
            AnnotatorResult(
                labels[j],
                int(ns[j]),
                float(judge_wins[rows, j].mean()),
                float(person_wins[rows, j].mean()),
                worse_by(d, epsilon, clusters=own_groups),
                1.0,
                False,
                # Worse by more than ε: the same test of the opposite difference.
                worse_by(-d, -epsilon, clusters=own_groups),
            )
        )
    units = _units(judge_wins[:, tested], compared[:, tested], groups, unit)
    drawn = resampled(units, mean_share, seed=seed, resamples=resamples)
    advantage = estimate_from_draws(
        float(np.mean([result.advantage for result in results])),
        int(compared[:, tested].any(axis=1).sum()),
        drawn,
        units,
        level=level,
        seed=seed,
        method=ADVANTAGE,
    )
    used = compared[:, tested].any(axis=1)
    kept = None if groups is None else list(compress(groups, used))
    agreement = non_inferiority(
        scores, own, compared, tested, margin=margin, clusters=groups, unit=unit, level=level
    )
    mine = np.where(compared, scores, np.nan)[np.ix_(used, tested)]
    verdict = basis(
        agreement,
        people_alpha=_ordinal_alpha(mine),
        power=_power(
            mine, (person_wins - judge_wins)[np.ix_(used, tested)], kept, scale=scale,
            epsilon=epsilon, q=q, margin=margin, gap_effect=agreement.design_effect,
        ),
    )  # fmt: skip
    test = AltTest(
        label, criterion, epsilon, q, margin,
        Estimate(0, len(results), no_interval=NO_SAMPLE, method=RATE), advantage,
        None, tuple(results), left_out, verdict,
        warnings=(SHARED_TASKS.format(unit=unit),) if groups is not None else (),
    )  # fmt: skip
    statement = f"{len(results)} people, {label}" + (f" on {criterion}" if criterion else "")
    return adjust_together([test], statement=statement)[0]


def worse_by(
    differences: Any, epsilon: float, *, clusters: Sequence[Hashable] | None = None
) -> float:
    """Compute the p-value of H₀: the mean difference is ε or more, against less.

    A one-sided t test, by clusters where they are given (`alt_test` has the formula). Where all
    differences are equal p is 0 if they lie below ε and 1 if not; 1 for fewer than two clusters.
    """
    from scipy.special import stdtr  # slow to import

    d = as_column(differences)
    n = d.size
    if n == 0:
        raise ValueError("no differences to test")
    mean = float(d.mean())
    if np.ptp(d) == 0:
        return 0.0 if mean < epsilon else 1.0
    names, codes = encode(range(n) if clusters is None else clusters)
    groups = len(names)
    if groups < 2:
        return 1.0
    sums = np.bincount(codes, weights=d - mean, minlength=groups)
    error = sqrt(groups / (groups - 1) * float(sums @ sums)) / n
    if error <= 1e-12:
        return 0.0 if mean < epsilon else 1.0
    return float(stdtr(groups - 1, (mean - epsilon) / error))


def _units(wins: Floats, compared: Any, groups: Sequence[Hashable] | None, unit: str) -> Units:
    """Return what an interval of a mean share draws: items, or clusters where they repeat."""
    return _drawn(np.column_stack([wins, compared]).astype(np.float64), groups, unit)


def _drawn(parts: Floats, groups: Sequence[Hashable] | None, unit: str) -> Units:
    if groups is None:
        return Units(*distinct_rows(parts), "item")
    return units_to_draw(np.arange(len(parts)), parts, clusters=groups, unit=unit)


def _ordinal_alpha(people: Floats) -> float | None:
    """Compute ordinal alpha of people's scores, whatever they are; None where it is undefined."""
    values = np.unique(people[~np.isnan(people)])
    counts = np.stack([(people == value).sum(axis=1) for value in values], axis=1)
    totals = coincidences(counts[counts.sum(axis=1) >= 2].astype(np.float64)).sum(axis=0)
    alpha = float(alphas(totals[None, :], values, "ordinal")[0]) if values.size > 1 else np.nan
    return None if np.isnan(alpha) else alpha


def _power(
    people: Floats,
    d: Floats,
    groups: Sequence[Hashable] | None,
    *,
    scale: tuple[int, int],
    epsilon: float,
    q: float,
    margin: float,
    gap_effect: float,
) -> Power:
    """Compute the power of both tests with these people, items and clusters."""
    there = ~np.isnan(people)
    scores = people[there]
    shares = [float((scores == answer).mean()) for answer in range(scale[0], scale[1] + 1)]
    effect, degrees = 1.0, None
    if groups is not None:
        names, codes = encode(groups)
        degrees = len(names) - 1
        sums = centred = 0.0
        for j in range(d.shape[1]):
            rest = np.where(there[:, j], d[:, j] - d[there[:, j], j].mean(), 0.0)
            sums += float((np.bincount(codes, weights=rest, minlength=len(names)) ** 2).sum())
            centred += float((rest**2).sum())
        effect = max(1.0, sums / centred) if centred else 1.0
    return power_for(
        shares,
        _ordinal_alpha(people),
        (there.T.astype(np.float64) @ there).astype(np.float64),
        items=len(people),
        others=max(2, round(float(there.sum(axis=1).mean()))),
        epsilon=epsilon,
        q=q,
        margin=margin,
        effect=effect,
        gap_effect=gap_effect,
        degrees=degrees,
    )
