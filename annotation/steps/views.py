"""The steps before, between and after items: information, consent, training, breaks."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import StudyAccess, fetch_annotator, fetch_study, participant_of
from annotation.assignments.preconditions import AnnotatorStep
from annotation.assignments.services import claim_next_item
from annotation.desk.breaks import RESTED, end_break, take_break
from annotation.errors import Refused
from annotation.live.play.services import take_free_place
from annotation.models import Assignment, Participant, Study, StudyText
from annotation.recruiting.selectors import recruit_of
from annotation.steps.access import fetch_assignment, redirect_to_next_step
from annotation.steps.selectors import NO_FREE_PLACE, first_open, next_step
from annotation.steps.training import (
    begin_training_round,
    compare_item,
    latest_round,
    tells_expected,
)
from annotation.steps.withdrawals import explain_withdrawal
from annotation.texts.selectors import (
    current_text,
    has_read_information,
    latest_consent,
    text_blocks,
)
from annotation.texts.services import answer_consent, note_information_read
from benchmarks.access import signed_in

Part, Kind = Assignment.Part, StudyText.Kind


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
    if study.dealing == Study.Dealing.POOL:
        try:
            taken = claim_next_item(study=study, user=access.user)
        except Refused:  # the study was paused or closed a moment ago
            study.refresh_from_db()
            participant.refresh_from_db()
            return _wait(request, access, next_step(study, participant))
        position = taken.position if taken is not None else None
    else:
        position = first_open(study, access.user, Part.MAIN, after=after)
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
    return onward(access.study) if taken else _wait(request, access, NO_FREE_PLACE)


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


def onward(study: Study) -> HttpResponseBase:
    """Redirect to the next step."""
    return redirect("annotation:next_item", pk=study.pk)


# --- Information and consent ----------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@signed_in
def information(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what the study is about; a POST says that it was read."""
    access, participant = fetch_annotator(request, pk)
    text = _text(access.study, Kind.INFORMATION)
    refused = None
    if request.method == "POST":
        try:
            note_information_read(study=access.study, user=access.user, version=_version(request))
        except Refused as refusal:
            refused = refusal
        else:
            return onward(access.study)
    context = {
        "study": access.study,
        "text": text,
        "blocks": text_blocks(text.text),
        "refused": refused,
        "read": has_read_information(access.study, access.user),
    }
    status = 409 if refused else 200
    return render(request, "annotation/information.html", context, status=status)


@require_http_methods(["GET", "POST"])
@signed_in
def consent(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show what an annotator agrees to, or not; the answer can be changed at any time."""
    access, participant = fetch_annotator(request, pk)
    study = access.study
    text = _text(study, Kind.CONSENT)
    if not has_read_information(study, access.user):
        return redirect("annotation:information", pk=pk)
    refused = None
    if request.method == "POST":
        answer = request.POST.get("answer", "")
        try:
            if answer not in ("agree", "decline"):
                raise Refused("invalid", "choose one of the two answers")
            answer_consent(
                study=study, user=access.user, version=_version(request), given=answer == "agree"
            )
        except Refused as refusal:
            refused = refusal
        else:
            return onward(study) if answer == "agree" else redirect("annotation:consent", pk=pk)
    last = latest_consent(study, access.user)
    context = {
        "study": study,
        "live": study.is_live,
        "text": text,
        "blocks": text_blocks(text.text),
        "refused": refused,
        "informed": current_text(study, Kind.INFORMATION) is not None,
        "agreed": participant.consent_version >= study.consent_version,
        "declined": last is not None and not last.given and last.text_id == text.pk,
        "earlier": last if last is not None and last.text_id != text.pk else None,
    }
    status = 200
    if refused is not None:
        status = 422 if refused.code == "invalid" else 409
    return render(request, "annotation/consent.html", context, status=status)


def _text(study: Study, kind: str) -> StudyText:
    text = current_text(study, kind)
    if text is None:
        raise Http404
    return text


def _version(request: HttpRequest) -> int:
    given = request.POST.get("version", "")
    return int(given) if given.isdecimal() and len(given) < 6 else 0


# --- Training -------------------------------------------------------------------------------------


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
            return onward(study)
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


# --- Breaks and messages --------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@signed_in
def take_a_break(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Start a break from the desk, or end it. A POST says which."""
    access, participant = fetch_annotator(request, pk)
    if request.method == "POST":
        if request.POST.get("action") == "end":
            end_break(study=access.study, user=access.user)
            request.session[RESTED.format(pk)] = timezone.now().isoformat()
            return onward(access.study)
        take_break(study=access.study, user=access.user)
        return redirect("annotation:break", pk=pk)
    if participant.break_since is None:
        return onward(access.study)
    context = {"study": access.study, "participant": participant}
    return render(request, "annotation/break.html", context)
