"""Tests of bootstrap draws: kinds of units stand for units, clusters for what they hold."""

import numpy as np
import pytest

from analysis.stats.rater_agreement.alpha import alphas, coincidences, krippendorff_alpha
from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.resampling import (
    NONE_DEFINED,
    SAME_RESAMPLES,
    Units,
    estimate_from_draws,
    repeated,
    resampled,
    units_to_draw,
)


def test_clusters_count_where_one_occurs_twice() -> None:
    assert repeated(None) is None
    assert repeated(["a", "b"]) is None
    assert repeated(["a", "b", "a"]) == ["a", "b", "a"]
    codes, parts = np.array([0, 1, 0]), [[1.0, 0], [0, 1.0]]
    free = units_to_draw(codes, parts, clusters=["a", "b", "c"])
    assert (free.unit, free.size, free.often.tolist()) == ("item", 3, [2, 1])
    bound = units_to_draw(codes, parts, clusters=["a", "b", "a"])
    assert (bound.unit, bound.size) == ("task", 2)
    assert sorted(bound.parts.tolist()) == [[0, 1], [2, 0]]
    assert free.totals.tolist() == bound.totals.tolist() == [[2, 1]]


def test_a_mean_has_the_error_of_theory() -> None:
    # Of n draws of 0 and 1 with share p the standard deviation of the mean is √(p(1 − p)/n).
    units = Units(np.array([[0.0, 1], [1, 1]]), np.array([300, 100]), "item")
    drawn = resampled(units, lambda t: t[:, 0] / t[:, 1], seed=3, resamples=4000)
    assert drawn.mean() == pytest.approx(0.25, abs=0.002)
    assert drawn.std() == pytest.approx(np.sqrt(0.25 * 0.75 / 400), rel=0.04)


def test_many_kinds_are_drawn_one_by_one_by_the_same_law() -> None:
    # 300 kinds, twice each: totals of 600 draws have the mean 600·x̄ and the variance 600·var(x).
    values = np.arange(300.0)
    units = Units(values[:, None], np.full(300, 2), "item")
    drawn = resampled(units, lambda t: t[:, 0], seed=3, resamples=2000)
    assert drawn.mean() == pytest.approx(600 * values.mean(), rel=0.005)
    assert drawn.std() == pytest.approx(np.sqrt(600) * values.std(), rel=0.05)


@pytest.mark.parametrize("clustered", [False, True])
def test_kinds_are_drawn_as_items_would_be(clustered: bool) -> None:
    rng = np.random.default_rng(2)
    truth = np.repeat(rng.integers(1, 6, 40), 3)
    scores = np.clip(truth[:, None] + rng.integers(-1, 2, (120, 3)), 1, 5)
    tasks = np.repeat(np.arange(40), 3)
    answers = answers_of_scores(scores, scale=(1, 5))
    units = units_to_draw(
        answers.kinds,
        coincidences(answers.counts),
        clusters=tasks.tolist() if clustered else None,
    )
    ours = resampled(units, lambda t: alphas(t, answers.values, "ordinal"), seed=1, resamples=4000)
    parts = coincidences(answers.counts)[answers.kinds]
    if clustered:
        parts = parts.reshape(40, 3, -1).sum(axis=1)
    plain = [parts[rng.integers(0, len(parts), len(parts))].sum(axis=0) for _ in range(4000)]
    ends = np.quantile(alphas(np.stack(plain), answers.values, "ordinal"), [0.025, 0.975])
    width = ends[1] - ends[0]
    assert np.quantile(ours, [0.025, 0.975]) == pytest.approx(ends, abs=0.08 * width)


def test_a_seed_repeats_itself() -> None:
    # More items than the jackknife is for, which needs no seed.
    answers = answers_of_scores([[1, 2], [3, 3], [5, 4], [2, 2]] * 30, scale=(1, 5))
    one, again, other = (krippendorff_alpha(answers, seed=seed) for seed in (1, 1, 2))
    assert one == again and one.interval != other.interval


def test_no_width_and_no_value() -> None:
    units = Units(np.ones((1, 1)), np.array([30]), "item")
    for drawn, why in (([2.0] * 100, SAME_RESAMPLES), ([np.nan] * 100, NONE_DEFINED)):
        result = estimate_from_draws(2.0, 30, np.array(drawn), units, level=0.95, seed=1)
        assert result.interval is None and result.no_interval == why
    alone = Units(np.ones((1, 1)), np.array([1]), "task")
    result = estimate_from_draws(2.0, 30, np.arange(100.0), alone, level=0.95, seed=1)
    assert "one task" in result.no_interval
    with pytest.raises(ValueError, match="at least 100 resamples"):
        resampled(units, lambda t: t[:, 0], seed=1, resamples=99)
