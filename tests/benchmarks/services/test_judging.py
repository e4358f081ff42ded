"""Judging anew: what it makes, what it leaves alone, and what counts afterwards."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from benchmarks.core.errors import CoreError
from benchmarks.models import Exchange, JudgeScore, Judging, Run, Trajectory, Turn, Violation
from benchmarks.selectors.judging import Chosen
from benchmarks.selectors.runs import run_metrics
from benchmarks.services.judging.choosing import ChoiceRefused, choose_judging
from benchmarks.services.judging.planning import plan_judging
from benchmarks.services.judging.starting import start_judging
from benchmarks.services.runs import restart_trajectory
from tests.factories.benchmarks import play

pytestmark = [pytest.mark.django_db, pytest.mark.either]
RUBRIC = {"rubric_judge": ["judge-strict"]}


def judge(run: Run, **more: Any) -> tuple[Run, Judging]:
    """The run of judges over a whole run, carried to its end, and the judging that it makes."""
    more = {"roles": RUBRIC, "name": "Strict", **more}
    (anew,) = start_judging(chosen=Chosen((run.pk,)), ring=False, **more)
    play(anew)
    return anew, Judging.objects.get(made_by=anew)


def everything(run: Run) -> list[Any]:
    """All that is stored of a run and its live judging."""
    return [
        list(run.trajectories.values()),
        list(Turn.objects.filter(trajectory__run=run).values()),
        list(Violation.objects.filter(turn__trajectory__run=run).values()),
        list(Exchange.objects.filter(trajectory__run=run).values()),
        list(JudgeScore.objects.filter(judging=run.primary_judging).values()),
    ]


def test_scores_are_about_the_stored_turns_and_touch_nothing(played: Run) -> None:
    before = everything(played)

    anew, judging = judge(played, settings={"replicates": 2})

    assert everything(played) == before
    played.refresh_from_db()
    assert played.primary_judging != judging
    assert (anew.kind, anew.status, judging.run) == (Run.Kind.JUDGING, Run.Status.DONE, played)
    scores = JudgeScore.objects.filter(judging=judging)
    turns = Turn.objects.filter(trajectory__run=played)
    assert scores.count() == turns.count() * 8 * 2
    for score in scores.select_related("turn", "exchange"):
        assert score.turn.trajectory_id == score.trajectory_id
        assert (score.run, score.agent, score.level) == (played, played.agent, played.level)
        assert (score.turn_index, score.is_final) == (score.turn.index, score.turn.is_final)
        assert score.exchange is not None
        assert score.exchange.trajectory.judged_id == score.trajectory_id
    by_replicate = [scores.filter(replicate=n).values_list("exchange__seed") for n in (1, 2)]
    assert not set(by_replicate[0]) & set(by_replicate[1])


def test_what_counts_is_chosen_and_changed_back(played: Run) -> None:
    person = User.objects.create_user("somebody")
    live, before = played.primary_judging, run_metrics(played)
    # What passes is for the run to say, so nothing does that is not perfect.
    Run.objects.filter(pk=played.pk).update(settings={**played.settings, "tau": 5.0})
    anew, judging = judge(played, settings={"turns": "last"})

    choose_judging(run=played, judging=judging, by=person)

    now = run_metrics(played)
    assert now["judging"] == "Strict"
    assert now["metrics"] == run_metrics(anew)["metrics"]
    assert now["metrics"]["accurate"] != before["metrics"]["accurate"]
    assert now["metrics"]["valid"] == before["metrics"]["valid"]
    assert now["terminations"] == before["terminations"]
    assert played.data_version == 2
    assert "Strict" in LogEntry.objects.get(user=person).get_change_message()

    choose_judging(run=played, judging=live, by=person)
    assert run_metrics(played) == before


def test_a_judging_of_a_part_cannot_count(played: Run) -> None:
    one = played.trajectories.first()
    assert one is not None
    (anew,) = start_judging(name="Part", chosen=Chosen(ids=(one.pk,)), roles=RUBRIC, ring=False)
    play(anew)

    with pytest.raises(ChoiceRefused, match="2 of the run's ended trajectories"):
        choose_judging(run=played, judging=Judging.objects.get(made_by=anew))


def test_constraints_are_judged_anew_beside_what_was_found(played: Run) -> None:
    before = run_metrics(played)

    anew, _ = judge(played, roles={}, settings={"what": "constraints"})

    # The same rules find the same, so all figures come out as they were.
    again = run_metrics(anew)
    for name in ("valid", "world_repeated", "user_repeated", "accurate"):
        assert again["metrics"][name] == before["metrics"][name]
    live = Violation.objects.filter(turn__trajectory__run=played)
    for turn in Turn.objects.filter(trajectory__run=anew).select_related("trajectory"):
        found = {key for keys in turn.payload["violated"].values() for key in keys}
        same = live.filter(turn__trajectory=turn.trajectory.judged_id, turn__index=turn.index)
        assert found == set(same.values_list("key", flat=True))
    assert not JudgeScore.objects.filter(exchange__trajectory__run=anew).exists()


def test_the_plan_counts_what_is_then_asked(played: Run) -> None:
    settings = {"calls": "per_dimension", "replicates": 2, "what": "both"}
    roles = {"rubric_judge": ["judge-even", "judge-strict"]}
    plan = plan_judging(chosen=Chosen((played.pk,)), roles=roles, settings=settings)

    anew, _ = judge(played, roles=roles, settings=settings)

    asked = Exchange.objects.filter(trajectory__run=anew)
    assert {role: asked.filter(role=role).count() for role in plan.calls} == plan.calls
    assert plan.total_calls == asked.count()
    assert (plan.found.trajectories, plan.currency) == (3, "")


def test_a_judging_goes_on_where_a_worker_died(played: Run) -> None:
    (anew,) = start_judging(name="Strict", chosen=Chosen((played.pk,)), roles=RUBRIC, ring=False)
    play(anew)
    before = list(JudgeScore.objects.filter(judging__made_by=anew).values())
    # As if the worker had died before the end was written.
    anew.trajectories.update(status=Trajectory.Status.PENDING)
    Run.objects.filter(pk=anew.pk).update(status=Run.Status.QUEUED)
    calls = Exchange.objects.count()

    play(anew)

    assert anew.status == Run.Status.DONE
    assert Exchange.objects.count() == calls
    assert list(JudgeScore.objects.filter(judging__made_by=anew).values()) == before


def test_a_trajectory_that_is_judged_once_more_is_the_same_stored_one(played: Run) -> None:
    anew, _ = judge(played)
    first = anew.trajectories.order_by("pk")[0]
    Trajectory.objects.filter(pk=first.pk).update(status=Trajectory.Status.FAILED)
    first.refresh_from_db()

    assert restart_trajectory(trajectory=first).judged_id == first.judged_id


@pytest.mark.parametrize(
    "roles, settings, words",
    [
        ({"rubric_judge": ["nobody"]}, {}, "unknown scripted rubric_judge 'nobody'"),
        (RUBRIC, {"replicates": 6}, "replicates"),
        ({"rubric_judge": ["human"]}, {"calls": "per_dimension"}, "where people judge"),
        ({"agent": ["explorer"]}, {}, "unknown role 'agent'"),
    ],
)
def test_what_cannot_be_judged_like_that_changes_nothing(
    played: Run, roles: dict[str, list[str]], settings: dict[str, Any], words: str
) -> None:
    before = Run.objects.count(), Judging.objects.count()
    with pytest.raises(CoreError, match=words):
        start_judging(
            name="", chosen=Chosen((played.pk,)), roles=roles, settings=settings, ring=False
        )
    assert (Run.objects.count(), Judging.objects.count()) == before
