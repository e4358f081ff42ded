"""What the desk's script saves: answers one by one, and the submission of an item."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST

from annotation.access import fetch_seat
from annotation.desk.services import submit_assignment
from annotation.desk.urls_of_items import after
from annotation.errors import Incomplete, Refused
from annotation.json_bodies import BadBody, read_json_body
from annotation.models import Aspect, Assignment
from annotation.ratings.services import Edit, Outcome, record_edits

Part = Assignment.Part
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
    """A batch of edits as JSON; what the reply lists as saved is committed.

    ``{"edits": [{"id", "question", "subject", "aspect", "value" | "chosen" | "text", "undoes",
    "at", "seen"}], "activeMs"}``. A remark on the whole item has no question. Any refusal makes the
    reply a non-2xx one, with the outcome of every edit in it; an edit that cannot be read is
    refused alone.
    """
    if not request.user.is_authenticated:
        return _signed_out()
    user, item = fetch_seat(request, pk, position, part)
    try:
        rows, active_ms = _message(request)
    except BadBody as error:
        return _refusal(Refused("invalid", f"the message could not be read: {error}"))
    if len(rows) > MOST_EDITS:
        return _refusal(Refused("invalid", f"more than {MOST_EDITS} edits at once"))
    read = [_edit_or_refusal(row) for row in rows]
    edits = [one for one in read if isinstance(one, Edit)]
    stored = iter(record_edits(assignment=item, by=user, edits=edits, active_ms=active_ms))
    outcomes = [next(stored) if isinstance(one, Edit) else one for one in read]
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    results = [
        _outcome(row.get("id"), outcome) for row, outcome in zip(rows, outcomes, strict=True)
    ]
    status = STATUS[refusals[0].code] if refusals else 200
    return JsonResponse({"results": results}, status=status)


def _message(request: HttpRequest) -> tuple[list[dict[str, Any]], int]:
    """The edits of a message as they were sent, and the milliseconds at work that it tells."""
    data = read_json_body(request.body)
    rows = data.get("edits") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
        raise BadBody("expected a list of edits, each with an id")
    told = data.get("activeMs", 0)
    counted = isinstance(told, int | float) and 0 <= told < MOST_MILLISECONDS
    return rows, int(told) if counted else 0


def _edit_or_refusal(row: Mapping[str, Any]) -> Edit | Refused:
    try:
        return _edit(row)
    except (ValueError, OverflowError) as error:
        return Refused("invalid", f"this answer could not be read: {error}")


def _edit(row: Mapping[str, Any]) -> Edit:
    undoes = row.get("undoes")
    seen = row.get("seen")
    text = row.get("text") or ""
    if not isinstance(text, str):
        raise ValueError("text must be a string")
    return Edit(
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
    """The browser's clock as it tells it; a clock that cannot be read is no reason to refuse."""
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
    """What became of an edit; ``sent`` is its id as the page sent it."""
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
    user, item = fetch_seat(request, pk, position, part)
    told = request.POST.get("activeMs", "")
    active_ms = int(told) if told.isdecimal() and len(told) < 16 else 0
    try:
        submit_assignment(assignment=item, by=user, active_ms=active_ms)
    except Refused as refused:
        return _refusal(refused)
    return JsonResponse({"next": after(item)})


def _signed_out() -> JsonResponse:
    reason = "you are signed out; sign in again, your answers are kept in this browser"
    return JsonResponse({"code": "signed_out", "refused": reason}, status=401)


def _refusal(refused: Refused) -> JsonResponse:
    missing = refused.missing if isinstance(refused, Incomplete) else []
    return JsonResponse(
        {"code": refused.code, "refused": refused.reason, "missing": missing},
        status=STATUS[refused.code],
    )
