"""Delete finished studies."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotation.errors import Refused
from annotation.exports.services import archive_study
from annotation.models import (
    Assignment,
    Invite,
    Item,
    LiveSession,
    Membership,
    Message,
    Participant,
    RatingEdit,
    Recruit,
    Remark,
    Study,
    StudyEvent,
    TrajectoryLabel,
)
from annotation.studies.storage import remove_study
from benchmarks.deletion.plans import (
    DeletionPlan,
    DeletionRefusal,
    companion,
    holder,
    plan_deletion,
)
from benchmarks.deletion.services import DeletionError, begin_deletion, companions_first
from benchmarks.models import Job

DELETABLE = (Study.Status.DRAFT, *Study.OVER)

companion("Notes beside trajectories", Remark, "trajectory__run")
companion("Labels of failures", TrajectoryLabel, "trajectory__run")


@holder
def studies_that_hold(
    runs: Collection[int], datasets: Collection[int], studies: Collection[int]
) -> Iterable[DeletionRefusal]:
    """Say which studies need the trajectories or tasks, and which cannot be deleted yet."""
    held = Q(pk__in=Item.objects.filter(trajectory__run__in=runs).values("study"))
    held |= Q(pk__in=Item.objects.filter(other__run__in=runs).values("study"))
    held |= Q(pk__in=Assignment.objects.filter(trajectory__run__in=runs).values("study"))
    held |= Q(pk__in=LiveSession.objects.filter(trajectory__run__in=runs).values("study"))
    held |= Q(pk__in=Item.objects.filter(task__dataset__in=datasets).values("study"))
    for study in Study.objects.filter(held).exclude(pk__in=studies).order_by("pk"):
        yield DeletionRefusal(
            f"The study “{study.name}” needs the trajectories or tasks for its ratings. Delete the "
            "study first, or keep both.",
            _url(study),
        )
    for study in Study.objects.filter(pk__in=studies).order_by("pk"):
        if study.removed_at is not None:
            yield DeletionRefusal(f"The study “{study.name}” is being deleted already.")
        elif study.status not in DELETABLE and not study.is_demo:
            yield DeletionRefusal(
                f"The study “{study.name}” is not closed. Close it first.", _url(study)
            )


def _url(study: Study) -> str:
    return reverse("annotation:study_settings", args=[study.pk])


def plan_study_deletion(study: Study) -> DeletionPlan:
    """Plan the deletion of a study with its ratings and record; its trajectories stay."""
    return with_studies(plan_deletion(f"study {study.pk}", companions=[study.pk]))


def with_studies(plan: DeletionPlan) -> DeletionPlan:
    """Return a plan with the rows counted that go with its studies."""
    studies = plan.companions
    counts = {
        "Studies": len(studies),
        "Items": Item.objects.filter(study__in=studies).count(),
        "People in studies": Participant.objects.filter(study__in=studies).count(),
        "Changes of answers": RatingEdit.objects.filter(assignment__study__in=studies).count(),
        "Lines of the record": StudyEvent.objects.filter(study__in=studies).count(),
        "Messages": Message.objects.filter(study__in=studies).count(),
        "Invitations": Invite.objects.filter(study__in=studies).count(),
        "Participants of platforms": Recruit.objects.filter(study__in=studies).count(),
        "Sessions": LiveSession.objects.filter(study__in=studies).count(),
    }
    shown = {name: count for name, count in counts.items() if count}
    return replace(plan, counts={**shown, **plan.counts})


def begin_with_studies(plan: DeletionPlan, *, by: User | None, archive: bool = False) -> Job:
    """Hide what a plan names, its studies too, and have a worker delete it.

    With ``archive`` the worker exports the studies into the server's archive first.
    """

    def mark() -> Iterable[Study]:
        rows = Study.objects.filter(pk__in=plan.companions)
        rows.update(removed_at=timezone.now(), status=Study.Status.ARCHIVED)
        # Nobody but an administrator opens a study without a role.
        Membership.objects.filter(study__in=plan.companions).delete()
        return rows.order_by("pk")

    try:
        return begin_deletion(plan, by=by, mark=mark, archive=archive)
    except DeletionError as error:
        raise Refused("conflict", str(error).rstrip(".")) from None


@companions_first
def delete_studies(job: Job, report: Callable[[], None]) -> None:
    """Delete the studies that were marked, as far as they are still there."""
    rows = Study.objects.filter(pk__in=job.payload["companions"], removed_at__isnull=False)
    for study in rows.order_by("pk"):
        _archive_once(study, job)
        remove_study(study, report)


def _archive_once(study: Study, job: Job) -> None:
    """Export a study first where that is asked for, once, also if the job is killed after it."""
    archived = job.payload.setdefault("archived", {})
    if not job.payload.get("archive") or str(study.pk) in archived:
        return
    try:
        path = archive_study(study, folder=settings.ARCHIVE_DIR, names=True)
    except Refused as refused:
        raise DeletionError(f"{refused.reason}; the study was not deleted") from None
    archived[str(study.pk)] = path.name
    message = f"Archived: {', '.join(archived.values())}"
    Job.objects.filter(pk=job.pk).update(payload=job.payload, message=message)
