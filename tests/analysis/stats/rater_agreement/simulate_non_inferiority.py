"""Simulate how often judges pass that should and that should not, for ``docs/agreement.md``.

``python -m tests.analysis.stats.rater_agreement.simulate_non_inferiority`` prints the tables; it
takes some minutes and is no part of the test suite.

Scores are those of `sample_size.planned_scores`' model: a normal value of the item and noise of the
rater, cut so that the shares of scores and people's ordinal alpha are the wanted ones.
"""

from collections.abc import Callable, Iterator
from functools import cache
from statistics import NormalDist

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.comparison.multiplicity import adjust_family
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.rater_agreement.alpha import alphas, coincidences
from analysis.stats.rater_agreement.alt_test import PASSING, worse_by
from analysis.stats.rater_agreement.alt_verdict import compared_wins
from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.rater_agreement.kappas import WEIGHTS, Weights, cohen_kappa
from analysis.stats.rater_agreement.non_inferiority import MARGIN, non_inferiority

SHARES = (0.05, 0.10, 0.20, 0.40, 0.25)
CUTS = [NormalDist().inv_cdf(share) for share in np.cumsum(SHARES)[:-1]]
MODE = 4.0
ALPHAS = (0.4, 0.6, 0.8)
SIZES = (100, 400, 1600)
SEED = 20261124

Judge = Callable[[np.random.Generator, Floats, Floats, float], Floats]


def cut(latent: Floats) -> Floats:
    """Turn normal values into scores from 1 to 5 with the wanted shares."""
    scores: Floats = np.searchsorted(CUTS, latent).astype(np.float64) + 1.0
    return scores


@cache
def correlation_for(alpha: float) -> float:
    """Find the correlation of two raters' normal values that gives people this ordinal alpha."""
    rng = np.random.default_rng(1)
    item, noise = rng.standard_normal((40_000, 1)), rng.standard_normal((40_000, 3))
    low, high = 0.0, 1.0
    for _ in range(16):
        middle = (low + high) / 2
        answers = answers_of_scores(
            cut(np.sqrt(middle) * item + np.sqrt(1 - middle) * noise), scale=(1, 5)
        )
        totals = answers.often @ coincidences(answers.counts)
        found = float(alphas(totals[None, :], answers.values, "ordinal")[0])
        low, high = (middle, high) if found < alpha else (low, middle)
    return middle


def as_person(rng: np.random.Generator, item: Floats, people: Floats, rho: float) -> Floats:
    return cut(np.sqrt(rho) * item + np.sqrt(1 - rho) * rng.standard_normal(item.size))


def lazy(rng: np.random.Generator, item: Floats, people: Floats, rho: float) -> Floats:
    """Answer 4 to 98.8 % of the items, as on SummEval's relevance, and anything to the rest."""
    return np.where(rng.random(item.size) < 0.988, MODE, rng.integers(1, 6, item.size))


def constant(rng: np.random.Generator, item: Floats, people: Floats, rho: float) -> Floats:
    return np.full(item.size, MODE)


def mode_and_oracle(rng: np.random.Generator, item: Floats, people: Floats, rho: float) -> Floats:
    """Answer 4, but on 15 % of the items the rounded mean of the people."""
    return np.where(rng.random(item.size) < 0.15, np.floor(people.mean(axis=1) + 0.5), MODE)


def feature(strength: float) -> Judge:
    """Return a judge that sees only a feature of the item with this correlation to its value."""

    def judge(rng: np.random.Generator, item: Floats, people: Floats, rho: float) -> Floats:
        return cut(strength * item + np.sqrt(1 - strength**2) * rng.standard_normal(item.size))

    return judge


JUDGES: dict[str, Judge] = {
    "as good as a person": as_person,
    "lazy": lazy,
    "constant": constant,
    "mode and 15 % oracle": mode_and_oracle,
    "feature, r = 0.3": feature(0.3),
    "feature, r = 0.4": feature(0.4),
}


def tables(
    name: str, alpha: float, items: int, *, people: int, repeats: int
) -> Iterator[tuple[Floats, Floats]]:
    """Make up tables of people's scores, each with the judge's."""
    rho = correlation_for(alpha)
    rng = np.random.default_rng([SEED, items, people, round(10 * alpha)])
    for _ in range(repeats):
        item = rng.standard_normal(items)
        noise = rng.standard_normal((items, people))
        scores = cut(np.sqrt(rho) * item[:, None] + np.sqrt(1 - rho) * noise)
        yield scores, JUDGES[name](rng, item, scores, rho)


def agreement_passes(scores: Floats, own: Floats) -> bool:
    """Return whether a judge passes non-inferiority with the default margin."""
    _, _, compared = compared_wins(scores, own)
    return non_inferiority(scores, own, compared, range(scores.shape[1])).answer == "passes"


def alternative_passes(scores: Floats, own: Floats, epsilon: float) -> bool:
    """Return whether a judge passes the alternative annotator test, without its power."""
    person, judge, _ = compared_wins(scores, own)
    p_values = {str(j): worse_by(d, epsilon) for j, d in enumerate((person - judge).T)}
    family = adjust_family(p_values, statement="people", method="by", alpha=0.05)
    return sum(bool(test.clear) for test in family.tests) / len(p_values) >= PASSING


def pass_rates(
    name: str, alpha: float, items: int, *, people: int, repeats: int
) -> tuple[float, float, float, float]:
    """Return the shares that pass: non-inferiority, and both tests with ε = 0.1, 0.15 and 0.2."""
    counts = [0, 0, 0, 0]
    for scores, own in tables(name, alpha, items, people=people, repeats=repeats):
        if agreement_passes(scores, own):
            counts[0] += 1
            for place, epsilon in enumerate((0.1, 0.15, 0.2), 1):
                counts[place] += alternative_passes(scores, own, epsilon)
    agreement, strict, skilled, expert = (count / repeats for count in counts)
    return agreement, strict, skilled, expert


def coverage(alpha: float, tasks: int, per_task: int, repeats: int) -> float:
    """Return how often the 95 % interval of a judge like a person holds the true difference of 0.

    Half of an item's value is its task's.
    """
    rho = correlation_for(alpha)
    rng = np.random.default_rng([SEED, tasks, per_task])
    held = 0
    for _ in range(repeats):
        items = tasks * per_task
        names = np.repeat(np.arange(tasks), per_task)
        item = (rng.standard_normal(tasks)[names] + rng.standard_normal(items)) / np.sqrt(2)
        noise = rng.standard_normal((tasks, 4))[names] + rng.standard_normal((items, 4))
        scores = cut(np.sqrt(rho) * item[:, None] + np.sqrt((1 - rho) / 2) * noise)
        _, _, compared = compared_wins(scores[:, :3], scores[:, 3])
        groups = names.tolist() if per_task > 1 else None
        found = non_inferiority(
            scores[:, :3], scores[:, 3], compared, range(3), clusters=groups
        ).difference.interval
        held += found is not None and found.holds(0)
    return held / repeats


def mean_kappa(own: list[Floats], people: Floats, weights: Weights) -> float:
    """Return the mean of Cohen's kappa of the j-th column with every person but the j-th."""
    values = [
        cohen_kappa(column, people[:, r], weights=weights).value or 0.0
        for j, column in enumerate(own)
        for r in range(people.shape[1])
        if r != j
    ]
    return float(np.mean(values))


def weight_row(weights: Weights, people: int) -> tuple[float, float, float, float]:
    """Return kappa of people, how far two judges lie below it, and the power of 100 items.

    The alpha is 0.4; the power is that of a normal difference with its simulated deviation.
    """

    def differences(name: str, items: int, repeats: int) -> tuple[list[float], list[float]]:
        found, own_kappas = [], []
        for scores, own in tables(name, 0.4, items, people=people, repeats=repeats):
            kappa = mean_kappa(list(scores.T), scores, weights)
            found.append(mean_kappa([own] * people, scores, weights) - kappa)
            own_kappas.append(kappa)
        return found, own_kappas

    (constant_gap,), (kappa,) = differences("constant", 100_000, 1)
    (oracle_gap,), _ = differences("mode and 15 % oracle", 100_000, 1)
    deviation = float(np.std(differences("as good as a person", 100, 1000)[0]))
    power = NormalDist().cdf(MARGIN / deviation - t_quantile(99, 0.95))
    return kappa, constant_gap, oracle_gap, power


def main() -> None:
    print("| weights | people | kappa | constant | mode and oracle | power |")
    print("|---|---:|---:|---:|---:|---:|")
    for weights in WEIGHTS[:3]:
        for people in (3, 4):
            row = " | ".join(f"{value:.2f}" for value in weight_row(weights, people))
            print(f"| {weights} | {people} | {row} |", flush=True)
    print()
    print("| judge | α | items | people | non-inferiority | and ε 0.1 | 0.15 | 0.2 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in JUDGES:
        for alpha in ALPHAS:
            for items in SIZES:
                for people in (3, 4, 5) if name == "as good as a person" and items == 100 else (3,):
                    repeats = 2000 if items == 100 else 500
                    rates = pass_rates(name, alpha, items, people=people, repeats=repeats)
                    cells = " | ".join(f"{rate:.1%}" for rate in rates)
                    print(f"| {name} | {alpha} | {items:,} | {people} | {cells} |", flush=True)
    print("\n| tasks | items of each | α | coverage |\n|---:|---:|---:|---:|")
    for tasks, per_task in ((8, 4), (10, 3), (15, 4), (20, 2), (30, 1), (40, 4), (100, 1)):
        for alpha in (0.4, 0.8):
            rate = coverage(alpha, tasks, per_task, 1000)
            print(f"| {tasks} | {per_task} | {alpha} | {rate:.3f} |", flush=True)


if __name__ == "__main__":
    main()
