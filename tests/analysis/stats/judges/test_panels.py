import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.judges.panels import (
    NO_PEOPLE,
    NO_PERSON,
    NOTHING,
    ONE_JUDGE,
    SHRUNK,
    TWO_JUDGES,
    PanelReliability,
    judge_panel,
)
from tests.analysis.stats.rater_agreement.stars import FILE
from tests.shared_data import reference_records, shared_rows

J3 = ("gpt-4o", "gemini_pro", "llama-31")


def panel(table: dict[str, list[float | None]], **more: object) -> PanelReliability:
    """Scores by item, one column per judge."""
    rows = [(i, f"j{k}", s) for i, scores in table.items() for k, s in enumerate(scores)]
    return judge_panel(*zip(*rows, strict=True), **more)  # type: ignore[arg-type]


def test_by_hand() -> None:
    people = {"a": 5.0, "b": 2.0, "c": None}
    found = panel({"a": [5, 5, 2], "b": [3, 3, 3], "c": [4, 3, 2]}, people=people, threshold=3.5)
    # SDs √2, 0 and √(2/3).
    assert found.spread.value == pytest.approx((np.sqrt(2) + np.sqrt(2 / 3)) / 3)
    strict = found.judges[2]
    # 2 − 5, 3 − 3, 2 − 3.5.
    assert strict.severity.value == pytest.approx(-1.5)
    assert strict.mean_without.value == pytest.approx(0.5)
    # 2 − 5 and 3 − 2; nobody scored c.
    assert strict.bias.value == -1 and strict.bias.excluded == {NO_PERSON: 1}
    assert strict.spread_without.value == pytest.approx(1 / 6)
    # Means 4, 3, 3; without the strict judge 5, 3, 3.5: c turns.
    assert strict.flips is not None and (strict.flips.hits, strict.flips.of) == (1, 3)
    assert found.sizes == {3: 3} and found.warnings == ()
    assert sum(judge.severity.value or 0 for judge in found.judges) == pytest.approx(0)


def test_a_panel_that_shrank_is_said() -> None:
    found = panel({"a": [5, 4, 2], "b": [3, None, 3], "c": [None, None, 4]})
    assert (found.items, found.complete, found.sizes) == (3, 1, {1: 1, 2: 1, 3: 1})
    assert found.spread.excluded == {SHRUNK: 2} and found.spread.n == 1
    assert "2 of 3 items have fewer than 3 readable scores" in found.warnings[0]
    assert "j0: 1 missing, j1: 2 missing" in found.warnings[0]
    assert [judge.missing for judge in found.judges] == [1, 2, 0]
    assert found.judges[0].bias.undefined == NO_PEOPLE and found.judges[0].flips is None
    # A judge without a row for an item is as good as unreadable.
    rows = judge_panel(["a", "a", "b"], ["x", "y", "x"], [1, 2, 3])
    assert rows.complete == 1 and rows.judges[0].spread_without.undefined == TWO_JUDGES
    nothing = panel({"a": [None, 3]})
    assert nothing.spread.undefined == NOTHING


def test_one_judge_twice_and_without_task() -> None:
    alone = panel({"a": [4], "b": [5]}, people={"a": 5, "b": 5})
    assert alone.spread.undefined == ONE_JUDGE and alone.warnings == (ONE_JUDGE,)
    assert alone.judges[0].severity.undefined == ONE_JUDGE
    assert alone.judges[0].bias.value == -0.5
    with pytest.raises(ValueError, match="scores an item twice"):
        judge_panel(["a", "a"], ["x", "x"], [1, 2])
    with pytest.raises(ValueError, match="no task is given for 'b'"):
        panel({"a": [4, 3], "b": [5, 3]}, tasks={"a": 1})
    assert judge_panel([], [], []).judges == ()


def test_intervals_are_by_task() -> None:
    table: dict[str, list[float | None]] = {
        f"{t}{c}": [3.0 + t % 3, 3.0] for t in range(25) for c in "abcd"
    }
    by_item = panel(table).judges[0].severity.interval
    tasks = {item: item[:-1] for item in table}
    by_task = panel(table, tasks=tasks).judges[0].severity.interval
    assert by_item is not None and by_task is not None
    assert by_task.method == "t by task (CR2)"
    # Four equal items a task: as wide as with a quarter of them.
    assert by_task.half_width == pytest.approx(2 * by_item.half_width, rel=0.1)


def test_no_interval_leaves_the_scale() -> None:
    table: dict[str, list[float | None]] = {"a": [1, 5], "b": [3, 3]}
    people = {"a": 5.0, "b": 2.0}
    found = panel(table, people=people, scale=(1, 5))
    strict = found.judges[0]
    for estimate in (strict.severity, strict.bias, strict.mean_without):
        assert estimate.interval is not None
        assert estimate.interval.low >= -4 and estimate.interval.high <= 4
    assert found.spread.interval is not None
    assert (found.spread.interval.low, found.spread.interval.high) == (0, 2)
    unbounded = panel(table, people=people).judges[0].bias.interval
    assert unbounded is not None and unbounded.low < -4


def test_item_spread_against_r() -> None:
    rows = [row for row in shared_rows(*FILE) if row["rater"] in J3]
    found = judge_panel(
        [row["item"] for row in rows],
        [row["rater"] for row in rows],
        [int(row["score"]) for row in rows],
    )
    (record,) = reference_records(statistic="judge_sd_per_item_mean")
    assert found.spread.value == pytest.approx(record["value"], abs=1e-6)
    assert found.complete == found.items == 711


@settings(max_examples=20)
@given(
    st.lists(st.tuples(*[st.integers(1, 5) for _ in range(3)]), min_size=2, max_size=12),
    st.permutations(range(3)),
)
def test_names_and_order_of_judges_do_not_matter(
    rows: list[tuple[int, int, int]], order: list[int]
) -> None:
    table = {str(i): [float(s) for s in row] for i, row in enumerate(rows)}
    found = panel(table, threshold=3.5)  # type: ignore[arg-type]
    other = panel({i: [row[k] for k in order] for i, row in table.items()}, threshold=3.5)
    assert found.spread.value == pytest.approx(other.spread.value)
    for place, k in enumerate(order):
        mine, theirs = found.judges[k], other.judges[place]
        assert mine.severity.value == pytest.approx(theirs.severity.value)
        assert mine.flips is not None and theirs.flips is not None
        assert mine.flips.hits == theirs.flips.hits
    # Every item twice changes no value.
    twice = panel(table | {f"{i} again": row for i, row in table.items()})
    assert twice.spread.value == pytest.approx(found.spread.value)
