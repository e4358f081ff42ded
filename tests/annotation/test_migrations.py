"""Studies made by an earlier version keep everything when they are brought up to date."""

import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.apps.registry import Apps
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader

from annotation.models import Assignment, Item, Participant, Rating, RatingEdit, StudyEvent
from config.backups.sqlite import open_aside
from tests.databases import migrate_to

BEFORE = [
    ("auth", "0012_alter_user_first_name_max_length"),
    ("annotation", "0002_dialogue_studies"),
]
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def old_trajectories(apps: Apps) -> list[int]:
    """Two of them, one task each."""
    models = {
        name: apps.get_model("benchmarks", name)
        for name in ("Agent", "Dataset", "Run", "Task", "Trajectory")
    }
    dataset = models["Dataset"].objects.create(system="adaplanbench", name="Old", checksum="x")
    agent = models["Agent"].objects.create(name="old", title="Old", kind="scripted")
    run = models["Run"].objects.create(dataset=dataset, agent=agent)
    tasks = [
        models["Task"].objects.create(dataset=dataset, external_id=f"task-{n}", prompt="How?")
        for n in (1, 2)
    ]
    make = models["Trajectory"].objects.create
    return [make(run=run, task=task, seed=1).pk for task in tasks]


def old_study(apps: Apps, ann: User, bob: User) -> Any:
    """Ann has submitted one item with a remark and skipped another; Bob has one of hers, open."""
    models = {
        name: apps.get_model("annotation", name)
        for name in ("Study", "Membership", "Assignment", "AssignmentEvent", "Rating", "RatingEdit")
    }
    study = models["Study"].objects.create(name="Old", questionnaire="ten_questions@1", seed=4)
    first, second = old_trajectories(apps)
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
@pytest.mark.django_db
def test_an_earlier_study_is_brought_up_to_date(tmp_path: Path) -> None:
    """It was made before the migrations were squashed, and by some of them only."""
    with open_aside(tmp_path / "old.sqlite3") as connection:
        migrate_to(connection, BEFORE)
        apps = MigrationLoader(None, replace_migrations=False).project_state(BEFORE).apps
        ann, bob = (User.objects.create(username=name) for name in ("ann", "bob"))
        study = old_study(apps, ann, bob)
        call_command("migrate", verbosity=0)
        check_study(study, ann, bob)


def check_study(study: Any, ann: User, bob: User) -> None:
    """Nothing was lost, and what newer versions keep beside is there."""
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
