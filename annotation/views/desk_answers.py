"""What the desk's script saves: answers one by one, and the submission of an item."""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST

from annotation.access import fetch_seat
from annotation.models import Aspect, Assignment
from annotation.services.errors import Incomplete, Refused
from annotation.services.items import submit_assignment
from annotation.services.ratings import Edit, Outcome, record_edits
from annotation.views.desk_places import after

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


@require_POST
def answers(request: HttpRequest, pk: int, position: int, part: str = Part.MAIN) -> JsonResponse:
    """A batch of edits as JSON; what the reply lists as saved is committed.

    ``{"edits": [{"id", "question", "subject", "aspect", "value" | "chosen" | "text", "undoes",
    "at", "seen"}], "activeMs"}``. A remark on the whole item has no question. Any refusal makes the
    reply a non-2xx one, with the outcome of every edit in it.
    """
    if not request.user.is_authenticated:
        return _signed_out()
    user, item = fetch_seat(request, pk, position, part)
    try:
        data = json.loads(request.body)
        edits = [_edit(row) for row in data["edits"]]
        active_ms = int(data.get("activeMs", 0))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return _refusal(Refused("invalid", f"the message could not be read: {error}"))
    if len(edits) > MOST_EDITS:
        return _refusal(Refused("invalid", f"more than {MOST_EDITS} edits at once"))
    outcomes = record_edits(assignment=item, by=user, edits=edits, active_ms=active_ms)
    rows = [_outcome(edit, outcome) for edit, outcome in zip(edits, outcomes, strict=True)]
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    status = STATUS[refusals[0].code] if refusals else 200
    return JsonResponse({"results": rows}, status=status)


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
    moment = parse_datetime(text) if isinstance(text, str) else None
    return moment if moment is not None and moment.tzinfo is not None else None


def _outcome(edit: Edit, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Refused):
        return {"id": str(edit.client_id), "refused": outcome.reason, "code": outcome.code}
    return {
        "id": str(edit.client_id),
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
