"""Tests of the runs of a design: counted, made once, found again, reused, and refused."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from factory import Sequence

from benchmarks.core.problems import FileRefused
from benchmarks.endpoints.services import create_endpoint
from benchmarks.experiments import control
from benchmarks.experiments import services as making
from benchmarks.experiments.checks import read_checked
from benchmarks.experiments.plans import ExperimentPlan, plan_design
from benchmarks.experiments.services import make_experiment, make_missing, stored_plan
from benchmarks.jobs.services import perform
from benchmarks.models import Agent, Endpoint, Experiment, Job, Run, Trajectory
from tests.factories.benchmarks import ExchangeFactory, TrajectoryFactory, save_sample_dataset

pytestmark = [pytest.mark.django_db, pytest.mark.either]
TEXT = """\
name: Small table
dataset: Sample
agents: [explorer, sampling-planner]
levels: [mid]
conditions:
  - {}
  - {constraints: world_only}
seeds: [1, 2]
tasks: 2
"""
HOT = TEXT.replace("explorer, ", "") + "temperatures: [null, 0.5, 1.0]\n"
# Scripted judges cannot read what a model plans; nothing of that is looked at here.
UNREAD = "accept_undefined: true\n"
PRICED = {"price_in": 1.0, "price_out": 2.0, "model": "m"}


@pytest.fixture(autouse=True)
def _sample() -> None:
    save_sample_dataset(3)


def plan_of(text: str) -> ExperimentPlan:
    return plan_design(read_checked(text))


def make(text: str, **more: Any) -> Experiment:
    return make_experiment(plan=plan_of(text), wake=False, **more)


def endpoint(name: str, **more: Any) -> Endpoint:
    given = {"parameters": {"max_tokens": 100}, "key_variable": "PLANJURY_KEY_X", **PRICED, **more}
    return create_endpoint(
        name=name, title=f"Model {name}", base_url="http://localhost:1/v1", **given
    )


def test_a_plan_counts_without_making_anything() -> None:
    plan = plan_of(TEXT)
    assert (len(plan.cells), plan.trajectories, plan.duplicates) == (8, 16, 0)
    assert plan.calls(plan.cells) is None and not plan.paid
    assert not Run.objects.exists() and not Experiment.objects.exists()


def test_cells_that_are_the_same_are_made_once() -> None:
    """Its own temperature is the planner as it is; a setting at its default is no condition."""
    plan = plan_of(HOT.replace("seeds: [1, 2]", "seeds: [1, 1]").replace("world_only", "both"))
    assert [(cell.temperature, cell.seed) for cell in plan.cells] == [(None, 1), (1.0, 1)]
    assert plan.duplicates == 10


def test_every_fault_of_a_design_is_named_at_once() -> None:
    text = TEXT.replace("explorer", "nobody").replace("[mid]", "[mid, top]")
    text = text.replace("world_only", "none").replace("tasks: 2", "tasks: 9")
    text += "roles: {critic: [x], rubric_judge: [judge-odd]}\n"
    with pytest.raises(FileRefused) as refused:
        read_checked(text)
    told = str(refused.value)
    for words in (
        "line 3, agents 1: expected an agent among",
        "line 4, levels 2: expected a level among low, mid, high",
        "line 7, conditions 2, constraints: expected one of both, world_only, user_only",
        "line 9, tasks: expected at most 3",
        "line 10, roles, critic: expected a role among world_judge",
        "line 10, roles, rubric_judge 1: expected scripted rubric_judge among judge-even",
    ):
        assert words in told
    assert refused.value.total == 6
    with pytest.raises(FileRefused, match="line 2, dataset: expected a dataset among Sample@"):
        read_checked(TEXT.replace("Sample", "Nothing"))


def test_only_whoever_takes_a_temperature_is_given_one() -> None:
    with pytest.raises(FileRefused, match="agents 1: expected an agent that takes a temperature"):
        read_checked(TEXT + "temperatures: [0.5]\n")
    endpoint("cool", parameters={"temperature": None})
    with pytest.raises(FileRefused, match="'cool'"):
        read_checked(HOT.replace("[sampling-planner]", "[cool]"))


def test_parameters_are_for_agents_at_endpoints() -> None:
    """Each endpoint gets what it can take; scripts play as they are."""
    endpoint("plain")
    endpoint("fixed", parameters={"temperature": None, "max_completion_tokens": 50})
    endpoint("ready", parameters={"temperature": 0, "max_tokens": 16000}, model="another")
    design = TEXT.replace("[explorer, sampling-planner]", "[explorer, plain, fixed, ready]")
    design = design.replace("  - {constraints: world_only}\n", "").replace("[1, 2]", "[1]")
    plan = plan_of(design + "endpoint_parameters: {temperature: 0, max_tokens: 16000}\n" + UNREAD)
    found = {cell.agent.name: dict(cell.changes) for cell in plan.cells}
    assert found == {
        "explorer": {},
        "plain": {"temperature": 0, "max_tokens": 16000},
        "fixed": {"max_completion_tokens": 16000},
        "ready": {},
    }
    experiment = make_experiment(plan=plan, wake=False)
    sent = {
        run.agent.title: run.agent.endpoint.parameters
        for run in experiment.runs.all() if run.agent.endpoint is not None
    }  # fmt: skip
    assert sent == {
        "Model plain, temperature 0, max tokens 16000": {"temperature": 0, "max_tokens": 16000},
        "Model fixed, max completion tokens 16000": {
            "temperature": None, "max_completion_tokens": 16000,
        },
        "Model ready": {"temperature": 0, "max_tokens": 16000},
    }  # fmt: skip
    # Found again, not made again.
    assert control.runs_lacking(experiment) == 0
    assert all(cell.player for cell in plan_of(experiment_text(experiment)).cells)


def experiment_text(experiment: Experiment) -> str:
    found = stored_plan(experiment)
    assert found is not None
    return found.checked.design.text


class TestMaking:
    def test_all_runs_belong_to_one_experiment_that_keeps_its_design(self) -> None:
        experiment = make(TEXT)
        runs = list(experiment.runs.order_by("pk"))
        assert len({(r.agent.name, r.condition, r.seed) for r in runs}) == len(runs) == 8
        assert {r.trajectories.count() for r in runs} == {2}
        found = stored_plan(experiment)
        assert found is not None and found.checked.design.seeds == (1, 2)
        assert control.runs_lacking(experiment) == make_missing(experiment=experiment) == 0

    def test_what_was_cut_off_goes_on_and_doubles_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(making, "AT_ONCE", 0)
        monkeypatch.setattr(making, "RUNS_A_PORTION", 5)
        experiment = make(HOT)
        assert not experiment.runs.exists()
        made: list[int] = []

        def stop(done: int) -> None:
            made.append(done)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            make_missing(experiment=experiment, wake=False, tell=stop)
        # two conditions x (as it is, 1.0; 0.5 is its own) x two seeds
        assert made == [5] and experiment.runs.count() == 5
        Agent.objects.filter(name="sampling-planner-t1").update(parameters={"temperature": 9})
        perform(job_id=Job.objects.get(kind=making.KIND).pk, owner="test")
        assert experiment.runs.count() == 8
        assert Agent.objects.filter(policy="sampling-planner").count() == 2

    def test_runs_that_are_there_can_be_taken_as_they_are(self) -> None:
        first = make(TEXT)
        again = plan_of(TEXT.replace("seeds: [1, 2]", "seeds: [2, 3]"))
        assert len(again.there) == 4
        second = make_experiment(plan=again, take=True, wake=False)
        assert second.runs.count() == 4 and first.runs.count() == 8
        assert control.runs_lacking(second) == 0
        for changed in ("tasks: 3", "roles: {rubric_judge: [judge-even]}\ntasks: 2"):
            assert not plan_of(TEXT.replace("tasks: 2", changed)).there
        Run.objects.update(pins={"protocol": "0"})
        assert not plan_of(TEXT).there

    def test_a_variant_differs_in_its_temperature_alone(self) -> None:
        base = endpoint("one", parameters={"max_tokens": 100, "top_p": 0.9}, simulated=True)
        text = HOT.replace("[sampling-planner]", "[one]").replace("tasks: 2", "tasks: 1") + UNREAD
        experiment = make(text + "cost_cap: 12\n")
        variant = Endpoint.objects.get(name="one-t0-5")
        assert variant.parameters == {**base.parameters, "temperature": 0.5}
        assert variant.simulated and variant.key_variable == base.key_variable
        assert "Made for the experiment “Small table”" in variant.agents.get().note
        assert {run.cost_cap for run in experiment.runs.all()} == {1.0}
        assert len(plan_of(text).there) == 12

    def test_a_cap_that_cannot_be_kept_is_refused(self) -> None:
        endpoint("free", parameters={}, price_in=None)
        text = TEXT.replace("explorer", "free") + "cost_cap: 3\n" + UNREAD
        with pytest.raises(FileRefused, match="line 10, cost_cap: .*Model free has no input price"):
            read_checked(text)


class TestControl:
    def test_all_are_paused_resumed_and_cancelled_together(self) -> None:
        experiment = make(TEXT)
        assert control.pause_experiment(experiment=experiment) == 8
        Run.objects.filter(pk=experiment.runs.first().pk).update(problem="at its cap")  # type: ignore[union-attr]
        assert control.resume_experiment(experiment=experiment) == 7
        assert control.cancel_experiment(experiment=experiment) == 8
        assert set(Run.objects.values_list("status", flat=True)) == {"cancelled"}
        with pytest.raises(making.ExperimentError, match="cancelled"):
            control.resume_experiment(experiment=experiment)

    def test_runs_made_while_it_is_paused_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(making, "AT_ONCE", 0)
        experiment = make(TEXT)
        control.pause_experiment(experiment=experiment)
        make_missing(experiment=experiment)
        assert set(experiment.runs.values_list("status", flat=True)) == {"paused"}
        control.cancel_experiment(experiment=experiment)
        Run.objects.all().delete()
        assert make_missing(experiment=experiment) == 0

    def test_what_is_left_of_the_cap_goes_to_the_runs_that_go_on(self) -> None:
        endpoint("one")
        text = TEXT.replace("explorer, sampling-planner", "one").replace("tasks: 2", "tasks: 1")
        text += UNREAD
        experiment = make(text + "cost_cap: 8\n")
        first, *others = experiment.runs.order_by("pk")
        Run.objects.filter(pk=first.pk).update(status="done", committed=0.5)
        assert control.share_out(experiment=experiment) == 7.5
        caps = list(experiment.runs.order_by("pk").values_list("cost_cap", flat=True))
        assert caps == [2.0, 2.5, 2.5, 2.5]
        Run.objects.filter(pk=others[0].pk).update(committed=9)
        with pytest.raises(making.ExperimentError, match="used up"):
            control.share_out(experiment=experiment)


def test_an_experiment_runs_from_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "design.yaml"
    text = TEXT.replace("tasks: 2", "tasks: 1").replace("explorer, ", "")
    path.write_text(text.replace("  - {}\n", ""))

    def run(*args: str) -> Any:
        out = StringIO()
        call_command("run_experiment", *args, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert run(str(path), "--plan")["runs"] == 2
    found = run(str(path), "--wait")
    group = found["groups"][0]
    assert [one["status"] for one in group["runs"]] == ["done", "done"]
    assert group["across"]["turns"]["n"] == 2
    assert run("--resume", str(found["experiment"]))["groups"] == found["groups"]
    assert not Trajectory.objects.exclude(status="done").exists()
    with pytest.raises(CommandError, match="name a design"):
        call_command("run_experiment")


def test_calls_are_told_from_what_ended_there() -> None:
    dataset = plan_of(TEXT).checked.dataset
    ended = TrajectoryFactory.create_batch(4, run__dataset=dataset, run__level="mid")
    for row in ended:
        ExchangeFactory.create_batch(3, trajectory=row, step=Sequence(lambda n: n))
    plan = plan_of(TEXT)
    assert plan.calls(plan.cells) is None  # four are too few
    TrajectoryFactory(run__dataset=dataset, run__level="mid")
    assert plan_of(TEXT).calls(plan.cells) == round(16 * 12 / 5)
