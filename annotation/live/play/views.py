"""The page on which people play, and the replies and drafts it sends."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    QueryDict,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import LARGEST, participant_of, person
from annotation.assignments.preconditions import step_before
from annotation.consent.selectors import current_text, has_read_information, text_blocks
from annotation.errors import Refused
from annotation.json_bodies import read_json_body
from annotation.live.access import SessionAccess, fetch_session
from annotation.live.control.timeouts import leave_place
from annotation.live.duels.page import duel_context, read_duel_page, session_to_answer
from annotation.live.duels.selectors import other_side
from annotation.live.play.dialogue import (
    final_plan,
    load_session_dialogue,
    mark_lines,
    newer_lines,
    without_newest,
)
from annotation.live.play.drafts import NewerDraft, keep_draft
from annotation.live.play.presence import (
    name_page,
    note_gone,
    note_here,
    note_typing,
    read_page,
)
from annotation.live.play.reply_panel import (
    ReplyPanel,
    answered_by,
    describe_reply_outcome,
    desk_key,
    fetch_ask,
    joined_asks,
    load_reply_panel,
    load_suggestion_panel,
)
from annotation.live.play.services import (
    be_ready,
    note_end,
    note_player,
    note_seen,
    pause_session,
    reply_to,
    resume_session,
    take_back,
)
from annotation.live.play.session_state import (
    PolledPlace,
    SessionState,
    read_poll,
    read_session_state,
)
from annotation.live.play.status import (
    headline,
    leaving_text,
    newest_note,
    player_statuses,
    session_deadlines,
    why_removed,
    writing_words,
)
from annotation.live.play.writing import stream_writing, watch_writing
from annotation.live.setup.sessions import mode_of
from annotation.live.setup.views import instructions
from annotation.models import Assignment, LivePlace, LiveSession, StudyText
from annotation.steps.next_session import is_asked_about
from benchmarks.access import signed_in
from benchmarks.asks.forms import FROM_FIELDS, LONGEST, TypedReplyForm, read_fields
from benchmarks.asks.selectors import composed_text, hints_on
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.ports.people import FieldsRefused, Hint
from benchmarks.core.registry import find_system
from benchmarks.markdown import draw_markdown
from benchmarks.models import OpenAsk

STOP_POLLING = 286


def fetch_player(request: HttpRequest, pk: int) -> tuple[SessionAccess, LivePlace]:
    """Return a session for whoever has a place in it; for others it does not exist."""
    access = fetch_session(request, pk, played=True)
    if access.place is None:
        raise Http404
    return access, access.place


def each_side(request: HttpRequest, access: SessionAccess) -> list[SessionAccess]:
    """Return what somebody may do in a session, and in the one beside it where it is a duel's and
    is not over.
    """
    other = other_side(access.duel, access.session.pk) if access.duel is not None else None
    if other is None or other.state in LiveSession.OVER:
        return [access]
    return [access, fetch_session(request, other.pk, played=True)]


def _left_session(request: HttpRequest, pk: int) -> LiveSession:
    """Return a session for a player who has given up or lost their place; for whoever never had
    one the session does not exist.
    """
    rows = LiveSession.objects.filter(pk=pk, events__about=person(request)) if pk <= LARGEST else ()
    if not rows:
        raise Http404
    return rows[0]


def _player_left(request: HttpRequest, pk: int, *, status: int = 200) -> HttpResponse:
    """Return the whole page of a player who has no place any more."""
    session = _left_session(request, pk)
    context = {"session": session, "why": why_removed(session, person(request))}
    response = render(request, "annotation/partials/_session_left.html", context, status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#session", "outerHTML"
    return response


@require_safe
@signed_in
def session(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the page of a player. Whoever only oversees the study looks on elsewhere."""
    try:
        access = fetch_session(request, pk)
    except Http404:
        left = _left_session(request, pk)
        context = {"session": left, "why": why_removed(left, person(request))}
        return render(request, "annotation/session_left.html", context)
    if access.place is None:
        return redirect("annotation:session_watch", pk=pk)
    if _has_to_read_first(access):
        return redirect("annotation:next_item", pk=access.study.study.pk)
    name = name_page()
    for side in each_side(request, access):
        if side.place is not None:
            note_there(side.place, name)
    if access.duel is not None:
        side_to_answer = session_to_answer(request, read_session_state(access))
        if side_to_answer != pk:
            return redirect("annotation:session", pk=side_to_answer)
    shown = f"ask-{request.GET.get('ask', '')}"
    as_text = request.GET.get("as") == "text"
    return player_page(request, access, shown, as_text=as_text, page=name)


def _has_to_read_first(access: SessionAccess) -> bool:
    """Return whether the person has to read the study's information, or to consent, before the
    session.
    """
    if access.session.state != LiveSession.State.GATHERING:
        return False
    study = access.study
    if not study.annotates:
        return False
    first = step_before(study.study, participant_of(study), Assignment.Part.MAIN)
    return first is not None or not has_read_information(study.study, study.user)


def player_page(
    request: HttpRequest,
    access: SessionAccess,
    shown: str = "",
    *,
    status: int = 200,
    as_text: bool = False,
    page: str = "",
    fields: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
    **more: Any,
) -> HttpResponse:
    """Show the page with the desk that was ``shown``, if it still belongs, and what was posted
    there. ``page`` is its name, a new one where none is given.
    """
    page = page or name_page()
    if request.method == "POST":
        access = fetch_session(request, access.session.pk)  # as it is now
    state = read_session_state(access)
    key = desk_key(state, shown)
    # What was posted belongs to the ask that it was posted to.
    given = {"fields": fields, "errors": errors} if key == shown else {}
    desk = load_reply_panel(state, key, as_text=as_text, **given)
    wrong = (errors or {}) if key == shown else {}
    context = {**whole_context(state, desk, page), **more}
    context |= {"errors": wrong, "refusal": wrong.get("", "")}
    context["as_text"] = as_text
    template = "annotation/session.html"
    if access.duel is not None:
        template = "annotation/duel.html"
        context |= duel_context(read_duel_page(request, state), context)
    return render(request, template, context, status=status)


def _context(state: SessionState, desk: ReplyPanel, page: str) -> dict[str, Any]:
    """Return what a ``page`` of a player shows that changes while it is open."""
    session, place = state.session, state.place
    assert place is not None
    if state.over:
        note_end(session=session)
    note_seen(place=place, asks=state.newest)  # before the lines are read, so that none is missed
    lobby = state.turn.standing == "gathering"
    lines = [] if lobby else load_session_dialogue(place, state.plan.system, over=state.over)
    if state.held:
        lines = [*without_newest(lines)]
    context: dict[str, Any] = {
        "session": session,
        "place": place,
        "state": state,
        "headline": headline(state),
        "writing": writing_words(state),
        "note": newest_note(state),
        "limits": session_deadlines(state),
        "key": desk.key,
        "study": session.study,
        "desk": desk,
        "ask": desk.ask,
        "own": desk.own,
        "lobby": lobby,
        "players": player_statuses(state),
        "leaving": leaving_text(state.plan),
        "lines": lines,
        "shown": mark_lines(lines),
        "page_name": page,
    }
    if state.turn.standing == "background" and find_system(state.plan.system).people.grows:
        read = watch_writing(session.pk, state.access.user.pk)
        context["written"] = draw_markdown(read()) if read is not None else None
    if state.over:
        context["final"] = final_plan(lines, state.plan.system)
        context["rates"] = is_asked_about(session, state.access.user)
    return context


def whole_context(state: SessionState, desk: ReplyPanel, page: str) -> dict[str, Any]:
    """Return all that a ``page`` of a player shows."""
    mode, place = mode_of(state.plan.system, state.plan.mode), state.place
    assert place is not None
    context = {
        **_context(state, desk, page),
        "mode": mode,
        "says": mode.places[place.number - 1].says,
        "told": instructions(state.plan.system, mode),
        "plan": state.plan,
    }
    if context["lobby"]:
        text = current_text(state.session.study, StudyText.Kind.INFORMATION)
        context["blocks"] = text_blocks(text.text) if text is not None else []
    return context


# --- What changes while the page is open ----------------------------------------------------------


@require_safe
@signed_in
def session_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what has changed since ``v``; the desk ``d`` that the page shows stays while it
    belongs.
    """
    poll = read_poll(pk, person(request).pk) if pk <= LARGEST else None
    if "left" in request.GET:  # by the page of somebody who lost their place
        return _given_back(request, pk, back=poll is not None)
    if poll is None:
        return _player_left(request, pk)
    if not poll.over:
        note_there(poll.place, read_page(request.GET.get("p", "")))
    if request.GET.get("v") == poll.token:
        return HttpResponse(status=STOP_POLLING if poll.over else 204)
    try:
        access, _ = fetch_player(request, pk)
    except Http404:  # a moment ago
        return _player_left(request, pk)
    return _changed_parts(request, read_session_state(access), request.GET)


def _given_back(request: HttpRequest, pk: int, *, back: bool) -> HttpResponse:
    """Tell a player who had lost their place once they are ``back`` in it.

    Their page is not loaded anew: it shows what they had typed and not sent.
    """
    if back:
        template, told = "annotation/partials/_session_back.html", {"number": pk}
        return render(request, template, told, status=STOP_POLLING)
    over = _left_session(request, pk).state in LiveSession.OVER
    return HttpResponse(status=STOP_POLLING if over else 204)


@require_safe
@signed_in
def session_writing(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the reply that a model is writing as it grows; 503 where too many pages do so."""
    read = watch_writing(pk, person(request).pk) if pk <= LARGEST else None
    if read is None:
        raise Http404
    events = stream_writing(read)
    if events is None:
        return HttpResponse(status=503)
    response = StreamingHttpResponse(events, content_type="text/event-stream")
    response["Cache-Control"], response["X-Accel-Buffering"] = "no-store", "no"
    return response


def note_there(place: PolledPlace, page: str) -> None:
    """Note that a player is at their page."""
    note_here(place.pk, timezone.now(), page)
    note_player(place=place.pk, last_seen_at=place.last_seen_at)


def _changed_parts(
    request: HttpRequest, state: SessionState, page: Mapping[str, str], *, sent: bool = False
) -> HttpResponse:
    """Return what a page has to change, given what it shows: the form ``d`` (as text where ``as``
    says so), the session's state ``s``, and the lines ``t``. ``p`` is the name of the page.
    """
    shown = page.get("d", "")
    key = desk_key(state, shown)
    name = read_page(page.get("p", "")) or name_page()
    response: HttpResponse
    if shown.startswith("lobby-") and not key.startswith("lobby-"):
        # The session begins: nothing has been typed yet, and everything is new.
        context = whole_context(state, load_reply_panel(state, key), name)
        response = render(request, "annotation/partials/_session.html", context)
        response["HX-Retarget"], response["HX-Reswap"] = "#session", "outerHTML"
    else:
        same = key == shown
        as_text = same and page.get("as") == "text"
        context = {
            **_context(state, ReplyPanel(key) if same else load_reply_panel(state, key), name),
            "acts": page.get("s") != state.acts,
            "as_text": as_text,
            "changed": not same,
            "sent": sent,
            "gone": "" if same or sent else describe_reply_outcome(state, shown),
            "suggested": load_suggestion_panel(state, key) if same and not as_text else None,
            "ask_id": key.removeprefix("ask-"),
        }
        context["newer"] = newer_lines(context["lines"], page.get("t", ""))
        if state.turn.standing == "gathering" and not same:
            context = {**whole_context(state, ReplyPanel(key), name), **context}
        response = render(request, "annotation/partials/_session_state.html", context)
    if state.over:
        response.status_code = STOP_POLLING
    patch_vary_headers(response, ["HX-Request"])
    return response


# --- Being there ----------------------------------------------------------------------------------


@require_POST
@signed_in
def session_away(request: HttpRequest, pk: int) -> HttpResponse:
    """Note that a player has closed the page. Another page of theirs says within two seconds
    that they are there.

    Who has given up their place closes the page, too: then there is nothing to note.
    """
    try:
        _, place = fetch_player(request, pk)
    except Http404:
        _left_session(request, pk)
    else:
        note_gone(place.pk, read_page(request.GET.get("p", "")))
    return HttpResponse(status=204)


@require_POST
@signed_in
def session_ready(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Say that one is ready; the last one starts the session."""
    access, place = fetch_player(request, pk)
    if _has_to_read_first(access):
        return redirect("annotation:next_item", pk=access.study.study.pk)
    try:
        with transaction.atomic():
            for side in each_side(request, access):
                if side.place is not None:
                    be_ready(place=side.place, user=access.user)
    except Refused as refused:
        return player_page(request, access, status=409, refused=refused.reason)
    return redirect("annotation:session", pk=pk)


@require_POST
@signed_in
def session_pause(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Pause a session, for everybody: players, and whoever runs the study."""
    return _change(
        request, pk, lambda access: pause_session(session=access.session, by=access.user)
    )


@require_POST
@signed_in
def session_resume(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Resume a session: players end their own pause, whoever runs the study ends any."""

    def resume(access: SessionAccess) -> None:
        resume_session(session=access.session, by=access.user, manages=access.manages)

    return _change(request, pk, resume)


def _change(
    request: HttpRequest, pk: int, change: Callable[[SessionAccess], None]
) -> HttpResponseBase:
    access = fetch_session(request, pk)
    if access.place is None and not access.manages:
        raise Http404
    try:
        with transaction.atomic():
            for side in each_side(request, access):
                change(side)
    except Refused as refused:
        if access.place is not None:
            return player_page(request, access, status=409, refused=refused.reason)
        messages.error(request, f"{refused.reason[:1].upper()}{refused.reason[1:]}.")
    return redirect("annotation:session", pk=pk)


@require_POST
@signed_in
def session_leave(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Leave the place for good; what becomes of it is the study's to say."""
    access, _ = fetch_player(request, pk)
    try:
        with transaction.atomic():
            for side in each_side(request, access):
                if side.place is not None:
                    leave_place(place=side.place, user=access.user)
    except Refused as refused:
        return player_page(request, access, status=409, refused=refused.reason)
    messages.success(request, "You left the session. Your messages stay stored.")
    if access.study.takes_part:
        return redirect("annotation:study", pk=access.study.study.pk)
    return redirect("annotation:home")


# By this header a page says what it shows, in the words of its polls: then it is answered like one.
SHOWN = "X-Session-Shown"
# Names the hints in spite of which a reply is sent.
OVERRIDE = "override"
# Marks a form that answers several asks.
JOINED = "joined"
GONE = "this reply is no longer needed"
NOT_FIELDS = ("csrfmiddlewaretoken", OVERRIDE)
NOT_TYPED = (*NOT_FIELDS, FROM_FIELDS)


@require_http_methods(["GET", "POST"])
@signed_in
def session_reply(request: HttpRequest, pk: int, ask: int) -> HttpResponseBase:
    """Store a reply; whatever keeps it from being stored, what was typed stays on the page."""
    try:
        access, place = fetch_player(request, pk)
    except Http404:
        left_page = _player_left(request, pk, status=409)
        return left_page if request.method == "POST" else redirect("annotation:session", pk=pk)
    if request.method == "GET":
        return redirect("annotation:session", pk=pk)
    state = read_session_state(access)
    open_ask = fetch_ask(state, ask)
    if open_ask is None:
        if ask > LARGEST or OpenAsk.objects.filter(pk=ask).exists():
            raise Http404
        # It was withdrawn while the reply was written.
        typed = [
            text for name, text in request.POST.dict().items() if text and name not in NOT_TYPED
        ]
        return player_page(request, access, status=409, refused=GONE, late="\n".join(typed))
    shown, fields = f"ask-{ask}", request.POST.dict()
    # Then it is told that it is too late, and not what would have been wrong with it.
    gone = desk_key(state, shown) != shown
    from_fields = FROM_FIELDS in request.POST
    given: dict[str, Any] = {"fields": fields, "as_text": not from_fields}
    text = ""
    try:
        if JOINED in request.POST and not gone and (together := joined_asks(state, open_ask)):
            _reply_together(access, place, together, fields)
            return _reply_stored(request, pk)
        text = _text(request, open_ask, from_fields)
        hints = hints_on(open_ask, text) if state.plan.settings.get("hints") and not gone else []
        overridden = _overridden(request, hints)
        if left := [hint for hint in hints if hint not in overridden]:
            known = json.dumps([[hint.code, hint.about] for hint in hints])
            return player_page(
                request, access, shown, status=422, hints=left, override=known, **given
            )
        kept = {name: value for name, value in fields.items() if name not in NOT_FIELDS}
        reply_to(
            place=place, user=access.user, ask=open_ask, text=text, fields=kept,
            overridden=overridden,
        )  # fmt: skip
        note_typing(place.pk, typing=False)
    except (FieldsRefused, UnreadableReply) as error:
        if gone:
            given |= {"refused": GONE, "late": text or fields.get("text", "")}
            return player_page(request, access, shown, status=409, **given)
        unread = {"text": f"This can’t be read: {error}"}
        errors = error.errors if isinstance(error, FieldsRefused) else unread
        return player_page(request, access, shown, status=422, errors=errors, **given)
    except Refused as refused:
        # A rollback may have withdrawn it since it was read.
        now = OpenAsk.objects.filter(pk=ask).first()
        waits = refused.code == "paused" and now is not None and now.answered_at is None
        given |= {"refused": refused.reason if now else GONE, "late": "" if waits else text}
        return player_page(request, access, shown, status=409, **given)
    return _reply_stored(request, pk)


def _reply_together(
    access: SessionAccess, place: LivePlace, asks: Sequence[OpenAsk], fields: Mapping[str, str]
) -> None:
    """Store the replies to several asks that came on one form: all of them, or none."""
    errors: dict[str, str] = {}
    texts = []
    for ask in asks:
        try:
            texts.append(composed_text(ask, read_fields(fields)))
        except FieldsRefused as refused:
            errors |= refused.errors
    if errors:
        raise FieldsRefused(errors)
    with transaction.atomic():
        for ask, text in zip(asks, texts, strict=True):
            kept = {name: value for name, value in fields.items() if name not in NOT_FIELDS}
            reply_to(place=place, user=access.user, ask=ask, text=text, fields=kept)
    note_typing(place.pk, typing=False)


def _reply_stored(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Return what changed by a reply, for a page that says what it shows; else the whole page."""
    access = fetch_session(request, pk, played=True)
    if SHOWN not in request.headers or access.duel is not None:
        return redirect("annotation:session", pk=pk)
    page = QueryDict(request.headers[SHOWN][:500]).dict()
    state = read_session_state(access)
    response = _changed_parts(request, state, page, sent=True)
    if "HX-Retarget" not in response:
        response["HX-Retarget"] = response["HX-Reselect"] = "#session-poll"
        response["HX-Reswap"] = "outerHTML"
    response.status_code, response["HX-Push-Url"] = 200, "false"
    return response


def _text(request: HttpRequest, open_ask: OpenAsk, from_fields: bool) -> str:
    """Return the text of a reply, from the fields of a form or as it was written."""
    if from_fields:
        text = composed_text(open_ask, read_fields(request.POST.dict()))
    else:
        text = request.POST.get("text", "")
    form = TypedReplyForm({"text": text if text.strip() else ""})
    if not form.is_valid():
        raise FieldsRefused({"text": " ".join(map(str, form.errors["text"]))})
    checked: str = form.cleaned_data["text"]
    return checked


def _overridden(request: HttpRequest, hints: Sequence[Hint]) -> list[Hint]:
    """Return those of today's hints that the author has seen and sends in spite of."""
    try:
        seen = {(str(code), str(about)) for code, about in json.loads(request.POST[OVERRIDE])}
    except (KeyError, TypeError, ValueError, RecursionError):
        return []
    return [hint for hint in hints if (hint.code, hint.about) in seen]


@require_POST
@signed_in
def session_take_back(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Take one's last reply back, which is a draft again, unless the other side has seen it."""
    access, place = fetch_player(request, pk)
    try:
        take_back(place=place, user=access.user)
    except Refused as refused:
        return player_page(request, access, status=409, refused=refused.reason)
    return redirect("annotation:session", pk=pk)


@require_POST
@signed_in
def session_draft(request: HttpRequest, pk: int, ask: int) -> HttpResponse:
    """Keep what has been typed so far: JSON ``{"fields": {...}, "version": 3}``.

    ``version`` is the one that it was typed on; the answer holds the new one. 409 where another
    tab has kept something since, which the answer holds with its version.
    """
    try:
        access, place = fetch_player(request, pk)
    except Http404:
        _left_session(request, pk)
        return JsonResponse({"reason": "you no longer play in this session"}, status=409)
    open_ask = fetch_ask(read_session_state(access), ask)
    if open_ask is None:
        raise Http404
    try:
        given, version = _drafted(request)
        if len(given) > 1000:
            raise FieldsRefused({"": "These are more fields than a form has."})
        fields = read_fields(given)
    except FieldsRefused as refused:
        return JsonResponse({"reason": str(refused)}, status=422)
    if open_ask.answered_at is not None:
        # Sent before the reply and received after it: nothing is lost, and nothing to be kept.
        if answered_by(open_ask, access.user):
            return JsonResponse({"version": version})
        return JsonResponse({"reason": "this was answered already"}, status=409)
    note_player(place=place.pk, last_seen_at=place.last_seen_at)
    note_typing(place.pk, typing=any(text.strip() for text in fields.values()))
    try:
        kept = keep_draft(ask=open_ask, user=access.user, fields=fields, version=version)
    except NewerDraft as newer:
        conflict = {"reason": newer.reason, "version": newer.draft.version}
        return JsonResponse({**conflict, "fields": newer.draft.fields}, status=409)
    return JsonResponse({"version": kept})


def _drafted(request: HttpRequest) -> tuple[dict[str, str], int]:
    """Return the fields of a draft, and the version that it was typed on."""
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
