"""Scores over turns, worked out by hand."""

from collections.abc import Sequence

import pytest

from analysis.dataset_choice import select_runs
from analysis.filters import Filters
from analysis.reports.decline import decline_later, decline_report
from analysis.reports.parts import Report
from benchmarks.models import AnswererVersion, JudgeScore, Run, Task, Trajectory, Turn
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory
from tests.shared_data import shared_rows

pytestmark = pytest.mark.django_db


def report(**words: object) -> Report:
    return decline_report(select_runs(Filters(**words)))  # type: ignore[arg-type]


def points(made: Report, dimension: str = "Safety") -> list[tuple[object, ...]]:
    """Position, running, scored and mean of a dimension's curve."""
    table = made.table("points")
    assert table is not None
    return [tuple(r[2:6]) for r in table.records() if r[1] == dimension]


def make_falling(run: Run) -> None:
    """Turns score 5, 4, 3; then 5, 4; then 5."""
    make_trajectory(run, 1, scores=[flat(5), flat(4), flat(3)])
    make_trajectory(run, 2, scores=[flat(5), flat(4)])
    make_trajectory(run, 3, scores=[flat(5)])


def test_nothing_yet() -> None:
    assert report().empty is not None


def test_by_turn_with_those_still_running() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report()
    assert points(made) == [(1, 3, 3, 5), (2, 2, 2, 4), (3, 1, 1, 3)]
    assert "1 of 3 reach turn 3" in made.notices[0].text


def test_from_the_end() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report(align="end")
    # Last turns: 3, 4, 5; one before: 4 and 5; two before: 5.
    assert points(made) == [(0, 3, 3, 4), (-1, 2, 2, 4.5), (-2, 1, 1, 5)]
    assert "Only 1 of 3 trajectories are 3 turns long" in made.notices[0].text


def test_all_at_the_same_rate_has_a_slope_without_interval() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    made = report(dimensions=("safety",))
    slopes = made.table("slopes")
    assert slopes is not None
    ((_, _, _, slope, low, _, n, note),) = slopes.records()
    # Both trajectories with two turns or more fall by one point a turn exactly.
    assert (slope, low, n) == (-1, None, 2) and "same rate" in str(note)
    assert made.sentence.startswith("Whether plans get worse cannot be said: ")


def test_sentence_counts_clear_falls_with_the_family_in_mind() -> None:
    run = make_run(make_dataset(tasks=12), "ada")
    for task in range(1, 13):
        # Safety falls by 2 or 1 from turn 1 to 2; everything else stays as it is.
        fall = 2 if task % 2 else 1
        make_trajectory(run, task, scores=[{"safety": (5,) * 3}, {"safety": (5 - fall,) * 3}])
    said = report(dimensions=("safety",)).sentence
    # Slopes −2 and −1, six each: mean −1.5.
    assert said.startswith(
        "Within trajectories 1 of 1 curve (one for each agent and dimension) clearly fall and 0 "
        "rise; the steepest fall is Ada on safety: −1.50 a turn (95 % interval −1.8"
    )
    assert said.endswith("n = 12 trajectories).")


def test_chosen_dimensions_and_default_are_panels() -> None:
    make_falling(make_run(make_dataset(), "ada"))
    figure = report().figure("curves")
    assert figure is not None
    for title in ("Feasibility", "Physical plausibility", "Effectiveness", "Safety"):
        assert title in figure.json
    assert "Autonomy" not in figure.json
    chosen = report(dimensions=("autonomy",)).figure("curves")
    assert chosen is not None and "Autonomy" in chosen.json and "Safety" not in chosen.json


def slope_rows(made: Report) -> dict[tuple[object, object], dict[str, object]]:
    table = made.table("slope-models")
    assert table is not None
    rows = [dict(zip(table.header, record, strict=True)) for record in table.records()]
    return {(row["agent"], row["dimension"]): row for row in rows}


def make_turns(run: Run, dimension: str, paths: Sequence[Sequence[float]]) -> None:
    """Trajectories, each on a task of its own, with one judge's score of every turn, in bulk."""
    tasks = Task.objects.bulk_create(
        Task(dataset=run.dataset, external_id=f"made-{run.pk}-{n}", prompt="Mend it.")
        for n in range(len(paths))
    )
    trajectories = Trajectory.objects.bulk_create(
        Trajectory(run=run, task=task, status="done", turn_count=len(path))
        for task, path in zip(tasks, paths, strict=True)
    )
    turns = Turn.objects.bulk_create(
        Turn(trajectory=trajectory, index=i, text="Do it.", is_final=i == len(path))
        for trajectory, path in zip(trajectories, paths, strict=True)
        for i in range(1, len(path) + 1)
    )
    judge, _ = AnswererVersion.objects.get_or_create(
        digest="even", defaults={"kind": "scripted", "name": "even", "version": "1"}
    )
    scores = [score for path in paths for score in path]
    JudgeScore.objects.bulk_create(
        JudgeScore(
            judging=run.primary_judging, turn=turn, judge=judge, seat="1", dimension=dimension,
            value=value, trajectory=turn.trajectory, run=run, agent=run.agent, level=run.level,
            condition=run.condition, turn_index=turn.index, is_final=turn.is_final,
        )
        for turn, value in zip(turns, scores, strict=True)
    )  # fmt: skip


def later(**words: object) -> Report:
    return decline_later(select_runs(Filters(**words)))  # type: ignore[arg-type]


def test_survivors_fool_one_line_and_neither_gee_nor_the_mixed_model() -> None:
    """Made data: true slope −0.08, a low score ends a trajectory (shared data, R's values)."""
    paths: dict[str, list[float]] = {}
    for row in shared_rows("agreement", "synthetic_turns.csv.gz"):
        paths.setdefault(row["item"], []).append(float(row["score"]))
    make_turns(make_run(make_dataset(), "ada"), "safety", list(paths.values()))
    made = later(dimensions=("safety",))
    row = slope_rows(made)["Ada", "Safety"]
    low, high = row["one line low"], row["one line high"]
    assert isinstance(low, float) and isinstance(high, float)
    assert not low <= -0.08 <= high  # the line through all scores misses the truth
    for fit in ("mixed model", "gee"):
        assert row[fit] == pytest.approx(-0.08, abs=0.01)
        low, high = row[f"{fit} low"], row[f"{fit} high"]
        assert isinstance(low, float) and isinstance(high, float) and low <= -0.08 <= high < 0
    assert row["mixed model n"] == 120 and row["p"] == 0
    assert made.sentence.startswith(
        "Allowing for trajectories that end early, 1 of 1 curve (one for each agent and dimension) "
        "clearly fall and 0 rise; the steepest fall is Ada on safety: −0.0"
    )
    assert "is off by +0.0" in made.sentence and "upwards" in made.sentence
    assert "Trajectories that last began clearly better" in made.notices[0].text


def test_slopes_fall_back_and_say_why() -> None:
    run = make_run(make_dataset(tasks=12), "ada")
    for task in range(1, 13):
        fall = 2 if task % 2 else 1
        make_trajectory(run, task, scores=[{"safety": (5,) * 3}, {"safety": (5 - fall,) * 3}])
    made = later(dimensions=("safety",))
    row = slope_rows(made)["Ada", "Safety"]
    # Slopes −2 and −1, six each; two turns leave no random slopes to fit.
    assert [row[fit] for fit in ("mixed model", "gee", "within", "one line")] == [-1.5] * 4
    assert "Random intercepts only" in str(row["notes"])
    assert "no trajectory has three scored turns" in str(row["notes"])
    said = [notice.text for notice in made.notices]
    assert any(text.startswith("1 of 1 curve has fewer than 20 trajectories") for text in said)
    matched = made.table("matched")
    assert matched is not None
    (record,) = matched.records()
    assert record[2:4] == [2, 12] and -1.5 in record
    assert made.figure("slope-models") is not None and made.figure("matched") is not None


def test_tasks_that_recur_are_clustered_and_said() -> None:
    run = make_run(make_dataset(tasks=4), "ada")
    for task in range(1, 5):
        for attempt in (1, 2):
            scores = [{"safety": (s,) * 3} for s in (5, 4 if task % 2 else 3, 3 - attempt / 2)]
            make_trajectory(run, task, scores=scores, attempt=attempt)
    how = " ".join(later(dimensions=("safety",)).how)
    assert "errors clustered by task" in how and "Several trajectories share a task" in how


def test_nothing_to_fit_is_said() -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1, scores=[flat(5)])
    made = later()
    assert made.sentence == (
        "Whether plans get worse, allowing for trajectories that end early, cannot be said: no "
        "trajectory has two scored turns."
    )
    assert made.figure("matched") is None
    assert {row["p"] for row in slope_rows(made).values()} == {None}
