"""Registrations of analyses in the HTTP API: the list, one with its document, and freezing."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Router, Schema, Status
from pydantic import Field

from analysis.filters.studies import readable_studies
from analysis.models import Registration
from analysis.registrations.gone import gone
from analysis.registrations.marks import stored_plan
from analysis.registrations.selectors import registrations_for
from analysis.registrations.services import freeze
from analysis.registrations.text import as_text
from benchmarks.access import START, VIEW, allow, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import Id, Strict
from benchmarks.models import Dataset

MOST_LISTED = 500
router = Router(tags=["Registrations"])


class RegistrationSummary(Schema):
    """A plan of an analysis that was frozen before the first answer."""

    id: int
    title: str
    sha256: str
    dataset: str
    study: str
    registered_at: datetime = Field(description="When it was frozen or imported here.")
    imported: bool = Field(description="Another server froze it; its document states the time.")
    withdrawn: bool
    url: str = Field(description="The registration in a browser.")


class RegistrationOut(RegistrationSummary):
    """A registration with its document, whose canonical JSON has the digest."""

    document: dict[str, Any]
    verified: bool = Field(description="Whether the stored document has the digest.")
    undefined: str = Field(
        description="How much of the registered data is gone; empty if nothing is. Pages then show "
        "no number for its comparisons."
    )
    text: str = Field(description="Text for a registry.")


class RegistrationIn(Strict):
    """A plan about the runs on a dataset, or about the answers in a study."""

    dataset: Id | None = Field(None, description="The id of a dataset.")
    study: Id | None = Field(None, description="The id of a study, instead of a dataset.")
    plan: dict[str, Any] = Field(
        description="Fields of the document: `title`, `question` (`mean`, `slope`, `judge`, "
        "`preference`), `measure`, `comparisons` (each `first`, `direction`, `second`), "
        "`stopping`, and what else is fixed."
    )


@router.get("/registrations", response={200: list[RegistrationSummary], **refusals()})
def list_registrations(request: HttpRequest) -> list[dict[str, Any]]:
    """List registrations, the newest first."""
    allow(request, VIEW)
    return [
        _summary(row)
        for row in registrations_for(user_of(request), visibility(request))[:MOST_LISTED]
    ]


@router.get("/registrations/{int:registration_id}", response={200: RegistrationOut,
                                                              **refusals(404)})  # fmt: skip
def get_registration(request: HttpRequest, registration_id: int) -> dict[str, Any]:
    """Return a registration with its document."""
    allow(request, VIEW)
    row = (
        registrations_for(user_of(request), visibility(request)).filter(pk=registration_id).first()
    )
    if row is None:
        raise Http404
    return _out(row)


@router.post("/registrations", response={201: RegistrationOut, **refusals(400, 404, 413)})
def freeze_registration(request: HttpRequest, given: RegistrationIn) -> Status[Any]:
    """Freeze a plan, before the first answer of its data."""
    allow(request, VIEW)
    if (given.dataset is None) == (given.study is None):
        raise ApiError(422, "Give a dataset or a study.", "dataset")
    dataset = study = None
    if given.dataset is not None:
        allow(request, START)
        rows = visibility(request).of(Dataset.objects.filter(removed_at=None))
        dataset = rows.filter(pk=given.dataset).first()
    else:
        studies, _ = readable_studies(user_of(request))
        study = next((study for study in studies if study.pk == given.study), None)
    if dataset is None and study is None:
        raise Http404
    row = freeze(values=given.plan, by=user_of(request), dataset=dataset, study=study)
    return Status(201, _out(row))


def _summary(row: Registration) -> dict[str, Any]:
    return {
        "id": row.pk,
        "title": row.title,
        "sha256": row.digest,
        "dataset": row.dataset,
        "study": row.study_name,
        "registered_at": row.at,
        "imported": row.imported,
        "withdrawn": hasattr(row, "withdrawal"),
        "url": reverse("analysis:registration", args=[row.pk]),
    }


def _out(row: Registration) -> dict[str, Any]:
    plan, verified = stored_plan(row)
    text = as_text(plan, row.digest) if plan is not None else ""
    undefined = gone(plan, row.study) if plan is not None else ""
    return {
        **_summary(row),
        "document": row.document,
        "verified": verified,
        "undefined": undefined,
        "text": text,
    }
