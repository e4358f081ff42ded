"""A share with both intervals, and what cluster bootstraps have in common."""

import numpy as np
import pytest

from analysis.stats.descriptive.proportions import share
from analysis.stats.descriptive.rates import rate
from analysis.stats.resampling import percentile_interval
from analysis.stats.results import few_clusters


def test_by_hand() -> None:
    # Three of four observations in the denominator are hits; the fifth is outside it. Cluster a
    # has 1 of 2, b has 2 of 2: residuals ±1/2, CR2 variance 1/16 with 1 df.
    result = rate([True, False, True, True, None], list("aabba"), empty="none", unit="instance")
    assert (result.hits, result.of) == (3, 4)
    assert result.wilson == share(3, 4)
    assert (result.clustered.value, result.clustered.n) == (0.75, 4)
    interval = result.clustered.interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.01027, 0.99885), abs=1e-4)


def test_clusters_outside_the_denominator_count_for_nothing() -> None:
    result = rate([True, False, None], list("abc"), empty="none", unit="instance")
    without = rate([True, False], list("ab"), empty="none", unit="instance")
    assert result.clustered.interval == without.clustered.interval


@pytest.mark.parametrize("hits", [[], [None, None]])
def test_empty_denominator(hits: list[None]) -> None:
    result = rate(hits, ["a"] * len(hits), empty="nobody", unit="task", excluded={"tied": 2})
    for estimate in (result.wilson, result.clustered):
        assert (estimate.value, estimate.undefined) == (None, "nobody")
        assert estimate.excluded == {"tied": 2}


def test_a_cluster_for_every_observation() -> None:
    with pytest.raises(ValueError, match="clusters: 1 entries for 2"):
        rate([True, False], ["a"], empty="none", unit="task")


def test_percentile_interval() -> None:
    interval = percentile_interval(
        np.arange(101.0), level=0.9, unit="task", seed=4, resamples=120, clusters=7
    )
    assert (interval.low, interval.high) == pytest.approx((5, 95))
    assert interval.details == {"seed": 4, "resamples": 120, "clusters": 7}


def test_few_clusters() -> None:
    assert few_clusters(40, "task") == ()
    assert few_clusters(39, "task")[0].startswith("only 39 tasks:")
    assert few_clusters(2, "agent") == ()
    assert few_clusters(2, "trajectory")[0].startswith("only 2 trajectories:")
