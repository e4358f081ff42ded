"""Starting runs: everything that was asked for, or nothing at all."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.db.models import Model

from benchmarks.core.errors import CoreError, SettingError, UnknownName
from benchmarks.core.system import System
from benchmarks.models import Agent, Experiment, JudgeScore, Judging, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import RunError, condition_name, start_runs
from tests.factories.benchmarks import (
    AgentFactory,
    DatasetFactory,
    TaskFactory,
    play,
    save_sample_dataset,
    start_sample_runs,
)

pytestmark = pytest.mark.django_db
MADE: tuple[type[Model], ...] = (Experiment, Run, Judging, Trajectory)


def test_one_run_for_each_agent_and_level() -> None:
    ensure_scripted_agents()
    dataset = save_sample_dataset()
    agents = list(Agent.objects.filter(name__in=["explorer", "forgetful"]))
    runs = start_runs(
        dataset=dataset, agents=agents, levels=["mid", "low"], settings={"tau": "4"}, seed=5,
        wake=False,
    )  # fmt: skip
    assert [(run.level, run.agent.name) for run in runs] == [
        ("mid", "explorer"), ("mid", "forgetful"), ("low", "explorer"), ("low", "forgetful"),
    ]  # fmt: skip
    assert {run.experiment_id for run in runs} == {Experiment.objects.get().pk}
    for run in Run.objects.all():
        assert run.status == Run.Status.QUEUED
        assert run.settings["tau"] == 4.0
        assert run.condition == "tau=4.0"
        assert run.is_demo
        assert run.trajectories.filter(status="pending", profile__level=run.level).count() == 3


def test_without_levels_the_first_is_played() -> None:
    (run,) = start_sample_runs()
    ensure_scripted_agents()
    (other,) = start_runs(dataset=run.dataset, agents=[run.agent], wake=False)
    assert other.level == "low"


def test_a_dataset_without_profiles_is_played_by_task() -> None:
    dataset = DatasetFactory()
    TaskFactory.create_batch(2, dataset=dataset)
    (run,) = start_runs(dataset=dataset, agents=[AgentFactory()], wake=False)
    assert run.level == ""
    assert list(run.trajectories.values_list("profile", flat=True)) == [None, None]


def test_only_the_tasks_that_were_named() -> None:
    dataset = save_sample_dataset()
    wanted = dataset.tasks.values_list("external_id", flat=True)[1]
    (run,) = start_sample_runs(dataset=dataset, tasks=[wanted])
    assert run.trajectories.get().task.external_id == wanted


def test_the_same_unit_has_the_same_seed_in_every_run() -> None:
    dataset = save_sample_dataset()
    first, second = (start_sample_runs(dataset=dataset, seed=3)[0] for _ in range(2))
    (other,) = start_sample_runs(dataset=dataset, seed=4)
    seeds = [list(r.trajectories.values_list("seed", flat=True)) for r in (first, second, other)]
    assert seeds[0] == seeds[1] != seeds[2]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"levels": ["mid", "highest"]}, UnknownName),
        ({"settings": {"tau": "6"}}, SettingError),
        ({"settings": {"patience": "some"}}, SettingError),
        ({"settings": {"haste": "1"}}, SettingError),
        ({"roles": {"referee": ["x"]}}, UnknownName),
        ({"roles": {"world_judge": ["explorer"]}}, UnknownName),
        ({"tasks": ["no-such-task"]}, UnknownName),
        ({"agents": []}, RunError),
    ],
)
def test_a_refusal_changes_nothing(wrong: dict[str, Any], error: type[CoreError]) -> None:
    ensure_scripted_agents()
    dataset = save_sample_dataset()
    given: dict[str, Any] = {
        "dataset": dataset,
        "agents": list(Agent.objects.filter(name__in=["explorer", "forgetful"])),
        "wake": False,
        **wrong,
    }
    with pytest.raises(error):
        start_runs(**given)
    assert [model._default_manager.count() for model in MADE] == [0, 0, 0, 0]


def test_an_agent_without_a_known_policy_is_refused_after_others_were_made() -> None:
    """The second of two agents fails: the first one's run is undone with it."""
    ensure_scripted_agents()
    agents = [Agent.objects.get(name="explorer"), AgentFactory(policy="gone")]
    with pytest.raises(UnknownName, match="gone"):
        start_runs(dataset=save_sample_dataset(), agents=agents, wake=False)
    assert [model._default_manager.count() for model in MADE] == [0, 0, 0, 0]


def test_workers_are_woken_after_the_commit(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[int] = []
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", woken.extend)
    ensure_scripted_agents()
    dataset, agent = save_sample_dataset(), Agent.objects.get(name="explorer")
    with django_capture_on_commit_callbacks(execute=True):
        (run,) = start_runs(dataset=dataset, agents=[agent])
        assert woken == []
    assert woken == [run.pk]


def test_a_condition_of_many_settings_is_kept_in_full() -> None:
    settings = {
        "max_turns": "7",
        "tau": "4",
        "patience": "3",
        "quorum": "any",
        "rubric_judges": "2",
    }
    (run,) = start_sample_runs(settings=settings)
    play(run)
    assert len(run.condition) > 40
    assert set(JudgeScore.objects.values_list("condition", flat=True)) == {run.condition}


def test_conditions_too_long_for_a_name_stay_apart() -> None:
    def name(last: str) -> str:
        settings = {f"setting_{n}": "a long value" for n in range(20)} | {"z": last}
        system = SimpleNamespace(
            settings=[SimpleNamespace(name=key, default="") for key in settings]
        )
        return condition_name(cast("System", system), settings)

    assert len(name("1")) == 200
    assert name("1") != name("2")
