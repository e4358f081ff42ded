"""The way on: whatever comes next for an annotator."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.access import StudyAccess, fetch_study, participant_of
from annotation.assignments.preconditions import AnnotatorStep
from annotation.assignments.services import next_position
from annotation.errors import Refused
from annotation.live.play.services import take_free_place
from annotation.models import Participant, Study
from annotation.recruiting.selectors import recruit_of
from annotation.steps.selectors import NO_FREE_PLACE, next_step
from annotation.steps.withdrawals import explain_withdrawal
from annotation.study_pages.guidelines import asks_for_guidelines
from benchmarks.access import signed_in


@require_GET
@signed_in
@explain_withdrawal
def next_item(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Go to whatever comes next; to the open item after ``?after=`` where items are dealt."""
    access = fetch_study(request, pk)
    if not access.annotates:
        return redirect("annotation:study", pk=pk)
    participant = participant_of(access)
    step = next_step(access.study, participant, looking=False)
    given = request.GET.get("after", "")
    after = int(given) if given.isdecimal() and len(given) < 10 else 0
    if step.name in ("training", "item") and asks_for_guidelines(access.study, participant):
        return redirect("annotation:guidelines", pk=pk)
    match step.name:
        case "information" | "consent" | "break":
            return redirect(f"annotation:{step.name}", pk=pk)
        case "background":
            return redirect("annotation:background_desk", pk=pk, position=step.position)
        case "training" if step.position is None:
            return redirect("annotation:training", pk=pk)
        case "training":
            return redirect("annotation:training_desk", pk=pk, position=step.position)
        case "session" if step.session is not None:
            page = "session_instructions" if step.instructs else "session"
            return redirect(f"annotation:{page}", pk=step.session)
        case "seat":
            return _sit_down(request, access, participant)
        case "waiting":
            return _wait(request, access, step)
        case "done":
            return _done(request, access)
    return _item(request, access, participant, after)


def _item(
    request: HttpRequest, access: StudyAccess, participant: Participant, after: int
) -> HttpResponseBase:
    """Show the desk of the next item, which in a pool is taken now."""
    study = access.study
    try:
        position = next_position(study=study, user=access.user, after=after)
    except Refused:  # the study was paused or closed a moment ago
        study.refresh_from_db()
        participant.refresh_from_db()
        return _wait(request, access, next_step(study, participant))
    if position is None:
        return _done(request, access)
    return redirect("annotation:desk", pk=study.pk, position=position)


def _sit_down(
    request: HttpRequest, access: StudyAccess, participant: Participant
) -> HttpResponseBase:
    """Take the sessions that are free, and go on to the first."""
    try:
        taken = take_free_place(study=access.study, user=access.user)
    except Refused:  # somebody was quicker
        taken = []
    return (
        redirect("annotation:next_item", pk=access.study.pk)
        if taken
        else _wait(request, access, NO_FREE_PLACE)
    )


def _done(request: HttpRequest, access: StudyAccess) -> HttpResponseBase:
    if recruit_of(access.study, access.user) is not None:
        return redirect("annotation:finished", pk=access.study.pk)
    words = "You have finished all your items."
    if access.study.dealing == Study.Dealing.POOL:
        words = "No items are left: all have been taken."
    messages.success(request, words)
    return redirect("annotation:study", pk=access.study.pk)


def _wait(request: HttpRequest, access: StudyAccess, step: AnnotatorStep) -> HttpResponse:
    return render(request, "annotation/waiting.html", {"study": access.study, "step": step})
