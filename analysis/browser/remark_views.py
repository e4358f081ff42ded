"""Labels and notes on a trajectory: put and taken off, written, changed and deleted."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.browser.trajectory_views import page_context, remarks_context
from analysis.pages.saved_views.services import LONGEST_QUERY
from annotation.access import person
from annotation.errors import Refused
from annotation.models import Remark, TrajectoryLabel
from annotation.remarks import services
from benchmarks import paging
from benchmarks.access import fetch, signed_in
from benchmarks.core.digests import storable
from benchmarks.models import Trajectory
from benchmarks.responses import wants_fragment
from benchmarks.trajectories.selectors import with_page_relations

# What a form of a note sends.
DRAFT = ("text", "turn", "quote", "where", "start", "end")


@signed_in
@require_POST
def label_put(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    trajectory = fetch(request, with_page_relations(), pk=trajectory_id)

    def put(user: User) -> int | None:
        turn = _turn(request)
        key = storable(request.POST.get("label", ""))
        services.put_label(trajectory=trajectory, key=key, by=user, turn=turn)
        return turn

    return _answer(request, trajectory, put, "labels")


@signed_in
@require_POST
def label_off(request: HttpRequest, trajectory_id: int, put_id: int) -> HttpResponse:
    trajectory = fetch(request, with_page_relations(), pk=trajectory_id)
    put = get_object_or_404(TrajectoryLabel, trajectory=trajectory, pk=put_id)

    def take(user: User) -> int | None:
        services.take_label_off(put=put, by=user)
        return put.turn

    return _answer(request, trajectory, take, "labels")


@signed_in
@require_POST
def note_add(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    trajectory = fetch(request, with_page_relations(), pk=trajectory_id)

    def add(user: User) -> int | None:
        turn = _turn(request)
        services.add_remark(
            trajectory=trajectory, by=user, turn=turn,
            text=_lines(request.POST.get("text", "")), quote=_lines(request.POST.get("quote", "")),
            where=request.POST.get("where", ""),
            start=_number(request, "start"), end=_number(request, "end"),
        )  # fmt: skip
        return turn

    return _answer(request, trajectory, add, "notes", draft=True)


@signed_in
@require_POST
def note_change(request: HttpRequest, trajectory_id: int, note_id: int) -> HttpResponse:
    trajectory = fetch(request, with_page_relations(), pk=trajectory_id)
    remark = get_object_or_404(Remark, trajectory=trajectory, pk=note_id)

    def change(user: User) -> int | None:
        if "delete" in request.POST:
            services.delete_remark(remark=remark, by=user)
        else:
            text = _lines(request.POST.get("text", ""))
            services.reword_remark(remark=remark, by=user, text=text)
        return remark.turn

    return _answer(request, trajectory, change, "notes")


def _answer(
    request: HttpRequest,
    trajectory: Trajectory,
    act: Callable[[User], int | None],
    name: str,
    *,
    draft: bool = False,
) -> HttpResponse:
    """Do it; then the card with the turn that changed, or the page where it stands.

    Where it is refused the card, or the page, comes back with the reason and what was written.
    """
    turn: int | None = None
    refused: dict[str, Any] = {}
    try:
        turn = act(person(request))
    except Refused as error:
        text = str(error)
        refused[f"{name.removesuffix('s')}_problem"] = f"{text[:1].upper()}{text[1:]}."
        if draft:
            refused["note_draft"] = {key: request.POST.get(key, "") for key in DRAFT}
    status = 422 if refused else 200
    query = request.POST.get("query", "")
    if len(query) > LONGEST_QUERY:
        query = ""  # no list has such filters, and no address could hold them
    if wants_fragment(request):
        context = {
            "trajectory": trajectory, "run": trajectory.run, "query": query, "name": name,
            "changed": turn,
            **remarks_context(request, trajectory), **refused,
        }  # fmt: skip
        if turn is not None:
            context["turn_labels"] = [row for row in context["labels"] if row.turn == turn]
            context["turn_notes"] = [
                row for row in context["notes"] if row.turn == turn and not row.deleted
            ]
        return render(request, "analysis/_remarks_answer.html", context, status=status)
    if refused:
        page = {**page_context(request, trajectory), **refused}
        return render(request, "analysis/trajectory.html", page, status=status)
    at = reverse("analysis:trajectory", args=[trajectory.pk])
    return HttpResponseRedirect(f"{at}{'?' if query else ''}{query}#{name}")


def _turn(request: HttpRequest) -> int | None:
    """Return the turn that a form names; what is no number is no turn of any trajectory."""
    text = request.POST.get("turn", "").strip()
    if not text:
        return None
    turn = paging.as_id(text)
    if turn is None:
        raise Refused("invalid", f"“{text[:20]}” is no turn")
    return turn


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.POST.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else None


def _lines(text: str) -> str:
    """Join line ends that forms send as two characters; places in a text are counted with one."""
    return text.replace("\r\n", "\n")
