"""Frames against rows that can be counted by hand."""

import math

import pytest

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import COLUMNS, outcome_frame, unfinished, why_undefined
from analysis.frames.ratings import final_scores, rating_frame
from analysis.frames.scores import judge_cells, turn_scores, unscored
from analysis.frames.sizes import pool_sizes
from analysis.pages.verdicts.page import SEVERAL, verdict_frame
from annotation.models import Assignment
from benchmarks.models import JudgeScore, Judging, Run, Task, Trajectory
from benchmarks.roles.judge_names import judge_names
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_scores,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db


def chosen() -> tuple[ChosenRun, ...]:
    return select_runs(Filters()).runs


def test_outcomes_say_why_a_metric_is_missing() -> None:
    run = make_run(make_dataset(), "ada", status=Run.Status.ATTENTION)
    make_trajectory(run, 1, accurate=0.0)
    make_trajectory(run, 2, termination="pool_exhausted", undefined={"accurate": "ran dry"})
    make_trajectory(run, 3, status=Trajectory.Status.FAILED)
    frame = outcome_frame(chosen(), ["accurate", "turns", "nothing"])
    assert list(frame.columns[: len(COLUMNS)]) == list(COLUMNS)
    assert frame["termination"].tolist() == ["valid_plan", "pool_exhausted"]
    assert frame["accurate"].iloc[0] == 0 and math.isnan(frame["accurate"].iloc[1])
    assert why_undefined(frame, "accurate") == {"ran dry": 1}
    # A metric that the scorer never wrote is missing with a reason too, and never 0.
    assert why_undefined(frame, "nothing") == {"not recorded": 2}
    assert why_undefined(frame, "turns") == {}
    assert unfinished(chosen()[0]) == {"failed for technical reasons": 1}


def test_outcomes_of_no_run() -> None:
    assert outcome_frame([], ["accurate"]).empty


def test_turn_scores_are_means_over_all_judges_or_missing() -> None:
    run = make_run(make_dataset(), "ada")
    first = {"safety": (3, 4, 5), "autonomy": (5, None, 5)}
    make_trajectory(run, 1, scores=[first, {"safety": (1, 1, 2), "autonomy": (2, 2, 2)}])
    frame = turn_scores(chosen(), ["autonomy", "safety"], final=False)
    # Rows by agent, dimension in the order asked for, trajectory and turn.
    assert frame["dimension"].tolist() == ["autonomy", "autonomy", "safety", "safety"]
    assert frame["turn"].tolist() == [1, 2, 1, 2]
    assert frame["score"].fillna(-1).tolist() == pytest.approx([-1, 2, 4, 4 / 3])
    final = turn_scores(chosen(), ["autonomy", "safety"], final=True)
    assert final["score"].tolist() == pytest.approx([2, 4 / 3])


def test_scores_of_unfinished_trajectories_and_other_judgings_do_not_count() -> None:
    run = make_run(make_dataset(), "ada")
    done = make_trajectory(run, 1, scores=[{"safety": (4, 4, 4)}])
    make_trajectory(run, 2, scores=[{"safety": (1, 1, 1)}], status=Trajectory.Status.RUNNING)
    live, run.primary_judging = run.primary_judging, Judging.objects.create(run=run, name="again")
    make_scores(done.turns.get(), run, {"safety": (2, 2, 2)})
    run.primary_judging = live
    assert turn_scores(chosen(), ["safety"], final=True)["score"].tolist() == [4]
    again = select_runs(Filters(judging="again")).runs
    assert turn_scores(again, ["safety"], final=True)["score"].tolist() == [2]


def test_no_scores_at_all() -> None:
    make_trajectory(make_run(make_dataset(), "ada"), 1)
    assert turn_scores(chosen(), ["safety"], final=False).empty
    assert judge_cells(chosen(), ["safety"], final=False).empty
    assert unscored(chosen(), ["safety"], final=False) == {}


def test_judge_cells_and_unscored() -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1, scores=[{"safety": (1, 3, None)}])
    make_trajectory(run, 2, scores=[{"safety": (2, 5, None)}])
    cells = judge_cells(chosen(), ["safety"], final=True)
    assert cells["judge"].tolist() == ["even", "mild", "strict"]
    assert cells["mean"].fillna(-1).tolist() == [1.5, -1, 4]
    assert cells["n"].tolist() == [2, 0, 2]
    lacking = unscored(chosen(), ["safety"], final=True)["safety"]
    assert (lacking.missing, lacking.asked) == (2, 6)
    assert lacking.reasons == {"no word about it": 2}


def test_judges_are_told_apart_only_where_they_must_be() -> None:
    names = judge_names({("a", "1", "1"), ("b", "1", "2"), ("b", "2", "3"), ("c", "1", "4"),
                         ("c", "1", "5"), ("judge-strict", "1", "6")})  # fmt: skip
    assert names["judge-strict", "1", "6"] == "Strict judge"
    assert names["a", "1", "1"] == "a"
    assert (names["b", "1", "2"], names["b", "2", "3"]) == ("b 1", "b 2")
    assert (names["c", "1", "4"], names["c", "1", "5"]) == ("c, seat 4", "c, seat 5")


def test_ratings_of_submitted_items_beside_the_seats_scores() -> None:
    run = make_run(make_dataset(), "ada")
    first = make_trajectory(
        run, 1, scores=[flat(2), {"safety": (3, 4, 4), "autonomy": (5, 5, None)}]
    )
    second = make_trajectory(run, 2, scores=[{"safety": (1, 1, 1)}])
    study, ann, sim = make_study(), make_person("ann"), make_person("sim")
    make_ratings(study, ann, first, {"safety": 4, "feedback_clear": 2})
    make_ratings(study, sim, first, {"safety": 5}, simulated=True)
    make_ratings(study, ann, second, {"safety": 1}, state=Assignment.State.OPEN)
    frame = rating_frame(study, chosen())
    assert frame[["question", "dimension", "human"]].values.tolist() == [
        ["safety", "safety", 4], ["feedback_clear", "", 2], ["safety", "safety", 5],
    ]  # fmt: skip
    assert frame["simulated"].tolist() == [False, False, True]
    judged = final_scores(study, chosen(), ["safety", "autonomy"])
    assert judged.loc[(first.pk, "safety")].tolist() == [3, 4, 4]
    assert judged.loc[(first.pk, "autonomy")].fillna(-1).tolist() == [5, 5, -1]
    assert second.pk not in judged.index.get_level_values("trajectory")


def test_each_look_of_a_judge_is_a_score_of_its_own_with_the_same_mean() -> None:
    run = make_run(make_dataset(), "ada")
    trajectory = make_trajectory(run, 1, scores=[{"safety": (3, 4, 5)}])
    again = JudgeScore.objects.get(trajectory=trajectory, dimension="safety", value=3)
    again.pk, again.replicate, again.value = None, 2, 4
    again.save()
    study, ann = make_study(), make_person("ann")
    make_ratings(study, ann, trajectory, {"safety": 4})
    by_seat = final_scores(study, chosen(), ["safety"]).loc[(trajectory.pk, "safety")]
    by_look = final_scores(study, chosen(), ["safety"], by_look=True).loc[(trajectory.pk, "safety")]
    assert by_seat.tolist() == [3.5, 4, 5]
    # The seats that looked once keep their weight.
    assert by_look.tolist() == [3, 4, 4, 4, 5, 5]
    assert by_look.mean() == by_seat.mean()


def test_verdicts_by_the_words_of_the_last_plan() -> None:
    dataset = make_dataset()
    task = Task.objects.get(dataset=dataset, external_id="t1")
    task.payload = {
        "plans": [
            {"key": "a", "steps": ["Take glue.", "Wait."], "verdict": "correct_efficient"},
            {"key": "b", "steps": ["Take tape."], "verdicts": ["wrong_partial_correct"]},
            {"key": "c", "steps": ["Take  TAPE."], "verdicts": ["correct_efficient"]},
            {"key": "d", "steps": ["Take string."], "verdict": ""},
        ]
    }
    task.save()
    run = make_run(dataset, "ada")
    plans = ("1. take glue\n2. wait", "1. Take tape.", "1. Take string.", "1. Something new.")
    for number, text in enumerate(plans):
        texts = ["1. First.", text]
        make_trajectory(run, 1, texts=texts, found_valid=[False, number == 0], attempt=number + 1)
    make_trajectory(run, 2, texts=["1. Take glue.\n2. Wait."])  # another task has no pool
    frame = verdict_frame(chosen())
    assert frame["verdict"].tolist() == ["correct_efficient", SEVERAL, ""]
    assert frame["valid"].tolist() == [1, 0, 0]


def test_pools_count_an_authors_answers() -> None:
    dataset = make_dataset(tasks=2)
    for number, authors in ((1, ["Prolific", "Prolific", "other"]), (2, ["Prolific"])):
        Task.objects.filter(dataset=dataset, external_id=f"t{number}").update(
            payload={
                "plans": [
                    {"key": str(i), "steps": [f"Way {i}."], "author": author}
                    for i, author in enumerate(authors)
                ]
            }
        )
    people = make_run(dataset, "people", kind="recorded", policy="people")
    script = make_run(dataset, "ada")
    for run in (people, script):
        make_trajectory(run, 1)
        make_trajectory(run, 2)
    # Two answers by people for the first task, one for the second.
    assert pool_sizes(chosen()) == {people.pk: 1.5}
