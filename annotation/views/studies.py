"""Lists of studies, and one study."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.access import (
    StudyAccess,
    fetch_managed_study,
    fetch_study,
    person,
    place_of,
)
from annotation.models import Assignment
from annotation.questionnaires import load_questionnaire
from annotation.selectors.labels import study_banner
from annotation.selectors.messages import unread_messages
from annotation.selectors.needs import study_questions
from annotation.selectors.own_part import load_own_part
from annotation.selectors.studies import (
    annotator_rows,
    studies_of,
)
from annotation.services.errors import Refused
from annotation.services.studies import set_study_status
from benchmarks.access import START, signed_in


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
        mine = load_own_part(access.study, place_of(access))
        context |= {
            "mine": mine,
            "own": mine.counts,
            "unread": unread_messages(access.user, study=access.study),
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
