"""A study in which something of every kind was said."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from annotation.audit_log.events import record_event
from annotation.desk.services import skip_assignment, submit_assignment
from annotation.exports.table import Row, Scope, history_parts, rating_parts
from annotation.models import Adjudication, Assignment, Consent, Item, Study, StudyText
from annotation.ratings.services import record_rating, undo_edit
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import Trajectory
from tests.annotation.rows import make_person, make_runs

SPAN = {"turn": 1, "where": "plan", "start": 3, "end": 7, "quote": "Take"}


@dataclass(frozen=True)
class World:
    """``ann`` submitted, skipped and left one open; ``bob`` submitted; ``mia`` manages."""

    study: Study
    ann: User
    bob: User
    mia: User


def make_world(questionnaire: str = "violation_check@1", name: str = "Marks, all") -> World:
    """Three items each for two annotators, with background questions, texts and a decision."""
    ann, bob, mia = (make_person(name) for name in ("ann", "bob", "mia"))
    runs = make_runs()
    trajectories = list(Trajectory.objects.filter(run__in=runs).order_by("pk"))[1:5]
    items = [NewItem(trajectory=row.pk, wanted=2) for row in trajectories]
    study = Study(
        name=name, questionnaire=questionnaire, background="about_annotators@1", seed=11,
        status=Study.Status.OPEN,
        settings={
            "design": {"kind": "queries", "runs": [run.pk for run in runs],
                       "annotators": ["ann", "bob"]},
            "labels": {"agents": ["scripted"], "others": []},
        },
    )  # fmt: skip
    store_study(
        study=study, items=items, people=[ann, bob], by=mia,
        lists=[[0, 1, 2], [2, 0]],
    )  # fmt: skip
    text = StudyText.objects.create(study=study, kind="consent", version=1, text="Agree?", by=mia)
    Study.objects.filter(pk=study.pk).update(consent_version=1)
    study.participants.update(consent_version=1)
    for user in (ann, bob):
        Consent.objects.create(study=study, user=user, text=text, given=True)
        _answer_background(study, user)
    first, second, _ = study.assignments.filter(annotator=ann, part="main").order_by("position")
    say(first, "world_violated", "turn-1", chosen=["w1"])
    say(first, "world_violated", "turn-1", chosen=[])
    undo_edit(assignment=first, by=ann, client_id=uuid.uuid4())
    say(first, "world_violated", "turn-1", aspect="comment", text="=1+1, “so” to say")
    say(first, "world_violated", "turn-1", aspect="flag", value=1, text="not sure")
    say(first, "world_violated", "turn-1", aspect="evidence", chosen=[SPAN])
    say(first, "world_violated", "turn-2", chosen=[])
    say(first, "", "", aspect="comment", text="Fine.")
    submit_assignment(assignment=first, by=ann)
    skip_assignment(assignment=second, by=ann, reason="cannot read it")
    (other,) = study.assignments.filter(annotator=bob, part="main", item=first.item)
    say(other, "world_violated", "turn-1", chosen=[])
    say(other, "world_violated", "turn-2", chosen=[])
    submit_assignment(assignment=other, by=bob)
    for chosen, reason in ((["w1"], "first thought"), ([], "glue is no hammer")):
        Adjudication.objects.create(
            item=first.item, question="world_violated", subject="turn-1", chosen=chosen,
            reason=reason, by=mia,
        )  # fmt: skip
    record_event(study=study, kind="changed", by=mia, about=ann, detail={"to": "ann"})
    study.refresh_from_db()
    return World(study, ann, bob, mia)


def say(assignment: Assignment, question: str, subject: str, **said: Any) -> None:
    """One edit of the seat's own annotator."""
    record_rating(
        assignment=assignment, by=assignment.annotator, question=question, subject=subject,
        client_id=uuid.uuid4(), **said,
    )  # fmt: skip


def _answer_background(study: Study, user: User) -> None:
    assignment = study.assignments.get(annotator=user, item__use=Item.Use.BACKGROUND)
    for question, value in (("degree", 2), ("language", 3), ("experience", 0)):
        say(assignment, question, "", value=value)
    say(assignment, "field", "", text="Robotics")
    submit_assignment(assignment=assignment, by=user)


def rating_rows(scope: Scope) -> Iterator[Row]:
    """Yield the rows of the table of ratings, each as one dictionary."""
    return (front | asked | answer for front, asked, answer in rating_parts(scope))


def history_rows(scope: Scope) -> Iterator[Row]:
    """Yield the rows of the table of edits, each as one dictionary."""
    return (front | asked | answer for front, asked, answer in history_parts(scope))
