"""The design of a study: its balance, files of it, and launching a draft."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_POST

from annotation.access import StudyAccess, fetch_managed_study, fetch_overseen_study
from annotation.errors import Refused
from annotation.planning.services import enqueue_again, launch_study
from annotation.planning.storage_progress import is_stored
from annotation.studies.balance_tables import balance_tables
from annotation.studies.design import study_certificate, study_design
from annotation.studies.settings_views import attempt, study_context
from benchmarks.access import signed_in
from benchmarks.tables import csv_lines


@require_GET
@signed_in
def study_design_page(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The balance of a study as its items are dealt now."""
    access = fetch_overseen_study(request, pk)
    design = study_design(access.study)
    certificate = study_certificate(access.study)
    context = {
        **study_context(access, "design"),
        "certificate": certificate,
        "tables": balance_tables(certificate, hide_models=access.blind),
        "hide": access.blind,
        "pooled": design.raters if design.pooled else 0,
        "planned_digest": design.planned_digest,
    }
    return render(request, "annotation/study_design.html", context)


@require_POST
@signed_in
def study_launch(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Open a draft, or go on storing one of which a part is missing."""
    access = fetch_managed_study(request, pk)
    if not is_stored(access.study):
        attempt(request, lambda: _go_on(access))
        return redirect("annotation:study", pk=pk)
    try:
        launch_study(study=access.study, by=access.user)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused.reason}.")
        return redirect("annotation:study_design", pk=pk)
    messages.success(request, "The study is open.")
    return redirect("annotation:study", pk=pk)


def _go_on(access: StudyAccess) -> str:
    enqueue_again(study=access.study, by=access.user)
    return "The storing goes on."


@require_GET
@signed_in
def design_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Every count of the balance certificate, with the seed."""
    access = _open_to(request, pk)
    lines = csv_lines(study_certificate(access.study).as_rows())
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    return _named(response, access, "csv")


@require_GET
@signed_in
def design_json(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The balance certificate as JSON, and the fingerprint of the plan."""
    access = _open_to(request, pk)
    data = study_certificate(access.study).as_json()
    planned = study_design(access.study).planned_digest
    return _named(JsonResponse({**data, "planned_sha256": planned or None}), access, "json")


def _open_to(request: HttpRequest, pk: int) -> StudyAccess:
    access = fetch_overseen_study(request, pk)
    if access.blind:
        raise PermissionDenied("The balance names models, and you annotate this study blind.")
    return access


def _named(response: HttpResponseBase, access: StudyAccess, ending: str) -> HttpResponseBase:
    name = f"{slugify(access.study.name) or 'study'}-balance.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
