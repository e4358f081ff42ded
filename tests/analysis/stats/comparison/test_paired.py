import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from analysis.stats.comparison.paired import (
    ALL_ALIKE,
    NO_COMMON_TASK,
    ONE_SIDED,
    ONE_TASK,
    PairedTable,
    compare_pair,
    pair_by_task,
    robust_interval,
    robust_p,
    score_interval,
    score_p,
)
from tests.shared_data import reference_records


def binary(both: int, first: int, second: int, neither: int) -> tuple[list[float], list[float]]:
    a = [1.0] * both + [1.0] * first + [0.0] * second + [0.0] * neither
    b = [1.0] * both + [0.0] * first + [1.0] * second + [0.0] * neither
    return a, b


def tango_by_definition(table: PairedTable, delta: float) -> float:
    """The score statistic with the restricted likelihood maximised by search, not by formula."""
    b, c, n = table.first_only, table.second_only, table.tasks

    def minus(q: float) -> float:
        p10, rest = q + delta, 1 - 2 * q - delta
        cells = ((b, p10), (c, q), (n - b - c, rest))
        return -sum(count * np.log(max(p, 1e-300)) for count, p in cells if count)

    low, high = max(0.0, -delta), (1 - delta) / 2
    q = minimize_scalar(minus, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    return float((b - c - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta))))


def test_the_score_test_is_mcnemars_without_correction() -> None:
    for record in reference_records(statistic="mcnemar"):
        n, value = record["params"], record["value"]
        table = PairedTable(n["n11"], n["n10"], n["n01"], n["n00"])
        assert score_p(table) == pytest.approx(value["p"], abs=1e-6)
    with pytest.raises(ValueError, match="0 or more"):
        PairedTable(1, -1, 0, 0)


def test_tangos_interval_published_and_by_definition() -> None:
    # Airway hyper-responsiveness (Bentur et al. 2009) in Fagerland, Lydersen & Laake 2014, Stat.
    # Med. 33:2850: score interval −0.517 to −0.026, McNemar's p = 0.034.
    table = PairedTable(1, 1, 7, 12)
    assert score_interval(table) == pytest.approx((-0.517, -0.026), abs=5e-4)
    assert score_p(table) == pytest.approx(0.034, abs=5e-4)
    for cells in ((1, 1, 7, 12), (3, 5, 2, 9), (40, 12, 4, 20)):
        for end in score_interval(PairedTable(*cells)):
            assert abs(tango_by_definition(PairedTable(*cells), end)) == pytest.approx(
                1.959964, abs=1e-3
            )
    # The two never differ: ±z²/(n + z²). One always wins: up to 1.
    assert score_interval(PairedTable(4, 0, 0, 6)) == pytest.approx((-0.27753, 0.27753), abs=1e-5)
    assert score_interval(PairedTable(0, 5, 0, 0))[1] == 1
    with pytest.raises(ValueError, match="needs tasks"):
        score_interval(PairedTable(0, 0, 0, 0))


@pytest.mark.parametrize("comparisons", [1, 45])
def test_interval_and_test_agree_on_every_table_of_up_to_32_tasks(comparisons: int) -> None:
    level = 1 - 0.05 / comparisons
    for n in range(1, 33):
        for b in range(n + 1):
            for c in range(n + 1 - b):
                table = PairedTable(n - b - c, b, c, 0)
                low, high = score_interval(table, level)
                assert -1 <= low <= (b - c) / n <= high <= 1
                excludes = low > 0 or high < 0
                assert excludes == (comparisons * score_p(table) < 0.05), (n, b, c)


@given(
    st.lists(st.integers(-8, 8).map(lambda k: k / 4), min_size=2, max_size=40),
    st.sampled_from([0.95, 0.99, 1 - 0.05 / 45]),
)
def test_interval_and_test_agree_over_clusters(values: list[float], level: float) -> None:
    ends = robust_interval(values, level)
    clear = robust_p(values) < 1 - level
    if ends is None:
        assert not clear
    elif np.ptp(values) > 0:
        assert clear == (ends[0] > 0 or ends[1] < 0)


def test_the_robust_test_by_hand() -> None:
    # Σd = 3, Σd² = 1 + 4: z = 3/√5 = 1.3416, p = 0.1797. Outcomes of 0 and 1: McNemar's.
    assert robust_p([1, 2, 0, 0]) == pytest.approx(0.179712, abs=1e-6)
    assert robust_p([1] * 7 + [-1] + [0] * 13) == score_p(PairedTable(13, 7, 1, 0))
    # m = 0.75, s² = 5/4 − 0.5625: ±1.96·0.829156/√(4 − 3.841459).
    assert robust_interval([1, 2, 0, 0]) == pytest.approx(
        (0.75 - 4.08143, 0.75 + 4.08143), abs=1e-3
    )
    assert robust_p([0, 0]) == 1 and robust_interval([1, 2, 0]) is None
    with pytest.raises(ValueError, match="none of them missing"):
        robust_p([])


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
    result = compare_pair(pair_by_task(tasks, a, tasks[::-1], b[::-1]))
    assert (result.wins, result.ties, result.losses) == (5, 5, 1)
    assert result.difference.value == pytest.approx(4 / 11)
    assert result.difference.n == 11 and result.first == pytest.approx(7 / 11)
    # z = 4/√6, p = 0.1025.
    assert result.p_value == pytest.approx(0.102470, abs=1e-6)
    assert result.table == PairedTable(2, 5, 1, 3)
    assert result.difference.interval is not None
    assert result.difference.interval.method == "Tango score"
    assert result.difference.interval.details == {"clusters": 11}
    three = compare_pair(pair_by_task(tasks, a, tasks, b), comparisons=3).difference.interval
    assert three is not None and three.level == 0.95 and three.details["comparisons"] == 3
    assert three.low < result.difference.interval.low
    with pytest.raises(ValueError, match="at least one comparison"):
        compare_pair(pair_by_task(tasks, a, tasks, b), comparisons=0)


def test_more_attempts_do_not_make_it_surer() -> None:
    tasks = [t for t in range(30) for _ in range(8)]
    first = [float(t % 3 == 0) for t in tasks]
    second = [float(t % 5 == 0) for t in tasks]
    many = compare_pair(pair_by_task(tasks, first, tasks, second))
    once = compare_pair(pair_by_task(tasks[::8], first[::8], tasks[::8], second[::8]))
    assert many.p_value == once.p_value and many.table is None
    assert many.difference.interval is not None
    assert many.difference.interval.method == "robust score by task"


def test_no_interval_leaves_the_scale() -> None:
    # Four tasks are hardly more than 1.96²: cut off at ±1 for rates, at ±4 for scores of 1 to 5.
    tasks, two = [t for t in range(4) for _ in range(2)], [0, 1, 1, 1, 0, 0, 1, 0]
    rates = compare_pair(pair_by_task(tasks, two, tasks, two[::-1])).difference.interval
    assert rates is not None and (rates.low, rates.high) == (-1, 1)
    scores = pair_by_task(range(4), [1, 5, 1, 5], range(4), [5, 1, 5, 2])
    found = compare_pair(scores, most=4).difference.interval
    assert found is not None and (found.low, found.high) == (-4, 4)


def test_nothing_in_common_and_always_the_same() -> None:
    none = compare_pair(pair_by_task(["a"], [1], ["b"], [0]))
    assert none.difference.undefined == NO_COMMON_TASK and none.p_value is None
    assert none.first is None and none.table is None
    same = compare_pair(pair_by_task([1, 2, 3], [1, 0, 1], [1, 2, 3], [1, 0, 1]))
    assert same.p_value == 1 and same.ties == 3 and same.difference.value == 0
    assert same.difference.interval is not None  # three tasks leave much open
    alike = compare_pair(pair_by_task([1, 2], [3, 4], [1, 2], [2, 3])).difference
    assert alike.interval is None and alike.no_interval == ALL_ALIKE
    few = compare_pair(pair_by_task([1, 2], [3, 4], [1, 2], [2, 5])).difference
    assert few.interval is None and "too few" in few.no_interval
    one = compare_pair(pair_by_task([1], [1], [1], [0])).difference
    assert one.interval is None and one.no_interval == ONE_TASK


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=25),
)
def test_exchanging_the_two_turns_the_signs(pairs: list[tuple[int, int]]) -> None:
    tasks = list(range(len(pairs)))
    a, b = zip(*pairs, strict=True)
    one = compare_pair(pair_by_task(tasks, a, tasks, b))
    other = compare_pair(pair_by_task(tasks, b, tasks, a))
    assert one.difference.value == pytest.approx(-(other.difference.value or 0), abs=1e-12)
    assert (one.wins, one.losses) == (other.losses, other.wins)
    assert one.p_value == other.p_value and one.wins + one.ties + one.losses == len(pairs)
    # Other names of tasks do not matter.
    named = [f"task {task}" for task in tasks]
    again = compare_pair(pair_by_task(named, a, named, b))
    assert again == one
