"""Pages of studies: the list, the overview, the design and the settings."""

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import (
    MAKE_STUDIES,
    StudyAccess,
    fetch_managed_study,
    fetch_overseen_study,
    fetch_study,
    participant_of,
    person,
)
from annotation.deletion.retention import announced
from annotation.deletion.studies import begin_with_studies, plan_study_deletion
from annotation.errors import Refused
from annotation.live.lists import session_counts
from annotation.messages.selectors import unread_messages
from annotation.models import Assignment, Study
from annotation.planning.services import enqueue_again, launch_study
from annotation.steps.withdrawals import explain_withdrawal
from annotation.studies.design import balance_tables, study_certificate, study_design
from annotation.studies.progress import study_mark, study_progress
from annotation.studies.selectors import (
    CURRENT,
    MINE,
    SHOWN,
    listed_studies,
    questions_left_out,
    study_page,
    study_rows,
)
from annotation.studies.services import change_study, delete_draft, set_study_status
from annotation.study_frame.context import (
    attempt,
    blind_reader,
    live,
    stop_polling,
    study_context,
)
from annotation.study_frame.storing import is_stored, storing_of
from annotation.study_pages.forms import ArchiveForm, SettingsForm
from annotation.study_pages.own_part import load_own_part
from benchmarks.access import signed_in
from benchmarks.core.digests import storable
from benchmarks.lists.columns import (
    ListColumn,
    column_choice,
    every_row,
    list_csv,
    wants_csv,
)
from benchmarks.tables import csv_lines

STUDY_COLUMNS = (
    ListColumn("study", "Study", {"id": "study.pk", "study": "study.name"}, fixed=True),
    ListColumn("status", "State", {"status": "study.status"}),
    ListColumn("kind", "Questionnaire", {"questionnaire": "study.kind"}),
    ListColumn("roles", "Your roles", {"roles": lambda row: "; ".join(row.roles)}),
    ListColumn(
        "items",
        "Items",
        {
            "your_items": "own.total", "your_submitted": "own.submitted",
            "all_items": "everybody.total", "all_submitted": "everybody.submitted",
        },
    ),
    ListColumn("created", "Created", {"created": "study.created_at"}, usual=False),
)  # fmt: skip


@require_GET
@signed_in
def study_list(request: HttpRequest) -> HttpResponseBase:
    """Show the studies that this person takes part in."""
    user = person(request)
    if wants_csv(request):
        every = every_row(listed_studies(user, request.GET.get("show", CURRENT)).order_by("-pk"))
        parts = (study_rows(user, part) for part in every)
        return list_csv("studies", STUDY_COLUMNS, (row for part in parts for row in part))
    rows, page = study_page(user, request.GET)
    columns = column_choice(request, "studies", STUDY_COLUMNS)
    context = {
        "columns": columns,
        "hidden": columns.hidden,
        "rows": rows,
        "page": page,
        "filters": {key: shown.words for key, shown in SHOWN.items() if _offered(key, user)},
        "shown": request.GET.get("show", CURRENT),
        "may_create": user.has_perm(MAKE_STUDIES),
        "runs_some": any(row.everybody for row in rows),
    }
    return render(request, "annotation/study_list.html", context)


def _offered(key: str, user: User) -> bool:
    """Return whether a filter is offered: only administrators see studies that are not theirs."""
    return user.is_superuser or key != MINE


@require_GET
@signed_in
@explain_withdrawal
def study(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show one study: own items for an annotator, everybody's progress for those who run it."""
    access = fetch_study(request, pk)
    context = study_context(access, "overview")
    if access.annotates:
        mine = load_own_part(access.study, participant_of(access))
        context |= {
            "mine": mine,
            "own": mine.counts,
            "unread": unread_messages(access.user, study=access.study),
        }
    if access.oversees:
        context |= {
            "progress": study_progress(access.study, blind=blind_reader(access)),
            "design": study_design(access.study),
            "left_out": questions_left_out(access.study, context["questionnaire"]),
            "expiries": announced(access.study),
        }
        if access.study.is_live:
            context["sessions"] = session_counts(access.study)
    return render(request, "annotation/study.html", context)


Status = Study.Status


@require_GET
@signed_in
def progress(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show how far everybody is, or how far the storing of the study is, as a fragment."""
    access = fetch_overseen_study(request, pk)
    if "storing" in request.GET:
        return _storing(request, access)
    mark = study_mark(access.study)
    if access.study.status in Study.OVER or request.GET.get("v") == mark:
        return live(request, access, "", {}, mark)
    progress_now = study_progress(access.study, blind=blind_reader(access))
    context = {"study": access.study, "access": access, "progress": progress_now}
    return live(request, access, "annotation/partials/_study_progress.html", context, mark)


def _storing(request: HttpRequest, access: StudyAccess) -> HttpResponse:
    storing = storing_of(access.study)
    if storing is None or not storing.moving:
        return stop_polling()
    if request.GET["storing"] == storing.mark:
        return HttpResponse(status=204)
    context = {"study": access.study, "access": access, "storing": storing}
    return render(request, "annotation/partials/_storing.html", context)


@require_http_methods(["GET", "POST"])
@signed_in
def settings(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what may change while a study runs, and what ends it."""
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
                request, "The settings are stored." if changed else "Nothing was changed."
            )
            return redirect("annotation:study_settings", pk=pk)
    assignments = Assignment.objects.filter(study=access.study, state=Assignment.State.OPEN)
    context = {
        **study_context(access, "settings"),
        "form": form,
        "held": assignments.count() if access.study.status not in Study.OVER else 0,
        "expiries": announced(access.study, counts=True),
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
    message = f"The study is {study.get_status_display().lower()}."
    if moved and wanted in Study.OVER:
        message += f" {moved:,} open item{'s were' if moved > 1 else ' was'} returned."
    elif moved:
        message += (
            f" {moved:,} item{'s' if moved > 1 else ''} went back to whom they were taken from."
        )
    return message


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def delete(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what deleting a study takes, and delete it; a draft at once."""
    access = fetch_managed_study(request, pk)
    study, name = access.study, access.study.name
    plan = plan_study_deletion(study)

    def do() -> str:
        if study.status == Status.DRAFT:
            delete_draft(study=study)
            return f"The draft “{name}” is deleted."
        begin_with_studies(plan, by=access.user, archive="archive" in request.POST)
        return f"The study “{name}” is being deleted."

    if request.method != "POST":
        back = reverse("annotation:study_settings", args=[pk])
        form = None if study.status == Status.DRAFT else ArchiveForm()
        context = {**study_context(access, "settings"), "plan": plan, "back": back, "form": form}
        return render(request, "annotation/study_delete.html", context)
    if attempt(request, do):
        return redirect("annotation:study_list")
    return redirect("annotation:study_settings", pk=pk)


@require_GET
@signed_in
def study_design_page(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the balance of a study as its items are dealt now."""
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
    """Show every count of the balance certificate, with the seed."""
    access = _open_to(request, pk)
    lines = csv_lines(study_certificate(access.study).as_rows())
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    return _named(response, access, "csv")


@require_GET
@signed_in
def design_json(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the balance certificate as JSON, and the fingerprint of the plan."""
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
