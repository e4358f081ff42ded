"""Running a study: how far it is, its settings, pausing, closing, archiving, deleting a draft."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import StudyAccess, fetch_managed_study, fetch_overseen_study
from annotation.errors import Refused
from annotation.models import Assignment, Study
from annotation.planning.services import launch_study
from annotation.planning.storage_progress import storing_of
from annotation.questionnaires import load_questionnaire
from annotation.studies.banner import study_banner
from annotation.studies.forms import SettingsForm
from annotation.studies.progress import study_mark, study_progress
from annotation.studies.services import OVER, change_study, delete_draft, set_study_status
from benchmarks.access import signed_in
from benchmarks.core.digests import storable

STOP_POLLING = 286
Status = Study.Status


def study_context(access: StudyAccess, tab: str) -> dict[str, Any]:
    """What the head of every page of a study shows."""
    return {
        "study": access.study,
        "access": access,
        "tab": tab,
        "banner": study_banner(access.study),
        "questionnaire": load_questionnaire(access.study.questionnaire),
        "over": access.study.status in OVER,
        "storing": storing_of(access.study),
    }


def attempt(request: HttpRequest, do: Callable[[], str]) -> bool:
    """Do something and tell what was done, or why not; whether it was done."""
    try:
        told = do()
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused.reason}.")
        return False
    messages.success(request, told)
    return True


def live(
    request: HttpRequest, access: StudyAccess, template: str, context: dict[str, Any], mark: str
) -> HttpResponse:
    """A fragment that is asked for again and again: 204 while nothing changed, 286 at the end."""
    if access.study.status in OVER:
        return stop_polling()
    if request.GET.get("v") == mark:
        return HttpResponse(status=204)
    return render(request, template, context)


def stop_polling() -> HttpResponse:
    """The last answer to a page that asks again and again: the rest of it is out of date too."""
    response = HttpResponse(status=STOP_POLLING)
    response["HX-Refresh"] = "true"
    return response


@require_GET
@signed_in
def progress(request: HttpRequest, pk: int) -> HttpResponseBase:
    """How far everybody is, or how far the storing of the study is, as a fragment."""
    access = fetch_overseen_study(request, pk)
    if "storing" in request.GET:
        return _storing(request, access)
    mark = study_mark(access.study)
    if access.study.status in OVER or request.GET.get("v") == mark:
        return live(request, access, "", {}, mark)
    context = {"study": access.study, "access": access, "progress": study_progress(access.study)}
    return live(request, access, "annotation/partials/_study_progress.html", context, mark)


def _storing(request: HttpRequest, access: StudyAccess) -> HttpResponse:
    found = storing_of(access.study)
    if found is None or not found.moving:
        return stop_polling()
    if request.GET["storing"] == found.mark:
        return HttpResponse(status=204)
    context = {"study": access.study, "access": access, "storing": found}
    return render(request, "annotation/partials/_storing.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
def settings(request: HttpRequest, pk: int) -> HttpResponseBase:
    """What may change while a study runs, and what ends it."""
    access = fetch_managed_study(request, pk)
    form = SettingsForm(request.POST if request.method == "POST" else None, study=access.study)
    if request.method == "POST" and form.is_valid():
        try:
            changed = change_study(
                study=access.study, by=access.user, reason=form.cleaned_data["reason"],
                **form.wishes,
            )  # fmt: skip
        except Refused as refused:
            form.add_error(None, f"Nothing was changed: {refused.reason}.")
        else:
            messages.success(
                request, "The settings are stored." if changed else "Nothing was different."
            )
            return redirect("annotation:study_settings", pk=pk)
    seats = Assignment.objects.filter(study=access.study, state=Assignment.State.OPEN)
    context = {
        **study_context(access, "settings"),
        "form": form,
        "held": seats.count() if access.study.status not in OVER else 0,
    }
    return render(
        request, "annotation/study_settings.html", context, status=422 if form.errors else 200
    )


@require_POST
@signed_in
def status(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Open, pause, close or archive a study."""
    access = fetch_managed_study(request, pk)
    wanted = request.POST.get("status", "")
    reason = storable(request.POST.get("reason", ""))
    attempt(request, lambda: _set_status(access, wanted, reason))
    back = request.POST.get("back", "")
    return redirect(f"annotation:{back}" if back == "study_settings" else "annotation:study", pk=pk)


def _set_status(access: StudyAccess, wanted: str, reason: str) -> str:
    study = access.study
    before = study.status
    if before == Status.DRAFT and wanted == Status.OPEN:
        launch_study(study=study, by=access.user)
        return "The study is open: its annotators can begin."
    moved = set_study_status(study=study, status=wanted, by=access.user, reason=reason)
    told = f"The study is {study.get_status_display().lower()}."
    if moved and wanted in OVER:
        told += f" {moved:,} open item{'s were' if moved > 1 else ' was'} returned."
    elif moved:
        told += f" {moved:,} item{'s' if moved > 1 else ''} went back to whom they were taken from."
    return told


@require_POST
@signed_in
def delete(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Delete a draft."""
    access = fetch_managed_study(request, pk)
    name = access.study.name

    def do() -> str:
        delete_draft(study=access.study)
        return f"The draft “{name}” is deleted."

    if attempt(request, do):
        return redirect("annotation:study_list")
    return redirect("annotation:study_settings", pk=pk)
