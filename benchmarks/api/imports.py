"""Importing trajectories made elsewhere: small files at once, larger ones in the background."""

from contextlib import suppress
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from ninja import File, Form, Query, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from benchmarks.access import START, VIEW, allow, fetch, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.repeats import DESCRIPTION, HEADER, Answer, once
from benchmarks.api.requests import Paged, PageOut, one_page
from benchmarks.formats.registry import FORMATS
from benchmarks.imports.forms import too_large
from benchmarks.imports.selectors import FormatView, ImportView, import_formats, import_jobs
from benchmarks.imports.unfinished import ImportUnderWay
from benchmarks.imports.uploads import (
    enqueue_import,
    import_now,
    import_result,
    is_quick,
    store_upload,
    upload_digest,
)
from benchmarks.models import Job


class ImportIn(Schema):
    """The description of a file, beside the file itself."""

    format: str = Field("", max_length=40, description="Left empty, the format is recognised.")
    name: str = Field("", max_length=120, description="The dataset; the file's name if empty.")
    agent: str = Field("", max_length=120, description="Who it was, where the file does not say.")
    turns: Literal["user", "step", "plan"] = Field(
        "user",
        description="What begins a turn: a message of the user, each step of the agent, or each "
        "plan that it commits.",
    )


class FormatOut(Schema):
    """A format that can be imported."""

    name: str
    title: str
    about: str


class ImportOut(Schema):
    """The result of importing a file."""

    created: bool = Field(description="False where the same file was imported before.")
    dataset: int
    runs: list[int] = Field(description="One for each agent in the file.")
    trajectories: int
    turns: int


class FaultOut(Schema):
    """One fault of a file."""

    where: str
    expected: str
    found: str


class RefusalOut(Schema):
    """The refusal of a file, with its first faults."""

    message: str
    faults: list[FaultOut]
    total: int


class JobOut(Schema):
    """An import in the background."""

    id: int
    url: str
    title: str
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    message: str
    done: int
    total: int | None
    created_at: datetime
    finished_at: datetime | None
    result: ImportOut | None
    refused: RefusalOut | None


router = Router(tags=["Imports"])


@router.get("/formats", response={200: list[FormatOut], **refusals()})
def list_formats(request: HttpRequest) -> list[FormatView]:
    """List the formats that can be imported."""
    allow(request, VIEW)
    return import_formats()


@router.post(
    "/imports",
    response={201: ImportOut, 202: JobOut, **refusals(400, 409, 413)},
    openapi_extra=DESCRIPTION,
)
def import_file(
    request: HttpRequest, file: File[UploadedFile], given: Form[ImportIn]
) -> Status[Any]:
    """Import a file of trajectories as a whole, or not at all.

    A small file of plain text is answered with what it became (201), a larger or packed one with a
    job to ask after (202); so is a small one while another import into its dataset goes on.
    The same file a second time adds nothing.
    """
    allow(request, START)
    if given.format and given.format not in FORMATS:
        raise ApiError(422, f"There is no format of this name; known: {', '.join(FORMATS)}.",
                       "format")  # fmt: skip
    if (file.size or 0) > settings.UPLOAD_BYTES:
        raise ApiError(413, too_large(), "file")
    user = user_of(request)
    fields = given.model_dump()

    def act() -> Answer:
        if is_quick(file):
            with suppress(ImportUnderWay):
                return 201, import_result(import_now(upload=file, created_by=user, **fields))
        upload = store_upload(upload=file, created_by=user)
        return 202, job_row(enqueue_import(upload=upload, created_by=user, **fields))

    content = ""
    if HEADER in request.headers:
        content = f"{upload_digest(file)} {file.name} {given.model_dump_json()}"
    return once(request, act, content=content)


@router.get("/imports", response={200: PageOut[JobOut], **refusals()})
def list_imports(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """List imports in the background, the newest first."""
    allow(request, START)
    rows = visibility(request).of(import_jobs())
    page_rows, following = one_page(request, rows, page.limit, newest=True)
    return {"items": [job_row(job) for job in page_rows.rows], "next": following}


@router.get("/imports/{int:job_id}", response={200: JobOut, **refusals(404)})
def get_import(request: HttpRequest, job_id: int) -> dict[str, Any]:
    """Return how far an import is, and what came of it."""
    return job_row(fetch(request, import_jobs(), START, pk=job_id))


def job_row(job: Job) -> dict[str, Any]:
    """Return a job as the API shows it; JSON, so that it can be stored as an answer."""
    view = ImportView(job)
    refused = view.refused
    return {
        "id": job.pk,
        "url": reverse("api:get_import", args=[job.pk]),
        "title": job.title,
        "status": job.status,
        "message": job.message,
        "done": job.done,
        "total": job.total,
        "created_at": job.created_at.isoformat(),
        "finished_at": job.finished_at and job.finished_at.isoformat(),
        "result": view.result,
        "refused": refused
        and {
            "message": refused["message"],
            "total": refused["total"],
            "faults": [
                {"where": fault.where, "expected": fault.expected, "found": fault.found}
                for fault in view.faults
            ],
        },
    }
