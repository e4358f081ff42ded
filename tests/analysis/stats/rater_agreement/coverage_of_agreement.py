"""Coverage by simulation of the intervals of alpha and kappa, for docs/statistics.md.

Run ``python -m tests.analysis.stats.rater_agreement.coverage_of_agreement`` from the checkout. It
takes some minutes, prints the tables of the documentation, and is the same each time (seeds below).
"""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from analysis.stats.rater_agreement.alpha import alphas, coincidences
from analysis.stats.rater_agreement.coefficient_intervals import coefficient_estimate
from analysis.stats.rater_agreement.icc_reml import intraclass_reml
from analysis.stats.rater_agreement.kappas import cohen_kappa
from analysis.stats.resampling import Units, estimate_from_draws, resampled
from analysis.stats.results import Estimate

Floats = npt.NDArray[np.float64]
SEED, SETS, RESAMPLES = 20260402, 1_000, 500
SHARES = {"even": (0.1, 0.2, 0.3, 0.25, 0.15), "skewed": (0.02, 0.05, 0.08, 0.15, 0.70)}
# Shares of scores, raters, items of a task, correlation of raters, and of items of one task.
ALPHAS = {
    "alpha 0.46, even scores": ("even", 3, 4, 0.5, 0.3),
    "alpha 0.79, even scores": ("even", 3, 4, 0.85, 0.3),
    "alpha 0.53, 70 % one score": ("skewed", 3, 4, 0.7, 0.5),
}
KAPPAS = {"even scores": ("even", 0.7), "70 % one score": ("skewed", 0.7)}


def made(
    rng: np.random.Generator,
    tasks: int,
    shares: str,
    raters: int,
    items: int,
    rho: float,
    shared: float,
) -> npt.NDArray[np.int64]:
    """Scores from 1 to 5: normal values with these correlations, cut at quantiles."""
    from statistics import NormalDist

    cuts = [NormalDist().inv_cdf(p) for p in np.cumsum(SHARES[shares])[:-1]]
    task = rng.standard_normal((tasks, 1, 1))
    item = np.sqrt(shared) * task + np.sqrt(1 - shared) * rng.standard_normal((tasks, items, 1))
    noise = rng.standard_normal((tasks, items, raters))
    return np.searchsorted(cuts, np.sqrt(rho) * item + np.sqrt(1 - rho) * noise) + 1


def units_of(scores: npt.NDArray[np.int64]) -> Units:
    """Return what a task adds to the coincidence matrix."""
    tasks, items, _ = scores.shape
    counts = np.stack([(scores == score).sum(axis=2) for score in range(1, 6)], axis=2)
    parts = coincidences(counts.reshape(-1, 5).astype(np.float64)).reshape(tasks, items, -1)
    return Units(parts.sum(axis=1), np.ones(tasks, dtype=np.int64), "task")


def ordinal(totals: Floats) -> Floats:
    return alphas(totals, np.arange(1.0, 6.0), "ordinal")


def bootstrap(value: float, units: Units, seed: int) -> Estimate:
    drawn = resampled(units, ordinal, seed=seed, resamples=RESAMPLES)
    return estimate_from_draws(value, 1, drawn, units, level=0.95, seed=seed)


def offered(value: float, units: Units, seed: int) -> Estimate:
    return coefficient_estimate(
        value, 1, units, ordinal, level=0.95, seed=seed, resamples=RESAMPLES
    )


def covered(found: Iterable[Estimate], truth: float) -> str:
    """Share of intervals that hold the truth, and their mean width."""
    ends = [e.interval for e in found if e.interval is not None]
    hits = np.mean([end.low <= truth <= end.high for end in ends])
    width = np.mean([end.high - end.low for end in ends])
    return f"{hits:.3f} ({width:.2f})"


def alpha_table() -> None:
    ways: dict[str, Callable[[float, Units, int], Estimate]] = {
        "percentile": bootstrap, "offered": offered,
    }  # fmt: skip
    for name, (shares, raters, items, rho, shared) in ALPHAS.items():
        rng = np.random.default_rng(SEED)
        truth = float(
            ordinal(units_of(made(rng, 50_000, shares, raters, items, rho, shared)).totals)[0]
        )
        print(f"{name} (true value {truth:.3f})")
        for tasks in (8, 15, 20, 40, 100):
            found: dict[str, list[Estimate]] = {way: [] for way in ways}
            for seed in range(SETS):
                units = units_of(made(rng, tasks, shares, raters, items, rho, shared))
                value = float(ordinal(units.totals)[0])
                if not np.isnan(value):
                    for way, interval in ways.items():
                        found[way].append(interval(value, units, seed))
            print(tasks, {way: covered(estimates, truth) for way, estimates in found.items()})


def kappa_table() -> None:
    for name, (shares, rho) in KAPPAS.items():
        for weights in ("none", "quadratic"):
            rng = np.random.default_rng(SEED)
            big = made(rng, 200_000, shares, 2, 1, rho, 0.0)[:, 0]
            truth = cohen_kappa(big[:, 0], big[:, 1], weights=weights).value or 0.0
            print(f"kappa, {weights}, {name} (true value {truth:.3f})")
            for n in (15, 30, 60, 150):
                found = []
                for seed in range(SETS):
                    pair = made(rng, n, shares, 2, 1, rho, 0.0)[:, 0]
                    found.append(cohen_kappa(pair[:, 0], pair[:, 1], weights=weights, seed=seed))
                print(n, covered(found, truth))


def icc_table() -> None:
    """ICC3 by REML: items of variance 1, four raters of 0.25, error 0.5, a third missing."""
    rng, truth = np.random.default_rng(SEED), 1 / 1.5
    print(f"ICC3 by REML, a third missing (true value {truth:.3f})")
    for items in (30,):
        found = []
        for _ in range(SETS // 5):
            scores = rng.standard_normal((items, 1)) + rng.standard_normal((1, 4)) / 2
            scores = scores + np.sqrt(0.5) * rng.standard_normal((items, 4))
            scores[rng.random(scores.shape) < 1 / 3] = np.nan
            found.append(intraclass_reml(scores)["ICC3"])
        print(items, covered(found, truth))


if __name__ == "__main__":
    alpha_table()
    kappa_table()
    icc_table()
