"""What players send: replies, and drafts of them."""

import json
from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotation.errors import Refused
from annotation.json_bodies import read_json_body
from annotation.live.play.drafts import NewerDraft, keep_draft
from annotation.live.play.reply_form import desk_key, fetch_ask
from annotation.live.play.services import note_player, reply_to
from annotation.live.play.session_state import read_table
from annotation.live.play.views import fetch_player, player_page
from benchmarks.access import signed_in
from benchmarks.asks.forms import FROM_FIELDS, LONGEST, ReplyForm, read_fields
from benchmarks.asks.selectors import composed_text, hints_on
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.people import FieldsRefused, Hint
from benchmarks.models import OpenAsk

# Names the hints in spite of which a reply is sent.
OVERRIDE = "override"
GONE = "this is not asked of you any more"


@require_http_methods(["GET", "POST"])
@signed_in
def session_reply(request: HttpRequest, pk: int, ask: int) -> HttpResponseBase:
    """Store a reply; whatever keeps it from being stored, what was typed stays on the page."""
    access, place = fetch_player(request, pk)
    if request.method == "GET":
        return redirect("annotation:session", pk=pk)
    table = read_table(access)
    found = fetch_ask(table, ask)
    if found is None:
        raise Http404
    shown, fields = f"ask-{ask}", request.POST.dict()
    # Then it is told that it is too late, and not what would have been wrong with it.
    gone = desk_key(table, shown) != shown
    from_fields = FROM_FIELDS in request.POST
    given: dict[str, Any] = {"fields": fields, "as_text": not from_fields}
    text = ""
    try:
        text = _text(request, found, from_fields)
        hints = [] if gone else hints_on(found, text)
        overridden = _overridden(request, hints)
        if left := [hint for hint in hints if hint not in overridden]:
            known = json.dumps([[hint.code, hint.about] for hint in hints])
            return player_page(
                request, access, shown, status=422, hints=left, override=known, **given
            )
        reply_to(place=place, user=access.user, ask=found, text=text, overridden=overridden)
    except (FieldsRefused, UnreadableReply) as error:
        if gone:
            given |= {"refused": GONE, "late": text or fields.get("text", "")}
            return player_page(request, access, shown, status=409, **given)
        unread = {"text": f"This could not be read: {error}"}
        errors = error.errors if isinstance(error, FieldsRefused) else unread
        return player_page(request, access, shown, status=422, errors=errors, **given)
    except Refused as refused:
        found.refresh_from_db()
        waits = refused.code == "paused" and found.answered_at is None
        given |= {"refused": refused.reason, "late": "" if waits else text}
        return player_page(request, access, shown, status=409, **given)
    return redirect("annotation:session", pk=pk)


def _text(request: HttpRequest, found: OpenAsk, from_fields: bool) -> str:
    """The text of a reply, from the fields of a form or as it was written."""
    if from_fields:
        text = composed_text(found, read_fields(request.POST.dict()))
    else:
        text = request.POST.get("text", "")
    form = ReplyForm({"text": text if text.strip() else ""})
    if not form.is_valid():
        raise FieldsRefused({"text": " ".join(map(str, form.errors["text"]))})
    checked: str = form.cleaned_data["text"]
    return checked


def _overridden(request: HttpRequest, hints: Sequence[Hint]) -> list[Hint]:
    """Those of today's hints that the author has seen and sends in spite of."""
    try:
        seen = {(str(code), str(about)) for code, about in json.loads(request.POST[OVERRIDE])}
    except (KeyError, TypeError, ValueError, RecursionError):
        return []
    return [hint for hint in hints if (hint.code, hint.about) in seen]


@require_POST
@signed_in
def session_draft(request: HttpRequest, pk: int, ask: int) -> HttpResponse:
    """Keep what has been typed so far: JSON ``{"fields": {...}, "version": 3}``.

    ``version`` is the one that it was typed on; the answer holds the new one. 409 where another
    tab has kept something since, which the answer holds with its version.
    """
    access, place = fetch_player(request, pk)
    found = fetch_ask(read_table(access), ask)
    if found is None:
        raise Http404
    try:
        given, version = _drafted(request)
        if len(given) > 1000:
            raise FieldsRefused({"": "These are more fields than a form has."})
        fields = read_fields(given)
    except FieldsRefused as refused:
        return JsonResponse({"reason": str(refused)}, status=422)
    if found.answered_at is not None:
        return JsonResponse({"reason": "this has been answered already"}, status=409)
    note_player(place=place)
    try:
        kept = keep_draft(ask=found, user=access.user, fields=fields, version=version)
    except NewerDraft as newer:
        told = {"reason": newer.reason, "version": newer.draft.version}
        return JsonResponse({**told, "fields": newer.draft.fields}, status=409)
    return JsonResponse({"version": kept})


def _drafted(request: HttpRequest) -> tuple[dict[str, str], int]:
    """The fields of a draft, and the version that it was typed on."""
    if len(request.body) > 8 * LONGEST:
        raise FieldsRefused({"": f"A reply has at most {LONGEST:,} characters."})
    try:
        body = read_json_body(request.body)
        fields, version = body["fields"], body["version"]
    except (ValueError, KeyError, TypeError):
        fields = version = None
    if not isinstance(fields, dict) or not all(isinstance(v, str) for v in fields.values()):
        raise FieldsRefused({"": "A draft is an object of fields and their texts."})
    if type(version) is not int or not 0 <= version < 2**31 - 1:
        raise FieldsRefused({"": "A draft says on which version it was typed, 0 for the first."})
    return fields, version
