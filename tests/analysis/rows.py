"""Hand-made runs for the tests of frames, reports and pages: small enough to count by hand."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import Permission, User

from annotation.models import Annotator, Assignment, Item, Membership, Rating, RatingEdit, Study
from benchmarks.core.digests import digest
from benchmarks.core.registry import get_system
from benchmarks.models import (
    Agent,
    AnswererVersion,
    Dataset,
    Experiment,
    JudgeScore,
    Judging,
    Run,
    Task,
    Trajectory,
    Turn,
    ValidityCertificate,
)
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from benchmarks.validity.selectors import certificate_versions

KEYS = tuple(dimension.key for dimension in DIMENSIONS)
JUDGES = ("even", "strict", "mild")
METRICS = {
    "accurate": 1.0,
    "valid": 1.0,
    "turns": 2,
    "world_repeated": 0,
    "user_repeated": 0,
    "world_triggered": 0.5,
    "user_triggered": 0.5,
    "accurate_all": 1.0,
    "accurate_main": 1.0,
    "readings_differ": 0.0,
}
Scores = Mapping[str, Sequence[float | None]]


def make_dataset(name: str = "Tests", *, tasks: int = 4, is_demo: bool = False) -> Dataset:
    dataset = Dataset.objects.create(
        system="adaplanbench", name=name, version="1", checksum=name, is_demo=is_demo
    )
    for number in range(1, tasks + 1):
        Task.objects.create(dataset=dataset, external_id=f"t{number}", prompt=f"Mend {number}.")
    return dataset


def make_certificate(dataset: Dataset, *unusable: tuple[str, str]) -> None:
    """A certificate of validity by which the reference does not solve these tasks at a level."""
    about = {"usable": False, "reason": "The reference fails."}
    system = get_system(dataset.system)
    units = [[name, level, ""] for name, level in unusable]
    content = {
        "seed": 0,
        "measures": [system.labels.headlines[0]],
        "tasks": dataset.tasks.count(),
        "reference": {
            "title": "Reference", "checked": dataset.tasks.count(), "without": 0, "levels": {},
            "unsolved": [{"task": name, "level": level, **about} for name, level in unusable],
        },
        "units": units, "policies": [], "bracket": None,
        "forms": {"forms": [], "as_written": None},
    }  # fmt: skip
    versions = certificate_versions(system)
    ValidityCertificate.objects.create(
        dataset=dataset, versions=versions, versions_digest=digest(versions), content=content,
        digest=digest(units),
    )  # fmt: skip


def make_run(
    dataset: Dataset,
    agent: str,
    *,
    title: str = "",
    kind: str = "scripted",
    level: str = "mid",
    condition: str = "standard",
    status: str = Run.Status.DONE,
    finished: int = 1,
    experiment: Experiment | None = None,
    labels: str = "scripted",
    policy: str = "",
) -> Run:
    """A run without trajectories, with its live judging; ``finished`` is a day of January."""
    row, _ = Agent.objects.get_or_create(
        name=agent, defaults={"title": title or agent.title(), "kind": kind}
    )
    over = status in (Run.Status.DONE, Run.Status.ATTENTION)
    run = Run.objects.create(
        dataset=dataset,
        agent=row,
        level=level,
        condition=condition,
        status=status,
        experiment=experiment,
        is_demo=dataset.is_demo,
        seed=7,
        pins={"scorer": "1", "protocol": "1", "prompts": "1"},
        roles={
            "agent": [{"kind": kind, "policy": policy or agent, "label": kind}],
            "rubric_judge": [
                {"kind": "scripted", "policy": name, "version": "1", "label": labels}
                for name in JUDGES
            ],
        },
        finished_at=datetime(2026, 1, finished, tzinfo=UTC) if over else None,
    )
    run.primary_judging = Judging.objects.create(run=run)
    run.save()
    return run


def make_trajectory(
    run: Run,
    task: int,
    *,
    scores: Sequence[Scores] = (),
    termination: str = "valid_plan",
    status: str = Trajectory.Status.DONE,
    undefined: Mapping[str, str] | None = None,
    texts: Sequence[str] = (),
    found_valid: Sequence[bool] = (),
    attempt: int = 1,
    **metrics: Any,
) -> Trajectory:
    """The run's trajectory of a task. ``scores`` has one mapping per turn, from dimension to one
    score per judge; the last turn is the final one.
    """
    values = {**METRICS, **metrics, **dict.fromkeys(undefined or {})}
    trajectory = Trajectory.objects.create(
        run=run,
        task=run.dataset.tasks.get(external_id=f"t{task}"),
        attempt=attempt,
        status=status,
        termination=termination if status == Trajectory.Status.DONE else "",
        turn_count=max(len(scores), len(texts)),
        metrics=values,
        undefined=dict(undefined or {}),
    )
    for index in range(1, trajectory.turn_count + 1):
        turn = Turn.objects.create(
            trajectory=trajectory,
            index=index,
            text=texts[index - 1] if texts else "1. Do it.",
            payload={"valid": found_valid[index - 1]} if found_valid else {},
            is_final=index == trajectory.turn_count,
        )
        if scores:
            make_scores(turn, run, scores[index - 1])
    return trajectory


def make_scores(turn: Turn, run: Run, scores: Scores, judges: Sequence[str] = JUDGES) -> None:
    versions = [
        AnswererVersion.objects.get_or_create(
            digest=name, defaults={"kind": "scripted", "name": name, "version": "1"}
        )[0]
        for name in judges
    ]
    JudgeScore.objects.bulk_create(
        JudgeScore(
            judging=run.primary_judging,
            turn=turn,
            judge=versions[place],
            seat=str(place + 1),
            dimension=dimension,
            value=value,
            reason="" if value is not None else "no word about it",
            trajectory=turn.trajectory,
            run=run,
            agent=run.agent,
            level=run.level,
            condition=run.condition,
            turn_index=turn.index,
            is_final=turn.is_final,
        )
        for dimension, values in scores.items()
        for place, value in enumerate(values)
    )


def make_imported(
    agents: Sequence[str] = ("gpt-9",),
    *,
    rewards: Mapping[int, Sequence[float | None]] | None = None,
    name: str = "Bags",
    finished: int = 1,
) -> list[Run]:
    """Finished runs made elsewhere, one per agent; ``rewards`` has the trials of each task.

    A reward that is None is not stated. Every trajectory has two turns with five messages.
    """
    rewards = rewards or {1: (1.0, 0.0), 2: (1.0, 1.0)}
    dataset = Dataset.objects.create(system="external", name=name, version="1", checksum=name)
    tasks = {n: Task.objects.create(dataset=dataset, external_id=f"e{n}", prompt=f"Bag {n}?",
                                    payload={"hidden": {"instruction": f"You lost bag {n}."}})
             for n in rewards}  # fmt: skip
    runs = []
    for agent in agents:
        row = Agent.objects.create(name=agent, title=agent, kind="imported", system="external")
        run = Run.objects.create(
            kind=Run.Kind.IMPORTED, dataset=dataset, agent=row, condition="as imported",
            status=Run.Status.DONE, roles={"agent": [{"kind": "imported", "label": "imported"}]},
            finished_at=datetime(2026, 1, finished, tzinfo=UTC),
        )  # fmt: skip
        for number, trials in rewards.items():
            for attempt, reward in enumerate(trials, 1):
                make_talk(run, tasks[number], attempt=attempt, reward=reward)
        runs.append(run)
    return runs


def make_talk(
    run: Run, task: Task, *, attempt: int = 1, reward: float | None = 1.0,
    termination: str = "user_stop",
) -> Trajectory:  # fmt: skip
    """A dialogue of two turns: a call of a tool that fails, then an answer."""
    unstated = {} if reward is not None else {"reward": "the file does not state it"}
    trajectory = Trajectory.objects.create(
        run=run, task=task, attempt=attempt, status=Trajectory.Status.DONE,
        termination=termination, turn_count=2,
        metrics={"reward": reward, "full_reward": None if reward is None else float(reward >= 1),
                 "turns": 2.0, "tool_calls": 1.0, "user_cost": 0.5, "cost": None},
        undefined={**unstated, "cost": "the file does not state it"},
        payload={"termination": termination, "hidden": {}, "metadata": {"reward_info": "secret-7"}},
    )  # fmt: skip
    call = {"name": "look_up", "id": "c1", "arguments": {"bag": 1}}
    Turn.objects.create(
        trajectory=trajectory, index=1, text="Let me look.", feedback="Thanks.",
        payload={"opening": [{"speaker": "user", "text": "Where is my bag?"}],
                 "messages": [{"speaker": "assistant", "text": "Let me look.", "calls": [call]},
                              {"speaker": "tool", "name": "look_up", "text": "Error: no bag 1",
                               "call_id": "c1"},
                              {"speaker": "user", "text": "Thanks."}]},
    )  # fmt: skip
    Turn.objects.create(
        trajectory=trajectory, index=2, text="It is lost.", is_final=True,
        payload={"messages": [{"speaker": "assistant", "text": "It is lost."}]},
    )  # fmt: skip
    return trajectory


def flat(value: float) -> Scores:
    """The same score by every judge on every dimension."""
    return {key: (value,) * len(JUDGES) for key in KEYS}


def make_person(name: str, *permissions: str, superuser: bool = False) -> User:
    user = User.objects.create_user(name, password="secret-enough", is_superuser=superuser)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    return user


def make_study(name: str = "Pilot", *, is_demo: bool = False, blinded: bool = True) -> Study:
    return Study.objects.create(
        name=name,
        questionnaire="ten_questions@1",
        status=Study.Status.OPEN,
        is_demo=is_demo,
        blinded=blinded,
    )


def make_member(study: Study, user: User, role: str = Membership.Role.RESEARCHER) -> None:
    Membership.objects.create(study=study, user=user, role=role)


def make_ratings(
    study: Study,
    user: User,
    trajectory: Trajectory,
    answers: Mapping[str, int],
    *,
    simulated: bool = False,
    state: str = Assignment.State.SUBMITTED,
) -> Assignment:
    """One item with answers to its questions, submitted unless told otherwise."""
    Annotator.objects.get_or_create(user=user, defaults={"is_simulated": simulated})
    moment = datetime(2026, 2, 1, tzinfo=UTC)
    about, _ = Item.objects.get_or_create(
        study=study,
        trajectory=trajectory,
        defaults={
            "task": trajectory.task,
            "asked": list(answers),
            "rank": study.items.count() + 1,
            "wanted": 100,
        },
    )
    item = Assignment.objects.create(
        study=study,
        item=about,
        annotator=user,
        trajectory=trajectory,
        position=study.assignments.filter(annotator=user).count() + 1,
        state=state,
        submitted_at=moment if state == Assignment.State.SUBMITTED else None,
    )
    for question, value in answers.items():
        edit = RatingEdit.objects.create(
            assignment=item, question=question, value=value, client_id=uuid.uuid4(), by=user
        )
        Rating.objects.create(
            assignment=item, question=question, value=value, edit=edit, updated_at=moment
        )
    return item
