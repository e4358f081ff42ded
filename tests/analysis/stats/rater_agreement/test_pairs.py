"""Two raters: each number is that of its own function, on the items that both scored."""

import numpy as np

from analysis.stats.rater_agreement.coefficient_intervals import FISHER
from analysis.stats.rater_agreement.kappas import cohen_kappa
from analysis.stats.rater_agreement.pairs import pair_agreement


def test_everything_about_two_columns() -> None:
    first, second = [1, 2, 3, 4, 5, None, 2], [1, 2, 4, 5, 5, 3, None]
    result = pair_agreement(first, second, names=("ann", "bob"), seed=1)
    assert (result.first, result.second, result.shares.n) == ("ann", "bob", 5)
    assert result.shares.exact.value == 3 / 5 and result.shares.within_one.value == 1
    assert result.shares.bias.value == 2 / 5 == result.limits.bias.value
    assert list(result.kappas) == ["none", "linear", "quadratic"]
    assert result.kappas["linear"] == cohen_kappa(first[:5], second[:5], weights="linear")
    assert result.correlations.spearman.n == 5


def test_no_item_in_common() -> None:
    result = pair_agreement([1, None], [None, 2], seed=1)
    for estimate in (
        result.shares.exact, result.shares.bias, result.kappas["none"],
        result.correlations.kendall, result.limits.upper,
    ):  # fmt: skip
        assert estimate.value is None and estimate.undefined


def test_every_interval_draws_tasks_that_repeat() -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat(rng.integers(1, 6, 25), 4)
    first, second = (np.clip(truth + rng.integers(-1, 2, 100), 1, 5) for _ in range(2))
    tasks = np.repeat(np.arange(25), 4).tolist()
    result = pair_agreement(first, second, clusters=tasks, seed=1, resamples=100)
    for estimate in (
        result.shares.exact, result.shares.bias, *result.kappas.values(),
        result.correlations.pearson, result.correlations.kendall, result.limits.lower,
    ):  # fmt: skip
        assert estimate.interval is not None
        assert " by task (CR2)" in estimate.interval.method or estimate.interval.method in (
            "task bootstrap (percentile)",
            FISHER.format(unit="task"),
        )
