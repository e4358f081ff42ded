"""Messages of a long session: parts of a turn, and single texts, as a reader asks for them."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from benchmarks import paging
from benchmarks.access import fetch, signed_in
from benchmarks.models import Trajectory
from benchmarks.responses import own_template, wants_fragment
from benchmarks.trajectories import selectors as trajectories
from benchmarks.trajectories.images import image_response
from benchmarks.trajectories.messages import message_part
from benchmarks.trajectories.session_map import MessageGap, message_window, session_map


def message_address(trajectory: Trajectory, number: int, query: str = "") -> str | None:
    """Return the address of a message on the page of its trajectory; None if there is none."""
    known = session_map(trajectory)
    turn = known.turn_of(number)
    if turn is None:
        return None
    place = number - known.starts[turn] + 1
    words = "&".join(filter(None, [query, urlencode({"turn": turn, "place": place})]))
    return f"{reverse('analysis:trajectory', args=[trajectory.pk])}?{words}#m-{number}"


def asked_place(request: HttpRequest) -> tuple[int, int] | None:
    """Return the turn, and the place in it, of the message that an address names."""
    turn = paging.as_id(request.GET.get("turn", ""))
    place = paging.as_id(request.GET.get("place", ""))
    return (turn, place) if turn and place else None


@signed_in
@require_safe
def trajectory_messages(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    """Show messages of a gap in a turn, with the gaps that are left."""
    trajectory = fetch(request, trajectories.with_page_relations(), pk=trajectory_id)
    first, _, last = request.GET.get("gap", "").partition("-")
    gap = MessageGap(paging.as_id(first) or 1, paging.as_id(last) or 1)
    at = paging.as_id(request.GET.get("at", "")) or gap.first
    turn = trajectory.turns.filter(index=paging.as_id(request.GET.get("turn", "")) or 0).first()
    if turn is None:
        raise Http404("There is no such turn.")
    if not wants_fragment(request):
        known = session_map(trajectory)
        address = message_address(trajectory, known.starts.get(turn.index, 1) + gap.first - 1)
        return HttpResponseRedirect(address or reverse("analysis:trajectory", args=[trajectory.pk]))
    window = message_window(trajectory, turn, at=at, within=gap)
    if not window.messages:
        raise Http404("There are no such messages.")
    context: dict[str, Any] = {"trajectory": trajectory, "window": window}
    part = own_template(trajectory.run.dataset.system, "_messages.html")
    return render(request, part, context)


@signed_in
@require_safe
def trajectory_message(request: HttpRequest, trajectory_id: int, number: int) -> HttpResponse:
    """Show the whole text of one message, or lead to it on the page."""
    trajectory = fetch(request, trajectories.with_page_relations(), pk=trajectory_id)
    known = session_map(trajectory)
    index = known.turn_of(number)
    if index is None:
        raise Http404("There is no such message.")
    if not wants_fragment(request):
        return HttpResponseRedirect(message_address(trajectory, number) or "")
    place = number - known.starts[index] + 1
    (message,) = message_part(trajectory.turns.get(index=index), place, place)
    return render(request, "systems/external/_text.html", {"message": message})


@signed_in
@require_safe
def trajectory_image(request: HttpRequest, trajectory_id: int, digest: str) -> HttpResponse:
    """Send an image of a message; its type was told by its content when it was stored."""
    trajectory = fetch(request, trajectories.with_page_relations(), pk=trajectory_id)
    return image_response(trajectory.pk, digest)
