import pickle

import numpy as np
import pytest

from analysis.stats.comparison.condition_effects import (
    NO_ATTEMPT,
    NO_CHANGE,
    ONE_CONDITION,
    RANGE_GROWS,
    condition_effects,
)
from analysis.stats.comparison.paired import NO_COMMON_TASK
from analysis.stats.descriptive.means import cluster_quotient, mean_by_cluster, quotients_mean

LEVELS = ("low", "mid", "high")
# Tasks solved of 20: the same ones stay solved as levels rise.
SOLVED = {"a": (18, 12, 6), "b": (10, 10, 8)}
ROWS = [
    (model, level, task, float(task < solved))
    for model, counts in SOLVED.items()
    for level, solved in zip(LEVELS, counts, strict=True)
    for task in range(20)
]


def test_levels_against_the_lowest_and_against_the_one_before() -> None:
    columns = list(zip(*ROWS, strict=True))
    found = condition_effects(*columns, measure="accuracy", order=LEVELS)
    assert found.cells["a", "mid"].value == 0.6
    assert found.cells["a", "mid"].interval is not None
    assert found.cells["a", "mid"].interval.method == "wilson"
    changes = {(c.model, c.base, c.condition): c for c in found.changes}
    assert set(changes) == {(m, "low", c) for m in "ab" for c in ("mid", "high")}
    fall = changes["a", "low", "high"]
    assert fall.comparison.difference.value == pytest.approx(-0.6)
    assert (fall.comparison.wins, fall.comparison.losses) == (0, 12)
    assert fall.comparison.p_value == pytest.approx(0.000532, abs=1e-6)  # z = 12/√12
    assert fall.p_adjusted == pytest.approx(0.002128, abs=1e-6) and fall.clear is True
    assert changes["b", "low", "mid"].comparison.p_value == 1
    assert "4 changes of accuracy" in found.family.statement
    # Mean over models of −0.6 and −0.1, n counts models.
    assert (
        found.overall["high", "low"].value == pytest.approx(-0.35)
        and found.overall["high", "low"].n == 2
    )
    assert found.overall["high", "low"].interval is not None
    assert (
        found.ranges["a"].value == pytest.approx(0.6) and RANGE_GROWS in found.ranges["a"].warnings
    )
    assert pickle.loads(pickle.dumps(found)) == found

    # One ablation against the other, beside each against the first: in the same family.
    paired = condition_effects(*columns, measure="accuracy", order=LEVELS, pairs=[("mid", "high")])
    assert [(c.base, c.condition) for c in paired.changes if c.model == "a"] == [
        ("low", "mid"), ("low", "high"), ("mid", "high"),
    ]  # fmt: skip
    assert paired.family.size == found.family.size + 2
    # The same change as with every level against the one before it.
    between = next(c for c in paired.changes if (c.model, c.base) == ("a", "mid"))
    assert between.comparison.difference.value == pytest.approx(-0.3)
    assert ("high", "mid") in paired.overall
    with pytest.raises(ValueError, match="'odd' is not among the conditions"):
        condition_effects(*columns, measure="accuracy", order=LEVELS, pairs=[("odd", "high")])

    steps = condition_effects(*columns, measure="accuracy", order=LEVELS, contrast="previous")
    bases = {(c.base, c.condition) for c in steps.changes}
    assert bases == {("low", "mid"), ("mid", "high")}
    assert steps.changes[1].comparison.difference.value == pytest.approx(-0.3)


def test_the_overall_change_keeps_tasks_together(rng: np.random.Generator) -> None:
    # Two models with the same outcomes say no more than one of them.
    tasks = list(range(50))
    before, after = rng.integers(0, 2, 50), rng.integers(0, 2, 50)
    rows = [
        (m, c, t, v)
        for m in "ab"
        for c, values in (("off", before), ("on", after))
        for t, v in zip(tasks, values, strict=True)
    ]
    both = condition_effects(*zip(*rows, strict=True), measure="accuracy", order=("off", "on"))
    one = mean_by_cluster(after - before, tasks).interval
    overall = both.overall["on", "off"].interval
    assert one is not None and overall is not None
    # Each of two equal models adds half of every task's change: the same error, exactly.
    assert overall.half_width == pytest.approx(one.half_width)


def test_the_overall_change_has_the_interval_of_its_tasks_means() -> None:
    # Three tasks that both models have under both: changes of the tasks' means 0, 1/2 and 1.
    off = {("a", 0): 0, ("a", 1): 0, ("a", 2): 0, ("b", 0): 0, ("b", 1): 1, ("b", 2): 0}
    on = {("a", 0): 0, ("a", 1): 1, ("a", 2): 1, ("b", 0): 0, ("b", 1): 1, ("b", 2): 1}
    rows = [(m, c, t, v) for c, values in (("off", off), ("on", on))
            for (m, t), v in values.items()]  # fmt: skip
    found = condition_effects(*zip(*rows, strict=True), measure="accuracy", order=("off", "on"))
    overall = found.overall["on", "off"]
    assert overall.value == pytest.approx(0.5) and overall.interval is not None
    # s = 1/2, K = 3, t with 2 df is 4.3027: 1.24, cut off where a share's change ends.
    value, error, df = quotients_mean(
        np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), np.ones((3, 2))
    )
    assert (value, error) == (pytest.approx(0.5), pytest.approx(0.5 / 3**0.5))
    assert df == pytest.approx(2)
    assert (overall.interval.low, overall.interval.high) == (pytest.approx(-0.742, abs=1e-3), 1)
    assert overall.interval.method == "t by task (CR2)"


def test_one_mean_of_unequal_clusters_has_the_error_of_a_quotient() -> None:
    sums, counts = np.array([[3.0], [1.0], [4.0], [2.5]]), np.array([[2.0], [1.0], [3.0], [2.0]])
    assert quotients_mean(sums, counts) == pytest.approx(cluster_quotient(sums[:, 0], counts[:, 0]))


def test_a_range_lies_between_what_pairs_of_conditions_allow() -> None:
    columns = list(zip(*ROWS, strict=True))
    found = condition_effects(*columns, measure="accuracy", order=LEVELS)
    wide, narrow = found.ranges["a"].interval, found.ranges["b"].interval
    assert wide is not None and narrow is not None
    assert 0 < wide.low <= 0.6 <= wide.high <= 1
    # Ten, ten and eight of twenty: no pair is apart for sure.
    assert narrow.low == 0 and 0.1 < narrow.high < 0.5


def test_scores_several_attempts_and_what_is_missing() -> None:
    rows = [("a", "off", t, 2.0 + t % 3) for t in range(6) for _ in range(2)]
    rows += [("a", "on", t, 3.0 + t % 3) for t in range(3)] + [("b", "on", 99, None)]
    found = condition_effects(
        *zip(*rows, strict=True), measure="effectiveness", order=("off", "on")
    )
    (a, b) = found.changes
    assert a.comparison.difference.value == 1 and a.comparison.difference.n == 3
    assert a.comparison.difference.no_interval  # the same on every task
    assert found.cells["b", "off"].undefined == NO_ATTEMPT
    assert b.comparison.difference.undefined == NO_COMMON_TASK and b.clear is None
    assert found.family.size == 2 and found.ranges["b"].undefined == NO_COMMON_TASK
    assert found.overall["on", "off"].n == 1
    alone = condition_effects(["b"], ["on"], [1], [1], measure="x", order=("on",))
    assert alone.ranges["b"].undefined == ONE_CONDITION and alone.changes == ()
    apart = condition_effects(
        ["a", "a"], ["off", "on"], [1, 2], [1, 0], measure="x", order=("off", "on")
    )
    assert apart.overall["on", "off"].undefined == NO_CHANGE
    with pytest.raises(ValueError, match="'warm' is not among"):
        condition_effects(["a"], ["warm"], [1], [1], measure="x", order=("off", "on"))
    with pytest.raises(ValueError, match="each once"):
        condition_effects([], [], [], [], measure="x", order=("on", "on"))
