from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.judges.dispersion import (
    JUDGE_MISSING,
    NO_NOISE,
    NO_ORDER,
    ONE_JUDGE,
    Dispersion,
    JudgeMean,
    JudgeSeverity,
    floor_of,
    judge_dispersion,
    judge_means,
    leave_one_judge_out,
)


def cells(table: dict[tuple[str, str], list[float | None]], n: int = 10) -> list[JudgeMean]:
    return [
        JudgeMean(model, dimension, f"j{i}", mean, n if mean is not None else 0)
        for (model, dimension), means in table.items()
        for i, mean in enumerate(means)
    ]


def severity(result: Dispersion, judge: str, dimension: str) -> JudgeSeverity:
    return next(s for s in result.severity if (s.judge, s.dimension) == (judge, dimension))


def test_two_models_by_hand() -> None:
    result = judge_dispersion(cells({("a", "safety"): [4, 4, 5], ("b", "safety"): [3, 3, 3]}))
    (spread,) = result.dimensions
    # Model a: mean 13/3, squares (1/9 + 1/9 + 4/9)/3 = 2/9. Model b: exactly 0.
    assert spread.models[0].sd.value == pytest.approx(sqrt(2) / 3)
    assert spread.models[1].sd.value == 0
    # Mean √2/6; two values, so s/√n is half their distance √2/6; t(1; 0.975) = 12.706205.
    assert spread.mean_sd.value == pytest.approx(sqrt(2) / 6)
    assert spread.mean_sd.n == 2
    assert spread.mean_sd.interval is not None
    assert spread.mean_sd.interval.high == pytest.approx(13.706205 * sqrt(2) / 6, rel=1e-6)
    assert spread.mean_sd.interval.low == 0  # where a standard deviation ends
    # Judge 2 is 2/3 above the mean for a and equal for b; the others -1/3 and 0.
    assert severity(result, "j2", "safety").bias.value == pytest.approx(1 / 3)
    assert severity(result, "j0", "safety").bias.value == pytest.approx(-1 / 6)
    assert severity(result, "j2", "all dimensions").bias.value == pytest.approx(1 / 3)
    assert result.warnings == ()


def test_a_missing_judge_leaves_the_model_out() -> None:
    result = judge_dispersion(
        cells(
            {("a", "d"): [4, 4, 5], ("b", "d"): [3, None, 5], ("a", "e"): [1, 1, None]},
        )
    )
    first, second = result.dimensions
    assert first.mean_sd.n == 1 and first.mean_sd.excluded == {JUDGE_MISSING: 1}
    assert first.mean_sd.interval is None and first.mean_sd.no_interval
    assert first.models[1].sd.value is None and first.models[1].sd.undefined == JUDGE_MISSING
    # Nobody complete on e; b was not judged on it at all.
    assert second.mean_sd.value is None and second.mean_sd.excluded == {JUDGE_MISSING: 2}
    assert severity(result, "j2", "e").bias.value is None
    assert severity(result, "j2", "all dimensions").bias.value is None
    assert any(w.startswith("j1 scored nothing for b on d") for w in result.warnings)


def test_one_judge_cannot_differ() -> None:
    result = judge_dispersion(cells({("a", "d"): [4], ("b", "d"): [5]}))
    assert result.dimensions[0].mean_sd.value is None
    assert result.dimensions[0].mean_sd.undefined == ONE_JUDGE
    assert severity(result, "j0", "d").bias.value is None
    assert ONE_JUDGE in result.warnings


def test_uneven_numbers_are_named() -> None:
    uneven = [JudgeMean("a", "d", "j0", 4, 10), JudgeMean("a", "d", "j1", 4, 9)]
    assert "a on d (10, 9)" in judge_dispersion(uneven).warnings[0]


def test_nothing_and_twice() -> None:
    assert judge_dispersion([]).dimensions == ()
    one = JudgeMean("a", "d", "j", 4, 1)
    with pytest.raises(ValueError, match="occur twice"):
        judge_dispersion([one, one])


def test_means_from_columns() -> None:
    means = judge_means(
        ["a", "a", "a", "b"],
        ["d", "d", "d", "d"],
        ["j0", "j0", "j1", "j0"],
        [4, 5, None, 2],
    )
    assert means == (
        JudgeMean("a", "d", "j0", 4.5, 2),
        JudgeMean("a", "d", "j1", None, 0),
        JudgeMean("b", "d", "j0", 2.0, 1),
        JudgeMean("b", "d", "j1", None, 0),
    )


@given(st.lists(st.tuples(*[st.floats(1, 5) for _ in range(3)]), min_size=1, max_size=6))
def test_spread_and_severity_against_numpy(rows: list[tuple[float, float, float]]) -> None:
    grid = np.array(rows)
    result = judge_dispersion(cells({(f"m{i}", "d"): list(row) for i, row in enumerate(rows)}))
    spread = result.dimensions[0]
    assert spread.mean_sd.value == pytest.approx(grid.std(axis=1, ddof=0).mean(), abs=1e-9)
    biases = [severity(result, f"j{i}", "d").bias.value for i in range(3)]
    assert sum(b for b in biases if b is not None) == pytest.approx(0, abs=1e-9)
    # Within 0 and half the range of the scale.
    assert 0 <= spread.mean_sd.value <= 2  # type: ignore[operator]


def test_without_each_judge_by_hand() -> None:
    # Judge 2 alone puts a before b; without any other judge the order stays.
    means = cells({("a", "d"): [3, 3, 5], ("b", "d"): [3.5, 3.4, 3], ("c", "d"): [1, 1, None]})
    without = {result.judge: result for result in leave_one_judge_out(means)}
    assert without["j2"].kendall["d"].value == -1 and without["j2"].kendall["d"].n == 2
    assert without["j0"].kendall["d"].value == 1
    # What is left of j0 and j1: SDs 0, 0.05, and 0 of c, which both scored.
    left = without["j2"].dimensions[0].mean_sd
    assert left.value == pytest.approx(0.05 / 3) and left.n == 3
    assert without["j0"].dimensions[0].mean_sd.excluded == {JUDGE_MISSING: 1}
    (alone,) = leave_one_judge_out(cells({("a", "d"): [4]}))
    assert alone.dimensions == () and alone.kendall["d"].undefined == ONE_JUDGE
    tied = leave_one_judge_out(cells({("a", "d"): [4, 4], ("b", "d"): [4, 4]}))
    assert tied[0].kendall["d"].undefined == NO_ORDER


def noisy(rng: np.random.Generator, tasks: int, offsets: tuple[float, ...]) -> Dispersion:
    """Judges that score each task with an SD of 0.59 around the same value, and their offset."""
    task = rng.normal(3, 1, tasks)
    means = []
    for j, offset in enumerate(offsets):
        scores = task + offset + rng.normal(0, 0.59, tasks)
        by_task = {k: (float(score), 1) for k, score in enumerate(scores)}
        means.append(JudgeMean("a", "d", f"j{j}", float(scores.mean()), tasks, by_task))
    return judge_dispersion(means)


def test_identical_judges_show_the_floor_and_nothing_beyond_it() -> None:
    rng = np.random.default_rng(1)
    found = [noisy(rng, 10, (0, 0, 0)).dimensions[0] for _ in range(400)]
    spreads = np.mean([one.mean_sd.value for one in found])
    floors = np.mean([one.floor.value for one in found])
    # 0.59/√10 · √(2/3) · √(2/2)·Γ(1.5)/Γ(1) = 0.135; 400 sets, each ± 0.07.
    assert spreads == pytest.approx(0.135, abs=0.01) and floors == pytest.approx(0.135, abs=0.01)
    excess = [one.models[0].sd.value ** 2 - one.models[0].noise for one in found]  # type: ignore[operator]
    assert np.mean(excess) == pytest.approx(0, abs=0.002)
    # Judges half a point apart: σ² without noise is that of the offsets, 1/6.
    apart = [noisy(rng, 10, (-0.5, 0, 0.5)).dimensions[0] for _ in range(400)]
    squares = [one.models[0].sd.value ** 2 - one.models[0].noise for one in apart]  # type: ignore[operator]
    assert np.mean(squares) == pytest.approx(1 / 6, abs=0.015)


def test_noise_by_hand() -> None:
    # Judge 0 has 1 and 3, judge 1 has 3 and 3: means 2 and 3. What a task moves, less the mean of
    # both judges: (1 − 2)/2 and 0 → ∓1/4 for either task; noise 2/1 · 4/16/2 = 1/4.
    means = [
        JudgeMean("a", "d", "j0", 2.0, 2, {1: (1.0, 1), 2: (3.0, 1)}),
        JudgeMean("a", "d", "j1", 3.0, 2, {1: (3.0, 1), 2: (3.0, 1)}),
    ]
    (dimension,) = judge_dispersion(means).dimensions
    assert dimension.models[0].noise == pytest.approx(0.25) and dimension.tasks == 2
    # Two judges: the mean of |normal|, √(2/π).
    assert floor_of(0.25, 2) == pytest.approx(0.5 * np.sqrt(2 / np.pi))
    # σ² is 1/4 too: nothing is left.
    assert dimension.beyond_noise.value == 0
    one_task = judge_dispersion(
        [JudgeMean("a", "d", f"j{j}", 2.0, 1, {1: (2.0, 1)}) for j in (0, 1)]
    )
    assert one_task.dimensions[0].floor.undefined == NO_NOISE
