"""Tests that append-only rows cannot be changed or deleted, by row or by query."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.models import (
    Adjudication,
    Consent,
    FailureWording,
    LabelRemoval,
    RatingEdit,
    Remark,
    RemarkText,
    Study,
    StudyEvent,
    TrajectoryLabel,
)
from tests.annotation.judged import make_judged, say

pytestmark = pytest.mark.django_db
TRIES: list[Callable[[Any], Any]] = [
    lambda row: row.save(),
    lambda row: row.delete(),
    lambda row: type(row).objects.update(pk=0),
    lambda row: type(row).objects.filter(pk=row.pk).delete(),
    lambda row: type(row).objects.bulk_update([row], ["pk"]),
]


@pytest.mark.parametrize("attempt", TRIES)
@pytest.mark.parametrize("model", [RatingEdit, StudyEvent])
def test_neither_row_nor_query(model: Any, attempt: Any, ann: User, manager: User) -> None:
    say(make_judged([ann], manager), ann, 1)
    before = list(model.objects.order_by("pk").values())
    assert before
    with pytest.raises(TypeError, match="only ever added"):
        attempt(model.objects.first())
    assert list(model.objects.order_by("pk").values()) == before


def test_the_others_have_the_same_manager() -> None:
    remarks = (FailureWording, LabelRemoval, Remark, RemarkText, TrajectoryLabel)
    for model in (Adjudication, Consent, *remarks):
        with pytest.raises(TypeError, match="only ever added"):
            model.objects.all().delete()


def test_by_way_of_another_row(ann: User, manager: User) -> None:
    study = make_judged([ann], manager)
    assignment = say(study, ann, 1)
    for related in (study.events, assignment.edits):
        with pytest.raises(TypeError, match="only ever added"):
            related.all().delete()
    assert Study.objects.get(pk=study.pk).events.exists()
