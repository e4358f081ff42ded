"""One trajectory: how it ended, its turns, what was hidden, and what people and judges said."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseRedirect,
)
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.browser import reading
from analysis.browser.branches import branch_tree, may_branch
from analysis.browser.list_views import in_list, list_query
from analysis.browser.session_views import asked_place, message_address
from annotation.access import person
from annotation.annotator_quality.unanswered import unanswered_places
from annotation.ratings.trajectory_ratings import ratings_of_trajectory
from annotation.remarks.selectors import label_menu, labels_of, notes_of
from benchmarks import paging
from benchmarks.access import START, fetch, signed_in, visibility
from benchmarks.core.registry import find_system
from benchmarks.exports.downloads import ExportMenu, page_download, selected_parts
from benchmarks.models import Trajectory
from benchmarks.responses import own_template, respond, wants_fragment
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.selectors import run_roles
from benchmarks.trajectories import selectors as trajectories
from benchmarks.trajectories.timeline import timeline_of, turn_indices
from benchmarks.trajectories.turn_texts import find_text
from benchmarks.trajectories.turn_use import turn_use
from benchmarks.trajectories.turns import TurnView, hidden_kinds, turn_views


@signed_in
@require_safe
def trajectory(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    row = fetch(request, trajectories.with_page_relations(), pk=trajectory_id)
    if row.judged_id is not None:  # it has no turns of its own, only what judges were asked
        return redirect("benchmarks:trajectory_exchanges", row.pk)
    if number := paging.as_id(request.GET.get("message", "")):
        address = message_address(row, number, list_query(request.GET))
        return redirect(address or reverse("analysis:trajectory", args=[row.pk]))
    if wants_fragment(request) and "find" in request.GET:
        context = {"trajectory": row, "query": list_query(request.GET), **_search(request, row)}
        return respond(request, "", "analysis/_found.html", context)
    return TemplateResponse(request, "analysis/trajectory.html", page_context(request, row))


def page_context(request: HttpRequest, trajectory: Trajectory) -> dict[str, Any]:
    """Return all that the page of a trajectory shows."""
    labels = find_system(trajectory.run.dataset.system).labels
    timeline = timeline_of(trajectory)
    indices = [line.index for line in timeline.lines]
    shown, asked = reading.shown_at_first(indices, _asked(request)), asked_turn(request)
    open_at = asked if asked in shown else min(shown, default=0)
    remarks = remarks_context(request, trajectory)
    turns = shown_turns(trajectory, shown, remarks)
    last = turns[indices[-1]].turn if indices else None
    ratings = ratings_of_trajectory(
        trajectory=trajectory.pk, profile=trajectory.profile_id, user=person(request)
    )
    # Points for two trajectories together are none of this one.
    alone = [study for study in ratings if study.other is None]
    judging = trajectory.run.primary_judging
    return {
        **card_context(trajectory),
        **remarks,
        **_search(request, trajectory),
        "result": trajectories.trajectory_result(
            trajectory, trajectories.counted_metrics([trajectory])[trajectory.pk]
        ),
        "answer": trajectories.answer_of(trajectory, last),
        "why": trajectories.why_ended(trajectory),
        "verdicts": trajectories.verdicts(trajectory),
        "turns": [row.turn for row in turns.values()],
        "total": len(indices),
        "at": asked_place(request),
        "folded": any(row.folded for row in turns.values()),
        "last": last,
        "pieces": reading.pieces_of(indices, turns),
        "groups": reading.line_groups(timeline.lines, open_at),
        "shown": shown,
        "means": timeline.means,
        "marks": reading.header_marks(last, alone),
        "multiples": reading.multiples_of(timeline, alone),
        "judging": judging if timeline.dimensions else None,
        "said": ratings,
        "hidden": hidden_kinds(trajectory, timeline.violations) if labels.violations else [],
        "caution": run_caution(trajectory.run, trajectory.role_changes),
        "unanswered": _unanswered(trajectory),
        "roles": run_roles(trajectory.run, trajectory.role_changes),
        "settings": trajectory.run.settings,
        "above": own_template(trajectory.run.dataset.system, "_above.html"),
        "beside": own_template(trajectory.run.dataset.system, "_beside.html"),
        "may_start": request.user.has_perm(START),
        "tree": branch_tree(trajectory, visibility(request)),
        "branches_here": may_branch(trajectory.run),
        "export": ExportMenu(reverse("analysis:trajectory_export", args=[trajectory.pk])),
        **in_list(request, trajectory),
    }


@signed_in
@require_safe
def trajectory_export(request: HttpRequest, trajectory_id: int) -> HttpResponseBase:
    """Send one trajectory as a file."""
    trajectory = fetch(request, trajectories.with_page_relations(), pk=trajectory_id)
    return page_download(
        request,
        lambda: selected_parts([trajectory.pk], visibility(request)),
        f"trajectory-{trajectory.pk}",
        _page(trajectory, list_query(request.GET), None),
    )


def _unanswered(trajectory: Trajectory) -> str:
    """Return the titles of players who sent no reply in the session that this was; no names."""
    fillers = [filler for role in trajectory.run.roles.values() for filler in role]
    if not any(filler.get("kind") == "human" for filler in fillers):
        return ""
    places = unanswered_places([trajectory.pk]).get(trajectory.pk, [])
    return " and ".join(place.title.lower() for place in places)


def card_context(trajectory: Trajectory) -> dict[str, Any]:
    """Return what the card of a turn needs besides the turn."""
    system = trajectory.run.dataset.system
    return {
        "trajectory": trajectory,
        "run": trajectory.run,
        "scored": trajectories.is_scored(system),
        "card": own_template(system, "_turn.html"),
        "badges": own_template(system, "_turn_badges.html"),
        "mark_of_turn": own_template(system, "_turn_mark.html"),
    }


def remarks_context(request: HttpRequest, trajectory: Trajectory) -> dict[str, Any]:
    """Return the labels and notes, and the labels that can be put."""
    user = person(request)
    return {
        "labels": labels_of([trajectory.pk]).get(trajectory.pk, []),
        "notes": notes_of(trajectory.pk),
        "menu": label_menu(trajectory.run.dataset.system),
        "reader": user.pk,
        "may_all": user.is_superuser,
    }


def shown_turns(
    trajectory: Trajectory, shown: Collection[int], remarks: dict[str, Any]
) -> dict[int, reading.ShownTurn]:
    """Return these turns with what they took and what was said about them, by index."""
    views: list[TurnView] = turn_views([trajectory], only=shown)[trajectory.pk]
    use = turn_use(trajectory, [view.row for view in views])
    folds = find_system(trajectory.run.dataset.system).labels.folds
    labels, notes = defaultdict(list), defaultdict(list)
    for label in remarks["labels"]:
        labels[label.turn].append(label)
    for note in remarks["notes"]:
        if not note.deleted:
            notes[note.turn].append(note)
    return {
        view.row.index: reading.ShownTurn(
            view,
            use.get(view.row.index),
            labels[view.row.index],
            notes[view.row.index],
            folds is not None and folds(view.row.payload),
        )
        for view in views
    }


def asked_turn(request: HttpRequest) -> int | None:
    """Return the turn that an address names: ``turn`` to read it, ``from`` to read on from it."""
    return paging.as_id(request.GET.get("turn", "")) or paging.as_id(request.GET.get("from", ""))


def _asked(request: HttpRequest) -> reading.TurnRange | None:
    """Return the turns that an address asks for."""
    if turn := paging.as_id(request.GET.get("turn", "")):
        return reading.around(turn)
    first = paging.as_id(request.GET.get("from", ""))
    return reading.onwards(first) if first else None


@signed_in
@require_safe
def trajectory_turns(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    """Show turns of a gap, with the gaps that are left; or a folded group of the line of turns."""
    trajectory = fetch(request, trajectories.with_page_relations(), pk=trajectory_id)
    query = list_query(request.GET)
    if not wants_fragment(request):
        return HttpResponseRedirect(_page(trajectory, query, asked_turn(request)))
    gap = reading.TurnRange(*_bounds(request.GET.get("stretch", "")))
    indices = turn_indices(trajectory, first=gap.first, last=gap.last)
    if not indices:
        raise Http404("There are no such turns.")
    context = {**card_context(trajectory), "query": query}
    if "line" in request.GET:
        lines = [line for line in timeline_of(trajectory).lines if line.index in gap]
        context |= {"group": reading.LineGroup(gap, lines[: reading.GROUP]), "shown": ()}
        return render(request, "analysis/_line_group.html", context)
    part = reading.part_of(paging.as_id(request.GET.get("turn", "")) or gap.first)
    remarks = remarks_context(request, trajectory)
    turns = shown_turns(trajectory, {index for index in indices if index in part}, remarks)
    pieces = reading.pieces_of(indices, turns)
    return render(request, "analysis/_turn_pieces.html", {**context, **remarks, "pieces": pieces})


@signed_in
@require_safe
def trajectory_scores(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    """Show the small drawings as a table: every turn, every dimension."""
    trajectory = fetch(request, trajectories.with_page_relations(), pk=trajectory_id)
    timeline = timeline_of(trajectory)
    ratings = ratings_of_trajectory(
        trajectory=trajectory.pk, profile=trajectory.profile_id, user=person(request)
    )
    alone = [study for study in ratings if study.other is None]
    given = reading.people_by_turn(timeline, alone)
    rows = [
        (
            line,
            [
                (line.spreads.get(key), reading.people_of(given.get((key, line.index), [])))
                for key, _ in timeline.dimensions
            ],
        )
        for line in timeline.lines
    ]
    context = {
        **card_context(trajectory),
        "timeline": timeline,
        "rows": rows,
        "judging": trajectory.run.primary_judging,
        "query": list_query(request.GET),
    }
    return respond(
        request, "analysis/trajectory_scores.html", "analysis/_score_table.html", context
    )


def _bounds(text: str) -> tuple[int, int]:
    """Return a range such as ``21-499`` as two numbers."""
    first, _, last = text.partition("-")
    return paging.as_id(first) or 1, paging.as_id(last) or 0


def _page(trajectory: Trajectory, query: str, turn: int | None) -> str:
    at = reverse("analysis:trajectory", args=[trajectory.pk])
    words = "&".join(filter(None, [query, f"turn={turn}" if turn else ""]))
    return f"{at}{'?' if words else ''}{words}{f'#turn-{turn}' if turn else ''}"


def _search(request: HttpRequest, trajectory: Trajectory) -> dict[str, Any]:
    """Return what the reader looks for in this trajectory, and where it stands."""
    wanted = " ".join(request.GET.get("find", "")[:200].split())
    return {"wanted": wanted, "found_words": find_text(trajectory, wanted) if wanted else []}
