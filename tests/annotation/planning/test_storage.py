"""Storing large studies in portions: never half usable, and gone on with wherever it stopped."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.assignments.services import claim_next_item
from annotation.errors import Refused
from annotation.items.services import raise_raters
from annotation.models import Assignment, Item, Participant, Study
from annotation.planning import services as planned_service
from annotation.planning.planned_study import PlannedStudy, plan_study
from annotation.planning.services import (
    create_planned_study,
    enqueue_again,
    enqueue_planned_study,
    launch_study,
)
from annotation.studies import storage as storing
from annotation.studies.design import study_certificate, study_design
from annotation.studies.services import delete_draft, set_study_status
from annotation.study_frame.storing import is_stored, storing_of
from benchmarks.jobs.services import perform
from benchmarks.models import Job, Trajectory
from tests.annotation.assignments.test_services import check_counters
from tests.annotation.rows import make_runs, plan_for

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "PORTION", 2)
    monkeypatch.setattr(planned_service, "WHOLE", 2)


@pytest.fixture
def plan(ann: User, bob: User) -> PlannedStudy:
    return plan_study(
        plan_for(
            make_runs(tasks=4), [ann, bob], name="Large", background="about_annotators@1",
            consent="I agree.", queries_each=2,
        )
    )  # fmt: skip


def stop_at(monkeypatch: pytest.MonkeyPatch, name: str, call: int) -> Callable[[], None]:
    """Let storing break off at a call of one of its steps, as a kill would; returns the mending."""
    real = getattr(storing, name)
    calls: list[int] = []

    def step(**given: Any) -> Any:
        calls.append(1)
        if len(calls) == call:
            raise KeyboardInterrupt
        return real(**given)

    monkeypatch.setattr(storing, name, step)
    return lambda: monkeypatch.setattr(storing, name, real)


def assignments(study: Study) -> list[Any]:
    rows = study.assignments.order_by("annotator", "part", "position")
    return list(rows.values_list("annotator__username", "part", "position", "item__rank"))


def test_a_study_in_portions_is_the_one_that_was_planned(plan: PlannedStudy, manager: User) -> None:
    study = create_planned_study(planned=plan, by=manager)
    assert (study.status, is_stored(study), study.consent_version) == ("open", True, 1)
    assert study_certificate(study).sha256 == plan.digest
    mains = [row for row in assignments(study) if row[1] == "main"]
    assert len(mains) == plan.assignments == 8
    assert study.items.filter(use="background").get().given == 2
    check_counters(study)
    whole = study.events.values_list("kind", "detail")
    assert ("status", {"before": "draft", "after": "open"}) in whole
    assert ("changed", {"stored": 8, "seats": 8}) in whole


@pytest.mark.parametrize(
    ("step", "call"), [("insert_items", 3), ("add_member", 2), ("assign_items", 3)]
)
def test_where_storing_stops_the_same_again_goes_on(
    plan: PlannedStudy, ann: User, manager: User, monkeypatch: pytest.MonkeyPatch,
    step: str, call: int,
) -> None:  # fmt: skip
    mend = stop_at(monkeypatch, step, call)
    with pytest.raises(KeyboardInterrupt):
        create_planned_study(planned=plan, by=manager)
    left = Study.objects.get()
    found = storing_of(left)
    assert found is not None and not found.moving and 0 < found.done < found.total
    # Nothing can be begun with it.
    for do in (
        lambda: launch_study(study=left, by=manager),
        lambda: set_study_status(study=left, status="open", by=manager),
        lambda: raise_raters(study=left, wanted=2, by=manager),
    ):
        with pytest.raises(Refused, match="not completely stored"):
            do()
    if left.participants.filter(user=ann).exists():
        with pytest.raises(Refused, match="not been opened"):
            claim_next_item(study=left, user=ann)
    mend()
    again = create_planned_study(planned=plan, by=manager)
    assert (again.pk, again.status) == (left.pk, "open")
    assert study_certificate(again).sha256 == plan.digest
    check_counters(again)
    # What is stored to its end is not gone on with: the same plan makes another study.
    assert create_planned_study(planned=plan, by=manager).pk != again.pk


def test_an_unfinished_study_is_deleted_whole_wherever_that_stops(
    plan: PlannedStudy, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    mend = stop_at(monkeypatch, "assign_items", 2)
    with pytest.raises(KeyboardInterrupt):
        create_planned_study(planned=plan, by=manager)
    mend()
    left = Study.objects.get()
    storing.mark_removed(left)
    # From here on nobody goes on with it, whoever tries.
    with pytest.raises(Refused, match="being deleted"):
        enqueue_again(study=left, by=manager)
    delete_draft(study=left)
    for model in (Study, Item, Assignment, Participant):
        assert not model.objects.exists(), model


def test_what_cannot_be_stored_leaves_nothing(
    plan: PlannedStudy, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**given: Any) -> None:
        raise Refused("invalid", "no")

    monkeypatch.setattr(storing, "assign_items", refuse)
    with pytest.raises(Refused):
        create_planned_study(planned=plan, by=manager)
    assert not Study.objects.exists() and not Item.objects.exists()


def test_a_page_leaves_the_rest_to_the_background(plan: PlannedStudy, manager: User) -> None:
    study = enqueue_planned_study(planned=plan, by=manager, launch=False)
    job = Job.objects.get()
    found = storing_of(study)
    assert found is not None and found.moving and study.items.filter(use="main").count() == 0
    perform(job_id=job.pk, owner="tests")
    job.refresh_from_db()
    study.refresh_from_db()
    assert (job.status, job.message, study.status) == ("done", "", "draft")
    assert storing_of(study) is None
    assert study_certificate(study).sha256 == study_design(study).planned_digest
    launch_study(study=study, by=manager)


def test_what_has_changed_since_is_told(plan: PlannedStudy, manager: User) -> None:
    study = enqueue_planned_study(planned=plan, by=manager, launch=True)
    Trajectory.objects.filter(pk=plan.options[0].id).update(status="failed")
    perform(job_id=Job.objects.get().pk, owner="tests")
    found = storing_of(study)
    assert found is not None and "delete this draft" in found.failed
    assert not study.items.filter(use="main").exists()
    enqueue_again(study=study, by=manager)
    assert Job.objects.count() == 2
    delete_draft(study=study)


def test_a_large_draft_is_deleted_in_portions(plan: PlannedStudy, manager: User) -> None:
    study = create_planned_study(planned=plan, by=manager, launch=False)
    delete_draft(study=study)
    assert not Study.objects.exists() and not Assignment.objects.exists()
