"""Rows of the benchmarks app, and small runs that were really played."""

from collections.abc import Sequence
from datetime import UTC
from typing import Any

import factory
from django.contrib.auth.models import Permission, User
from factory.django import DjangoModelFactory

from benchmarks.core.registry import get_system
from benchmarks.core.system import read_settings
from benchmarks.datasets.services import save_dataset
from benchmarks.models import (
    Agent,
    AnswererVersion,
    Constraint,
    Dataset,
    EndpointTrial,
    Exchange,
    Experiment,
    JudgeScore,
    Judging,
    Profile,
    Run,
    StoredMessage,
    Task,
    Trajectory,
    Turn,
    Violation,
)
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.runs.versions import current_pins
from benchmarks.runs.worker import work_on_run
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from benchmarks.systems.adapt.dataset import load_personas

SYSTEM = "adaplanbench"
PERMISSIONS = ("view_results", "start_runs")


def make_user(name: str, permissions: Sequence[str] = ()) -> User:
    """A person with these permissions of the benchmarks app."""
    user = User.objects.create_user(name, password="not a secret")
    rows = Permission.objects.filter(content_type__app_label="benchmarks", codename__in=permissions)
    user.user_permissions.set(rows)
    return user


class DatasetFactory(DjangoModelFactory[Dataset]):
    class Meta:
        model = Dataset

    system = SYSTEM
    name = factory.Sequence(lambda n: f"Dataset {n}")
    checksum = factory.Sequence(lambda n: f"{n:064x}")
    source = "Written for the tests"


class TaskFactory(DjangoModelFactory[Task]):
    class Meta:
        model = Task

    dataset = factory.SubFactory(DatasetFactory)
    external_id = factory.Sequence(lambda n: f"task-{n}")
    prompt = factory.Sequence(lambda n: f"How do I mend thing {n}?")


class ProfileFactory(DjangoModelFactory[Profile]):
    class Meta:
        model = Profile

    task = factory.SubFactory(TaskFactory)
    level = "low"
    rank = 1


class ConstraintFactory(DjangoModelFactory[Constraint]):
    class Meta:
        model = Constraint

    profile = factory.SubFactory(ProfileFactory)
    kind = "world"
    key = factory.Sequence(lambda n: f"w{n}")
    text = factory.Sequence(lambda n: f"There is no tool {n} here.")


class AgentFactory(DjangoModelFactory[Agent]):
    class Meta:
        model = Agent

    name = factory.Sequence(lambda n: f"agent-{n}")
    title = factory.Sequence(lambda n: f"Agent {n}")
    kind = Agent.Kind.SCRIPTED
    system = SYSTEM
    policy = "explorer"


class RunFactory(DjangoModelFactory[Run]):
    """A run without trajectories, complete in all that pages show of it."""

    class Meta:
        model = Run
        skip_postgeneration_save = True

    experiment = factory.SubFactory("tests.factories.benchmarks.ExperimentFactory")
    dataset = factory.SubFactory(DatasetFactory)
    agent = factory.SubFactory(AgentFactory)
    level = "low"
    settings = factory.LazyFunction(lambda: read_settings(get_system(SYSTEM).settings, {}))
    roles = factory.LazyFunction(
        lambda: {
            "agent": [
                {
                    "kind": "scripted",
                    "policy": "explorer",
                    "version": "1",
                    "label": "scripted",
                    "parameters": {},
                }
            ]
        }
    )
    pins = factory.LazyFunction(lambda: current_pins(get_system(SYSTEM)))
    status = Run.Status.DONE

    @factory.post_generation
    def judging(self: Run, create: bool, extracted: Any, **_: Any) -> None:
        self.primary_judging = Judging.objects.create(run=self)
        self.save(update_fields=["primary_judging"])


class ExperimentFactory(DjangoModelFactory[Experiment]):
    class Meta:
        model = Experiment

    name = factory.Sequence(lambda n: f"Experiment {n}")


class TrajectoryFactory(DjangoModelFactory[Trajectory]):
    """A trajectory that ended with a valid plan."""

    class Meta:
        model = Trajectory

    run = factory.SubFactory(RunFactory)
    task = factory.SubFactory(TaskFactory, dataset=factory.SelfAttribute("..run.dataset"))
    profile = factory.SubFactory(
        ProfileFactory,
        task=factory.SelfAttribute("..task"),
        level=factory.SelfAttribute("..run.level"),
    )
    status = Trajectory.Status.DONE
    termination = "valid_plan"
    turn_count = 1
    metrics = factory.LazyFunction(lambda: {"valid": 1.0, "accurate": 1.0, "turns": 1})


class TurnFactory(DjangoModelFactory[Turn]):
    class Meta:
        model = Turn

    trajectory = factory.SubFactory(TrajectoryFactory)
    index = 1
    text = "1. Fetch a hammer.\n2. Hit the nail."
    payload = factory.LazyFunction(lambda: {"valid": True, "feedback_on": ""})
    is_final = True


class ViolationFactory(DjangoModelFactory[Violation]):
    class Meta:
        model = Violation

    turn = factory.SubFactory(TurnFactory)
    key = factory.Sequence(lambda n: f"w{n}")
    kind = "world"
    text = "There is no hammer here."
    revealed = True
    new = True
    repeated = False


class AnswererVersionFactory(DjangoModelFactory[AnswererVersion]):
    class Meta:
        model = AnswererVersion

    kind = "scripted"
    name = factory.Sequence(lambda n: f"judge-{n}")
    version = "1"
    digest = factory.Sequence(lambda n: f"{n:032x}")


class JudgeScoreFactory(DjangoModelFactory[JudgeScore]):
    """A score of a turn in its run's own judging, with all that is copied into it."""

    class Meta:
        model = JudgeScore

    turn = factory.SubFactory(TurnFactory)
    trajectory = factory.SelfAttribute("turn.trajectory")
    run = factory.SelfAttribute("trajectory.run")
    judging = factory.SelfAttribute("run.primary_judging")
    agent = factory.SelfAttribute("run.agent")
    level = factory.SelfAttribute("run.level")
    condition = factory.SelfAttribute("run.condition")
    turn_index = factory.SelfAttribute("turn.index")
    is_final = factory.SelfAttribute("turn.is_final")
    judge = factory.SubFactory(AnswererVersionFactory)
    seat = "1"
    dimension = "feasibility"
    value = 4.0


class StoredMessageFactory(DjangoModelFactory[StoredMessage]):
    class Meta:
        model = StoredMessage

    digest = factory.Sequence(lambda n: f"{n:032x}")
    speaker = "user"
    text = "How do I mend it?"


class ExchangeFactory(DjangoModelFactory[Exchange]):
    class Meta:
        model = Exchange

    trajectory = factory.SubFactory(TrajectoryFactory)
    step = 0
    slot = 0
    attempt = 1
    role = "agent"
    answerer = factory.SubFactory(AnswererVersionFactory)
    ask_digest = "0" * 32
    seed = 7
    state = Exchange.State.ANSWERED
    text = "1. Fetch a hammer."
    sent_at = factory.Faker("date_time", tzinfo=UTC)


class EndpointTrialFactory(DjangoModelFactory[EndpointTrial]):
    class Meta:
        model = EndpointTrial

    step = 0
    slot = 0
    attempt = 1
    role = "words"
    seed = 0
    state = EndpointTrial.State.ANSWERED
    sent_at = factory.Faker("date_time", tzinfo=UTC)


def save_sample_dataset(tasks: int = 3, *, is_demo: bool = True) -> Dataset:
    """The first demo tasks as a dataset of their own."""
    return save_dataset(
        system=SYSTEM,
        name="Sample",
        version="",
        source="Written for the tests",
        licence="",
        checksum=f"sample-{tasks}",
        tasks=load_demo_tasks()[:tasks],
        is_demo=is_demo,
    ).dataset


def start_sample_runs(
    *agents: str, dataset: Dataset | None = None, level: str = "mid", **more: Any
) -> list[Run]:
    """Runs of scripted agents on the sample, not yet carried by anybody."""
    ensure_scripted_agents()
    rows = Agent.objects.in_bulk(agents or ["explorer"], field_name="name")
    return start_runs(
        dataset=dataset or save_sample_dataset(),
        agents=list(rows.values()),
        levels=[level],
        wake=False,
        **more,
    )


def play(*runs: Run, owner: str = "test") -> None:
    """Carry runs to their end, here and now."""
    for run in runs:
        work_on_run(run_id=run.pk, owner=owner)
        run.refresh_from_db()


def reflection_run() -> Run:
    """Return a played run that builds preference data, of one persona that makes tea and eggs."""
    file = load_personas()
    dataset = save_dataset(
        system="adapt_reflection", name="Kitchen", version="", source="tests", licence="",
        checksum="x", tasks=[row for row in file.tasks if row[0].id == "persona_10-tea_eggs"],
        shared=file.shared,
    ).dataset  # fmt: skip
    ensure_scripted_agents()
    agent = Agent.objects.get(system="adapt_reflection", policy="reflecting-cook")
    (run,) = start_runs(dataset=dataset, agents=[agent], wake=False)
    play(run)
    run.refresh_from_db()
    return run
