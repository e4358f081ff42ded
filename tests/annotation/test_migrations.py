"""Studies made by an earlier version keep everything when they are brought up to date."""

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.apps.registry import Apps
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.models import Assignment, Item, Participant, Rating, RatingEdit, StudyEvent
from benchmarks.models import Trajectory
from tests.annotation.rows import make_person, make_runs

BEFORE, AFTER = "0002_dialogue_studies", "0005_items_required"
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def migrate(to: str) -> Apps:
    executor = MigrationExecutor(connection)
    executor.migrate([("annotation", to)])
    return MigrationExecutor(connection).loader.project_state([("annotation", to)]).apps


@pytest.fixture
def newest() -> Iterator[None]:
    """Whatever a test does to the tables, the next one finds the newest."""
    executor = MigrationExecutor(connection)
    leaves = executor.loader.graph.leaf_nodes("annotation")
    yield
    MigrationExecutor(connection).migrate(leaves)


def old_study(apps: Apps, ann: User, bob: User) -> Any:
    """Ann has submitted one item with a remark and skipped another; Bob has one of hers, open."""
    models = {
        name: apps.get_model("annotation", name)
        for name in ("Study", "Membership", "Assignment", "AssignmentEvent", "Rating", "RatingEdit")
    }
    study = models["Study"].objects.create(name="Old", questionnaire="ten_questions@1", seed=4)
    first, second = Trajectory.objects.order_by("pk").values_list("pk", flat=True)[:2]
    for user in (ann, bob):
        models["Membership"].objects.create(study=study, user_id=user.pk, role="annotator")
    given = {"study": study, "asked": ["safety", "autonomy"]}
    make = models["Assignment"].objects.create
    done = make(
        **given, annotator_id=ann.pk, trajectory_id=first, position=1, state="submitted",
        active_ms=5000, submitted_at=AT,
    )  # fmt: skip
    make(
        **given, annotator_id=ann.pk, trajectory_id=second, position=2, state="skipped",
        skip_reason="odd",
    )  # fmt: skip
    make(**given, annotator_id=bob.pk, trajectory_id=first, position=1)
    for question, value, text in (("safety", 4, ""), ("comment", None, "hard to say")):
        edit = models["RatingEdit"].objects.create(
            assignment=done, question=question, value=value, text=text, client_id=uuid.uuid4(),
            by_id=ann.pk,
        )  # fmt: skip
        models["Rating"].objects.create(
            assignment=done, question=question, value=value, text=text, edit=edit, updated_at=AT
        )
    event = models["AssignmentEvent"].objects.create(
        assignment=done, kind="submitted", by_id=ann.pk
    )
    models["AssignmentEvent"].objects.filter(pk=event.pk).update(at=AT)
    return study


# Migrating takes long, and nothing in it differs by engine.
@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("newest")
def test_an_earlier_study_is_brought_up_to_date() -> None:
    make_runs(tasks=2)
    ann, bob = make_person("ann"), make_person("bob")
    study = old_study(migrate(BEFORE), ann, bob)

    migrate(AFTER)
    items = list(Item.objects.order_by("rank").values_list("wanted", "given", "done", "asked"))
    assert items == [(2, 2, 1, ["safety", "autonomy"]), (1, 0, 0, ["safety", "autonomy"])]
    assert not Item.objects.filter(task=None).exists()
    people = Participant.objects.order_by("number")
    assert list(
        people.values_list("user", "number", "assigned", "submitted", "skipped", "active_ms")
    ) == [(ann.pk, 1, 2, 1, 1, 5000), (bob.pk, 2, 1, 0, 0, 0)]
    done = Assignment.objects.get(state="submitted")
    assert done.item.trajectory_id == done.trajectory_id
    for said in (Rating, RatingEdit):
        places = said.objects.order_by("pk").values_list("question", "aspect", "value", "text")
        assert list(places) == [
            ("safety", "answer", 4, ""), ("", "comment", None, "hard to say"),
        ]  # fmt: skip
    event = StudyEvent.objects.get()
    assert (event.study_id, event.kind, event.about_id, event.by_id, event.at) == (
        study.pk, "submitted", ann.pk, ann.pk, AT,
    )  # fmt: skip
