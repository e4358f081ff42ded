"""Simulate how often intervals hold the truth, and tests reject it, for ``docs/statistics.md``.

``python -m tests.analysis.stats.rater_agreement.simulate_intervals`` prints them; every table says
its seed. It takes some minutes and is no part of the test suite.
"""

from collections.abc import Callable
from math import comb, sqrt

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.comparison.paired import (
    PairedTable,
    robust_interval,
    score_interval,
    score_p,
)
from analysis.stats.descriptive.means import cluster_quotient, cluster_wilson, t_quantile

SEED = 20261122
SETS, RESAMPLES, PAIRED_SETS = 1000, 399, 4000
CLUSTERS = (8, 15, 20, 40)
Draw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


# Means and rates over clusters


def scores(rng: np.random.Generator, clusters: int) -> tuple[Floats, Floats]:
    """Scores of 1 to 5 near the top of their scale, 1 to 8 a cluster: sums and sizes."""
    sizes = rng.integers(1, 9, size=clusters)
    own = rng.normal(size=clusters)
    values = [
        np.clip(np.round(4.2 + own[g] + rng.normal(size=n)), 1, 5) for g, n in enumerate(sizes)
    ]
    return np.array([v.sum() for v in values]), sizes.astype(float)


def rates(rng: np.random.Generator, clusters: int, *, a: float, b: float) -> tuple[Floats, Floats]:
    """Successes of 1 to 8 attempts at each task, whose chances are Beta(a, b)."""
    sizes = rng.integers(1, 9, size=clusters)
    return rng.binomial(sizes, rng.beta(a, b, size=clusters)).astype(float), sizes.astype(float)


DATA: dict[str, Draw] = {
    "scores of 1 to 5": scores,
    "rate of 0.5": lambda rng, clusters: rates(rng, clusters, a=1, b=1),
    "rate of 0.8": lambda rng, clusters: rates(rng, clusters, a=1.6, b=0.4),
}


def percentile(above: Floats, below: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """The percentile bootstrap."""
    drawn = rng.integers(0, above.size, size=(RESAMPLES, above.size))
    low, high = np.quantile(above[drawn].sum(1) / below[drawn].sum(1), [0.025, 0.975])
    return float(low), float(high)


def bootstrap_t(above: Floats, below: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """The bootstrap of the studentised quotient; draws without spread are dropped."""
    value = above.sum() / below.sum()
    drawn = rng.integers(0, above.size, size=(RESAMPLES, above.size))
    a, b = above[drawn], below[drawn]
    values = a.sum(1) / b.sum(1)
    errors = np.sqrt(((a - values[:, None] * b) ** 2).sum(1)) / b.sum(1)
    known = errors > 1e-12
    high, low = np.quantile((values[known] - value) / errors[known], [0.025, 0.975])
    error = sqrt(float(((above - value * below) ** 2).sum())) / below.sum()
    return value - low * error, value - high * error


def cr2(above: Floats, below: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """The interval of the product."""
    value, error, df = cluster_quotient(above, below)
    half = t_quantile(df, 0.95) * error
    return value - half, value + half


def cr2_wilson(above: Floats, below: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """The interval of the product for rates; of scores, the one above."""
    value, error, df = cluster_quotient(above, below)
    if not 0 < value < 1:
        return cr2(above, below, rng)
    return cluster_wilson(value, error, t_quantile(df, 0.95))


def coverage_by_cluster() -> None:
    """Coverage and mean width of three intervals of a mean over clusters."""
    print(f"Mean over clusters of 1 to 8 values, {SETS:,} sets a row, seed {SEED}")
    print("| data | clusters | percentile | bootstrap-t | CR2 | CR2, Wilson | widths |")
    print("|---|---|---|---|---|---|---|")
    for name, draw in DATA.items():
        above, below = draw(np.random.default_rng(SEED), 400_000)
        truth = above.sum() / below.sum()
        for clusters in CLUSTERS:
            rng = np.random.default_rng(SEED + clusters)
            held, width = np.zeros(4), np.zeros(4)
            made = 0
            for _ in range(SETS):
                above, below = draw(rng, clusters)
                if np.ptp(above / below) == 0:
                    continue  # no interval is given
                made += 1
                for i, interval in enumerate((percentile, bootstrap_t, cr2, cr2_wilson)):
                    low, high = interval(above, below, rng)
                    held[i] += low <= truth <= high
                    width[i] += high - low
            cells = " | ".join(f"{share:.3f}" for share in held / made)
            widths = " / ".join(f"{one:.2f}" for one in width / made)
            print(f"| {name} | {clusters} | {cells} | {widths} |")


# Paired differences


def paired_by_cluster() -> None:
    """Size of the test and coverage of the interval of a difference, three attempts a side."""
    print("\nPaired rates, three attempts at each task on either side")
    print(f"{PAIRED_SETS:,} sets a row, seed {SEED}")
    print("| mean rates | tasks | robust score | t |\n|---|---|---|---|")
    for first, second in ((0.5, 0.5), (0.85, 0.85), (0.8, 0.6)):
        for tasks in CLUSTERS:
            rng = np.random.default_rng(SEED + tasks)
            held = np.zeros(2)
            made = 0
            for _ in range(PAIRED_SETS):
                hard = rng.normal(size=tasks)
                d = (
                    rng.binomial(3, _chance(first, hard)) - rng.binomial(3, _chance(second, hard))
                ) / 3
                if np.ptp(d) == 0:
                    continue
                made += 1
                ends = robust_interval(d)
                half = t_quantile(tasks - 1, 0.95) * d.std(ddof=1) / sqrt(tasks)
                truth = _TRUE[first] - _TRUE[second]
                held[0] += ends is None or ends[0] <= truth <= ends[1]
                held[1] += abs(d.mean() - truth) <= half
            cells = " | ".join(f"{share:.3f}" for share in held / made)
            print(f"| {first}, {second} | {tasks} | {cells} |")


def _chance(rate: float, hard: Floats) -> Floats:
    chance: Floats = 1 / (1 + np.exp(-(np.log(rate / (1 - rate)) + hard)))
    return chance


_DRAWN = np.random.default_rng(SEED).normal(size=2_000_000)
_TRUE = {rate: float(_chance(rate, _DRAWN).mean()) for rate in (0.5, 0.6, 0.8, 0.85)}


def paired_by_enumeration() -> None:
    """Exact size and coverage of the score test and Tango's interval, one attempt each."""
    print("\nOne attempt at each task, by enumeration of all tables")
    print("| tasks | size: mean | highest | coverage: mean | lowest |\n|---|---|---|---|---|")
    for n in (15, 32):
        cells = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
        rejected = np.array([score_p(PairedTable(n - b - c, b, c, 0)) < 0.05 for b, c in cells])
        ends = np.array([score_interval(PairedTable(n - b - c, b, c, 0)) for b, c in cells])
        many = np.array([float(comb(n, b) * comb(n - b, c)) for b, c in cells])
        b, c = np.array(cells).T

        def chances(p10: float, p01: float) -> Floats:
            rest = 1 - p10 - p01
            found: Floats = many * p10**b * p01**c * rest ** (n - b - c)  # noqa: B023
            return found

        sizes = [float(chances(p / 2, p / 2)[rejected].sum()) for p in np.linspace(0.02, 1, 50)]
        held = []
        for psi in np.linspace(0.05, 0.95, 19):
            for share in np.linspace(0.5, 0.975, 20):
                p10, p01 = psi * share, psi * (1 - share)
                inside = (ends[:, 0] <= p10 - p01) & (p10 - p01 <= ends[:, 1])
                held.append(float(chances(p10, p01)[inside].sum()))
        numbers = (np.mean(sizes), max(sizes), np.mean(held), min(held))
        print(f"| {n} | " + " | ".join(f"{one:.3f}" for one in numbers) + " |")


if __name__ == "__main__":
    paired_by_enumeration()
    paired_by_cluster()
    coverage_by_cluster()
