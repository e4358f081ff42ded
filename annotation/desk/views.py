"""The annotation desk: its page, its form without JavaScript, and the requests of its script."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import StudyAccess
from annotation.assignments.presence import note_seen, open_assignment
from annotation.assignments.services import next_position, was_taken_back
from annotation.desk.break_views import rested_at
from annotation.desk.breaks import minutes_without_break
from annotation.desk.form import DeskAnswer
from annotation.desk.keys import keys_of_session
from annotation.desk.posted_form import form_edits, shown_before, typed_places
from annotation.desk.selectors import DeskPage, load_desk
from annotation.desk.services import (
    reopen_assignment,
    skip_assignment,
    slots_of,
    submit_assignment,
)
from annotation.desk.trajectories import load_dialogue
from annotation.errors import Incomplete, Refused
from annotation.json_bodies import BadBody, read_json_body
from annotation.messages.selectors import count_unread
from annotation.models import Aspect, Assignment, Participant, Study
from annotation.ratings.services import EditRequest, Outcome, StoredEdit, record_edits, undo_edit
from annotation.steps.access import (
    fetch_assignment,
    find_named,
    name_assignment,
    redirect_to_next_step,
)
from annotation.study_frame.context import study_banner
from annotation.training.services import tells_expected
from benchmarks.access import signed_in
from benchmarks.core.digests import storable
from benchmarks.paging import as_id
from benchmarks.trajectories.images import image_response

Part, State = Assignment.Part, Assignment.State
SKIP_REASONS = (
    "Text is cut off or unreadable",
    "I do not know enough about this",
    "I know who or what made this",
    "I find the content upsetting",
    "Something else",
)


@require_http_methods(["GET", "POST"])
@signed_in
@redirect_to_next_step
def desk(request: HttpRequest, pk: int, position: int, part: str = Part.MAIN) -> HttpResponseBase:
    """Show one item with its questions; a POST carries the whole form, for browsers without
    script.
    """
    access, item = fetch_assignment(request, pk, position, part)
    if request.method == "POST":
        return _take_form(request, access, item)
    opens = access.study.status == Study.Status.OPEN and item.state == State.OPEN
    number = access.participant.number if access.participant is not None else 1
    if opens and not open_assignment(assignment=item, number=number):
        return redirect(desk_url(item))
    return _show(request, access, item)


def _show(
    request: HttpRequest,
    access: StudyAccess,
    item: Assignment,
    *,
    refused: Refused | None = None,
    given: Mapping[str, DeskAnswer] | None = None,
    reason: str | None = None,
) -> HttpResponse:
    """Show the desk; ``reason`` is what was given for skipping, None where nobody tried to skip."""
    missing = refused.missing if isinstance(refused, Incomplete) else []
    open_now = access.study.status == Study.Status.OPEN
    locked = not (open_now and item.state == State.OPEN)
    page = load_desk(
        item, participant=access.participant, given=given, missing=missing, locked=locked
    )
    if page.participant is not None:
        note_seen(page.participant)
    working = page.participant is not None and page.participant.state == Participant.State.ACTIVE
    context = {
        "desk": page,
        "images": f"{desk_url(item)}images/",
        "folded": request.COOKIES.get(folds_cookie(access.user)) == "1",
        "unit": page.questionnaire.unit,
        "reading": page.reading,
        "reading_templates": page.reading_templates,
        "item": item,
        "study": access.study,
        "previous_url": desk_url(item, page.previous) if page.previous else "",
        "next_url": desk_url(item, page.next) if page.next else "",
        "onward": after(item),
        "editable": not locked,
        "locked": locked,
        "reopens": open_now
        and locked
        and working
        and not tells_expected(item)
        and not was_taken_back(item),
        "banner": study_banner(access.study),
        "refused": refused,
        "reason": reason,
        "reason_kind": request.POST.get("reason_kind", ""),
        "skip_reasons": SKIP_REASONS,
        "was": shown_before(page.stored),
        "settings": _settings(request, page, access),
    }
    if item.part == Part.MAIN and not locked and page.participant is not None:
        rested = rested_at(request, access.study)
        context |= {
            "unread": count_unread(access.user, study=access.study),
            "worked": minutes_without_break(access.study, page.participant, since=rested),
        }
    status = 200 if refused is None else STATUS[refused.code]
    return TemplateResponse(request, "annotation/desk.html", context, status=status)


@require_safe
@signed_in
def image(
    request: HttpRequest, pk: int, position: int, digest: str, part: str = Part.MAIN
) -> HttpResponse:
    """Send an image of a message that the desk shows."""
    _, item = fetch_assignment(request, pk, position, part)
    for pk in item.item.trajectory_ids:
        if load_dialogue(item, pk).shows_image(digest):
            return image_response(pk, digest)
    raise Http404("There is no such image.")


def folds_cookie(user: User) -> str:
    """Return the cookie with which the desk's script remembers that somebody folds all turns.

    A cookie, so that the page comes folded as it is and nothing moves when the script begins.
    """
    return f"desk_folded_{user.pk}"


def _settings(request: HttpRequest, page: DeskPage, access: StudyAccess) -> dict[str, Any]:
    """Return what the script needs to know. The queue in the browser is kept apart by person.

    ``places`` maps the names of form fields to what is stored there and its version.
    """
    item = page.item
    return {
        "owner": str(access.user.pk),
        "foldsCookie": folds_cookie(access.user),
        "keys": keys_of_session(request),
        "keysAddress": reverse("annotation:desk_keys"),
        "answers": desk_url(item, name="answers"),
        "submit": desk_url(item, name="submit"),
        "here": desk_url(item),
        "onward": after(item),
        "activeMs": item.active_ms,
        "idleSeconds": access.study.idle_seconds,
        "places": {
            name: {"value": answer.scalar, "version": answer.version}
            for name, answer in page.stored.items()
        },
        "edits": page.edits,
        **(
            {"revealed": page.revealed, "reveals": page.reveals}
            if page.revealed is not None
            else {}
        ),
    }


# --- Forms ----------------------------------------------------------------------------------------


def _take_form(request: HttpRequest, access: StudyAccess, item: Assignment) -> HttpResponseBase:
    """Do what the pressed button says; on refusal show the page with everything that was typed."""
    action = request.POST.get("action", "")
    kind = storable(request.POST.get("reason_kind", ""))
    reason = storable(request.POST.get("reason", ""))
    here = redirect(desk_url(item))
    try:
        if action in ("save", "submit"):
            _record_form(request, access, item)
        match action:
            case "save":
                return here
            case "submit":
                item = submit_assignment(assignment=item, by=access.user)
                if item.state != State.SUBMITTED:
                    return here
            case "skip":
                words = ": ".join(filter(None, (kind.strip(), reason.strip())))
                skip_assignment(assignment=item, by=access.user, reason=words)
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
        given = typed_places(slots_of(item), request.POST)
        tried = reason if action == "skip" else None
        return _show(request, access, item, refused=refused, given=given, reason=tried)
    return redirect(after(item))


def _record_form(request: HttpRequest, access: StudyAccess, item: Assignment) -> None:
    """Record what differs from what the page had shown, so that a stale page overwrites nothing."""
    edits = form_edits(slots_of(item), request.POST)
    if not edits:
        return
    for outcome in record_edits(assignment=item, by=access.user, edits=edits):
        if not isinstance(outcome, StoredEdit):
            raise outcome


STATUS = {
    "invalid": 422,
    "incomplete": 422,
    "not_yours": 403,
    "not_open": 409,
    "closed": 409,
    "paused": 423,
    "gone": 409,
    "conflict": 409,
}
MOST_EDITS = 200
# About thirty years; what is more no page has counted.
MOST_MILLISECONDS = 10**12


@require_POST
def answers(request: HttpRequest, pk: int, position: int, part: str = Part.MAIN) -> JsonResponse:
    """Store a batch of edits as JSON; what the reply lists as saved is committed.

    ``{"edits": [{"id", "question", "subject", "aspect", "value" | "chosen" | "text", "undoes",
    "at", "seen"}], "activeMs"}``. A remark on the whole item has no question. Any refusal makes the
    reply a non-2xx one, with the outcome of every edit in it; an edit that cannot be read is
    refused alone.
    """
    if not request.user.is_authenticated:
        return _signed_out()
    user, item = named = name_assignment(request, pk, position, part)
    try:
        rows, active_ms = _message(request)
    except BadBody as error:
        find_named(named)  # nobody is told about a message to an item that is not theirs
        return _refusal(Refused("invalid", f"the message could not be read: {error}"))
    if len(rows) > MOST_EDITS:
        return _refusal(Refused("invalid", f"more than {MOST_EDITS} edits at once"))
    read = [_edit_or_refusal(row) for row in rows]
    edits = [edit for edit in read if isinstance(edit, EditRequest)]
    stored = iter(record_edits(assignment=item, by=user, edits=edits, active_ms=active_ms))
    outcomes = [next(stored) if isinstance(edit, EditRequest) else edit for edit in read]
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    results = [
        _outcome(row.get("id"), outcome) for row, outcome in zip(rows, outcomes, strict=True)
    ]
    status = STATUS[refusals[0].code] if refusals else 200
    return JsonResponse({"results": results}, status=status)


def _message(request: HttpRequest) -> tuple[list[dict[str, Any]], int]:
    """Return the edits of a message as they were sent, and the milliseconds at work that it
    tells.
    """
    data = read_json_body(request.body)
    rows = data.get("edits") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
        raise BadBody("expected a list of edits, each with an id")
    active_ms = data.get("activeMs", 0)
    counted = isinstance(active_ms, int | float) and 0 <= active_ms < MOST_MILLISECONDS
    return rows, int(active_ms) if counted else 0


def _edit_or_refusal(row: Mapping[str, Any]) -> EditRequest | Refused:
    try:
        return _edit(row)
    except (ValueError, OverflowError) as error:
        return Refused("invalid", f"this answer could not be read: {error}")


def _edit(row: Mapping[str, Any]) -> EditRequest:
    undoes = row.get("undoes")
    seen = row.get("seen")
    text = row.get("text") or ""
    if not isinstance(text, str):
        raise ValueError("text must be a string")
    return EditRequest(
        client_id=uuid.UUID(str(row["id"])),
        question=str(row.get("question", "")),
        subject=str(row.get("subject", "")),
        aspect=str(row.get("aspect", Aspect.ANSWER)),
        value=row.get("value"),
        chosen=row.get("chosen"),
        text=text,
        undoes=uuid.UUID(str(undoes)) if undoes else None,
        client_time=_moment(row.get("at")),
        seen=seen if type(seen) is int else None,
    )


def _moment(text: Any) -> datetime | None:
    """Return the browser's clock as it tells it; a clock that cannot be read is no reason to
    refuse.
    """
    try:
        moment = parse_datetime(text) if isinstance(text, str) else None
        if moment is None or moment.tzinfo is None:
            return None
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    # Databases and pages take no moment at the edges of the calendar in every time zone.
    return moment if 1970 <= moment.year < 9999 else None


def _outcome(sent: Any, outcome: Outcome) -> dict[str, Any]:
    """Return what became of an edit; ``sent`` is its id as the page sent it."""
    if isinstance(outcome, Refused):
        return {"id": sent, "refused": outcome.reason, "code": outcome.code}
    return {
        "id": str(outcome.client_id),
        "question": outcome.question,
        "subject": outcome.subject,
        "aspect": outcome.aspect,
        "value": outcome.value,
        "chosen": outcome.chosen,
        "text": outcome.text,
        "version": outcome.version,
        "overtook": outcome.overtook,
    }


@require_POST
def submit(request: HttpRequest, pk: int, position: int, part: str = Part.MAIN) -> JsonResponse:
    """Submit an item; says where to go next, or what is missing."""
    if not request.user.is_authenticated:
        return _signed_out()
    user, item = name_assignment(request, pk, position, part)
    active_text = request.POST.get("activeMs", "")
    active_ms = int(active_text) if active_text.isdecimal() and len(active_text) < 16 else 0
    seen = as_id(request.POST.get("revealed", ""))
    try:
        item = submit_assignment(assignment=item, by=user, active_ms=active_ms, revealed=seen)
    except Refused as refused:
        return _refusal(refused)
    return JsonResponse({"next": _onward(user, item)})


def _onward(user: User, item: Assignment) -> str:
    """Return the address of the next item after a submission, so that the browser asks once; where
    there is none, or something else comes first, that of the view which finds out.
    """
    if item.state != State.SUBMITTED:
        return desk_url(item)  # the next turn of the same item
    if item.part != Part.MAIN or tells_expected(item):
        return after(item)
    try:
        position = next_position(study=item.study, user=user, after=item.position)
    except Refused:  # closed or paused a moment ago
        position = None
    return desk_url(item, position) if position is not None else after(item)


def _signed_out() -> JsonResponse:
    reason = "you are signed out; sign in again, your answers are kept in this browser"
    signs_in = reverse("account_login")
    return JsonResponse({"code": "signed_out", "refused": reason, "sign_in": signs_in}, status=401)


def _refusal(refused: Refused) -> JsonResponse:
    missing = refused.missing if isinstance(refused, Incomplete) else []
    return JsonResponse(
        {"code": refused.code, "refused": refused.reason, "missing": missing},
        status=STATUS[refused.code],
    )


PREFIX = {Part.MAIN: "", Part.TRAINING: "training_", Part.BACKGROUND: "background_"}


def desk_url(item: Assignment, position: int | None = None, *, name: str = "desk") -> str:
    """Return the desk of an item, or of another position of its part; ``name`` says which
    address.
    """
    place = {"pk": item.study_id, "position": position or item.position}
    return reverse(f"annotation:{PREFIX[Part(item.part)]}{name}", kwargs=place)


def after(item: Assignment) -> str:
    """Return where to go when an item is done with: to what was expected, where that is told."""
    if item.part == Part.TRAINING or tells_expected(item):
        return desk_url(item, name="feedback")
    address = reverse("annotation:next_item", kwargs={"pk": item.study_id})
    return f"{address}?after={item.position}" if item.part == Part.MAIN else address


@require_safe
def away(request: HttpRequest) -> HttpResponse:
    """Show the page that stands in for a study's pages; the same for everybody."""
    return render(request, "annotation/away.html")


@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """Show the service worker that shows it. Its address decides what it may be responsible for."""
    return render(request, "annotation/away.js", content_type="text/javascript")
