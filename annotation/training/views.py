"""The pages of training: how a round ended, and the expected answers to an item."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import fetch_annotator
from annotation.assignments.selectors import first_open
from annotation.errors import Refused
from annotation.models import Assignment
from annotation.steps.access import fetch_assignment, redirect_to_next_step
from annotation.training.services import (
    begin_training_round,
    compare_item,
    latest_round,
    tells_expected,
)
from benchmarks.access import signed_in

Part = Assignment.Part


@require_http_methods(["GET", "POST"])
@signed_in
def training(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show how a round of training ended; a POST begins the next one."""
    access, participant = fetch_annotator(request, pk)
    study = access.study
    if not study.trains:
        raise Http404
    refused = None
    if request.method == "POST":
        try:
            begin_training_round(study=study, user=access.user)
        except Refused as refusal:
            refused = refusal
        else:
            return redirect("annotation:next_item", pk=study.pk)
    done = latest_round(study, access.user)
    context = {
        "study": study,
        "participant": participant,
        "done": done,
        "percent": None if done.share is None else int(100 * done.share),
        "needed": round(100 * study.pass_mark),
        "refused": refused,
    }
    return render(
        request, "annotation/training.html", context, status=409 if refused is not None else 200
    )


@require_GET
@signed_in
@redirect_to_next_step
def training_feedback(request: HttpRequest, pk: int, position: int) -> HttpResponseBase:
    """Show what was answered to a training item beside what was expected, once it is submitted."""
    access, item = fetch_assignment(request, pk, position, Part.TRAINING)
    if not tells_expected(item):
        return redirect("annotation:training_desk", pk=pk, position=position)
    following = first_open(access.study, access.user, Part.TRAINING, after=position)
    return _show_expected(request, item, following=following)


@require_GET
@signed_in
@redirect_to_next_step
def gold_feedback(request: HttpRequest, pk: int, position: int) -> HttpResponseBase:
    """Show what was answered to a gold item beside what was expected, in studies that wish it."""
    _, item = fetch_assignment(request, pk, position)
    if not tells_expected(item):
        raise Http404
    return _show_expected(request, item)


def _show_expected(
    request: HttpRequest, item: Assignment, *, following: int | None = None
) -> HttpResponse:
    rows = compare_item(item)
    context = {
        "study": item.study,
        "item": item,
        "rows": rows,
        "right": sum(row.right for row in rows),
        "following": following,
    }
    return render(request, "annotation/training_feedback.html", context)
