"""The page on which people play: the dialogue, whose turn it is, and being there or not."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from annotation.access import place_of
from annotation.errors import Refused
from annotation.live.access import SessionAccess, fetch_session
from annotation.live.control.timeouts import leave_place
from annotation.live.next_session import is_asked_about
from annotation.live.play.dialogue import dialogue
from annotation.live.play.reply_form import (
    Desk,
    desk_key,
    see_desk,
    see_suggested,
    what_became_of,
)
from annotation.live.play.services import (
    be_ready,
    note_end,
    note_player,
    pause_session,
    resume_session,
)
from annotation.live.play.session_state import Table, read_table
from annotation.live.play.status import headline, leaving_words, limits, seats
from annotation.live.setup.sessions import mode_of
from annotation.live.setup.views import instructions
from annotation.models import Assignment, LivePlace, LiveSession, StudyText
from annotation.steps.selectors import step_before
from annotation.texts.selectors import current_text, has_read_information, text_blocks
from benchmarks.access import signed_in

STOP_POLLING = 286


def fetch_player(request: HttpRequest, pk: int) -> tuple[SessionAccess, LivePlace]:
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
    return player_page(request, access, shown, as_text=request.GET.get("as") == "text")


def _has_to_read_first(access: SessionAccess) -> bool:
    """Whether information or consent of the study come before the session."""
    study = access.study
    if access.session.state != LiveSession.State.GATHERING or not study.annotates:
        return False
    first = step_before(study.study, place_of(study), Assignment.Part.MAIN)
    return first is not None or not has_read_information(study.study, study.user)


def player_page(
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
    """The page with the desk that was ``shown``, if it still belongs, and what was posted there."""
    table = read_table(access)
    key = desk_key(table, shown)
    # What was posted belongs to the ask that it was posted to.
    given = {"fields": fields, "errors": errors} if key == shown else {}
    desk = see_desk(table, key, as_text=as_text, **given)
    wrong = (errors or {}) if key == shown else {}
    context = {**_context(table, desk), **more, "errors": wrong, "refusal": wrong.get("", "")}
    context["as_text"] = as_text
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
        "said": [] if gathering else dialogue(place, table.plan.system, over=table.over),
    }
    if table.over:
        context["final"] = next((line for line in reversed(context["said"]) if line.steps), None)
        context["rates"] = is_asked_about(session, table.access.user)
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
    access, place = fetch_player(request, pk)
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
        same = key == shown
        as_text = same and request.GET.get("as") == "text"
        context = {
            **_context(table, Desk(key) if same else see_desk(table, key)),
            "key": key,
            "as_text": as_text,
            "changed": not same,
            "gone": "" if same else what_became_of(table, shown),
            "suggested": see_suggested(table, key) if same and not as_text else None,
            "ask_id": key.removeprefix("ask-"),
        }
        response = render(request, "annotation/partials/_session_state.html", context)
    if table.over:
        response.status_code = STOP_POLLING
    patch_vary_headers(response, ["HX-Request"])
    return response


# --- Being there ----------------------------------------------------------------------------------


@require_POST
@signed_in
def session_ready(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Say that one is ready; the last one starts the session."""
    access, place = fetch_player(request, pk)
    if _has_to_read_first(access):
        return redirect("annotation:next_item", pk=access.study.study.pk)
    try:
        be_ready(place=place, user=access.user)
    except Refused as refused:
        return player_page(request, access, status=409, refused=refused.reason)
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
            return player_page(request, access, status=409, refused=refused.reason)
        messages.error(request, f"{refused.reason[:1].upper()}{refused.reason[1:]}.")
    return redirect("annotation:session", pk=pk)


@require_POST
@signed_in
def session_leave(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Leave the place for good; what becomes of it is the study's to say."""
    access, place = fetch_player(request, pk)
    try:
        leave_place(place=place, user=access.user)
    except Refused as refused:
        return player_page(request, access, status=409, refused=refused.reason)
    messages.success(request, "You have left the session. What you said in it stays stored.")
    if access.study.takes_part:
        return redirect("annotation:study", pk=access.study.study.pk)
    return redirect("annotation:home")
