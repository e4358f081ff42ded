"""Open, change and close studies, and name the roles behind their items."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from pydantic import Field, with_config
from typing_extensions import TypedDict

from annotation.annotator_quality.rule import (
    CODE_CHECK,
    CODE_CHECKS,
    GOLD_RULE,
    LEAST_SECONDS,
    MOST_SECONDS,
    TRAIN,
    GoldRule,
    code_check,
    gold_rule,
    least_seconds,
)
from annotation.assignments.bulk_changes import restore_assignments, return_assignments
from annotation.assignments.selectors import CLOSED
from annotation.audit_log.events import checked_reason, record_event
from annotation.errors import Refused
from annotation.models import Assignment, RatingEdit, Study, StudyEvent
from annotation.plans.adjudication_rule import (
    ADJUDICATE_FROM,
    ADJUDICATOR_SEES,
    MOST_POINTS,
    SEES,
    adjudicate_from,
    adjudicator_sees,
)
from annotation.plans.retention_rule import RETENTION, RetentionRule, retention_rule
from annotation.plans.study_plan import LONGEST_NAME, within
from annotation.studies.storage import mark_removed, remove_study
from annotation.study_frame.storing import is_stored
from benchmarks.core.schemas import STRICT, Among, Checked, ShortText
from benchmarks.models import Run
from benchmarks.visibility import role_changes_in

ENDED = "the closing date has passed"
# What goes when a person is erased, kept among the settings: their words alone, or scores too.
ERASURE, WORDS_ALONE, SCORES_TOO = "erasure", "words", "scores"
# What is kept among the settings rather than in a column, and how it is read.
KEPT: Mapping[str, Callable[[Study], Any]] = {
    ERASURE: lambda study: study.settings.get(ERASURE, WORDS_ALONE),
    GOLD_RULE: lambda study: gold_rule(study).stored,
    LEAST_SECONDS: least_seconds,
    CODE_CHECK: code_check,
    RETENTION: lambda study: retention_rule(study).stored,
    ADJUDICATE_FROM: adjudicate_from,
    ADJUDICATOR_SEES: adjudicator_sees,
}


@with_config(STRICT)
class StudyChange(TypedDict, total=False):
    """What may change of a running study."""

    name: Annotated[str, ShortText(LONGEST_NAME)]
    closes_at: Annotated[datetime | None, Field(strict=True)]
    lease_minutes: Annotated[int, within("lease_minutes")]
    idle_seconds: Annotated[int, within("idle_seconds")]
    break_minutes: Annotated[int, within("break_minutes")]
    erasure: Literal["words", "scores"]
    gold_rule: GoldRule
    least_seconds: Annotated[int, Field(strict=True, ge=0, le=MOST_SECONDS)]
    code_check: Annotated[str, Among(CODE_CHECKS)]
    retention: RetentionRule
    adjudicate_from: Annotated[int, Field(strict=True, ge=0, le=MOST_POINTS)]
    adjudicator_sees: Annotated[str, Among(SEES)]


CHANGES = Checked[StudyChange](StudyChange)


def role_labels_of(runs: Sequence[int]) -> dict[str, list[str]]:
    """Return what kinds of agents and of others (judges, simulator) made these runs, for the
    banner.

    Over all runs together: said of one item it could give away who its agent is.
    """
    agents: set[str] = set()
    others: set[str] = set()
    role_sets = [
        *Run.objects.filter(pk__in=runs).values_list("roles", flat=True),
        *role_changes_in(runs),
    ]
    for roles in role_sets:
        for role, assignments in roles.items():
            labels = {assignment.get("label", "") for assignment in assignments} - {""}
            (agents if role == "agent" else others).update(labels)
    return {"agents": sorted(agents), "others": sorted(others)}


def set_study_status(*, study: Study, status: str, by: User | None = None, reason: str = "") -> int:
    """Open, pause, close or archive a study. Unless it is open it takes no answers.

    Closing returns all open assignments, so that nobody stays bound to a study that is over;
    opening it again gives dealt items back to whom they were taken from. Returns how many
    assignments moved.
    """
    Status = Study.Status
    if status not in set(Status.values) - {Status.DRAFT}:
        raise Refused("invalid", "a study can be opened, paused, closed or archived")
    moved = 0
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        refuse_unless_stored(fresh)
        before = fresh.status
        if before == status:
            return 0
        ended = fresh.closes_at is not None and fresh.closes_at <= timezone.now()
        if status in Study.WORKING and before not in Study.WORKING and ended:
            words = "the closing date has passed; set a later one, or none, in the settings first"
            raise Refused("conflict", words)
        Study.objects.filter(pk=study.pk).update(status=status)
        if status in Study.OVER and before not in Study.OVER:
            everything = Assignment.objects.filter(study=study)
            moved = return_assignments(study=study, assignments=everything, by=by, reason=CLOSED)
        elif before in Study.OVER and status not in Study.OVER:
            moved = restore_assignments(study=fresh, by=by)
        record_event(
            study=study, kind=StudyEvent.Kind.STATUS, by=by, reason=checked_reason(reason),
            detail={"before": before, "after": status, "seats": moved},
        )  # fmt: skip
    study.refresh_from_db()
    return moved


def close_ended_studies() -> int:
    """Close studies whose closing date has passed, and free who is still bound to a closed one.

    Somebody may take an item at the very moment in which a study is closed. Returns how many
    studies were touched.
    """
    count = 0
    ended = Study.objects.filter(status__in=Study.WORKING, closes_at__lte=timezone.now())
    for study in ended:
        set_study_status(study=study, status=Study.Status.CLOSED, reason=ENDED)
        count += 1
    bound = Assignment.objects.filter(study=OuterRef("pk"), state=Assignment.State.OPEN)
    for study in Study.objects.filter(Exists(bound), status__in=Study.OVER):
        everything = Assignment.objects.filter(study=study)
        return_assignments(study=study, assignments=everything, by=None, reason=CLOSED)
        count += 1
    return count


def change_study(*, study: Study, by: User, reason: str = "", **wishes: Any) -> list[str]:
    """Change what may change of a running study (`StudyChange`); return the names of what changed.

    Leases that are running keep their end; the next ones are as long as is said here.
    """
    for path, expected, _ in CHANGES.faults(wishes):
        raise Refused("invalid", f"{', '.join(map(str, path))}: expected {expected}")
    if wishes.get(GOLD_RULE, {}).get("action") == TRAIN and not study.trains:
        raise Refused("invalid", "this study has no training to send anybody back to")
    for name, words in RetentionRule(**wishes.get(RETENTION, {})).conflicts():
        raise Refused("invalid", f"retention, {name}: {words}")
    with transaction.atomic():
        fresh = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        detail = {
            name: {"before": _plain(now), "after": _plain(value)}
            for name, value in wishes.items()
            if (now := _setting(fresh, name)) != value
        }
        end = wishes.get("closes_at")
        if "closes_at" in detail and end is not None and end <= timezone.now():
            raise Refused("invalid", "the closing date must lie in the future; or close the study")
        if detail:
            changes = {name: wishes[name] for name in detail}
            kept = {name: changes.pop(name) for name in KEPT if name in changes}
            if kept:
                changes["settings"] = {**fresh.settings, **kept}
            Study.objects.filter(pk=study.pk).update(**changes)
            record_event(
                study=study, kind=StudyEvent.Kind.CHANGED, by=by, reason=checked_reason(reason),
                detail=detail,
            )  # fmt: skip
    study.refresh_from_db()
    return list(detail)


def delete_draft(*, study: Study) -> None:
    """Delete a study that was never opened, with all that belongs to it; others are archived.

    A large one goes in portions; stopped halfway it is a draft that can be deleted again.
    """
    with transaction.atomic():
        fresh = Study.objects.select_for_update().get(pk=study.pk)
        if fresh.status != Study.Status.DRAFT:
            words = "only drafts can be deleted; archive this study, and its answers stay"
            raise Refused("conflict", words)
        if RatingEdit.objects.filter(assignment__study=fresh).exists():
            raise Refused("conflict", "this draft has answers; archive it instead")
        mark_removed(fresh)
    remove_study(fresh)


def refuse_unless_stored(study: Study) -> None:
    """Refuse to begin anything with a study of which a part is missing still."""
    if not is_stored(study):
        raise Refused("conflict", "the study is not completely stored yet; wait, or delete it")


def _setting(study: Study, name: str) -> Any:
    return KEPT[name](study) if name in KEPT else getattr(study, name)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
