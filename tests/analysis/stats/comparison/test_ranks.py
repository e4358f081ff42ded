from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from analysis.stats.comparison.ranks import (
    ModelRank,
    order_agreement,
    rank_order,
    ranked_models,
    resampled_means,
    task_sums,
)
from analysis.stats.comparison.thresholds import (
    NO_ORDER,
    ThresholdStability,
    threshold_stability,
    threshold_sweep,
)
from analysis.stats.results import Estimate


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8),
)
def test_order_agreement_against_scipy(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    found = float(order_agreement(a, b))
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(kendalltau(a, b).statistic)
    assert np.isnan(found) or found == pytest.approx(float(order_agreement(b, a)))


def test_order_agreement_leaves_the_missing_out() -> None:
    stacked = order_agreement([[1, 2, 3], [1, 2, 3]], [[1, np.nan, 3], [3, 2, 1]])
    assert stacked.tolist() == [1, -1]


def drawn_ranks(models: Any, tasks: Any, values: Any) -> tuple[ModelRank, ...]:
    names, sums, counts, _ = task_sums(models, tasks, values)
    drawn = resampled_means(sums[:, :, None], counts, seed=1, resamples=300)[:, :, 0]
    return ranked_models(names, sums, counts, drawn, 0.95)


def test_ranks_by_hand() -> None:
    # a solves everything, b and c half of the same tasks, d has no outcome.
    rows = [("a", t, 1) for t in range(40)]
    rows += [(m, t, t % 2) for m in "bc" for t in range(40)]
    rows += [("d", 0, None)]
    models, tasks, values = zip(*rows, strict=True)
    a, b, c, d = drawn_ranks(models, tasks, values)
    assert (a.rank, a.low, a.high, a.best) == (1, 1, 1, 1)
    # Drawn together, b and c are never apart: they share rank 2.
    assert (b.rank, b.low, b.high) == (c.rank, c.low, c.high) == (2, 2, 2)
    assert d.rank is None and d.undefined and d.n == 0
    once, _ = drawn_ranks(["a", "b"], [1, 1], [1, 0])
    assert once.rank == 1 and once.low is None and once.undefined


def test_ranks_that_cannot_be_told_apart_are_wide(rng: np.random.Generator) -> None:
    models = [m for m in "abc" for _ in range(60)]
    tasks = list(range(60)) * 3
    found = drawn_ranks(models, tasks, rng.integers(0, 2, 180))
    assert all((rank.low or 9) <= (rank.rank or 0) <= (rank.high or 0) for rank in found)
    assert any(rank.high != rank.low for rank in found)
    assert sum(rank.best or 0 for rank in found) >= 1
    assert [r.rank for r in found] == list(rank_order([r.value for r in found]))


def at_of(found: ThresholdStability) -> dict[float, Estimate]:
    """Kendall's tau-b by threshold."""
    return {point.threshold: point.kendall for point in found.points}


def test_stability_of_thresholds(rng: np.random.Generator) -> None:
    # a is better than b than c at every τ but 5, where c alone has fives.
    level = {"a": 4.6, "b": 4.1, "c": 3.6}
    models = [m for m in level for _ in range(50)]
    tasks = list(range(50)) * 3
    scores = [
        [min(4.9, level[m] + x)] for m, x in zip(models, rng.normal(0, 0.5, 150), strict=True)
    ]
    for i in range(100, 110):
        scores[i] = [5.0]
    valid: list[bool | None] = [True] * 150
    valid[0] = None
    found = threshold_stability(models, tasks, valid, scores, seed=1, resamples=300)
    sweep = threshold_sweep(models, valid, scores)
    assert found.excluded == 1 and found.tasks == 50
    for point, order in zip(found.points, sweep.orders, strict=True):
        curves = {c.model: c for c in sweep.curves}
        t = found.points.index(point)
        for rank in point.ranks:
            assert rank.value == pytest.approx(curves[rank.model].points[t].accuracy.value)
            assert rank.rank == curves[rank.model].points[t].rank
            # What the differences of all pairs leave.
            assert (rank.low or 9) <= (rank.rank or 0) <= (rank.high or 0)
        assert point.kendall.value == pytest.approx(order.kendall)
    # At 4.5 most of a pass and none of c: their ranks are apart for sure.
    apart = {rank.model: rank for rank in found.points[[*at_of(found)].index(4.5)].ranks}
    assert (apart["a"].high or 9) < (apart["c"].low or 0)
    at = at_of(found)
    assert at[3.5].value == 1 and at[3.5].interval is None
    assert at[4.0].interval is not None and at[4.0].interval.high == 1
    # a and b tie at 0 there, both behind c: two pairs turned round, τ_b = −2/√(3·2).
    assert at[5.0].value == pytest.approx(-2 / np.sqrt(6))


def test_stability_without_an_order() -> None:
    found = threshold_stability(["a", "b"], [1, 1], [True, True], [[5], [5]], seed=1)
    assert found.points[0].kendall.undefined == NO_ORDER
    assert found.points[0].ranks[0].rank == 1 and found.points[0].ranks[1].rank == 1
