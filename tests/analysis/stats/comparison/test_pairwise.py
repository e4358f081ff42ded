"""Bradley–Terry with ties: closed forms, choix, a numerical optimum, and what has no estimate."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.stats.comparison import pairwise
from analysis.stats.comparison.pairwise import FIRST, SECOND, TIE, bradley_terry

# Wins of the row over the column, of 160 comparisons drawn with seed 20261128, and the strengths
# that choix 0.4.1 (opt_pairwise, Newton-CG, alpha 0; ilsr_pairwise agrees to 1e-9) gives them.
WINS = [
    [0, 15, 10, 17, 13],
    [9, 0, 9, 7, 8],
    [1, 4, 0, 14, 12],
    [3, 0, 9, 0, 11],
    [1, 4, 4, 9, 0],
]
CHOIX = [1.2763071896, 0.6393461716, -0.2296594575, -0.7623004654, -0.9236934383]


def compared(*rows: tuple[str, str, int, int]) -> Any:
    """Strengths of comparisons (first, second, outcome, how often), each a task of its own."""
    flat = [(one, two, outcome) for one, two, outcome, count in rows for _ in range(count)]
    return bradley_terry(*zip(*flat, strict=True), list(range(len(flat))))


def test_without_ties_it_is_what_choix_computes() -> None:
    rows = [
        (str(i), str(j), FIRST, count)
        for i, row in enumerate(WINS)
        for j, count in enumerate(row)
        if count
    ]
    strengths = compared(*rows)
    values = [strengths.strengths[str(n)].value for n in range(5)]
    assert values == pytest.approx(CHOIX, abs=1e-8)
    assert strengths.tie.value == 0 and strengths.tie.no_interval


def test_two_agents_have_a_closed_form() -> None:
    # Davidson: the ratio of strengths is that of wins, ν = ties / sqrt(wins of both).
    rows = compared(("x", "y", FIRST, 12), ("x", "y", SECOND, 3), ("y", "x", TIE, 6))
    assert rows.differences["x", "y"].estimate.value == pytest.approx(math.log(4))
    assert rows.tie.value == pytest.approx(1 / (1 + 2 * 6 / 6))
    assert rows.preferred["x"].value == pytest.approx(1 / (1 + math.exp(-math.log(4) / 2)))
    turned = compared(("y", "x", SECOND, 12), ("y", "x", FIRST, 3), ("x", "y", TIE, 6))
    assert turned.strengths["x"].value == pytest.approx(rows.strengths["x"].value)


def test_with_ties_it_is_the_top_of_the_likelihood() -> None:
    rng = np.random.default_rng(3)
    one = rng.integers(0, 4, 300)
    two = (one + rng.integers(1, 4, 300)) % 4
    outcome = rng.integers(0, 3, 300)

    def loss(parameters: Any) -> float:
        theta, eta = np.append(parameters[:3], -parameters[:3].sum()), parameters[3]
        logits = np.stack([theta[one], eta + (theta[one] + theta[two]) / 2, theta[two]])
        chosen = logits[outcome, np.arange(300)]
        return float((np.logaddexp.reduce(logits, axis=0) - chosen).sum())

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    rows = bradley_terry(list(one), list(two), list(outcome), list(range(300)))
    values = [rows.strengths[n].value for n in range(3)]
    assert values == pytest.approx(list(best[:3]), abs=1e-5)
    assert rows.tie.value == pytest.approx(1 / (1 + 2 * math.exp(-best[3])), abs=1e-5)


def test_intervals_take_tasks_and_not_answers_as_independent() -> None:
    base = [("x", "y", FIRST), ("x", "y", FIRST), ("x", "y", SECOND), ("y", "x", TIE)] * 5
    once = bradley_terry(*zip(*base, strict=True), list(range(20)))
    # The same answers from four people each tell nothing more.
    four = bradley_terry(*zip(*(base * 4), strict=True), list(range(20)) * 4)
    assert four.comparisons == 80 and four.clusters == 20
    narrow, wide = (rows.differences["x", "y"].estimate.interval for rows in (four, once))
    assert narrow is not None and wide is not None
    assert narrow.half_width == pytest.approx(wide.half_width)
    assert narrow.details == {"clusters": 20, "df": 19} and narrow.unit == "task"
    assert once.differences["x", "y"].p_value == pytest.approx(four.differences["x", "y"].p_value)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("x", "y", FIRST, 5)], pairwise.SEPARATED),
        # Without a loss, ties do not help: they may be as likely as one wants.
        ([("x", "y", FIRST, 5), ("x", "y", TIE, 2)], pairwise.SEPARATED),
        ([("x", "y", FIRST, 1), ("x", "y", SECOND, 1), ("z", "y", FIRST, 4)], pairwise.SEPARATED),
        ([("x", "y", TIE, 5)], pairwise.ALL_TIES),
        (
            [("x", "y", FIRST, 2), ("x", "y", SECOND, 2), ("z", "w", TIE, 3)],
            pairwise.UNLINKED,
        ),
    ],
)
def test_what_has_no_finite_strength_is_undefined(rows: Any, reason: str) -> None:
    table = compared(*rows)
    assert table.undefined == reason and table.differences == {}
    assert {row.undefined for row in table.strengths.values()} == {reason}


def test_a_tie_links_an_agent_where_other_pairs_tell_how_likely_ties_are() -> None:
    decided = [("x", "y", FIRST, 6), ("x", "y", SECOND, 6), ("x", "y", TIE, 4)]
    rows = compared(*decided, ("z", "x", FIRST, 3), ("z", "x", TIE, 3))
    assert not rows.undefined and rows.differences["x", "z"].estimate.value < 0  # type: ignore[operator]


def test_one_task_has_no_interval_and_nonsense_is_refused() -> None:
    rows = bradley_terry(["x", "x", "x"], ["y"] * 3, [FIRST, FIRST, SECOND], ["t"] * 3)
    assert rows.strengths["x"].no_interval == pairwise.ONE_CLUSTER
    assert rows.differences["x", "y"].p_value is None
    assert bradley_terry([], [], [], []).undefined == "no comparison"
    for bad in (
        (["x"], ["x"], [FIRST], ["t"]),
        (["x"], ["y"], [3], ["t"]),
        (["x"], ["y"], [FIRST], ["t", "u"]),
    ):
        with pytest.raises(ValueError, match="compared with itself|outcome|entries"):
            bradley_terry(*bad)


def test_agents_that_one_task_alone_links_have_no_interval() -> None:
    first = ["x", "x", "z", "z", "x", "z"]
    second = ["y", "y", "w", "w", "z", "x"]
    outcomes = [FIRST, SECOND, FIRST, SECOND, FIRST, FIRST]
    rows = bradley_terry(first, second, outcomes, ["a", "b", "a", "b", "c", "c"])
    assert rows.strengths["x"].value is not None
    assert rows.strengths["x"].no_interval == pairwise.ONE_LINK
