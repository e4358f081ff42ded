"""Tests of differences and ranks of corrected means."""

from math import nan
from typing import Any

import numpy as np
import pytest

from analysis.stats.corrected.corrected_means import RatedUnits, correct_mean
from analysis.stats.corrected.corrected_pairs import correct_models

QUALITY = {"a": 2.6, "b": 3.0, "c": 3.4}
# Judges order the agents the wrong way round.
BIAS = {"a": 1.0, "b": 0.2, "c": -0.6}


def made_units(
    seed: Any, *, tasks: int = 100, rated: int = 60, quality: dict[str, float] = QUALITY
) -> dict[str, RatedUnits]:
    rng = np.random.default_rng(seed)
    ease = rng.normal(0, 0.5, tasks)
    units = {}
    for name, mean in quality.items():
        true = mean + ease + rng.normal(0, 0.3, tasks)
        people = np.full(tasks, nan)
        drawn = rng.choice(tasks, rated, replace=False)
        people[drawn] = true[drawn] + rng.normal(0, 0.3, rated)
        judges = true + BIAS[name] + rng.normal(0, 0.2, tasks)
        units[name] = RatedUnits(judges, people, [rated / tasks] * tasks, range(tasks))
    return units


def test_biased_judges_are_put_right_and_the_changed_order_is_named() -> None:
    corrected = correct_models(made_units(5), measure="score")
    judged = {name: mean.judges for name, mean in corrected.means.items()}
    assert judged["a"] > judged["b"] > judged["c"]
    assert [rank.rank for rank in corrected.comparisons.ranks] == [3, 2, 1]
    assert all(pair.clear for pair in corrected.comparisons.pairs)
    assert set(corrected.moved_order) == {("c", "b"), ("c", "a"), ("b", "a")}
    assert "all 3 pairs" in corrected.comparisons.family.statement


def test_a_pair_excludes_0_where_its_adjusted_p_is_under_alpha() -> None:
    seen = set()
    for seed in range(20):
        quality = {"a": 3.0, "b": 3.06, "c": 3.15}
        for pair in correct_models(
            made_units(seed, quality=quality), measure="x"
        ).comparisons.pairs:
            assert pair.p_adjusted is not None
            assert pair.clear == pair.comparison.difference.is_clear == (pair.p_adjusted < 0.05)
            seen.add(pair.clear)
    assert seen == {True, False}


def test_what_a_task_does_to_both_cancels_out() -> None:
    units = made_units(3, tasks=60, rated=60)
    corrected = correct_models({name: units[name] for name in "ab"}, measure="x")
    (pair,) = corrected.comparisons.pairs
    interval = pair.comparison.difference.interval
    assert interval is not None
    # All rated: the paired t interval of the people's differences.
    gaps = np.asarray(units["a"].people) - np.asarray(units["b"].people)
    alone = correct_mean(RatedUnits(units["a"].judges, gaps, [1.0] * 60, range(60)), weight=0)
    assert alone.estimate.interval is not None
    assert interval.half_width == pytest.approx(alone.estimate.interval.half_width, rel=1e-9)


def test_one_undefined_mean_has_no_rank_and_its_pairs_are_not_tested() -> None:
    units = made_units(1)
    units["b"] = RatedUnits(units["b"].judges, [nan] * 100, [0.5] * 100, range(100))
    corrected = correct_models(units, measure="x")
    ranks = {rank.model: rank.rank for rank in corrected.comparisons.ranks}
    assert ranks == {"a": 2, "b": None, "c": 1}
    untested = [pair for pair in corrected.comparisons.pairs if pair.p_adjusted is None]
    assert {pair.name for pair in untested} == {"a against b", "b against c"}
    for pair in untested:
        assert pair.comparison.difference.value is None
        assert "people rated none of them" in pair.comparison.difference.undefined


def test_size_under_no_difference() -> None:
    equal = dict.fromkeys(QUALITY, 3.0)
    clear = sum(
        any(
            pair.clear
            for pair in correct_models(
                made_units((9, seed), tasks=40, rated=20, quality=equal), measure="x"
            ).comparisons.pairs
        )
        for seed in range(200)
    )
    assert clear <= 18


def test_among_fewer_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="3 models are not among 2"):
        correct_models(made_units(1), measure="x", among=2)
