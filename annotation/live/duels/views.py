"""What the page of a duel sends: votes, and questions whether anything has changed."""

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.access import LARGEST
from annotation.errors import Refused
from annotation.live.duels.page import duel_context, read_duel_page, session_to_answer
from annotation.live.duels.services import close, vote
from annotation.live.play.presence import read_page
from annotation.live.play.reply_panel import desk_key, load_reply_panel
from annotation.live.play.session_state import read_session_state
from annotation.live.play.views import (
    each_side,
    fetch_player,
    note_there,
    player_page,
    whole_context,
)
from annotation.models import Duel
from benchmarks.access import signed_in


def _fetch_duel(pk: int) -> Duel:
    duel = Duel.objects.filter(pk=pk).first() if pk <= LARGEST else None
    if duel is None:
        raise Http404
    return duel


@require_POST
@signed_in
def duel_vote(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Store a vote of the player: ``turn`` (0: at the end) and ``choice``."""
    duel = _fetch_duel(pk)
    access, _ = fetch_player(request, duel.left_id)
    given = request.POST.get("turn", "")
    turn = int(given) if given.isascii() and given.isdigit() and len(given) < 5 else -1
    try:
        if turn < 0:
            raise Refused("invalid", "say which turn the vote is about")
        vote(duel=duel, turn=turn, choice=request.POST.get("choice", ""), by=access.user)
    except Refused as refused:
        status = 422 if refused.code == "invalid" else 409
        access, _ = fetch_player(request, session_to_answer(request, read_session_state(access)))
        return player_page(request, access, status=status, refused=refused.reason)
    return redirect("annotation:session", pk=duel.left_id)


@require_POST
@signed_in
def duel_close(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Let the player go on without a vote at the end, also where an agent failed."""
    duel = _fetch_duel(pk)
    access, _ = fetch_player(request, duel.left_id)
    try:
        close(duel=duel)
    except Refused as refused:
        return player_page(request, access, status=409, refused=refused.reason)
    if access.study.annotates:
        return redirect("annotation:next_item", pk=access.study.study.pk)
    return redirect("annotation:home")


@require_safe
@signed_in
def duel_state(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the duel anew where it has changed since ``v``; ``at`` is the session with the form."""
    duel = _fetch_duel(pk)
    at = duel.right_id if request.GET.get("at") == str(duel.right_id) else duel.left_id
    access, _ = fetch_player(request, at)
    name = read_page(request.GET.get("p", ""))
    for side in each_side(request, access):
        if side.place is not None:
            note_there(side.place, name)
    state = read_session_state(access)
    page = read_duel_page(request, state)
    if request.GET.get("v") == page.token:
        return HttpResponse(status=204)
    if (other := session_to_answer(request, state)) != at:
        access, _ = fetch_player(request, other)
        state = read_session_state(access)
        page = read_duel_page(request, state)
    context = whole_context(state, load_reply_panel(state, desk_key(state)), name)
    context |= {**duel_context(page, context), "polled": True}
    return render(request, "annotation/partials/_duel.html", context)
