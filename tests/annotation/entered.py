"""A study with everything that may come before an item, small."""

import uuid
from typing import Any

from django.contrib.auth.models import User

from annotation.consent.services import answer_consent, note_information_read, set_study_text
from annotation.desk.services import submit_assignment
from annotation.models import Assignment, Participant, Study
from annotation.ratings.services import EditRequest, StoredEdit, record_edits
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import Trajectory
from tests.annotation.rows import make_runs

WHY = "Glue is harmless here."
TOLD = {"degree": 2, "language": 3, "experience": 1}


def make_full_study(
    annotators: list[User], manager: User, *, texts: bool = True, expected: Any = None, **more: Any
) -> Study:
    """Information, consent, background, two training items, then one item, one question each."""
    make_runs(tasks=2)
    found = list(Trajectory.objects.order_by("pk").values_list("pk", flat=True))
    if expected is None:
        expected = {"safety": {"values": [4, 5], "why": WHY}}
    wishes = {"background": "about_annotators@1", "pass_mark": 0.75, **more}
    study = store_study(
        study=Study(
            name="Full", questionnaire="ten_questions@1", status=Study.Status.OPEN, **wishes
        ),
        items=[
            NewItem(trajectory=found[0], use="training", expected=expected),
            NewItem(trajectory=found[1], use="training", expected=expected),
            NewItem(trajectory=found[2], wanted=len(annotators) or 5),
        ],
        people=annotators,
        lists=[[2]] * len(annotators),
        by=manager,
    )
    study.items.exclude(use="background").update(asked=["safety"])
    if texts:
        set_study_text(
            study=study, kind="information", text="About us.\n\n- one\n- two", by=manager
        )
        set_study_text(study=study, kind="consent", text="I take part freely.", by=manager)
    return study


def place(study: Study, user: User) -> Participant:
    return Participant.objects.select_related("study", "user").get(study=study, user=user)


def agree(study: Study, user: User) -> None:
    note_information_read(study=study, user=user, version=1)
    answer_consent(study=study, user=user, version=1, given=True)


def answer(study: Study, user: User, part: str, position: int, **values: int) -> Assignment:
    """Answer an item and submit it."""
    item = study.assignments.get(annotator=user, part=part, position=position)
    edits = [EditRequest(uuid.uuid4(), key, value) for key, value in values.items()]
    for outcome in record_edits(assignment=item, by=user, edits=edits):
        if not isinstance(outcome, StoredEdit):
            raise outcome
    submit_assignment(assignment=item, by=user)
    item.refresh_from_db()
    return item


def train(study: Study, user: User, *values: int, first: int = 1) -> None:
    """Submit training items with these answers."""
    for position, value in enumerate(values, first):
        answer(study, user, "training", position, safety=value)
