"""Tiny studies of people's checks, small enough to compute every figure of a page by hand."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User

from annotation.models import (
    Annotator,
    Assignment,
    Item,
    Participant,
    Rating,
    RatingEdit,
    Study,
)
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.decisions import answer_marks
from benchmarks.models import Candidate, Constraint, Dataset, Profile, Task, Trajectory, Violation
from tests.analysis.rows import make_dataset, make_person, make_run, make_trajectory

MOMENT = datetime(2026, 2, 1, tzinfo=UTC)
NAMES = ("ann", "bob", "cy")
CONSTRAINTS = (("world", "w1"), ("world", "w2"), ("user", "u1"))
Said = Mapping[str, int | Sequence[str]]


def make_kind_study(questionnaire: str, name: str = "Check", **more: Any) -> Study:
    kind = load_questionnaire(questionnaire).kind
    return Study.objects.create(
        name=name, questionnaire=questionnaire, kind=kind, status=Study.Status.OPEN, **more
    )


def make_people(*names: str, prefix: str = "") -> list[User]:
    return [make_person(f"{prefix}{name}") for name in names or NAMES]


def make_item(
    study: Study,
    *,
    trajectory: Trajectory | None = None,
    task: Task | None = None,
    asked: Sequence[str],
    subjects: Mapping[str, Sequence[str]] | None = None,
    wanted: int = 3,
    **more: Any,
) -> Item:
    return Item.objects.create(
        study=study, trajectory=trajectory,
        task=trajectory.task if trajectory is not None else task, asked=list(asked),
        subjects=dict(subjects or {}), rank=study.items.count() + 1, wanted=wanted, **more,
    )  # fmt: skip


def answer(
    item: Item,
    user: User,
    said: Said,
    *,
    seconds: float = 0,
    simulated: bool = False,
    unblinded: bool = False,
    state: str = Assignment.State.SUBMITTED,
) -> Assignment:
    """One person's submitted item: numbers and lists of marks by slot (``safety.turn-1``)."""
    study = item.study
    Annotator.objects.get_or_create(user=user, defaults={"is_simulated": simulated})
    Participant.objects.get_or_create(
        study=study, user=user,
        defaults={
            "number": study.participants.count() + 1, "unblinded_at": MOMENT if unblinded else None,
        },
    )  # fmt: skip
    seat = Assignment.objects.create(
        study=study, item=item, annotator=user, trajectory=item.trajectory, state=state,
        position=study.assignments.filter(annotator=user).count() + 1,
        active_ms=round(1000 * seconds),
        submitted_at=MOMENT if state == Assignment.State.SUBMITTED else None,
    )  # fmt: skip
    for name, value in said.items():
        question, _, subject = name.partition(".")
        number = value if isinstance(value, int) else None
        place = {
            "assignment": seat, "question": question, "subject": subject, "value": number,
            "chosen": None if isinstance(value, int) else list(value),
        }  # fmt: skip
        edit = RatingEdit.objects.create(
            **place, client_id=uuid.uuid4(), by=user, unblinded=unblinded
        )
        Rating.objects.create(**place, edit=edit, updated_at=MOMENT)
    return seat


# --- Violation check ------------------------------------------------------------------------------

# Of each trajectory its turns: what the judges found (None: no verdict), what each of the three
# annotators marked (who is missing did not judge that trajectory).
MARKED: tuple[tuple[tuple[str | None, tuple[str, ...]], ...], ...] = (
    (("w1", ("w1", "w1", "w1 u1")), ("", ("", "", ""))),
    (
        ("w1", ("w1 w2", "w1 w2", "w1")),
        ("w1 w2", ("u1", "", "u1")),
        (None, ("", "", "")),
    ),
    (("", ("w1", "")),),
    (("", ("w1",)),),
)


def make_violation_check(
    people: Sequence[User],
    *,
    dataset: Dataset | None = None,
    questionnaire: str = "violation_check@1",
    **more: Any,
) -> Study:
    """Four trajectories: two judged by all three, one by two, one by one; `MARKED`."""
    study = make_kind_study(questionnaire, "Violations", **more)
    asked = load_questionnaire(questionnaire).by_key
    run = make_run(dataset or make_dataset("Marked"), "marked")
    for number, turns in enumerate(MARKED, 1):
        trajectory = make_violating(run, number, [found for found, _ in turns])
        item = make_item(
            study, trajectory=trajectory, asked=("world_violated", "user_violated"),
            subjects={"turn": [str(n) for n in range(1, len(turns) + 1)],
                      "world": ["w1", "w2"], "user": ["u1"]},
        )  # fmt: skip
        for place, user in enumerate(people[: len(turns[0][1])]):
            said: dict[str, Sequence[str]] = {}
            for turn, (_, marks) in enumerate(turns, 1):
                chosen = marks[place].split()
                for question, keys in (("world_violated", ["w1", "w2"]), ("user_violated", ["u1"])):
                    marks = answer_marks(asked[question].scale, keys, chosen)
                    said[f"{question}.turn-{turn}"] = marks
            answer(item, user, said)
    return study


def make_violating(run: Any, number: int, found: Sequence[str | None], **more: Any) -> Trajectory:
    """A trajectory on the ``number``-th task, in whose turns judges found these keys."""
    trajectory = make_trajectory(run, number, texts=["1. Do it."] * len(found), **more)
    profile, _ = Profile.objects.get_or_create(task=trajectory.task, level="mid", rank=2)
    for kind, key in CONSTRAINTS:
        Constraint.objects.get_or_create(
            profile=profile, kind=kind, key=key, text=f"Condition {key} of {number}"
        )
    trajectory.profile = profile
    trajectory.save()
    for turn, keys in zip(trajectory.turns.order_by("index"), found, strict=True):
        turn.payload = {"valid": None if keys is None else not keys}
        turn.save()
        for key in (keys or "").split():
            Violation.objects.create(
                turn=turn, key=key, kind="world" if key[0] == "w" else "user",
                text=f"Condition {key} of {number}", revealed=True, new=True, repeated=False,
            )  # fmt: skip
    return trajectory


# --- Filter check ---------------------------------------------------------------------------------

# Of each task its candidates: kind, the checker's decision, what each annotator would do.
DECIDED: tuple[tuple[tuple[str, str | None, str], ...], ...] = (
    (("world", "removed", "rrk"), ("user", "kept", "rrr"), ("world", "kept", "kkk")),
    (("world", "removed", "kkr"), ("user", "kept", "kkk"), ("user", None, "rrr")),
    (("world", "kept", "rk"),),
)


def make_filter_check(
    people: Sequence[User], *, dataset: Dataset | None = None, **more: Any
) -> Study:
    """Three tasks: two decided by all three, one by two; `DECIDED`."""
    study = make_kind_study("filter_check@1", "Candidates", **more)
    dataset = dataset or make_dataset("Filtered")
    for number, candidates in enumerate(DECIDED, 1):
        task = dataset.tasks.get(external_id=f"t{number}")
        keys = [f"c{n}" for n in range(1, len(candidates) + 1)]
        for key, (kind, decision, _) in zip(keys, candidates, strict=True):
            Candidate.objects.create(
                task=task, key=key, kind=kind, text=f"Candidate {key} of {number}",
                decision=decision, decided_by="a checker",
            )  # fmt: skip
        item = make_item(study, task=task, asked=("keep",), subjects={"candidate": keys})
        for place, user in enumerate(people[: len(candidates[0][2])]):
            answer(
                item, user,
                {f"keep.candidate-{key}": int(votes[place] == "k")
                 for key, (_, _, votes) in zip(keys, candidates, strict=True)},
            )  # fmt: skip
    return study


# --- Scores of turns ------------------------------------------------------------------------------

# Of each trajectory its turns: the three judges' scores, the three annotators'.
SCORED = (
    (((4, 4, 4), (4, 5, 3)), ((3, 3, 3), (2, 3, 1))),
    (((5, 5, 4), (5, 5, 5)), ((4, 4, 4), (4, 4, 4))),
)


def make_turn_scores(
    people: Sequence[User], *, dataset: Dataset | None = None, **more: Any
) -> Study:
    """Two trajectories of two turns, asked for feasibility alone; `SCORED`."""
    study = make_kind_study("turn_scores@1", "Turns", **more)
    run = make_run(dataset or make_dataset("Scored"), "scored")
    for number, turns in enumerate(SCORED, 1):
        scores = [{"feasibility": [float(s) for s in judges]} for judges, _ in turns]
        trajectory = make_trajectory(run, number, scores=scores)
        item = make_item(
            study, trajectory=trajectory, asked=("feasibility",), subjects={"turn": ["1", "2"]}
        )
        for place, user in enumerate(people):
            answer(item, user,
                   {f"feasibility.turn-{turn}": said[place]
                    for turn, (_, said) in enumerate(turns, 1)})  # fmt: skip
    return study


def make_preferences(
    people: Sequence[User],
    values: Sequence[Sequence[int]] = ((1, 1, 0), (1, 2, 1), (2, 1, 1), (0, 1, 2)),
    dataset: Dataset | None = None,
    **more: Any,
) -> Study:
    """Two agents side by side: for each task what each person prefers, `x` (1), `y` (2) or neither.

    `y` is the item's first trajectory on every other task.
    """
    dataset = dataset or make_dataset("Compared")
    runs = [make_run(dataset, agent, finished=len(values)) for agent in ("x", "y")]
    study = make_kind_study("compare_plans@1", "Side by side", **more)
    for number, said in enumerate(values, 1):
        sides = [make_trajectory(run, number) for run in runs]
        if turned := number % 2 == 0:
            sides.reverse()
        item = make_item(study, trajectory=sides[0], other=sides[1], asked=["better", "safer"])
        for user, value in zip(people, said, strict=True):
            stored = {1: 2, 2: 1}.get(value, 0) if turned else value
            answer(item, user, {"better": stored, "safer": 0 if number == 1 else stored})
    return study
