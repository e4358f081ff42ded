"""The page on which people play: the dialogue, whose turn it is, and the form of a reply."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import place_of
from annotation.access_sessions import SessionAccess, fetch_session
from annotation.models import Assignment, LivePlace, LiveSession, StudyText
from annotation.selectors.sessions.desk import (
    Desk,
    desk_key,
    fetch_ask,
    see_desk,
    what_became_of,
)
from annotation.selectors.sessions.table import (
    Table,
    headline,
    leaving_words,
    limits,
    read_table,
    seats,
)
from annotation.selectors.sessions.talk import dialogue
from annotation.selectors.steps import step_before
from annotation.selectors.texts import current_text, has_read_information, text_blocks
from annotation.services.errors import Refused
from annotation.services.sessions.leaving import leave_place
from annotation.services.sessions.making import mode_of
from annotation.services.sessions.playing import (
    be_ready,
    keep_draft,
    note_end,
    note_player,
    pause_session,
    reply_to,
    resume_session,
)
from annotation.views.sessions_making import instructions
from benchmarks.access import signed_in
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.reply_forms import FieldsRefused, Hint
from benchmarks.forms.asks import FROM_FIELDS, LONGEST, ReplyForm, read_fields
from benchmarks.models import OpenAsk
from benchmarks.selectors.asks import composed_text, hints_on

STOP_POLLING = 286
# Names the hints in spite of which a reply is sent.
OVERRIDE = "override"


def _fetch_player(request: HttpRequest, pk: int) -> tuple[SessionAccess, LivePlace]:
    """A session for whoever has a place in it; for others it does not exist."""
    access = fetch_session(request, pk)
    if access.place is None:
        raise Http404
    return access, access.place


@require_safe
@signed_in
def session(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The page of a player. Whoever only oversees the study looks on elsewhere."""
    access = fetch_session(request, pk)
    if access.place is None:
        return redirect("annotation:session_watch", pk=pk)
    if _has_to_read_first(access):
        return redirect("annotation:next_item", pk=access.study.study.pk)
    note_player(place=access.place)
    shown = f"ask-{request.GET.get('ask', '')}"
    return _page(request, access, shown, as_text=request.GET.get("as") == "text")


def _has_to_read_first(access: SessionAccess) -> bool:
    """Whether information or consent of the study come before the session."""
    study = access.study
    if access.session.state != LiveSession.State.GATHERING or not study.annotates:
        return False
    first = step_before(study.study, place_of(study), Assignment.Part.MAIN)
    return first is not None or not has_read_information(study.study, study.user)


def _page(
    request: HttpRequest,
    access: SessionAccess,
    shown: str = "",
    *,
    status: int = 200,
    as_text: bool = False,
    fields: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    **more: Any,
) -> HttpResponse:
    table = read_table(access)
    key = desk_key(table, shown)
    # What was posted belongs to the ask that it was posted to.
    given = {"fields": fields, "errors": errors} if key == shown else {}
    desk = see_desk(table, key, as_text=as_text, **given)
    wrong = (errors or {}) if key == shown else {}
    context = {**_context(table, desk), **more, "errors": wrong, "refusal": wrong.get("", "")}
    return render(request, "annotation/session.html", context, status=status)


def _context(table: Table, desk: Desk) -> dict[str, Any]:
    """All that the page of a player shows."""
    session, place = table.session, table.place
    assert place is not None
    if table.over:
        note_end(session=session)
    gathering = table.turn.standing == "gathering"
    context: dict[str, Any] = {
        **_state_context(table),
        "study": table.access.study.study,
        "desk": desk,
        "ask": desk.ask,
        "own": desk.own,
        "seats": seats(table),
        "mode": mode_of(table.plan.system, table.plan.mode),
        "leaving": leaving_words(table.plan),
        "said": [] if gathering else dialogue(place, table.plan.system),
    }
    if gathering:
        text = current_text(table.access.study.study, StudyText.Kind.INFORMATION)
        context["told"] = instructions(table.plan.system, context["mode"])
        context["plan"] = table.plan
        context["blocks"] = text_blocks(text.text) if text is not None else []
    return context


def _state_context(table: Table) -> dict[str, Any]:
    return {
        "session": table.session,
        "place": table.place,
        "table": table,
        "state": headline(table),
        "limits": limits(table),
        "key": desk_key(table),
    }


# --- What changes while the page is open ----------------------------------------------------------


@require_safe
@signed_in
def session_state(request: HttpRequest, pk: int) -> HttpResponse:
    """What has changed since ``v``; the desk ``d`` that the page shows stays while it belongs."""
    access, place = _fetch_player(request, pk)
    if access.session.state not in LiveSession.OVER:
        note_player(place=place)
    table = read_table(access)
    if request.GET.get("v") == table.token:
        return HttpResponse(status=STOP_POLLING if table.over else 204)
    shown = request.GET.get("d", "")
    key = desk_key(table, shown)
    response: HttpResponse
    if shown.startswith("lobby-") and not key.startswith("lobby-"):
        # From the lobby to the table: nothing has been typed yet, and everything is new.
        context = _context(table, see_desk(table, key))
        response = render(request, "annotation/partials/_session.html", context)
        response["HX-Retarget"], response["HX-Reswap"] = "#session", "outerHTML"
    else:
        desk = Desk(key) if key == shown else see_desk(table, key)
        context = {
            **_context(table, desk),
            "key": key,
            "changed": key != shown,
            "gone": "" if key == shown else what_became_of(table, shown),
        }
        response = render(request, "annotation/partials/_session_state.html", context)
    if table.over:
        response.status_code = STOP_POLLING
    patch_vary_headers(response, ["HX-Request"])
    return response


# --- Replies --------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@signed_in
def session_reply(request: HttpRequest, pk: int, ask: int) -> HttpResponseBase:
    """Store a reply; whatever keeps it from being stored, what was typed stays on the page."""
    access, place = _fetch_player(request, pk)
    if request.method == "GET":
        return redirect("annotation:session", pk=pk)
    found = fetch_ask(read_table(access), ask)
    if found is None:
        raise Http404
    shown, fields = f"ask-{ask}", request.POST.dict()
    from_fields = FROM_FIELDS in request.POST
    given: dict[str, Any] = {"fields": fields, "as_text": not from_fields}
    text = ""
    try:
        text = _text(request, found, from_fields)
        hints = hints_on(found, text)
        overridden = _overridden(request, hints)
        if left := [hint for hint in hints if hint not in overridden]:
            known = json.dumps([[hint.code, hint.about] for hint in hints])
            return _page(request, access, shown, status=422, hints=left, override=known, **given)
        reply_to(place=place, user=access.user, ask=found, text=text, overridden=overridden)
    except FieldsRefused as refused:
        return _page(request, access, shown, status=422, errors=refused.errors, **given)
    except UnreadableReply as error:
        errors = {"text": f"This could not be read: {error}"}
        return _page(request, access, shown, status=422, errors=errors, **given)
    except Refused as refused:
        found.refresh_from_db()
        waits = refused.code == "paused" and found.answered_at is None
        given |= {"refused": refused.reason, "late": "" if waits else text}
        return _page(request, access, shown, status=409, **given)
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
    except (KeyError, TypeError, ValueError):
        return []
    return [hint for hint in hints if (hint.code, hint.about) in seen]


@require_POST
@signed_in
def session_draft(request: HttpRequest, pk: int, ask: int) -> HttpResponse:
    """Keep what has been typed so far: JSON ``{"fields": {...}}``, or the form itself."""
    access, place = _fetch_player(request, pk)
    found = fetch_ask(read_table(access), ask)
    if found is None:
        raise Http404
    try:
        given = _drafted(request)
        if len(given) > 1000:
            raise FieldsRefused({"": "These are more fields than a form has."})
        fields = read_fields(given)
    except FieldsRefused as refused:
        return JsonResponse({"reason": str(refused)}, status=422)
    if found.answered_at is not None:
        return JsonResponse({"reason": "this has been answered already"}, status=409)
    note_player(place=place)
    keep_draft(ask=found, user=access.user, fields=fields)
    return HttpResponse(status=204)


def _drafted(request: HttpRequest) -> dict[str, str]:
    if request.content_type != "application/json":
        return {name: value for name, value in request.POST.dict().items() if name != OVERRIDE}
    if len(request.body) > 8 * LONGEST:
        raise FieldsRefused({"": f"A reply has at most {LONGEST:,} characters."})
    try:
        fields = json.loads(request.body)["fields"]
    except (ValueError, KeyError, TypeError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or not all(isinstance(v, str) for v in fields.values()):
        raise FieldsRefused({"": "A draft is an object of fields and their texts."})
    return fields


# --- Being there ----------------------------------------------------------------------------------


@require_POST
@signed_in
def session_ready(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Say that one is ready; the last one starts the session."""
    access, place = _fetch_player(request, pk)
    if _has_to_read_first(access):
        return redirect("annotation:next_item", pk=access.study.study.pk)
    try:
        be_ready(place=place, user=access.user)
    except Refused as refused:
        return _page(request, access, status=409, refused=refused.reason)
    return redirect("annotation:session", pk=pk)


@require_POST
@signed_in
def session_pause(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Pause, for everybody: players, and whoever runs the study."""
    return _change(request, pk, pause_session)


@require_POST
@signed_in
def session_resume(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Go on."""
    return _change(request, pk, resume_session)


def _change(request: HttpRequest, pk: int, change: Any) -> HttpResponseBase:
    access = fetch_session(request, pk)
    if access.place is None and not access.manages:
        raise Http404
    try:
        change(session=access.session, by=access.user)
    except Refused as refused:
        if access.place is not None:
            return _page(request, access, status=409, refused=refused.reason)
        messages.error(request, f"{refused.reason[:1].upper()}{refused.reason[1:]}.")
    return redirect("annotation:session", pk=pk)


@require_POST
@signed_in
def session_leave(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Leave the place for good; what becomes of it is the study's to say."""
    access, place = _fetch_player(request, pk)
    try:
        leave_place(place=place, user=access.user)
    except Refused as refused:
        return _page(request, access, status=409, refused=refused.reason)
    messages.success(request, "You have left the session. What you said in it stays stored.")
    if access.study.takes_part:
        return redirect("annotation:study", pk=access.study.study.pk)
    return redirect("annotation:home")
