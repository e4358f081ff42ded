"""Two runs task by task, on outcomes that are counted by hand."""

from collections.abc import Sequence

import pytest

from analysis.browser.compare_runs.page import RunPair, pair_report, pair_runs
from analysis.browser.compare_runs.run_measures import Attempt, RunMeasure, TaskText, measures_for
from analysis.browser.compare_runs.views import chosen_rows, flip_words

PASSES = RunMeasure("accurate", "Passes", "", binary=True, verb="passes", verb_not="does not")
SCORE = RunMeasure("mean", "Mean score", "", scores=True)
Values = Sequence[float | None]


def attempts(values: Sequence[float | None | Values], first: int = 100) -> list[Attempt]:
    """One trajectory for each value on tasks 1, 2, …; several where a task has a list."""
    made: list[Attempt] = []
    for task, given in enumerate(values, 1):
        for number, value in enumerate(given if isinstance(given, list) else [given], 1):
            assert value is None or isinstance(value, int | float)
            why = "" if value is not None else "being played"
            made.append(Attempt(first + len(made), task, number, "done", "", 1, value, why))
    return made


def pair(a: Sequence[object], b: Sequence[object], measured: RunMeasure = PASSES) -> RunPair:
    size = max(len(a), len(b))
    texts = {n: TaskText(n, f"t{n}", f"Mend thing {n}.") for n in range(1, size + 1)}
    one, two = attempts(a), attempts(b, 500)  # type: ignore[arg-type]
    return pair_runs(measured, ("Ada", "Bob"), one, two, texts)


# Tasks 1, 2: both; 3 to 7: Ada alone; 8: Bob alone; 9: neither; 10: Bob has no value yet.
ADA = [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]
BOB = [1, 1, 0, 0, 0, 0, 0, 1, 0, None]


def test_who_succeeds_where() -> None:
    made = pair(ADA, BOB)
    # Six tasks differ, one of them for Bob: z = (5 − 1)/√6 = 1.633, p = 0.102.
    # (7 − 3)/9 = 44.4 points over the nine tasks with two values.
    assert pair_report(made).sentence.startswith(
        "Bob passes on 1 task where Ada does not, Ada on 5 where Bob does not; of 9 common tasks "
        "both succeed on 2 and neither on 1. Difference (Ada − Bob): +44.4 points (95 % interval "
        "−9.5 to +76.8, p = 0.102)."
    )
    assert (
        pair_report(made)
        .notices[0]
        .text.startswith("“Not clear” does not mean “equal”: with 9 tasks")
    )
    assert made.counts == {"both_pass": 2, "won": 5, "lost": 1, "both_fail": 1, "undefined": 1}
    assert made.comparison.table is not None
    assert "Trajectories without a value: 1 (being played)." in pair_report(made).how
    assert flip_words(made)["won"] == "Only Ada succeeds"


def test_won_means_that_the_first_is_better() -> None:
    """Other pages lead here by these words: they are those of a comparison's first agent."""
    turned = pair(BOB, ADA)
    assert (turned.counts["won"], turned.counts["lost"]) == (1, 5)
    assert (turned.comparison.wins, turned.comparison.losses) == (1, 5)


def test_several_attempts_are_averaged_and_it_is_said() -> None:
    # Means: 0.5 against 0, 1 against 1, 0 against 0.5, 0.5 against 0.5.
    made = pair([[1, 0], [1, 1], [0, 0], [1, 0]], [[0, 0], [1, 1], [1, 0], [0, 1]])
    assert [row.flip for row in made.rows] == ["won", "both_pass", "lost", "tie"]
    # The differences +0.5 and −0.5 cancel. Four tasks are barely more than 1.96² = 3.84, so that
    # the interval ends where the scale does.
    assert pair_report(made).sentence.startswith(
        "On 1 task Bob succeeds in a larger share of its attempts than Ada, on 1 Ada than Bob; on "
        "2 of 4 common tasks the shares are equal. Difference (Ada − Bob): 0.0 points (95 % "
        "interval −100.0 to +100.0, p = 1.000)."
    )
    assert made.comparison.table is None
    assert any("several attempts (16 in all)" in line for line in pair_report(made).how)
    assert flip_words(made)["both_pass"] == "Both succeed every time"


def test_scores_are_higher_or_lower_and_never_passed() -> None:
    made = pair([4.0, 3.0, 5.0], [3.5, 3.5, 5.0], SCORE)
    # +0.5, −0.5 and 0: the mean difference is 0.
    assert [row.flip for row in made.rows] == ["won", "lost", "tie"]
    assert pair_report(made).sentence.startswith(
        "On mean score, Bob is higher on 1 task, Ada on 1; on 1 of 3 common tasks they are equal."
    )
    assert "both_pass" not in flip_words(made)


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        pytest.param([1, 1], [], "have no task in common", id="nothing in common"),
        pytest.param([1, None], [None, 0], "share 2 tasks, but on none of them", id="no values"),
    ],
)
def test_too_little_is_said(a: Sequence[object], b: Sequence[object], said: str) -> None:
    made = pair(a, b)
    assert said in pair_report(made).sentence
    assert made.comparison.p_value is None
    assert pair_report(made).how == ()


def test_one_that_only_one_run_has_is_no_loss() -> None:
    made = pair([1, 1], [1])
    assert made.counts == {"both_pass": 1, "one_sided": 1}
    assert made.comparison.losses == 0


@pytest.mark.parametrize(
    ("order", "tasks"),
    [
        pytest.param("", ["t1", "t2", "t3", "t4"], id="stored order"),
        pytest.param("difference", ["t2", "t1", "t3", "t4"], id="first ahead"),
        pytest.param("-difference", ["t3", "t1", "t2", "t4"], id="second ahead"),
        pytest.param("size", ["t3", "t2", "t1", "t4"], id="largest"),
    ],
)
def test_order_leaves_what_is_undefined_last(order: str, tasks: list[str]) -> None:
    # Differences 0, +1, −2, undefined.
    made = pair([3, 4, 2, None], [3, 3, 4, 1], SCORE)
    assert [row.task.name for row in chosen_rows(made, order=order)] == tasks


def test_words_and_outcome_narrow_the_tasks() -> None:
    made = pair(ADA, BOB)
    assert [row.task.name for row in chosen_rows(made, flip="lost")] == ["t8"]
    assert [row.task.name for row in chosen_rows(made, words="THING 1")] == ["t1", "t10"]
    assert chosen_rows(made, flip="both_fail", words="thing 1.") == []


@pytest.mark.parametrize(
    ("system", "first", "others"),
    [
        pytest.param("adaplanbench", "accurate", {"valid", "mean", "feasibility", "turns"}, id="a"),
        pytest.param("planbench_xl", "accurate", {"turns", "recall"}, id="p"),
        pytest.param("external", "full_reward", {"reward", "turns", "cost"}, id="imported"),
    ],
)
def test_what_runs_of_a_system_can_be_compared_by(
    system: str, first: str, others: set[str]
) -> None:
    names = [one.name for one in measures_for(system)]
    assert names[0] == first
    assert others <= set(names)
    assert len(names) == len(set(names))
