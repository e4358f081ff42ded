from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.means import mean_by_cluster
from analysis.stats.paired import (
    NO_COMMON_TASK,
    ONE_SIDED,
    compare_pair,
    pair_by_task,
    paired_difference,
)
from analysis.stats.paired_tests import mcnemar, sign_flip_test
from tests.shared_data import reference_records


def binary(both: int, first: int, second: int, neither: int) -> tuple[list[float], list[float]]:
    a = [1.0] * both + [1.0] * first + [0.0] * second + [0.0] * neither
    b = [1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither
    return a, b


def test_mcnemar_against_r() -> None:
    for record in reference_records(statistic="mcnemar"):
        n, value = record["params"], record["value"]
        result = mcnemar(n["n11"], n["n10"], n["n01"], n["n00"])
        assert result.p_exact == pytest.approx(value["p_exact"], abs=1e-6)
        assert result.chi2 == pytest.approx(value["chi2"], abs=1e-6)
        assert result.p_chi2 == pytest.approx(value["p"], abs=1e-6)
        assert result.chi2_corrected == pytest.approx(value["chi2_cc"], abs=1e-6)
        assert result.p_corrected == pytest.approx(value["p_cc"], abs=1e-6)


def test_mcnemar_by_hand() -> None:
    # 5 to 1: 2·(1 + 6)/64.
    assert mcnemar(0, 5, 1, 3).p_exact == pytest.approx(14 / 64)
    assert mcnemar(0, 3, 3, 0).p_exact == 1
    never = mcnemar(4, 0, 0, 2)
    assert never.p_exact == 1 and never.chi2 is None and never.undefined
    with pytest.raises(ValueError, match="0 or more"):
        mcnemar(1, -1, 0, 0)


def test_pairing() -> None:
    paired = pair_by_task(["x", "y", "y", "z", "w"], [1, 0, 1, 1, None], ["y", "x", "v"], [1, 0, 1])
    assert dict(zip(paired.tasks, paired.differences, strict=True)) == {"x": 1, "y": -0.5}
    assert paired.excluded == {"missing value": 1, ONE_SIDED: 2}
    assert paired.attempts == 5 and not paired.single and not paired.binary
    with pytest.raises(ValueError, match="second tasks: 1 entries for 2"):
        pair_by_task(["x"], [1], ["x"], [1, 2])


def test_one_attempt_each_by_hand() -> None:
    a, b = binary(2, 5, 1, 3)
    tasks = list(range(11))
    result = compare_pair(pair_by_task(tasks, a, tasks[::-1], b[::-1]), seed=1)
    assert (result.wins, result.ties, result.losses) == (5, 5, 1)
    assert result.difference.value == pytest.approx(4 / 11)
    assert result.difference.n == 11 and result.first == pytest.approx(7 / 11)
    assert result.p_value == pytest.approx(14 / 64) and result.test == "McNemar, exact"
    # All 2^6 flips: the same test.
    assert result.permutation is not None and result.permutation.exact
    assert result.permutation.p_value == pytest.approx(14 / 64)


def test_the_interval_is_the_bootstrap_of_tasks(rng: np.random.Generator) -> None:
    a, b = binary(40, 30, 15, 15)
    tasks = list(range(100))
    found = paired_difference(pair_by_task(tasks, a, tasks, b), seed=3, resamples=4000)
    plain = mean_by_cluster(np.array(a) - np.array(b), tasks, seed=4, resamples=4000)
    assert found.interval is not None and plain.interval is not None
    assert found.interval.low == pytest.approx(plain.interval.low, abs=0.011)
    assert found.interval.high == pytest.approx(plain.interval.high, abs=0.011)
    # Wald's interval of a paired difference: 0.15 ± 1.96·sqrt(0.45 − 0.15²)/10.
    assert found.interval.half_width == pytest.approx(1.96 * np.sqrt(0.45 - 0.0225) / 10, rel=0.05)
    assert found.interval.details == {"seed": 3, "resamples": 4000, "clusters": 100}


def test_more_attempts_do_not_make_it_surer() -> None:
    tasks = [t for t in range(30) for _ in range(8)]
    first = [float(t % 3 == 0) for t in tasks]
    second = [float(t % 5 == 0) for t in tasks]
    many = compare_pair(pair_by_task(tasks, first, tasks, second), seed=1)
    once = compare_pair(pair_by_task(tasks[::8], first[::8], tasks[::8], second[::8]), seed=1)
    assert many.difference == once.difference
    assert many.mcnemar is None and many.test.startswith("sign-flip")
    assert many.permutation == once.permutation


def test_nothing_in_common_and_always_the_same() -> None:
    none = compare_pair(pair_by_task(["a"], [1], ["b"], [0]), seed=1)
    assert none.difference.undefined == NO_COMMON_TASK and none.p_value is None
    assert none.first is None and none.permutation is None
    same = compare_pair(pair_by_task([1, 2, 3], [1, 0, 1], [1, 2, 3], [1, 0, 1]), seed=1)
    assert same.p_value == 1 and same.ties == 3 and same.difference.value == 0
    assert same.difference.interval is None and same.difference.no_interval


def test_sign_flips_by_enumeration_and_by_draws() -> None:
    values = [0.5, -0.2, 0.9, 0.1, 0.0]
    sums = [abs(np.dot(s, values)) for s in product((1, -1), repeat=5)]
    expected = np.mean([s >= abs(sum(values)) - 1e-9 for s in sums])
    assert sign_flip_test(values, seed=1).p_value == pytest.approx(expected)
    # 18 wins to 6, drawn: near McNemar's exact value, and never 0.
    drawn = sign_flip_test([1.0] * 18 + [-1.0] * 6, seed=1)
    assert not drawn.exact
    assert drawn.p_value == pytest.approx(mcnemar(0, 18, 6, 0).p_exact, abs=0.005)
    assert sign_flip_test([1.0] * 40, seed=1, permutations=100).p_value == pytest.approx(1 / 101)
    with pytest.raises(ValueError, match="none of them missing"):
        sign_flip_test([], seed=1)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=25),
    st.integers(0, 5),
)
def test_exchanging_the_two_turns_the_signs(pairs: list[tuple[int, int]], seed: int) -> None:
    tasks = list(range(len(pairs)))
    a, b = zip(*pairs, strict=True)
    one = compare_pair(pair_by_task(tasks, a, tasks, b), seed=seed, permutations=100)
    other = compare_pair(pair_by_task(tasks, b, tasks, a), seed=seed, permutations=100)
    assert one.difference.value == pytest.approx(-(other.difference.value or 0), abs=1e-12)
    assert (one.wins, one.losses) == (other.losses, other.wins)
    assert one.p_value == other.p_value and one.wins + one.ties + one.losses == len(pairs)
    # The same seed gives the same numbers; other names of tasks do not matter.
    named = [f"task {task}" for task in tasks]
    again = compare_pair(pair_by_task(named, a, named, b), seed=seed, permutations=100)
    assert again == one
