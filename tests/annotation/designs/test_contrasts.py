"""Differences that a design can estimate, against ordinary least squares on the same rows."""

from collections.abc import Sequence
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest

from annotation.designs.contrasts import (
    Confounding,
    Judgement,
    confounded_effects,
    judgements,
    model_contrast,
)
from annotation.designs.dealing import deal_options, deal_queries
from annotation.designs.orders import order_options
from annotation.designs.types import DesignOption

OPTIONS = {n: DesignOption(n, f"t{n // 10}", f"m{n % 10}") for n in range(240)}


def papers_rows(raters: int = 1) -> list[Judgement]:
    queries = {task: range(task * 10, task * 10 + 10) for task in range(24)}
    names = [f"Annotator {n}" for n in range(1, 9)]
    lists = deal_queries(annotators=names, queries=queries, each=3 * raters, seed=1, raters=raters)
    return judgements(lists, OPTIONS)


def single_items(raters: int = 1) -> list[Judgement]:
    names = [f"Annotator {n}" for n in range(1, 9)]
    dealt = deal_options(options=OPTIONS.values(), annotators=names, raters=raters, seed=2)
    return judgements(order_options(dealt=dealt, method="blocks").orders, OPTIONS)


def least_squares(rows: Sequence[Judgement], *blocks: Sequence[object]) -> float:
    """The largest standard error of a difference of models in a regression on indicators."""

    def indicators(values: Sequence[object]) -> np.ndarray:
        levels = sorted(set(values), key=str)
        return np.array([[value == level for level in levels] for value in values], dtype=float)

    models = indicators([row.model for row in rows])
    matrix = np.hstack([models, *map(indicators, blocks)])
    variance = np.linalg.pinv(matrix.T @ matrix)
    return max(
        sqrt(variance[a, a] + variance[b, b] - 2 * variance[a, b])
        for a, b in combinations(range(models.shape[1]), 2)
    )


def test_the_papers_study_compares_agents_within_rater_and_query() -> None:
    # 24 complete blocks of ten agents: the variance of a difference of two means is 2/24.
    found = model_contrast(papers_rows())
    assert found is not None
    assert found.standard_error == pytest.approx(sqrt(2 / 24))
    assert (found.within, found.additive, found.meetings) == (("rater", "query"), False, 24)
    twice = model_contrast(papers_rows(raters=2))
    assert twice is not None and twice.standard_error == pytest.approx(sqrt(2 / 48))


def test_incomplete_blocks_have_the_error_of_their_regression() -> None:
    rows = [row for n, row in enumerate(papers_rows()) if n % 7]
    found = model_contrast(rows)
    assert found is not None and not found.additive
    blocks = [(row.rater, row.query) for row in rows]
    assert found.standard_error == pytest.approx(least_squares(rows, blocks))


@pytest.mark.parametrize("raters", [1, 2])
def test_single_items_are_compared_across_raters(raters: int) -> None:
    rows = single_items(raters)
    found = model_contrast(rows)
    assert found is not None and found.additive
    expected = least_squares(rows, [row.rater for row in rows], [row.query for row in rows])
    assert found.standard_error == pytest.approx(expected)


def test_a_pool_compares_agents_within_queries_alone() -> None:
    rows = judgements({"pool": [*OPTIONS] * 2}, OPTIONS)
    found = model_contrast(rows, pooled=True)
    assert found is not None and found.within == ("query",)
    assert found.standard_error == pytest.approx(sqrt(2 / 48))


def test_agents_that_share_nothing_cannot_be_compared() -> None:
    rows = [Judgement(model, f"q-{model}", f"r-{model}", 0) for model in "ab" for _ in range(3)]
    assert model_contrast(rows) is None
    assert model_contrast(rows[:3]) is None  # one agent
    found = confounded_effects(rows)
    assert found == [
        Confounding("agent", "query", 1, 1),
        Confounding("agent", "rater", 1, 1),
        Confounding("query", "rater", 1, 1),
    ]


def test_the_papers_study_confounds_raters_with_queries() -> None:
    # Each query has one rater: eight components, so all seven differences between raters.
    assert confounded_effects(papers_rows()) == [Confounding("rater", "query", 7, 7)]


def test_single_items_confound_nothing() -> None:
    assert confounded_effects(single_items(raters=2)) == []


def test_agents_may_be_lost_among_all_others_together() -> None:
    # Agent b where rater and query agree, a where they do not: no two factors show it, but
    # position (here the third) is the other way round exactly where the agent is.
    rows = [
        Judgement("ab"[(query + rater) % 2], str(query), str(rater), (query + rater) % 2)
        for query, rater in product(range(2), range(2))
    ]
    assert Confounding("agent", "position", 1, 1) in (confounded_effects(rows) or [])
    cube = [Judgement(str((q + r) % 3), str(q), str(r), (q + 2 * r) % 3)
            for q, r in product(range(3), range(3))]  # fmt: skip
    assert confounded_effects(cube) == []  # a Graeco-Latin square confounds nothing
    less = [row for row in cube if row.query != "2"]
    matrix = np.array([
        [row.model == "0", row.model == "1", row.model == "2", row.query == "1",
         row.rater == "1", row.rater == "2", row.position == 1, row.position == 2]
        for row in less
    ], dtype=float)  # fmt: skip
    others = np.hstack([np.ones((len(less), 1)), matrix[:, 3:]])
    lost = 2 - (np.linalg.matrix_rank(matrix) - np.linalg.matrix_rank(others))
    assert lost > 0
    assert (confounded_effects(less) or [])[0] == Confounding("agent", "", lost, 2)
