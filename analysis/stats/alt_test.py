"""The alternative annotator test, whether a judge may stand in for one of the people who annotate.

Calderon, Reichart & Dror 2025, ACL, "The Alternative Annotator Test for LLM-as-a-Judge".
"""

from collections.abc import Hashable, Sequence
from itertools import compress
from math import sqrt
from typing import Any

import numpy as np

from analysis.stats.alt_family import NO_SAMPLE, RATE, AltTest, AnnotatorResult, adjust_together
from analysis.stats.bootstrap import (
    RESAMPLES,
    Units,
    distinct_rows,
    estimate_from_draws,
    repeated,
    resampled,
    units_to_draw,
)
from analysis.stats.columns import (
    Floats,
    as_column,
    as_floats,
    check_length_of,
    check_level,
    encode,
)
from analysis.stats.results import Estimate

PEOPLE_NEEDED, ITEMS_NEEDED = 3, 30
# Customary costs of people against the judge: crowd workers, skilled annotators, experts.
CUSTOMARY = (0.1, 0.15, 0.2)

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
    names: Sequence[str] | None = None,
    label: str = "judge",
    criterion: str = "",
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
        n numbers: the judge's scores, or the mean of a panel; None or NaN for no score.
    epsilon
        How much worse the judge may be, because it is cheaper. It has no default: choose it before
        looking. Customary are 0.1 beside crowd workers, 0.15 beside skilled annotators, 0.2 beside
        experts.
    names, label, criterion
        Of people, judge and what is scored.
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
    verdict is fragile at its threshold, so read p-values and advantage beside it.
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
    person_wins, judge_wins, compared = _wins(scores, own)
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
        return AltTest(label, criterion, epsilon, q, nothing, nothing, None, (), left_out)
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
            )
        )
    parts = np.column_stack([judge_wins[:, tested], compared[:, tested]]).astype(np.float64)
    if groups is None:
        units = Units(*distinct_rows(parts), "item")
    else:
        units = units_to_draw(np.arange(len(parts)), parts, clusters=groups, unit=unit)
    drawn = resampled(units, _mean_share, seed=seed, resamples=resamples)
    advantage = estimate_from_draws(
        float(np.mean([result.advantage for result in results])),
        int(compared[:, tested].any(axis=1).sum()),
        drawn,
        units,
        level=level,
        seed=seed,
        method=ADVANTAGE,
    )
    test = AltTest(
        label, criterion, epsilon, q,
        Estimate(0, len(results), no_interval=NO_SAMPLE, method=RATE), advantage,
        None, tuple(results), left_out,
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


def _wins(scores: Floats, own: Floats) -> tuple[Floats, Floats, Any]:
    """For each item and person: whether the person, and the judge, is at least as close.

    The third says where the two are compared: both and another person scored the item.
    """
    there = ~np.isnan(scores)
    filled = np.where(there, scores, 0.0)
    others = there.sum(axis=1, keepdims=True) - there
    sums = filled.sum(axis=1, keepdims=True) - filled
    # Σ_r (x − h_r)² − Σ_r (y − h_r)² = (x − y)(m(x + y) − 2 Σ h_r): no difference of large squares.
    judge = np.where(np.isnan(own), 0.0, own)[:, None]
    further = (judge - filled) * (others * (judge + filled) - 2 * sums)
    compared = there & (others >= 1) & ~np.isnan(own)[:, None]
    judge_wins = (further <= 1e-9) & compared
    person_wins = (further >= -1e-9) & compared
    return person_wins.astype(np.float64), judge_wins.astype(np.float64), compared


def _mean_share(totals: Floats) -> Floats:
    """Mean over people of wins/items; people without an item in a resample do not count."""
    people = totals.shape[1] // 2
    wins, items = totals[:, :people], totals[:, people:]
    shares = np.divide(wins, items, out=np.full(wins.shape, np.nan), where=items > 0)
    known = ~np.isnan(shares)
    result: Floats = np.divide(
        np.where(known, shares, 0).sum(axis=1),
        known.sum(axis=1),
        out=np.full(len(totals), np.nan),
        where=known.any(axis=1),
    )
    return result
