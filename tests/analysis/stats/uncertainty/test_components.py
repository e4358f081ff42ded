"""Variance components: lme4's values, what cannot be told apart, and data without any."""

import numpy as np
import pytest

from analysis.stats.uncertainty.components import (
    CONSTANT,
    FEW_TASKS,
    NO_SCORES,
    variance_components,
)
from tests.analysis.stats.uncertainty.components_reference import (
    NAMES,
    REFERENCE,
    SETS,
    made_scores,
)


@pytest.mark.parametrize("name", SETS)
def test_components_equal_lme4(name: str) -> None:
    scores, labels = made_scores(name)
    components = variance_components(scores, **labels)
    for part, value in zip(NAMES, REFERENCE[name], strict=True):
        mine = components.variance(part)
        if value is None:
            assert mine is None
        else:
            assert mine == pytest.approx(value, abs=1e-5)
    zero = {part for part, value in zip(NAMES, REFERENCE[name], strict=True) if value == 0}
    assert set(components.zero) == zero


def test_balanced_components_are_those_of_mean_squares() -> None:
    rng = np.random.default_rng(1)
    tasks, judges = 30, 4
    table = (
        rng.normal(0, 1, (tasks, 1))
        + rng.normal(0, 1, judges)
        + rng.normal(0, 0.5, (tasks, judges))
    )
    t, j = (codes.ravel().tolist() for codes in np.indices(table.shape))
    fit = variance_components(table.ravel(), tasks=t, attempts=t, judges=j, settings=[0] * len(t))
    rows, columns = table.mean(1) - table.mean(), table.mean(0) - table.mean()
    rest = table - table.mean() - rows[:, None] - columns
    error = (rest**2).sum() / ((tasks - 1) * (judges - 1))
    between = judges * (rows**2).sum() / (tasks - 1)
    across = tasks * (columns**2).sum() / (judges - 1)
    assert fit.variance("rest") == pytest.approx(error)
    assert fit.variance("task") == pytest.approx((between - error) / judges)
    assert fit.variance("judge") == pytest.approx((across - error) / tasks)
    # One attempt at a task: it cannot be told from the task.
    assert fit.variance("attempt") is None and fit.levels["attempt"] == 1
    # The variance of the mean is that of the mean squares, too.
    errors = sum(part.error for part in fit.parts)
    assert errors == pytest.approx((between + across - error) / (tasks * judges))


def test_the_order_of_rows_and_names_changes_nothing() -> None:
    scores, labels = made_scores("unbalanced")
    order = np.random.default_rng(2).permutation(scores.size)
    other = {name: [f"{name}{some[i]}" for i in order] for name, some in labels.items()}
    one, two = variance_components(scores, **labels), variance_components(scores[order], **other)
    for part in one.parts:
        assert two.variance(part.name) == pytest.approx(part.variance, abs=1e-6)


def fit(scores: list[float | None], tasks: list[int]) -> str:
    size = list(range(len(tasks)))
    return variance_components(
        scores, tasks=tasks, attempts=size, judges=[0] * len(size), settings=[0] * len(size)
    ).undefined


def test_data_that_say_nothing_have_a_reason() -> None:
    assert fit([], []) == NO_SCORES
    assert fit([None, None], [1, 2]) == NO_SCORES
    assert fit([1, 2, 3], [1, 2, 3]) == FEW_TASKS.format(n=3, least=4)
    assert fit([3.0] * 8, [1, 1, 2, 2, 3, 3, 4, 4]) == CONSTANT
    with pytest.raises(ValueError, match="task: 0 entries"):
        variance_components([1.0], tasks=[], attempts=[1], judges=[1], settings=[1])


def test_replicates_are_told_apart_from_what_a_judging_makes_of_a_plan() -> None:
    rng = np.random.default_rng(7)
    shape = (60, 3, 2, 3)  # tasks, judges, settings, replies to one prompt
    t, j, s, _ = (codes.ravel() for codes in np.indices(shape))
    y = (
        rng.normal(0, 0.5, 60)[t]
        + rng.normal(0, 0.4, shape[:3])[t, j, s]
        + rng.normal(0, 0.2, t.size)
    )
    fit = variance_components(
        y, tasks=t.tolist(), attempts=t.tolist(), judges=j.tolist(), settings=s.tolist()
    )
    assert fit.variance("judge by attempt and setting") == pytest.approx(0.16, rel=0.25)
    assert fit.variance("rest") == pytest.approx(0.04, rel=0.15)
    once = np.flatnonzero(np.indices(shape)[3].ravel() == 0)
    alone = variance_components(
        y[once], tasks=t[once].tolist(), attempts=t[once].tolist(), judges=j[once].tolist(),
        settings=s[once].tolist(),
    )  # fmt: skip
    assert alone.variance("judge by attempt and setting") is None
