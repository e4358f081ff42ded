"""Studies in the API: the list, making one from a plan, progress, status and exports."""

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from annotation.access import (
    MAKE_STUDIES,
    fetch_managed_study,
    fetch_overseen_study,
    fetch_read_study,
    fetch_study,
    person,
)
from annotation.deletion.retention import announced
from annotation.deletion.studies import begin_with_studies, plan_study_deletion
from annotation.exports.scope import scope_of
from annotation.exports.services import FORMATS, ExportRequest
from annotation.exports.views import file_of
from annotation.models import Membership, Study
from annotation.planning.planned_study import PlannedStudy, plan_study
from annotation.planning.services import (
    create_planned_study,
    enqueue_planned_study,
    is_large,
    launch_study,
)
from annotation.planning.views import MOST_ITEMS
from annotation.plans.plan_files import read_document
from annotation.plans.retention_rule import Days, RetentionRule
from annotation.plans.study_plan import PlanError, PlanProblem
from annotation.studies.progress import study_progress
from annotation.studies.services import change_study, set_study_status
from annotation.study_frame.context import blind_reader
from benchmarks.access import allow, visibility
from benchmarks.api.deletions import ANSWERS, DeletionQuery, answer_deletion
from benchmarks.api.errors import refusals
from benchmarks.api.repeats import DESCRIPTION, Answer, once
from benchmarks.api.requests import Paged, PageOut, Strict, one_page

router = Router(tags=["Studies"])
JSON = {"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}}
CSV = {"responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}}
FILE = {"schema": {"type": "string", "format": "binary"}}
FILES = {
    "responses": {
        200: {
            "description": "The file.",
            "content": {
                file_format.content_type.partition(";")[0]: FILE for file_format in FORMATS.values()
            },
        }
    }
}


class StudyOut(Schema):
    """A study."""

    id: int
    name: str
    kind: str
    questionnaire: str
    status: str
    blinded: bool
    is_demo: bool
    roles: list[str] = Field(description="Yours; empty for administrators who take no part.")
    created_at: datetime


class NewStudy(Strict):
    """A plan, as in the file that `manage.py create_study` takes."""

    plan: dict[str, Any] = Field(
        description="Fields of docs/making-studies.md: `name`, `questionnaire`, `items` and more."
    )
    draft: bool = Field(False, description="Do not open the study yet.")


class StudyPlanOut(Schema):
    """The items, loads and balance that a plan results in."""

    items: int
    tasks: int
    models: int
    assignments: int = Field(description="Judgements that the plan asks for.")
    loads: dict[str, int] = Field(description="Items on the list of each place.")
    not_asked: dict[str, int] = Field(
        description="By question: items that it is not asked of, because they lack what it needs."
    )
    left_out: dict[str, int] = Field(description="Trajectories that are no items, by reason.")
    warnings: list[str] = Field(description="Where a wish is met only nearly.")
    method: str
    seed: int
    sha256: str = Field(description="Fingerprint of the balance certificate.")


class MadeStudy(StudyOut):
    """A study that was made from a plan."""

    stored: bool = Field(description="False while a large study is stored in the background.")
    plan: StudyPlanOut


class AnnotatorOut(Schema):
    """An annotator's progress."""

    number: int
    username: str
    simulated: bool
    state: str
    stage: str = Field(description="Where they stand, in the words of the pages.")
    assigned: int
    submitted: int
    skipped: int
    gold: int = Field(description="Gold items submitted; the other numbers are without them.")
    active_minutes: float = Field(description="Active time at all submitted items.")
    median_seconds: float | None = Field(description="Median active time of their latest items.")
    per_hour: float | None = Field(description="Items in an hour of active time.")
    last_seen: datetime | None
    warnings: list[str]


class StudyProgressOut(Schema):
    """The progress of a study, in judgements."""

    items: int
    wanted: int
    submitted: int
    open: int
    free: int = Field(description="Judgements that nobody makes yet.")
    skipped: int
    gone: int = Field(
        description="Submitted by people who have left since; in none of the other numbers."
    )
    gold: int = Field(description="Gold items submitted; the other numbers are without them.")
    annotators: list[AnnotatorOut]


class StudyStatusIn(Strict):
    """The status that a study is to get."""

    status: Literal["open", "paused", "closed", "archived"]
    reason: str = Field("", max_length=1000)


@router.get("", response={200: PageOut[StudyOut], **refusals()})
def list_studies(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """List the studies that you take part in, the newest first; all for administrators."""
    user = person(request)
    mine = Membership.objects.filter(user=user)
    rows = Study.objects.all()
    if not user.is_superuser:
        rows = rows.filter(pk__in=mine.order_by().values("study"))
    studies, following = one_page(request, rows, page.limit, newest=True)
    roles: dict[int, list[str]] = {}
    for study, role in mine.filter(study__in=studies.rows).values_list("study", "role"):
        roles.setdefault(study, []).append(role)
    return {
        "items": [study_row(row, roles.get(row.pk, [])) for row in studies.rows],
        "next": following,
    }


@router.get("/{int:study_id}", response={200: StudyOut, **refusals(404)})
def get_study(request: HttpRequest, study_id: int) -> dict[str, Any]:
    """Return one study that you take part in."""
    access = fetch_study(request, study_id)
    return study_row(access.study, sorted(access.roles))


def study_row(row: Study, roles: list[str]) -> dict[str, Any]:
    """Return a study as the list shows it."""
    names = ("name", "kind", "questionnaire", "status", "blinded", "is_demo")
    return {
        "id": row.pk,
        "roles": roles,
        "created_at": row.created_at.isoformat(),
        **{name: getattr(row, name) for name in names},
    }


# --- From a plan to a study -----------------------------------------------------------------------


@router.post("/plan", response={200: StudyPlanOut, **refusals(400, 413)})
def preview_study(request: HttpRequest, wanted: NewStudy) -> dict[str, Any]:
    """Return the items, loads and balance that a plan results in. Nothing is stored."""
    return _plan_row(_planned(request, wanted))


@router.post(
    "", response={201: MadeStudy, 202: MadeStudy, **refusals(400, 409, 413)},
    openapi_extra=DESCRIPTION,
)  # fmt: skip
def create_study(request: HttpRequest, wanted: NewStudy) -> Status[Any]:
    """Make a study from a plan and become its manager: all of it or nothing.

    A large study is stored in the background (202); it opens when it is complete.
    """
    allow(request, MAKE_STUDIES)

    def act() -> Answer:
        planned = _planned(request, wanted)
        user, launch = person(request), not wanted.draft
        if is_large(planned):
            study = enqueue_planned_study(planned=planned, by=user, launch=launch)
        else:
            study = create_planned_study(planned=planned, by=user, launch=launch)
        stored = not is_large(planned)
        roles = sorted(study.memberships.filter(user=user).values_list("role", flat=True))
        row = {**study_row(study, roles), "stored": stored, "plan": _plan_row(planned)}
        return (201 if stored else 202), row

    return once(request, act, content=wanted.model_dump_json())


def _planned(request: HttpRequest, wanted: NewStudy) -> PlannedStudy:
    allow(request, MAKE_STUDIES)
    planned = plan_study(read_document(wanted.plan), seen=visibility(request))
    if len(planned.items) > MOST_ITEMS:
        words = f"{len(planned.items):,} items are more than a request can plan ({MOST_ITEMS:,})"
        raise PlanError([PlanProblem("items.sample.count", f"{words}; use manage.py create_study")])
    return planned


def _plan_row(planned: PlannedStudy) -> dict[str, Any]:
    left_out = {
        "not ended with anything to judge": planned.source_items.unusable,
        "without anything that is asked about": planned.source_items.unasked,
        "later trials": planned.source_items.later_trials,
    }
    return {
        "items": len(planned.options),
        "tasks": planned.tasks,
        "models": planned.models,
        "assignments": planned.assignments,
        "loads": dict(planned.loads),
        "not_asked": {row.question.key: row.left_out for row in planned.questions if row.left_out},
        "left_out": {reason: count for reason, count in left_out.items() if count},
        "warnings": list(planned.warnings),
        "method": planned.method,
        "seed": planned.plan.seed,
        "sha256": planned.digest,
    }


# --- Progress and status --------------------------------------------------------------------------


@router.get("/{int:study_id}/progress", response={200: StudyProgressOut, **refusals(404)})
def get_study_progress(request: HttpRequest, study_id: int) -> dict[str, Any]:
    """Return how far a study and its annotators are; for its managers, researchers and
    observers.
    """
    access = fetch_overseen_study(request, study_id)
    progress = study_progress(access.study, blind=blind_reader(access))
    return {
        "items": progress.items,
        "wanted": progress.wanted,
        "submitted": progress.submitted,
        "open": progress.open,
        "free": progress.free,
        "skipped": progress.skipped,
        "gone": progress.gone,
        "gold": progress.gold,
        "annotators": [
            {
                "number": row.number,
                "username": row.username,
                "simulated": row.is_simulated,
                "state": row.state,
                "stage": row.stage,
                "assigned": row.counts.total,
                "submitted": row.counts.submitted,
                "skipped": row.counts.skipped,
                "gold": row.counts.gold,
                "active_minutes": round(row.active_seconds / 60, 1),
                "median_seconds": row.seconds,
                "per_hour": row.pace,
                "last_seen": row.last_seen,
                "warnings": list(row.warnings),
            }
            for row in progress.people
        ],
    }


class StudyDeletionQuery(DeletionQuery):
    """Whether to delete, or only to count, and whether to keep a copy."""

    archive: bool = Field(
        False, description="Export the study into the server's archive first; with names."
    )


@router.delete("/{int:study_id}", response=ANSWERS)
def delete_study(
    request: HttpRequest, study_id: int, query: Query[StudyDeletionQuery]
) -> Status[Any]:
    """Delete a closed study with its ratings and record; its trajectories stay."""
    access = fetch_managed_study(request, study_id)
    plan = plan_study_deletion(access.study)

    def begin() -> int:
        return begin_with_studies(plan, by=access.user, archive=query.archive).pk

    return answer_deletion(plan, query, begin)


class RetentionIn(Strict):
    """Days after the closing of a study at which parts of it are deleted; null keeps them."""

    platform_ids: Days = None
    invitations: Days = None
    answers: Days = None
    archive: bool = Field(False, description="Archive the study before answers are deleted.")
    reason: str = Field("", max_length=1000)


class ExpiryOut(Schema):
    """When a part of a study is deleted."""

    part: Literal["platform_ids", "invitations", "answers"]
    days: int
    due: datetime | None = Field(description="Null while the study is not closed.")
    removed: datetime | None = Field(description="When it was deleted, since the study was closed.")
    archives: bool = Field(description="The study is archived before.")
    left: int = Field(description="How much there is to delete.")


@router.get("/{int:study_id}/retention", response={200: list[ExpiryOut], **refusals(404)})
def get_study_retention(request: HttpRequest, study_id: int) -> list[dict[str, Any]]:
    """Return what is deleted of a study and when; for those who run it."""
    return _retention_rows(fetch_overseen_study(request, study_id).study)


@router.post(
    "/{int:study_id}/retention", response={200: list[ExpiryOut], **refusals(400, 404, 413)}
)  # fmt: skip
def change_study_retention(
    request: HttpRequest, study_id: int, wanted: RetentionIn
) -> list[dict[str, Any]]:
    """Set how long parts of a study are kept; for its managers."""
    access = fetch_managed_study(request, study_id)
    rule = RetentionRule(**wanted.model_dump(exclude={"reason"}))
    change_study(
        study=access.study, by=access.user, reason=wanted.reason, retention=rule.stored
    )  # fmt: skip
    return _retention_rows(access.study)


def _retention_rows(study: Study) -> list[dict[str, Any]]:
    return [asdict(row) for row in announced(study, counts=True)]


@router.post("/{int:study_id}/status", response={200: StudyOut, **refusals(400, 404, 409, 413)})
def change_study_status(
    request: HttpRequest, study_id: int, wanted: StudyStatusIn
) -> dict[str, Any]:
    """Open, pause, close or archive a study; for its managers."""
    access = fetch_managed_study(request, study_id)
    study = access.study
    if study.status == Study.Status.DRAFT and wanted.status == "open":
        launch_study(study=study, by=access.user)
    else:
        set_study_status(study=study, status=wanted.status, by=access.user, reason=wanted.reason)
    return study_row(study, sorted(access.roles))


# --- Files ----------------------------------------------------------------------------------------


class ExportOptions(Schema):
    """The options of a file."""

    names: bool = Field(False, description="Names of accounts beside pseudonyms; for managers.")
    withdrawn: bool = Field(False, description="With those who withdrew.")


class DocumentOptions(ExportOptions):
    """The options of the document of a whole study."""

    events: bool = Field(False, description="With the record of what was done.")


class FileOptions(ExportOptions):
    """The format of a file, and its options."""

    format: Literal[
        "csv",
        "json",
        "parquet",
        "huggingface",
        "history",
        "questions",
        "votes",
        "plan",
        "archive",
        "codebook",
    ] = "csv"


@router.get("/{int:study_id}/ratings.csv", response=refusals(404), openapi_extra=CSV)
def list_ratings_as_csv(
    request: HttpRequest, study_id: int, wish: Query[ExportOptions]
) -> StreamingHttpResponse:
    """Send all ratings as CSV, one row for each rater, item, turn and question.

    For the study's managers and researchers, under pseudonyms. While you have open items in it
    yourself and it is blinded: your own answers alone, without what tells who made an item.
    """
    return _file(request, study_id, "csv", wish)


@router.get("/{int:study_id}/history.csv", response=refusals(404), openapi_extra=CSV)
def list_rating_edits_as_csv(
    request: HttpRequest, study_id: int, wish: Query[ExportOptions]
) -> StreamingHttpResponse:
    """Send every edit of every answer as CSV, under the same rules."""
    return _file(request, study_id, "history", wish)


@router.get("/{int:study_id}/study.json", response=refusals(404), openapi_extra=JSON)
def export_study(
    request: HttpRequest, study_id: int, wish: Query[DocumentOptions]
) -> StreamingHttpResponse:
    """Send the whole study, under the same rules: design, questionnaires, items, people, edits,
    rows.

    Another installation with the same trajectories can import it.
    """
    return _file(request, study_id, "json", wish, events=wish.events)


@router.get("/{int:study_id}/export", response=refusals(404), openapi_extra=FILES)
def export_study_file(
    request: HttpRequest, study_id: int, wish: Query[FileOptions]
) -> StreamingHttpResponse:
    """Send the study in any format of its page Export, such as the plan or a data set folder."""
    return _file(request, study_id, wish.format, wish)


def _file(
    request: HttpRequest, study_id: int, format: str, wish: ExportOptions, events: bool = False
) -> StreamingHttpResponse:
    access = fetch_read_study(request, study_id)
    if wish.names and not access.manages:
        raise PermissionDenied("Names of accounts are for the study's managers.")
    scope = scope_of(access, names=wish.names, withdrawn=wish.withdrawn)
    return file_of(ExportRequest(scope, events=events), format, access)
