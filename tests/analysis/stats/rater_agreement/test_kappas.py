"""Agreement corrected for chance: by hand, by the textbook, and where it is undefined."""

import numpy as np
import pytest

from analysis.stats.rater_agreement.answers import NO_PAIRS, answers_of_counts, answers_of_scores
from analysis.stats.rater_agreement.coefficient_intervals import FISHER
from analysis.stats.rater_agreement.kappas import (
    CHANCE_IS_FULL,
    INCOMPLETE,
    NEITHER,
    NO_COMMON,
    NO_WIDTH,
    agreement_weights,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
)
from analysis.stats.resampling import SAME_RESAMPLES

N = None
# Gwet 2014, Handbook of Inter-Rater Reliability, Table 2.10: four raters, twelve subjects.
GWET = [
    [1, 1, N, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [N, 5, 5, 5], [N, N, 1, 1], [N, N, 3, N],
]  # fmt: skip
# Fourteen raters, ten subjects, five categories; Fleiss' kappa is printed as 0.210.
FOURTEEN = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def test_weights_by_hand() -> None:
    first = [agreement_weights([1, 2, 3, 4, 5], w)[0].tolist() for w in ("linear", "quadratic")]
    assert first == [[1, 0.75, 0.5, 0.25, 0], [1, 15 / 16, 12 / 16, 7 / 16, 0]]
    # C(d + 1, 2) is 0, 1, 3, 6, 10 for d = 0 … 4.
    assert agreement_weights([1, 2, 3, 4, 5], "ordinal")[0] == pytest.approx([1, 0.9, 0.7, 0.4, 0])
    assert agreement_weights([1, 2], "none").tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="two scores or more"):
        agreement_weights([1], "none")
    with pytest.raises(ValueError, match="unknown weights 'square'"):
        agreement_weights([1, 2], "square")  # type: ignore[arg-type]


def test_the_textbook() -> None:
    assert gwet_ac(answers_of_scores(GWET, scale=(1, 5))).value == pytest.approx(0.775, abs=5e-4)
    assert fleiss_kappa(answers_of_counts(FOURTEEN)).value == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(
    ("table", "kappa", "ac1"),
    [([[40, 9], [6, 45]], 0.70, 0.70), ([[80, 10], [5, 5]], 0.32, 0.81)],
)
def test_the_paradox_of_skewed_answers(table: list[list[int]], kappa: float, ac1: float) -> None:
    # Feinstein & Cicchetti 1990: 85 % agreement both times.
    cells = np.repeat(np.arange(4), np.ravel(table))
    first, second = cells // 2 + 1, cells % 2 + 1
    assert cohen_kappa(first, second, scale=(1, 2)).value == pytest.approx(kappa, abs=5e-3)
    both = answers_of_scores(np.column_stack([first, second]), scale=(1, 2))
    assert gwet_ac(both).value == pytest.approx(ac1, abs=5e-3)


def test_cohen_by_hand() -> None:
    # Pairs (1,1) (1,2) (2,2) (2,2): p_o = 3/4; margins 1/2, 1/2 and 1/4, 3/4: p_e = 1/8 + 3/8.
    result = cohen_kappa([1, 1, 2, 2, N, 3], [1, 2, 2, 2, N, N])
    assert result.value == pytest.approx((3 / 4 - 1 / 2) / (1 / 2))
    assert result.n == 4 and result.excluded == {INCOMPLETE: 1, NEITHER: 1}
    assert "from 1 to 5" in result.method


def test_weights_depend_on_the_whole_scale() -> None:
    first, second = [1, 2, 3, 1, 2, 3], [1, 2, 2, 2, 2, 3]
    narrow = cohen_kappa(first, second, scale=(1, 3), weights="linear")
    wide = cohen_kappa(first, second, scale=(1, 5), weights="linear")
    # 1 − Σ d p_o/Σ d p_e: the range cancels for Cohen's kappa, not for AC2.
    assert narrow.value == pytest.approx(wide.value)
    both = np.column_stack([first, second])
    values = [
        gwet_ac(answers_of_scores(both, scale=scale), weights="linear").value
        for scale in ((1, 3), (1, 5))
    ]
    assert values[0] != pytest.approx(values[1], abs=0.01)


def test_undefined_and_without_interval() -> None:
    assert cohen_kappa([1, N], [N, 2]).undefined == NO_COMMON
    assert cohen_kappa([4, 4], [4, 4]).undefined == CHANCE_IS_FULL
    perfect = cohen_kappa([1, 2, 3], [1, 2, 3])
    assert perfect.value == 1 and perfect.no_interval == SAME_RESAMPLES
    equal = answers_of_scores([[4, 4], [4, 4]], scale=(1, 5))
    assert fleiss_kappa(equal).undefined == CHANCE_IS_FULL
    assert gwet_ac(equal).value == 1 and gwet_ac(equal).no_interval == NO_WIDTH
    singles = answers_of_scores([[4, N], [N, 3]], scale=(1, 5))
    for function in (fleiss_kappa, gwet_ac):
        assert function(singles).undefined == NO_PAIRS
        alone = function(answers_of_scores([[4, 3]], scale=(1, 5)))
        assert alone.value is not None and "one item" in alone.no_interval
    with pytest.raises(ValueError, match="whole numbers from 1 to 5"):
        cohen_kappa([6], [1])


def test_tasks_that_repeat_are_drawn() -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat(rng.integers(1, 6, 30), 6)
    first, second = (np.clip(truth + rng.integers(-1, 2, 180), 1, 5) for _ in range(2))
    tasks = np.repeat(np.arange(30), 6).tolist()
    both = answers_of_scores(np.column_stack([first, second]), scale=(1, 5))
    for free, bound in (
        (cohen_kappa(first, second), cohen_kappa(first, second, clusters=tasks, seed=1)),
        (fleiss_kappa(both), fleiss_kappa(both, clusters=tasks, seed=1)),
        (gwet_ac(both), gwet_ac(both, clusters=tasks, seed=1)),
    ):
        assert bound.value == pytest.approx(free.value)
        assert bound.interval is not None and bound.interval.details["clusters"] == 30
        assert bound.interval.method == FISHER.format(unit="task")
    once = cohen_kappa(first, second, clusters=list(range(180)), seed=1)
    assert once.interval is not None and once.interval.method == "asymptotic normal"
