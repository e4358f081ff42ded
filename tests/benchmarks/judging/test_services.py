"""Re-judging: what it makes, what it leaves alone, and what counts afterwards."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from benchmarks.asks.services import answer_open_ask
from benchmarks.core.errors import CoreError
from benchmarks.core.registry import NotRejudgeable
from benchmarks.endpoints.services import create_endpoint
from benchmarks.exports.selectors import exported
from benchmarks.imports.services import import_trajectories
from benchmarks.judging.plans import plan_judging
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import ChoiceRefused, choose_judging, start_judging
from benchmarks.models import (
    Exchange,
    JudgeScore,
    Judging,
    OpenAsk,
    Run,
    Trajectory,
    Turn,
    Violation,
)
from benchmarks.roles.cautions import run_caution
from benchmarks.runs.selectors import run_metrics
from benchmarks.runs.services import change_cost_cap, restart_trajectory
from benchmarks.trajectories.selectors import trajectory_rows, with_page_relations
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.formats import samples
from tests.factories.benchmarks import RunFactory, TrajectoryFactory, TurnFactory, make_user, play

pytestmark = [pytest.mark.django_db, pytest.mark.either]
RUBRIC = {"rubric_judge": ["judge-strict"]}


def judge(run: Run, **more: Any) -> tuple[Run, Judging]:
    """The run of judges over a whole run, carried to its end, and the judging that it makes."""
    more = {"roles": RUBRIC, "name": "Strict", **more}
    (anew,) = start_judging(chosen=TrajectoryChoice((run.pk,)), wake=False, **more)
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
    for score in scores.select_related("turn", "exchange__trajectory", "run", "agent"):
        assert score.turn.trajectory_id == score.trajectory_id
        assert (score.run, score.agent, score.level) == (played, played.agent, played.level)
        assert (score.turn_index, score.is_final) == (score.turn.index, score.turn.is_final)
        assert score.exchange is not None
        assert score.exchange.trajectory.judged_id == score.trajectory_id
    exports = list(exported(anew))
    assert [one.messages for one in exports] == [one.messages for one in exported(played)]
    assert {score.judging for one in exports for score in one.rubric} == {judging.name}
    assert sum(len(one.rubric) for one in exports) == scores.count()
    assert [one.scores for one in exports] == [
        row.metrics for row in anew.trajectories.order_by("pk")
    ]
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
    (anew,) = start_judging(
        name="Part", chosen=TrajectoryChoice(ids=(one.pk,)), roles=RUBRIC, wake=False
    )
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
    settings = {"calls": "per_dimension", "replicates": 2, "what": "both", "turns": "last"}
    roles = {"rubric_judge": ["judge-even"]}
    plan = plan_judging(chosen=TrajectoryChoice((played.pk,)), roles=roles, settings=settings)

    anew, _ = judge(played, roles=roles, settings=settings)

    asked = Exchange.objects.filter(trajectory__run=anew)
    assert {role: asked.filter(role=role).count() for role in plan.calls} == plan.calls
    assert plan.total_calls == asked.count()
    assert (plan.scope.trajectories, plan.currency) == (3, "")


def test_a_judging_goes_on_where_a_worker_died(played: Run) -> None:
    (anew,) = start_judging(
        name="Strict", chosen=TrajectoryChoice((played.pk,)), roles=RUBRIC, wake=False
    )
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


def test_what_cannot_be_judged_like_that_changes_nothing() -> None:
    run = TurnFactory().trajectory.run
    before = Run.objects.count(), Judging.objects.count()
    refused: list[tuple[dict[str, list[str]], dict[str, Any], str]] = [
        ({"rubric_judge": ["nobody"]}, {}, "unknown scripted rubric_judge 'nobody'"),
        (RUBRIC, {"replicates": 6}, "replicates"),
        ({"rubric_judge": ["human"]}, {"calls": "per_dimension"}, "where people judge"),
        ({"agent": ["explorer"]}, {}, "unknown role 'agent'"),
    ]
    for roles, settings, words in refused:
        with pytest.raises(CoreError, match=words):
            start_judging(
                name="",
                chosen=TrajectoryChoice((run.pk,)),
                roles=roles,
                settings=settings,
                wake=False,
            )
    assert (Run.objects.count(), Judging.objects.count()) == before


def test_a_model_judges_within_its_cap_and_goes_on_with_more(
    played: Run, server: FakeServer
) -> None:
    create_endpoint(
        name="fake", title="Fake", base_url=server.base_url, model="fake", timeout=5.0,
        simulated=True, price_in=1.0, price_out=2.0, parameters={"max_tokens": 400},
    )  # fmt: skip
    roles = {"rubric_judge": ["endpoint:fake"]}
    settings = {"turns": "last"}
    plan = plan_judging(chosen=TrajectoryChoice((played.pk,)), roles=roles, settings=settings)
    assert plan.likely is None
    assert plan.most is not None and plan.currency == "USD"
    one = plan.most / 3

    # A call costs a quarter of what it may: a second one fits, whichever they are, and no third.
    anew, judging = judge(played, roles=roles, settings=settings, cost_cap=1.4 * one)

    assert anew.status == Run.Status.PAUSED
    assert 0 < judging.scores.count() < 24
    change_cost_cap(run=anew, cap=10 * one)
    anew.refresh_from_db()
    play(anew)
    assert (anew.status, judging.scores.count()) == (Run.Status.DONE, 24)
    assert anew.committed <= 10 * one
    choose_judging(run=played, judging=judging)
    caution = run_caution(played)
    assert caution is not None and "Simulated answers" in caution.title


def test_a_person_judges_a_stored_turn(played: Run) -> None:
    one = played.trajectories.order_by("pk")[0]
    (anew,) = start_judging(
        name="By hand", chosen=TrajectoryChoice(ids=(one.pk,)), roles={"rubric_judge": ["human"]},
        settings={"turns": "last"}, wake=False,
    )  # fmt: skip
    play(anew)
    assert anew.status == Run.Status.WAITING
    ask = OpenAsk.objects.get(trajectory__run=anew)
    keys = ask.expect["params"]["dimensions"]
    answer_open_ask(
        ask=ask, by=make_user("judge"), text=json.dumps({"scores": dict.fromkeys(keys, 2)})
    )

    play(anew)

    scores = JudgeScore.objects.filter(judging__made_by=anew)
    assert set(scores.values_list("value", "trajectory")) == {(2.0, one.pk)}
    assert run_metrics(anew)["condition"].endswith("rubric_judge=person")


def test_imported_plans_are_scored_and_keep_their_results(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "How do I dry it?"}]
    plan = {"role": "assistant", "content": "1. Open the window.\n2. Wait."}
    path = samples.write_lines(tmp_path / "chats.jsonl", [{"messages": [*talk, plan]}])
    (run,) = import_trajectories(path=path, format="openai-chat").runs
    before = run_metrics(run)
    (anew,) = start_judging(
        name="Rubric", chosen=TrajectoryChoice((run.pk,)), roles=RUBRIC, wake=False
    )
    play(anew)

    scores = JudgeScore.objects.filter(judging__made_by=anew)
    # A script knows only plans of its own pool, and says so.
    assert set(scores.values_list("value", "run")) == {(None, run.pk)}
    choose_judging(run=run, judging=Judging.objects.get(made_by=anew))
    assert run_metrics(run)["metrics"] == before["metrics"]
    choose_judging(run=run, judging=None)
    assert run.primary_judging is None


def test_who_acts_through_tools_has_no_plan_to_score(tmp_path: Path) -> None:
    (run, *_) = import_trajectories(path=samples.write_sample(tmp_path, "tau2")).runs
    with pytest.raises(NotRejudgeable, match="none of these trajectories"):
        start_judging(name="", chosen=TrajectoryChoice((run.pk,)), roles=RUBRIC, wake=False)


def test_systems_without_judges_say_so() -> None:
    run = RunFactory(dataset__system="planbench_xl")
    TrajectoryFactory(run=run)
    with pytest.raises(NotRejudgeable, match="PlanBench-XL cannot be re-judged"):
        start_judging(name="", chosen=TrajectoryChoice((run.pk,)), roles={}, wake=False)


def test_the_command_plans_judges_and_lets_it_count(played: Run, capsys: Any) -> None:
    given = ["--run", str(played.pk), "--judge", "judge-strict", "--set", "turns=last", "--json"]
    call_command("rejudge", *given, "--plan")
    assert json.loads(capsys.readouterr().out)["calls"] == {"rubric_judge": 3}
    call_command("rejudge", *given[:-1], "--plan")
    assert "turns 3, left out 0; calls: rubric_judge 3; likely" in capsys.readouterr().out
    assert not Run.objects.filter(kind=Run.Kind.JUDGING).exists()

    call_command("rejudge", *given, "--name", "Strict", "--wait", "--choose")

    (row,) = json.loads(capsys.readouterr().out)
    played.refresh_from_db()
    assert played.primary_judging is not None
    assert (row["judging_id"], row["judged_run"]) == (played.primary_judging.pk, played.pk)
    assert row["metrics"]["accurate"]["n"] == 3
    with pytest.raises(CommandError, match="unknown run '999'"):
        call_command("rejudge", "--run", "999")


def test_live_scores_stay_live_when_another_judging_counts(played: Run) -> None:
    live = played.primary_judging
    _, judging = judge(played)
    choose_judging(run=played, judging=judging)
    one = played.trajectories.order_by("pk")[0]
    Trajectory.objects.filter(pk=one.pk).update(status=Trajectory.Status.FAILED)
    one.refresh_from_db()
    fresh = restart_trajectory(trajectory=one)

    play(played)

    assert set(fresh.scores.values_list("judging", flat=True)) == {live.pk if live else None}
    found = run_metrics(played)["metrics"]["accurate"]
    assert found["excluded"] == {"the judging “Strict” did not include it": 1}
    rows = list(with_page_relations().filter(run=played).order_by("pk"))
    shown = {row.trajectory.pk: row.verdicts for row in trajectory_rows(rows)}
    judged = Trajectory.objects.filter(run=judging.made_by).exclude(judged=one.pk)
    for row in judged:
        assert row.judged_id is not None
        assert [v.value for v in shown[row.judged_id]] == [
            bool(row.metrics["valid"]), bool(row.metrics["accurate"]),
        ]  # fmt: skip
    assert {v.value for v in shown[fresh.pk]} == {None}
