"""Retention times: set, announced, carried out by the sweep's jobs, and recorded without names."""

import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotation.deletion import retention as services
from annotation.deletion.retention import announced, enqueue_retention, left_to_remove
from annotation.errors import Refused
from annotation.models import (
    Assignment,
    Invite,
    Rating,
    RatingEdit,
    Recruit,
    RecruitingLink,
    Study,
    StudyEvent,
)
from annotation.people.invitations import make_invite
from annotation.planning.planned_study import simple_problems
from annotation.plans.plan_files import read_document, write_plan
from annotation.plans.retention_rule import RetentionRule, retention_rule
from annotation.plans.study_plan import PlanError
from annotation.ratings.selectors import human_scores
from annotation.studies.services import change_study, set_study_status
from benchmarks.jobs.services import perform
from benchmarks.models import Job
from tests.annotation.judged import make_judged, say
from tests.annotation.people.test_erasure import remark
from tests.benchmarks.api.conftest import bearer

pytestmark = [pytest.mark.django_db, pytest.mark.either]
WROTE = "quixotry"
ADDRESS = "xanthippe@example.net"


@pytest.fixture
def study(ann: User, manager: User) -> Study:
    """One that was judged with words, has an invitation and somebody from a platform."""
    study = make_judged([ann], manager, items=2)
    say(study, ann, 1, {"safety": 4}, remarks=[remark("safety", "comment", WROTE)])
    say(study, ann, 2, {"safety": 2}, remarks=[remark("", "comment", WROTE)])
    make_invite(study=study, role="annotator", label=ADDRESS, days=7, by=manager)
    link = RecruitingLink.objects.create(
        study=study, digest="d", platform="prolific", places=1, items_each=1,
        expires_at=timezone.now(),
    )  # fmt: skip
    Recruit.objects.create(
        link=link, study=study, external_id="5f3a", platform_session="s", user=ann
    )
    return study


def keep(study: Study, manager: User, **days: Any) -> None:
    change_study(study=study, by=manager, retention=RetentionRule(**days).stored)


def days_pass(study: Study, days: int) -> None:
    """Let everything in the record have happened so much earlier."""
    for event in StudyEvent.objects.filter(study=study):
        StudyEvent.objects.filter(pk=event.pk).erase_words(at=event.at - timedelta(days=days))


def sweep() -> list[Job]:
    enqueue_retention()
    jobs = list(Job.objects.filter(kind=services.KIND, status=Job.Status.QUEUED))
    for job in jobs:
        perform(job_id=job.pk, owner="host:1:1")
        job.refresh_from_db()
        assert job.status == Job.Status.DONE, job.message
    return jobs


def close(study: Study, manager: User) -> None:
    set_study_status(study=study, status="closed", by=manager)


def removals(study: Study) -> dict[str, dict[str, Any]]:
    rows = StudyEvent.objects.filter(study=study, kind=StudyEvent.Kind.RETENTION)
    return {row.detail["removed"]: row.detail for row in rows}


def test_everything_is_kept_unless_a_manager_says_otherwise(study: Study, manager: User) -> None:
    close(study, manager)
    days_pass(study, 10_000)
    assert announced(study) == [] and sweep() == []
    assert left_to_remove(study) == {"platform_ids": 1, "invitations": 1, "answers": 2}


def test_each_part_goes_when_it_is_due_and_scores_stay(
    study: Study, manager: User, ann: User
) -> None:
    keep(study, manager, platform_ids=10, invitations=20, answers=30)
    days_pass(study, 9)  # the notice is over
    assert sweep() == [] and [row.due for row in announced(study)] == [None] * 3
    close(study, manager)
    days_pass(study, 9)
    assert sweep() == []
    days_pass(study, 2)
    scores = sorted((row.question, row.value) for row in human_scores(studies=[study.pk]))
    recruit, invite = Recruit.objects.get(), Invite.objects.get()
    assert len(sweep()) == 1 and sweep() == []
    recruit.refresh_from_db()
    assert (recruit.external_id, recruit.platform_session) == (f"erased-{recruit.pk}", "")
    assert recruit.user == ann and Invite.objects.get().label == ADDRESS
    days_pass(study, 20)
    assert len(sweep()) == 1 and sweep() == []
    invite.refresh_from_db()
    assert invite.label == "(erased)" and invite.revoked_at is not None
    for rows in (RatingEdit.objects.all(), Rating.objects.all()):
        assert not rows.exclude(text="").exists()
    assert sorted((row.question, row.value) for row in human_scores(studies=[study.pk])) == scores
    assert removals(study) == {
        "platform_ids": {
            "removed": "platform_ids",
            "days": 10,
            "count": 1,
            "recruits": [recruit.pk],
        },
        "invitations": {"removed": "invitations", "days": 20, "count": 1, "invites": [invite.pk]},
        "answers": {"removed": "answers", "days": 30, "count": 2, "scores": False},
    }
    assert all(row.removed is not None for row in announced(study))
    assert not any(left_to_remove(study).values())


def test_scores_go_too_where_erasing_takes_them(study: Study, manager: User) -> None:
    change_study(study=study, by=manager, erasure="scores")
    keep(study, manager, answers=1)
    close(study, manager)
    days_pass(study, 8)
    edits = RatingEdit.objects.count()
    sweep()
    assert list(human_scores(studies=[study.pk])) == []
    assert removals(study)["answers"]["count"] == edits and removals(study)["answers"]["scores"]
    assert left_to_remove(study)["answers"] == 0


def test_a_new_time_gives_notice_and_opening_again_begins_anew(study: Study, manager: User) -> None:
    close(study, manager)
    days_pass(study, 400)
    keep(study, manager, answers=30)
    (row,) = announced(study, counts=True)
    assert row.due is not None and row.left == 2
    assert timedelta(days=6) < row.due - timezone.now() <= services.NOTICE
    assert sweep() == []
    days_pass(study, 8)
    assert len(sweep()) == 1
    set_study_status(study=study, status="open", by=manager)
    assert [row.due for row in announced(study)] == [None]
    close(study, manager)
    (row,) = announced(study)
    assert row.removed is None and row.due is not None and row.due > timezone.now()


def test_a_killed_job_goes_on_and_counts_all(
    study: Study, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "PORTION", 1)
    keep(study, manager, answers=1)
    close(study, manager)
    days_pass(study, 8)
    enqueue_retention()
    job = Job.objects.get(kind=services.KIND)
    blank, calls = services.blank_answers, []

    def killed(assignments: Any, edits: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        blank(assignments, edits)

    monkeypatch.setattr(services, "blank_answers", killed)
    with pytest.raises(KeyboardInterrupt):
        perform(job_id=job.pk, owner="host:1:1")
    assert left_to_remove(study)["answers"] == 1 and not removals(study)
    assert enqueue_retention() == 0  # one is at it
    Job.objects.filter(pk=job.pk).update(status=Job.Status.QUEUED)
    sweep()
    assert left_to_remove(study)["answers"] == 0 and removals(study)["answers"]["count"] == 2


def test_a_study_that_is_opened_meanwhile_keeps_its_answers(study: Study, manager: User) -> None:
    keep(study, manager, answers=1)
    close(study, manager)
    days_pass(study, 8)
    enqueue_retention()
    set_study_status(study=study, status="open", by=manager)
    sweep()
    assert left_to_remove(study)["answers"] == 2 and not removals(study)


def test_an_archive_is_written_first_or_nothing_goes(
    study: Study, manager: User, tmp_path: Path, settings: Settings
) -> None:
    keep(study, manager, answers=1, archive=True)
    close(study, manager)
    days_pass(study, 8)
    (tmp_path / "a-file").touch()
    settings.ARCHIVE_DIR = tmp_path / "a-file" / "archive"
    enqueue_retention()
    job = Job.objects.get(kind=services.KIND)
    perform(job_id=job.pk, owner="host:1:1")
    job.refresh_from_db()
    assert job.status == Job.Status.FAILED and "nothing was removed" in job.message
    assert left_to_remove(study)["answers"] == 2 and enqueue_retention() == 0
    settings.ARCHIVE_DIR = tmp_path / "archive"
    Job.objects.filter(pk=job.pk).update(finished_at=timezone.now() - services.RETRY)
    sweep()
    archive = tmp_path / "archive" / removals(study)["answers"]["archive"]
    with zipfile.ZipFile(archive / "study.zip") as file:
        held = "".join(file.read(name).decode() for name in file.namelist())
    assert WROTE in held and ADDRESS not in held and "ann" not in held.split()
    assert list(archive.parent.iterdir()) == [archive]


@pytest.mark.parametrize(
    ("given", "named"),
    [({"answers": 0}, "answers"), ({"invitations": 40_000}, "invitations"),
     ({"platform_ids": "ten"}, "platform_ids"), ({"archive": True}, "archive"),
     ({"years": 2}, "years")],
)  # fmt: skip
def test_bad_values_are_refused_by_field(
    study: Study, manager: User, client: Client, given: dict[str, Any], named: str
) -> None:
    with pytest.raises(PlanError) as refused:  # noqa: PT012
        plan = read_document(
            {"name": "n", "questionnaire": "q@1", "items": {"runs": [1]}, "places": 1,
             "retention": given}
        )  # fmt: skip
        raise PlanError(simple_problems(plan))
    assert f"retention.{named}" in [problem.path for problem in refused.value.problems]
    url = f"/api/v1/studies/{study.pk}/retention"
    answer = client.post(url, given, "application/json", headers=bearer(manager))
    assert answer.status_code in (400, 422) and named in answer.content.decode()
    if set(given) <= {"platform_ids", "invitations", "answers"}:
        with pytest.raises((Refused, ValueError), match=named):
            change_study(study=study, by=manager, retention=given)
    client.force_login(manager)
    address = reverse("annotation:study_settings", args=[study.pk])
    form = client.get(address).context["form"].initial
    sent = {name: "" if value is None else value for name, value in form.items()}
    sent |= {f"retention_{name}": value for name, value in given.items()}
    answer = client.post(address, sent)
    if named == "years":
        return  # a form has no such field
    assert answer.status_code == 422 and list(answer.context["form"].errors) == [
        f"retention_{named}"
    ]
    assert not retention_rule(Study.objects.get(pk=study.pk)).days


def test_the_form_the_api_and_a_plan_set_the_same(
    study: Study, manager: User, ann: User, client: Client
) -> None:
    client.force_login(manager)
    address = reverse("annotation:study_settings", args=[study.pk])
    form = client.get(address).context["form"].initial
    sent = {name: "" if value is None else value for name, value in form.items()}
    sent |= {"retention_answers": "365", "retention_archive": "on", "reason": "As agreed."}
    assert client.post(address, sent).status_code == 302
    study.refresh_from_db()
    assert retention_rule(study) == RetentionRule(answers=365, archive=True)
    changed = StudyEvent.objects.filter(study=study, kind="changed").latest("pk")
    assert changed.detail["retention"]["after"] == {"answers": 365, "archive": True}
    for page in (address, reverse("annotation:study", args=[study.pk])):
        text = client.get(page).content.decode()
        assert "365 days after the study is closed, after an archive" in text
    url = f"/api/v1/studies/{study.pk}/retention"
    wanted = {"platform_ids": 30}
    (row,) = client.post(url, wanted, "application/json", headers=bearer(manager)).json()
    assert (row["part"], row["days"], row["due"], row["left"]) == ("platform_ids", 30, None, 1)
    assert client.get(url, headers=bearer(manager)).json() == [row]
    client.force_login(ann)
    assert client.get(url, headers=bearer(ann)).status_code in (403, 404)
    document = {"name": "n", "questionnaire": "q@1", "items": {"runs": [1]},
                "retention": {"answers": 90, "archive": True}}  # fmt: skip
    plan = read_document(document)
    assert plan.retention == RetentionRule(answers=90, archive=True)
    assert "retention:\n  answers: 90\n  archive: true" in write_plan(plan)


def test_pages_and_exports_of_a_study_work_without_its_texts(
    study: Study, manager: User, client: Client
) -> None:
    change_study(study=study, by=manager, erasure="scores")
    keep(study, manager, answers=1, invitations=1, platform_ids=1)
    close(study, manager)
    days_pass(study, 8)
    sweep()
    client.force_login(manager)
    assert Assignment.objects.filter(study=study, state="submitted").count() == 2
    for name in ("study", "study_settings", "study_people", "study_items", "study_record",
                 "study_adjudication", "study_recruiting", "study_export"):  # fmt: skip
        assert client.get(reverse(f"annotation:{name}", args=[study.pk])).status_code == 200, name
    record = client.get(reverse("annotation:study_record", args=[study.pk])).content.decode()
    assert "Removed after the retention time" in record and ADDRESS not in record
    for format in ("csv", "json", "history", "archive"):
        url = reverse("annotation:study_download", args=[study.pk])
        assert client.get(url, {"format": format}).status_code == 200
