"""Lists of studies, one study, and making one."""

import csv
from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import (
    StudyAccess,
    fetch_managed_study,
    fetch_read_study,
    fetch_study,
    person,
)
from annotation.forms import KEPT, StudyForm
from annotation.models import Assignment, Study
from annotation.questionnaires import load_questionnaire
from annotation.selectors.export import Cell, edit_rows, only_own, question_rows, rating_rows
from annotation.selectors.labels import study_banner
from annotation.selectors.needs import study_questions
from annotation.selectors.studies import (
    annotator_rows,
    counts_of,
    studies_of,
)
from annotation.services.errors import Refused
from annotation.services.studies import (
    Design,
    create_study,
    design_questions,
    plan_design,
    set_study_status,
)
from benchmarks.access import START, allow, signed_in, visibility


@require_GET
@signed_in
def study_list(request: HttpRequest) -> HttpResponseBase:
    """The studies that this person takes part in."""
    user = person(request)
    return render(
        request,
        "annotation/study_list.html",
        {"rows": studies_of(user), "may_create": user.has_perm(START)},
    )


@require_GET
@signed_in
def study(request: HttpRequest, pk: int) -> HttpResponseBase:
    """One study: own items for an annotator, everybody's progress for those who run it."""
    access = fetch_study(request, pk)
    questionnaire = load_questionnaire(access.study.questionnaire)
    context = {
        "study": access.study,
        "access": access,
        "questionnaire": questionnaire,
        "banner": study_banner(access.study),
        "design": access.study.settings.get("design", {}),
    }
    if access.annotates:
        rows = access.study.assignments.filter(annotator=access.user).order_by("position")
        items = list(rows.only("position", "state", "skip_reason", "study"))
        opened = [item.position for item in items if item.state == Assignment.State.OPEN]
        context |= {
            "own": counts_of(item.state for item in items),
            "items": items,
            "next_position": opened[0] if opened else None,
        }
    if access.oversees:
        everybody = annotator_rows(access.study)
        context |= {
            "rows": everybody,
            "simulated": sum(row.is_simulated for row in everybody),
            "total": sum(row.counts.total for row in everybody),
            "submitted": sum(row.counts.submitted for row in everybody),
            "skipped": sum(row.counts.skipped for row in everybody),
            "skips": _skips(access),
            "left_out": [
                row for row in study_questions(access.study, questionnaire) if row.left_out
            ],
        }
    return render(request, "annotation/study.html", context)


def _skips(access: StudyAccess, limit: int = 50) -> list[Assignment]:
    """The skipped items with their reasons, for those who may read answers."""
    if not access.reads_answers:
        return []
    skipped = access.study.assignments.filter(state=Assignment.State.SKIPPED)
    if access.blind:
        skipped = skipped.filter(annotator=access.user)
    return list(
        skipped.select_related("annotator__annotator").order_by("annotator", "position")[:limit]
    )


@require_POST
@signed_in
def study_status(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Open or close a study."""
    access = fetch_managed_study(request, pk)
    try:
        set_study_status(study=access.study, status=request.POST.get("status", ""))
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused.reason}.")
    else:
        word = access.study.get_status_display().lower()
        messages.success(request, f"The study is {word}.")
    return redirect("annotation:study", pk=pk)


# --- Export ---------------------------------------------------------------------------------------


class _Line:
    """A file of one line: csv writes into it and the line is sent on."""

    def write(self, line: str) -> str:
        return line


@require_GET
@signed_in
def ratings_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Current answers as CSV."""
    access = fetch_read_study(request, pk)
    return _csv(access.study, "answers", rating_rows(access.study, only=only_own(access)))


@require_GET
@signed_in
def history_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Every edit as CSV."""
    access = fetch_read_study(request, pk)
    return _csv(access.study, "history", edit_rows(access.study, only=only_own(access)))


@require_GET
@signed_in
def questions_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The questions as CSV: how many items were asked each, and why others were not."""
    access = fetch_read_study(request, pk)
    return _csv(access.study, "questions", question_rows(access.study))


def _csv(study: Study, what: str, rows: Iterator[list[Cell]]) -> StreamingHttpResponse:
    writer = csv.writer(_Line())
    response = StreamingHttpResponse(
        (writer.writerow(row) for row in rows), content_type="text/csv; charset=utf-8"
    )
    name = f"{slugify(study.name) or 'study'}-{what}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


# --- A new study ----------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@signed_in
def study_new(request: HttpRequest) -> HttpResponseBase:
    """Make a study in two steps: see what would be assigned, then create it."""
    allow(request, START)
    form = StudyForm(request.POST or None, seen=visibility(request))
    design: Design | None = None
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            people = {user.get_username(): user for user in form.cleaned_data["annotators"]}
            try:
                design = plan_design(
                    runs=form.runs,
                    annotators=list(people),
                    each=form.cleaned_data["each"],
                    seed=form.cleaned_data["seed"],
                    questionnaire=form.cleaned_data["questionnaire"],
                    raters=form.cleaned_data["raters"],
                    trials=form.cleaned_data["trials"],
                )
                if request.POST.get("action") == "create":
                    made = create_study(
                        name=form.cleaned_data["name"],
                        design=design,
                        people=people,
                        created_by=person(request),
                        shows_hidden=form.cleaned_data["hidden"] != KEPT,
                    )
                    messages.success(request, f"{design.items} items were assigned.")
                    return redirect("annotation:study", pk=made.pk)
                status = 200
            except Refused as refused:
                form.add_error(None, f"Nothing was created: {refused.reason}.")
                status = 422
    return render(
        request,
        "annotation/study_new.html",
        {
            "form": form,
            "design": design,
            "has_runs": bool(form.sources),
            "questionnaire": load_questionnaire(design.questionnaire) if design else None,
            "questions": design_questions(design) if design and design.items else [],
        },
        status=status,
    )
