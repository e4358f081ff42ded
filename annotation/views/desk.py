"""The annotator's desk: the page, its saves, and its forms for browsers without script."""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import StudyAccess, fetch_assignment, fetch_study
from annotation.models import Aspect, Assignment, Study
from annotation.questionnaires import COMMENT
from annotation.selectors.desk import Desk, QuestionView, load_desk
from annotation.selectors.labels import study_banner
from annotation.selectors.studies import next_open_position
from annotation.services.errors import Incomplete, Refused
from annotation.services.items import (
    reopen_assignment,
    skip_assignment,
    slots_of,
    submit_assignment,
)
from annotation.services.ratings import (
    Edit,
    Outcome,
    Recorded,
    note_active,
    open_assignment,
    record_edits,
    undo_edit,
)
from benchmarks.access import signed_in

STATUS = {
    "invalid": 422,
    "not_yours": 403,
    "not_open": 409,
    "closed": 409,
    "paused": 423,
    "gone": 409,
    "conflict": 409,
}
MOST_EDITS = 200
# Longer without a key or a movement counts as absence, not as work.
IDLE_SECONDS = 60


@require_GET
@signed_in
def next_item(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Go to the next open item after ``?after=``."""
    access = fetch_study(request, pk)
    after = request.GET.get("after", "")
    position = next_open_position(
        access.study, access.user, after=int(after) if after.isdecimal() else 0
    )
    if position is None:
        if access.annotates:
            messages.success(request, "Nothing is left to do here: all your items are finished.")
        return redirect("annotation:study", pk=pk)
    return redirect("annotation:desk", pk=pk, position=position)


@require_http_methods(["GET", "POST"])
@signed_in
def desk(request: HttpRequest, pk: int, position: int) -> HttpResponseBase:
    """One item with its questions; a POST carries the whole form, for browsers without script."""
    access, item = fetch_assignment(request, pk, position)
    if request.method == "POST":
        return _take_form(request, access, item)
    if access.study.status == Study.Status.OPEN and item.state == Assignment.State.OPEN:
        open_assignment(assignment=item)
    return _show(request, access, item)


def _show(
    request: HttpRequest,
    access: StudyAccess,
    item: Assignment,
    *,
    refused: Refused | None = None,
    given: Mapping[str, str] | None = None,
    reason: str | None = None,
) -> HttpResponse:
    """The desk; ``reason`` is what was given for skipping, None where nobody tried to skip."""
    page = load_desk(item)
    missing = refused.missing if isinstance(refused, Incomplete) else []
    current = _current(page, missing)
    given = given or {}
    editable = access.study.status == Study.Status.OPEN and item.state == Assignment.State.OPEN
    context = {
        "desk": page,
        "reading": [
            f"systems/{page.questionnaire.system}/_desk.html",
            "annotation/partials/_reading.html",
        ],
        "item": item,
        "study": access.study,
        "editable": editable,
        "locked": not editable,
        "banner": study_banner(access.study),
        "refused": refused,
        "sections": [
            (
                section.title,
                [_row(question, given, missing, current) for question in section.questions],
            )
            for section in page.sections
        ],
        "comment": given.get(COMMENT, page.comment),
        "reason": reason,
        "settings": _settings(page, access.user),
    }
    status = 200 if refused is None else STATUS.get(refused.code, 422)
    return render(request, "annotation/desk.html", context, status=status)


def _row(
    question: QuestionView, given: Mapping[str, str], missing: list[str], current: str
) -> dict[str, Any]:
    """A question as its fragment takes it; ``was`` is what is stored, to tell what was changed."""
    return {
        "question": question,
        "value": given.get(question.name) or question.value,
        "was": question.value,
        "error": "not answered yet" if question.name in missing else "",
        "short": question.name != current,
    }


def _current(page: Desk, missing: list[str]) -> str:
    """The question that opens first: the first that lacks an answer, else the first of all."""
    questions = [q for section in page.sections for q in section.questions]
    lacking = [q.name for q in questions if q.value is None]
    return (missing or lacking or [q.name for q in questions] or [""])[0]


def _settings(page: Desk, user: User) -> dict[str, Any]:
    """What the script needs to know. The queue in the browser is kept apart by person."""
    place = {"pk": page.study.pk, "position": page.item.position}
    return {
        "owner": str(user.pk),
        "answers": reverse("annotation:answers", kwargs=place),
        "submit": reverse("annotation:submit", kwargs=place),
        "here": reverse("annotation:desk", kwargs=place),
        "login": reverse("account_login"),
        "activeMs": page.item.active_ms,
        "idleSeconds": IDLE_SECONDS,
        **page.state,
    }


# --- Saves of the script --------------------------------------------------------------------------


@require_POST
def answers(request: HttpRequest, pk: int, position: int) -> JsonResponse:
    """A batch of edits as JSON; what the reply lists as saved is committed.

    ``{"edits": [{"id", "question", "value", "text", "undoes", "at", "seen"}], "activeMs"}``. Any
    refusal makes the reply a non-2xx one, with the outcome of every edit in it.
    """
    if not request.user.is_authenticated:
        return _signed_out()
    access, item = fetch_assignment(request, pk, position)
    try:
        data = json.loads(request.body)
        edits = [_edit(row) for row in data["edits"]]
        active_ms = int(data.get("activeMs", 0))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return _refusal(Refused("invalid", f"the message could not be read: {error}"))
    if len(edits) > MOST_EDITS:
        return _refusal(Refused("invalid", f"more than {MOST_EDITS} edits at once"))
    outcomes = record_edits(assignment=item, by=access.user, edits=edits, active_ms=active_ms)
    rows = [_outcome(edit, outcome) for edit, outcome in zip(edits, outcomes, strict=True)]
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    status = STATUS[refusals[0].code] if refusals else 200
    return JsonResponse({"results": rows}, status=status)


def _edit(row: Mapping[str, Any]) -> Edit:
    at = row.get("at")
    undoes = row.get("undoes")
    seen = row.get("seen")
    text = row.get("text") or ""
    if not isinstance(text, str):
        raise ValueError("text must be a string")
    question, aspect = str(row.get("question", "")), str(row.get("aspect", Aspect.ANSWER))
    if question == COMMENT:
        question, aspect = "", Aspect.COMMENT
    return Edit(
        client_id=uuid.UUID(str(row["id"])),
        question=question,
        subject=str(row.get("subject", "")),
        aspect=aspect,
        value=row.get("value"),
        chosen=row.get("chosen"),
        text=text,
        undoes=uuid.UUID(str(undoes)) if undoes else None,
        client_time=_moment(at),
        seen=seen if type(seen) is int else None,
    )


def _moment(text: Any) -> datetime | None:
    """The browser's clock as it tells it; a clock that cannot be read is no reason to refuse."""
    moment = parse_datetime(text) if isinstance(text, str) else None
    return moment if moment is not None and moment.tzinfo is not None else None


def _outcome(edit: Edit, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Refused):
        return {"id": str(edit.client_id), "refused": outcome.reason, "code": outcome.code}
    return {
        "id": str(edit.client_id),
        "question": outcome.question or COMMENT,
        "subject": outcome.subject,
        "aspect": outcome.aspect,
        "chosen": outcome.chosen,
        "value": outcome.value,
        "text": outcome.text,
        "version": outcome.version,
        "overtook": outcome.overtook,
    }


@require_POST
def submit(request: HttpRequest, pk: int, position: int) -> JsonResponse:
    """Submit an item; says where to go next, or what is missing."""
    if not request.user.is_authenticated:
        return _signed_out()
    access, item = fetch_assignment(request, pk, position)
    active_ms = request.POST.get("activeMs", "")
    if active_ms.isdecimal() and len(active_ms) < 16:
        note_active(assignment=item, active_ms=int(active_ms))
    try:
        submit_assignment(assignment=item, by=access.user)
    except Refused as refused:
        return _refusal(refused)
    return JsonResponse({"next": _after(item)})


def _after(item: Assignment) -> str:
    address = reverse("annotation:next_item", kwargs={"pk": item.study_id})
    return f"{address}?after={item.position}"


def _signed_out() -> JsonResponse:
    reason = "you are signed out; sign in again, your answers are kept in this browser"
    return JsonResponse({"code": "signed_out", "refused": reason}, status=401)


def _refusal(refused: Refused) -> JsonResponse:
    missing = refused.missing if isinstance(refused, Incomplete) else []
    return JsonResponse(
        {"code": refused.code, "refused": refused.reason, "missing": missing},
        status=STATUS.get(refused.code, 422),
    )


# --- Forms ----------------------------------------------------------------------------------------


def _take_form(request: HttpRequest, access: StudyAccess, item: Assignment) -> HttpResponseBase:
    """Do what the pressed button says; on refusal show the page with everything that was typed."""
    action = request.POST.get("action", "")
    reason = request.POST.get("reason", "")
    here = redirect("annotation:desk", pk=access.study.pk, position=item.position)
    try:
        if action in ("save", "submit"):
            _record_form(request, access.user, item)
        match action:
            case "save":
                return here
            case "submit":
                submit_assignment(assignment=item, by=access.user)
            case "skip":
                skip_assignment(assignment=item, by=access.user, reason=reason)
            case "undo":
                undo_edit(assignment=item, by=access.user, client_id=uuid.uuid4())
                return here
            case "reopen":
                reopen_assignment(assignment=item, by=access.user)
                return here
            case _:
                raise Refused("invalid", "the form does not say what to do")
    except Refused as refused:
        item.refresh_from_db(fields=["state", "skip_reason", "submitted_at"])
        given = {name: text for name, text in request.POST.items() if isinstance(text, str)}
        tried = reason if action == "skip" else None
        return _show(request, access, item, refused=refused, given=given, reason=tried)
    return redirect(_after(item))


def _record_form(request: HttpRequest, user: User, item: Assignment) -> None:
    """Record what differs from what the page had shown, so that a stale page overwrites nothing."""
    edits = []
    for slot in slots_of(item):
        given = request.POST.get(slot.name, "")
        if given and given != request.POST.get(f"was_{slot.name}", ""):
            value = int(given) if given.isdecimal() and len(given) < 4 else None
            edits.append(Edit(uuid.uuid4(), slot.question.key, value, subject=slot.subject))
    comment = request.POST.get(COMMENT, "").replace("\r\n", "\n")
    if comment != request.POST.get(f"was_{COMMENT}", "").replace("\r\n", "\n"):
        edits.append(Edit(uuid.uuid4(), text=comment, aspect=Aspect.COMMENT))
    if not edits:
        return
    for outcome in record_edits(assignment=item, by=user, edits=edits):
        if not isinstance(outcome, Recorded):
            raise outcome
