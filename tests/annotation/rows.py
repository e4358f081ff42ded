"""Rows for the tests of studies: trajectories without driver, people, a small study."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import Permission, User

from annotation.models import Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.study_plan import ItemSource, StudyPlan
from benchmarks.asks.players import player_name
from benchmarks.models import (
    Agent,
    Constraint,
    Dataset,
    Exchange,
    Experiment,
    Profile,
    Run,
    Task,
    Trajectory,
    Turn,
    Violation,
)
from tests.factories.benchmarks import AnswererVersionFactory, ExchangeFactory

# Words that must never reach an annotator; each occurs nowhere else.
SECRETS = ("zebra-7b", "Zebra Large", "quagga-mini", "Quagga Small", "xenon-policy", "argon-policy")
LABELS = {
    "agent": [{"kind": "scripted", "policy": SECRETS[4], "label": "scripted"}],
    "world_judge": [{"kind": "scripted", "policy": SECRETS[5], "label": "lexicon"}],
}


def make_runs(*, tasks: int = 3, level: str = "mid") -> list[Run]:
    """Two agents on the same tasks, all trajectories ended after two turns."""
    dataset = Dataset.objects.create(
        system="adaplanbench", name="Tests" if level == "mid" else f"Tests {level}", checksum=level
    )
    profiles = [
        Profile.objects.create(
            task=Task.objects.create(
                dataset=dataset, external_id=f"task-{n}", prompt=f"How do I mend thing {n}?"
            ),
            level=level,
            rank=2,
        )
        for n in range(tasks)
    ]
    for profile in profiles:
        Constraint.objects.create(profile=profile, kind="world", key="w1", text="No hammer here.")
    experiment = Experiment.objects.create(name="Pair")
    runs = []
    for name, title in ((SECRETS[0], SECRETS[1]), (SECRETS[2], SECRETS[3])):
        agent, _ = Agent.objects.get_or_create(
            name=name, defaults={"title": title, "kind": "scripted", "policy": SECRETS[4]}
        )
        run = Run.objects.create(
            dataset=dataset, agent=agent, level=level, experiment=experiment, roles=LABELS,
            status=Run.Status.DONE,
        )  # fmt: skip
        for profile in profiles:
            make_trajectory(run=run, profile=profile)
        runs.append(run)
    return runs


def make_trajectory(
    *, run: Run, profile: Profile, feedback: str = "I have no hammer.", violated: bool = True
) -> Trajectory:
    """A first plan, feedback on it, and a final plan."""
    trajectory = Trajectory.objects.create(
        run=run, task=profile.task, profile=profile, status=Trajectory.Status.DONE,
        termination="valid_plan", turn_count=2,
    )  # fmt: skip
    first = Turn.objects.create(
        trajectory=trajectory, index=1, text="1. Take the hammer.\n2. Hit it.", feedback=feedback
    )
    Turn.objects.create(
        trajectory=trajectory, index=2, text="1. Take the glue.\n2. Hit it.", is_final=True
    )
    if violated:
        Violation.objects.create(
            turn=first, key="w1", kind="world", text="No hammer here.", revealed=True, new=True,
            repeated=False,
        )  # fmt: skip
    return trajectory


def make_person(name: str, *permissions: str, superuser: bool = False) -> User:
    """An account with rights over all studies, by codename."""
    user = User.objects.create_user(name, password="secret-enough", is_superuser=superuser)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def make_study(
    *, annotators: Sequence[User], manager: User | None = None, tasks: int = 3, each: int = 1
) -> Study:
    """An open study over two agents, ``each`` queries for every annotator."""
    plan = plan_for(make_runs(tasks=tasks), annotators, name="Pilot", queries_each=each, seed=7)
    return create_planned_study(planned=plan_study(plan), by=manager)


def plan_for(runs: Sequence[Run], annotators: Sequence[User | str], **more: Any) -> StudyPlan:
    """The paper's design over some runs; ``more`` are other wishes of the plan."""
    wishes: dict[str, Any] = {
        "name": "Study", "questionnaire": "ten_questions@1", "order": "queries",
        "queries_each": 1, **more,
    }  # fmt: skip
    source = wishes.pop("items", ItemSource(runs=tuple(run.pk for run in runs)))
    return StudyPlan(items=source, annotators=tuple(map(str, annotators)), **wishes)


def play_in(user: User, trajectory: Trajectory, **more: Any) -> Exchange:
    """Let somebody have filled a role in a trajectory."""
    answerer = AnswererVersionFactory(kind="human", name=player_name(user))
    made: Exchange = ExchangeFactory(trajectory=trajectory, answerer=answerer, **more)
    return made
