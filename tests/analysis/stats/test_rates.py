"""A share with both intervals, and what cluster bootstraps have in common."""

import numpy as np
import pytest

from analysis.stats.bootstrap import few_clusters, percentile_interval
from analysis.stats.proportions import share
from analysis.stats.rates import rate


def test_by_hand() -> None:
    # Three of four observations in the denominator are hits; the fifth is outside it. Cluster a
    # has 1 of 2, b has 2 of 2: draws give 1/2 (1/4), 3/4 (1/2) and 1 (1/4).
    result = rate(
        [True, False, True, True, None], list("aabba"), empty="none", unit="instance", seed=1
    )
    assert (result.hits, result.of) == (3, 4)
    assert result.wilson == share(3, 4)
    assert (result.clustered.value, result.clustered.n) == (0.75, 4)
    interval = result.clustered.interval
    assert interval is not None and (interval.low, interval.high) == (0.5, 1)


def test_draws_with_an_empty_denominator_are_dropped_and_counted() -> None:
    # Cluster c has nothing in the denominator: a draw of c alone has probability 1/27.
    result = rate([True, False, None], list("abc"), empty="none", unit="instance", seed=1)
    (dropped,) = (w for w in result.clustered.warnings if "nothing below" in w)
    assert 30 <= int(dropped.split()[0]) <= 120


@pytest.mark.parametrize("hits", [[], [None, None]])
def test_empty_denominator(hits: list[None]) -> None:
    result = rate(
        hits, ["a"] * len(hits), empty="nobody", unit="task", seed=1, excluded={"tied": 2}
    )
    for estimate in (result.wilson, result.clustered):
        assert (estimate.value, estimate.undefined) == (None, "nobody")
        assert estimate.excluded == {"tied": 2}


def test_a_cluster_for_every_observation() -> None:
    with pytest.raises(ValueError, match="clusters: 1 entries for 2"):
        rate([True, False], ["a"], empty="none", unit="task", seed=1)


def test_percentile_interval() -> None:
    interval = percentile_interval(
        np.arange(101.0), level=0.9, unit="task", seed=4, resamples=120, clusters=7
    )
    assert (interval.low, interval.high) == pytest.approx((5, 95))
    assert interval.details == {"seed": 4, "resamples": 120, "clusters": 7}


def test_few_clusters() -> None:
    assert few_clusters(40, "task") == ()
    assert few_clusters(39, "task")[0].startswith("only 39 tasks:")
    assert few_clusters(2, "trajectory")[0].startswith("only 2 trajectories:")
