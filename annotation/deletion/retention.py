"""Remove what a study keeps no longer: the sweep finds what is due, and a job removes it.

When a study was closed and its retention times were set is read from its record, so opening it
again begins the time anew.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.exports.services import archive_study
from annotation.models import (
    Aspect,
    Assignment,
    DuelVote,
    Invite,
    RatingEdit,
    Recruit,
    Study,
    StudyEvent,
)
from annotation.people.erasure import (
    ERASED,
    blank_answers,
    blank_invitations,
    erase_platform_ids,
    erase_votes,
)
from annotation.plans.retention_rule import PARTS, RETENTION, retention_rule
from annotation.studies.services import ERASURE, SCORES_TOO
from benchmarks.core.errors import CoreError
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import named_lock, pause_writing
from benchmarks.models import Job

KIND = "retention"
# Whoever sets or shortens a time has so long to change their mind, and to take an export.
NOTICE = timedelta(days=7)
# After a failed attempt, such as for want of room for the archive.
RETRY = timedelta(hours=1)
# So many assignments are blanked in one transaction.
PORTION = 100


@dataclass(frozen=True)
class Expiry:
    """When a part of a study is removed: ``due`` is None while the study is not closed.

    ``removed`` is when that was done, since the study was closed last. ``archives``: the study is
    archived before. ``left`` is how much there is to remove, where that was counted.
    """

    part: str
    days: int
    due: datetime | None
    removed: datetime | None
    archives: bool = False
    left: int | None = None

    @property
    def words(self) -> str:
        """What is removed, as the beginning of a sentence."""
        return PARTS[self.part]

    def is_due(self, now: datetime) -> bool:
        """Return whether it is to be removed now."""
        return self.due is not None and self.removed is None and self.due <= now


def announced(study: Study, *, counts: bool = False) -> list[Expiry]:
    """Return what is removed of a study, and when; with ``counts`` also how much there is."""
    if not retention_rule(study).days:
        return []
    rows = _expiries([study])[study.pk]
    if not counts:
        return rows
    left = left_to_remove(study)
    return [replace(row, left=left[row.part]) for row in rows]


def _expiries(studies: Collection[Study]) -> Mapping[int, list[Expiry]]:
    by_study: dict[int, list[StudyEvent]] = {}
    kinds = (StudyEvent.Kind.STATUS, StudyEvent.Kind.CHANGED, StudyEvent.Kind.RETENTION)
    rows = StudyEvent.objects.filter(study__in=[s.pk for s in studies], kind__in=kinds)
    for event in rows.order_by("pk"):
        by_study.setdefault(event.study_id, []).append(event)
    return {study.pk: list(_of(study, by_study.get(study.pk, []))) for study in studies}


def _of(study: Study, events: Collection[StudyEvent]) -> Iterator[Expiry]:
    # An imported study was closed before it came, and was made here without a time.
    closed, changed = study.created_at, study.created_at
    removed: dict[str, datetime] = {}
    for event in events:
        if event.kind == StudyEvent.Kind.RETENTION:
            removed[event.detail["removed"]] = event.at
        elif RETENTION in event.detail:
            changed = event.at + NOTICE
        elif (
            event.detail.get("after") in Study.OVER and event.detail.get("before") not in Study.OVER
        ):
            closed, removed = event.at, {}
    rule = retention_rule(study)
    for part, days in rule.days.items():
        due = max(closed + timedelta(days=days), changed) if study.status in Study.OVER else None
        archives = rule.archive and part == "answers"
        yield Expiry(part, days, due, removed.get(part), archives)


def left_to_remove(study: Study) -> dict[str, int]:
    """Return how much a study holds of each part: participants, invitations, changes of answers."""
    return {
        "platform_ids": _recruits(study).count(),
        "invitations": _invites(study).count(),
        "answers": _edits(study, study.assignments.all()).count(),
    }


def _recruits(study: Study) -> QuerySet[Recruit]:
    return Recruit.objects.filter(study=study).exclude(external_id__startswith="erased-")


def _invites(study: Study) -> QuerySet[Invite]:
    return Invite.objects.filter(study=study).exclude(label__in=("", ERASED))


def _edits(study: Study, assignments: QuerySet[Assignment]) -> QuerySet[RatingEdit]:
    """Return the edits of which `blank_answers` would remove something."""
    whole = Q(value__isnull=False) | Q(chosen__isnull=False)
    if not removes_scores(study):
        whole &= Q(assignment__part=Assignment.Part.BACKGROUND)
    words = ~Q(text="") | (Q(aspect=Aspect.EVIDENCE) & ~Q(chosen=[]))
    return RatingEdit.objects.filter(words | whole, assignment__in=assignments)


def removes_scores(study: Study) -> bool:
    """Return whether scores and marks go with the texts, as when a person is erased."""
    return bool(study.settings.get(ERASURE) == SCORES_TOO)


def enqueue_retention() -> int:
    """Have workers remove what is due; return of how many studies. The sweep calls this."""
    rows = Study.objects.filter(
        status__in=Study.OVER, removed_at=None, settings__has_key=RETENTION
    ).order_by("pk")
    now = timezone.now()
    studies = list(rows)
    times = _expiries(studies) if studies else {}
    due = [s for s in studies if any(row.is_due(now) for row in times[s.pk])]
    count = 0
    for study in due:
        with named_lock(KIND):
            jobs = Job.objects.filter(kind=KIND, payload__study=study.pk)
            busy = Q(status__in=(Job.Status.QUEUED, Job.Status.RUNNING))
            failed = Q(status=Job.Status.FAILED, finished_at__gt=now - RETRY)
            if not jobs.filter(busy | failed).exists():
                payload = {"study": study.pk}
                enqueue_job(kind=KIND, title=f"Retention of study {study.pk}", payload=payload)
                count += 1
    return count


@job_kind(KIND)
def remove_expired(job: Job, progress: Progress) -> None:
    """Remove what is due of a study. Killed anywhere, it goes on with what is left."""
    study = Study.objects.filter(pk=job.payload["study"], removed_at=None).first()
    now = timezone.now()
    for expiry in announced(study) if study is not None else ():
        assert study is not None
        if not expiry.is_due(now):
            continue
        if expiry.part == "answers":
            _archive(study, job)
            _remove_answers(study, progress)
        with _still_closed(study):
            detail: dict[str, Any] = {"removed": expiry.part, "days": expiry.days}
            record_event(
                study=study, kind=StudyEvent.Kind.RETENTION, by=None,
                detail=detail | _removed(study, expiry.part, job),
            )  # fmt: skip


def _removed(study: Study, part: str, job: Job) -> dict[str, Any]:
    """Remove IDs or invitations; return what the record says of it: counts and numbers."""
    if part == "platform_ids":
        recruits = list(_recruits(study).order_by("pk").values_list("pk", flat=True))
        erase_platform_ids(_recruits(study))
        return {"count": len(recruits), "recruits": recruits}
    if part == "invitations":
        invites = list(_invites(study).order_by("pk").values_list("pk", flat=True))
        blank_invitations(_invites(study))
        return {"count": len(invites), "invites": invites}
    job.refresh_from_db()
    archive = {"archive": job.payload["archive"]} if "archive" in job.payload else {}
    return {"count": job.done, "scores": removes_scores(study), **archive}


def _archive(study: Study, job: Job) -> None:
    """Export the study first where that is asked for; once, before any answer is removed."""
    if not retention_rule(study).archive or "archive" in job.payload:
        return
    try:
        archive = archive_study(study, folder=settings.ARCHIVE_DIR)
    except Refused as refused:
        raise CoreError(f"{refused.reason}; nothing was removed") from None
    job.payload["archive"] = archive.name
    Job.objects.filter(pk=job.pk).update(payload=job.payload)


def _remove_answers(study: Study, progress: Progress) -> None:
    done, last = progress.job.done, 0
    rows = study.assignments.order_by("pk").values_list("pk", flat=True)
    while ids := list(rows.filter(pk__gt=last)[:PORTION]):
        with _still_closed(study):
            assignments = Assignment.objects.filter(pk__in=ids)
            done += _edits(study, assignments).count()
            blank_answers(assignments, RatingEdit.objects.filter(assignment__in=ids))
            progress.report(done=done)
        last = ids[-1]
        pause_writing()
    with _still_closed(study):
        erase_votes(DuelVote.objects.filter(duel__left__study=study))


@contextmanager
def _still_closed(study: Study) -> Iterator[None]:
    """Open a transaction in which nobody opens the study again."""
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if fresh.status not in Study.OVER or fresh.removed_at is not None:
            raise CoreError("the study was opened again, or is being deleted")
        yield
