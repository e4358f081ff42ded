"""Tests that agreement does not depend on names, the order of items, or unanswered questions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.rater_agreement.alpha import METRICS, krippendorff_alpha
from analysis.stats.rater_agreement.answers import (
    Answers,
    answers_of_counts,
    answers_of_rows,
    answers_of_scores,
)
from analysis.stats.rater_agreement.icc import FORMS, intraclass, intraclass_one_way
from analysis.stats.rater_agreement.kappas import WEIGHTS, cohen_kappa, fleiss_kappa, gwet_ac
from analysis.stats.results import Estimate

SCALE = (1, 5)
cell = st.one_of(st.none(), st.integers(1, 5))
tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(cell, min_size=k, max_size=k), min_size=2, max_size=12)
)
Statistic = Callable[[Any], Estimate]


def of_counts(function: Callable[[Answers], Estimate]) -> Statistic:
    return lambda table: function(answers_of_scores(table, scale=SCALE))


ALPHAS: dict[str, Statistic] = {
    f"alpha {m}": of_counts(lambda a, m=m: krippendorff_alpha(a, metric=m, seed=1, resamples=100))
    for m in METRICS
}
OTHERS: dict[str, Statistic] = {
    **{f"fleiss {w}": of_counts(lambda a, w=w: fleiss_kappa(a, weights=w)) for w in WEIGHTS},
    **{f"gwet {w}": of_counts(lambda a, w=w: gwet_ac(a, weights=w)) for w in WEIGHTS},
    "one-way": of_counts(intraclass_one_way),
    "one-way average": of_counts(lambda a: intraclass_one_way(a, average=True)),
}
BLOCKS: dict[str, Statistic] = {f: lambda table, f=f: intraclass(table, form=f) for f in FORMS}


def same(one: Estimate, other: Estimate, *, intervals: bool = True) -> None:
    assert one.undefined == other.undefined
    assert one.value == pytest.approx(other.value, abs=1e-9)
    if intervals and one.interval is not None and other.interval is not None:
        ends = (other.interval.low, other.interval.high)
        assert (one.interval.low, one.interval.high) == pytest.approx(ends, abs=1e-6)


def floats(table: Any) -> Any:
    return np.array(table, dtype=float)


@settings(max_examples=12, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(table: list[list[int | None]], random: Any) -> None:
    scores = floats(table)
    raters, items = list(range(scores.shape[1])), list(range(len(scores)))
    random.shuffle(raters)
    random.shuffle(items)
    shuffled = scores[items][:, raters]
    for name, statistic in (ALPHAS | OTHERS | BLOCKS).items():
        # Which resample a seed gives depends on nothing but the kinds of items, which are sorted.
        same(statistic(scores), statistic(shuffled), intervals=name not in BLOCKS)


@settings(max_examples=12, deadline=None)
@given(tables)
def test_what_nobody_answered_does_not_matter(table: list[list[int | None]]) -> None:
    scores = floats(table)
    wider = np.column_stack([scores, np.full(len(scores), np.nan)])
    longer = np.vstack([wider, np.full((2, wider.shape[1]), np.nan)])
    for statistic in (ALPHAS | OTHERS).values():
        same(statistic(scores), statistic(longer))
    # A lone answer can agree with nothing: alpha leaves it out. Gwet's counts use it.
    lone = np.vstack([scores, [3, *[np.nan] * (scores.shape[1] - 1)]])
    for statistic in ALPHAS.values():
        same(statistic(scores), statistic(lone))


@settings(max_examples=12, deadline=None)
@given(tables)
def test_items_that_come_twice(table: list[list[int | None]]) -> None:
    scores = floats(table)
    twice = np.vstack([scores, scores])
    for name in ("fleiss none", "fleiss quadratic", "gwet none", "gwet linear"):
        same(OTHERS[name](scores), OTHERS[name](twice), intervals=False)
    first, second = scores[:, 0], scores[:, 1]
    for weights in WEIGHTS:
        once = cohen_kappa(first, second, weights=weights)
        again = cohen_kappa(np.tile(first, 2), np.tile(second, 2), weights=weights)
        same(once, again, intervals=False)
    for statistic in ALPHAS.values():
        # 1 − alpha = (n − 1)·O/E, and twice the items make O twice and E four times as large.
        one, other = statistic(scores), statistic(twice)
        if one.value is None or other.value is None:
            assert one.undefined == other.undefined
            continue
        sizes = (~np.isnan(scores)).sum(axis=1)
        n = int(sizes[sizes >= 2].sum())
        assert 1 - other.value == pytest.approx((1 - one.value) * (2 * n - 1) / (2 * n - 2))


@settings(max_examples=12, deadline=None)
@given(tables)
def test_scales_can_be_turned_round(table: list[list[int | None]]) -> None:
    scores = floats(table)
    for name, statistic in (ALPHAS | OTHERS | BLOCKS).items():
        if name != "alpha ratio":
            same(statistic(scores), statistic(6 - scores), intervals=False)


@settings(max_examples=12, deadline=None)
@given(tables)
def test_tables_rows_and_counts_are_the_same_answers(table: list[list[int | None]]) -> None:
    scores = floats(table)
    whole = answers_of_scores(scores, scale=SCALE)
    rows = [(i, score) for i, row in enumerate(scores) for score in row]
    from_rows, items = answers_of_rows([i for i, _ in rows], [s for _, s in rows], scale=SCALE)
    assert items == tuple(range(len(scores)))
    counts = np.stack([(scores == point).sum(axis=1) for point in range(1, 6)], axis=1)
    for other in (from_rows, answers_of_counts(counts, values=np.arange(1, 6))):
        assert np.array_equal(whole.counts[whole.kinds], other.counts[other.kinds])
        assert np.array_equal(whole.values, other.values)
    assert np.array_equal(whole.counts[whole.kinds], counts)


def test_many_categories_and_raters_do_without_keys() -> None:
    # 60 answers to 40 categories: 61^40 is no number that a machine counts with.
    rng = np.random.default_rng(1)
    scores = rng.integers(1, 41, (30, 60))
    answers = answers_of_scores(scores, scale=(1, 40))
    expected = np.stack([(scores == point).sum(axis=1) for point in range(1, 41)], axis=1)
    assert np.array_equal(answers.counts[answers.kinds], expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: answers_of_scores([[1, 6]], scale=SCALE), "from 1 to 5"),
        (lambda: answers_of_scores([[0, 1]], scale=SCALE), "from 1 to 5"),
        (lambda: answers_of_scores([[-3, 1]], scale=SCALE), "from 1 to 5"),
        (lambda: answers_of_scores([[1.5, 1]], scale=SCALE), "from 1 to 5"),
        (lambda: answers_of_scores([1, 2], scale=SCALE), "items by people"),
        (lambda: answers_of_scores([[1, 2]], scale=(3, 3)), "from a lower"),
        (lambda: answers_of_rows(["a"], [6], scale=SCALE), "from 1 to 5"),
        (lambda: answers_of_counts([[1, -1]]), "0 or more"),
        (lambda: answers_of_counts([[0.5, 1]]), "0 or more"),
    ],
)
def test_what_is_no_answer_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
