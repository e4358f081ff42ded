"""The list of trajectories, one of them, what was asked and answered, and several side by side."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from benchmarks.access import START, VIEW, allow, fetch, signed_in, visibility
from benchmarks.blinding import Visibility
from benchmarks.core.errors import CoreError
from benchmarks.core.words import explain
from benchmarks.forms.lists import TrajectoryFilter
from benchmarks.mappers import core_outcome
from benchmarks.models import Trajectory
from benchmarks.selectors import paging, trajectories
from benchmarks.selectors.casting import run_caution, run_roles
from benchmarks.selectors.exchanges import exchanges_of, turn_steps
from benchmarks.selectors.turns import hidden_constraints, turn_views
from benchmarks.services.runs import restart_trajectory, retry_trajectory
from benchmarks.views.marks import final_marks
from benchmarks.views.parts import (
    address,
    clean_query,
    go_back,
    own_template,
    respond,
    tell,
)

ROWS = 50
MOST_COMPARED = 3
# What belongs to a page of the list or of a trajectory, not to the choice that the list shows.
PLACE = ("after", "before", "step")


def read_filter(params: QueryDict, seen: Visibility) -> TrajectoryFilter:
    """The choice that an address makes."""
    return TrajectoryFilter(params, trajectories.run_options(seen), trajectories.end_options(seen))


@signed_in
@require_safe
def trajectory_list(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    seen = visibility(request)
    form = read_filter(request.GET, seen)
    chosen = form.chosen()
    rows = seen.of(trajectories.trajectory_list(chosen))
    page = paging.page_by_id(
        trajectories.with_parts(rows), request.GET, size=ROWS, newest=not chosen.get("order")
    )
    context = {
        "form": form,
        "active": form.active(),
        "rows": trajectories.trajectory_rows(page.rows),
        "columns": trajectories.list_columns(row.run.dataset.system for row in page.rows),
        "page": page,
        "matching": paging.count_up_to(rows, "trajectory", "trajectories"),
        "query": list_query(request.GET),
        "may_start": request.user.has_perm(START),
    }
    response = respond(
        request,
        "benchmarks/trajectory_list.html",
        "benchmarks/_trajectory_results.html",
        context,
    )
    response["HX-Push-Url"] = address(request)
    return response


def list_query(params: QueryDict) -> str:
    """The choice of a list as a query string, for the links that lead out of it."""
    kept = params.copy()
    for name in PLACE:
        kept.pop(name, None)
    return clean_query(kept)


def _whole() -> Any:
    return Trajectory.objects.select_related(
        "run__dataset", "run__agent", "run__primary_judging", "task__dataset", "profile"
    )


@signed_in
@require_safe
def trajectory(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    found = fetch(request, _whole(), pk=trajectory_id)
    turns = turn_views([found])[found.pk]
    settings = found.run.settings
    context = {
        "trajectory": found,
        "run": found.run,
        "end": trajectories.trajectory_end(found),
        "why": _why(found),
        "verdicts": trajectories.verdicts(found),
        "scored": trajectories.is_scored(found.run.dataset.system),
        "turns": turns,
        "last": turns[-1] if turns else None,
        "means": [turn.mean for turn in turns],
        "marks": final_marks(turns[-1]) if turns else [],
        "hidden": hidden_constraints(found, turns),
        "caution": run_caution(found.run),
        "roles": run_roles(found.run),
        "settings": settings,
        "card": own_template(found.run.dataset.system, "_turn.html"),
        "above": own_template(found.run.dataset.system, "_above.html"),
        "badges": own_template(found.run.dataset.system, "_turn_badges.html"),
        "mark_of_turn": own_template(found.run.dataset.system, "_turn_mark.html"),
        "beside": own_template(found.run.dataset.system, "_beside.html"),
        "may_start": request.user.has_perm(START),
        **_in_list(request, found),
    }
    return render(request, "benchmarks/trajectory.html", context)


def _why(found: Trajectory) -> str:
    """Why it ended, or what keeps it from going on."""
    if found.status == Trajectory.Status.DONE:
        return explain(found.run.dataset.system, core_outcome(found), found.run.settings)
    return found.problem or trajectories.STATES[found.status].sentence


def _in_list(request: HttpRequest, found: Trajectory) -> dict[str, Any]:
    """The neighbours in the list that the reader comes from; its choice is in the address."""
    query, seen = list_query(request.GET), visibility(request)
    chosen = read_filter(request.GET, seen).chosen() if query else {}
    beside = trajectories.neighbours(seen.of(trajectories.trajectory_list(chosen)), found.pk)
    backwards = bool(chosen.get("order"))
    before, after = beside.newer, beside.older
    return {
        "query": query,
        "previous": after if backwards else before,
        "next": before if backwards else after,
    }


@signed_in
@require_safe
def trajectory_exchanges(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    found = fetch(request, _whole(), pk=trajectory_id)
    parts = turn_steps(found)
    wanted = paging.as_id(request.GET.get("turn", "")) or 1
    shown = next((part for part in parts if part.turn == wanted), None)
    context = {
        "trajectory": found,
        "run": found.run,
        "parts": parts,
        "shown": shown,
        "exchanges": exchanges_of(found, shown) if shown or not parts else [],
    }
    return respond(
        request, "benchmarks/trajectory_exchanges.html", "benchmarks/_exchanges.html", context
    )


@signed_in
@require_POST
def trajectory_retry(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    found = fetch(request, _whole(), START, pk=trajectory_id)
    try:
        retry_trajectory(trajectory=found)
    except CoreError as error:
        tell(request, error)
    else:
        messages.success(request, "The trajectory goes on from what is stored of it.")
    return go_back(request, reverse("benchmarks:trajectory", args=[found.pk]))


@signed_in
@require_POST
def trajectory_restart(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    found = fetch(request, _whole(), START, pk=trajectory_id)
    try:
        fresh = restart_trajectory(trajectory=found)
    except CoreError as error:
        tell(request, error)
        return go_back(request, reverse("benchmarks:trajectory", args=[found.pk]))
    messages.success(request, "A new attempt was begun; the old one is kept as it is.")
    return HttpResponseRedirect(reverse("benchmarks:trajectory", args=[fresh.pk]))


@signed_in
@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    wanted = [pk for text in request.GET.getlist("t") if (pk := paging.as_id(text))]
    wanted = list(dict.fromkeys(wanted))
    seen = visibility(request)
    found = seen.of(_whole()).in_bulk(wanted[:MOST_COMPARED])
    rows = [found[pk] for pk in wanted if pk in found]
    turns = turn_views(rows)
    columns = [
        {
            "trajectory": row,
            "end": trajectories.trajectory_end(row),
            "why": _why(row),
            "turns": turns[row.pk],
            "means": [turn.mean for turn in turns[row.pk]],
            "marks": final_marks(turns[row.pk][-1]) if turns[row.pk] else [],
            "card": own_template(row.run.dataset.system, "_turn.html"),
            "others": [pk for pk in found if pk != row.pk],
        }
        for row in rows
    ]
    longest = max((len(turns[row.pk]) for row in rows), default=0)
    context = {
        "columns": columns,
        "missing": [pk for pk in wanted[:MOST_COMPARED] if pk not in found],
        "too_many": len(wanted) > MOST_COMPARED,
        "rows": [
            (
                index + 1,
                [(c, c["turns"][index] if index < len(c["turns"]) else None) for c in columns],
            )
            for index in range(longest)
        ],
        "same_task": len({row.task_id for row in rows}) == 1,
        "candidates": _candidates(rows, seen),
        "caution": run_caution(rows[0].run) if rows else None,
    }
    return render(request, "benchmarks/compare.html", context)


def _candidates(rows: list[Trajectory], seen: Visibility) -> list[trajectories.TrajectoryRow]:
    """Other trajectories of the first one's task, while there is room for one."""
    if not rows or len(rows) >= MOST_COMPARED:
        return []
    others = seen.of(trajectories.trajectory_list({"task": rows[0].task_id}))
    others = others.exclude(pk__in=[row.pk for row in rows]).order_by("-pk")
    return trajectories.trajectory_rows(trajectories.with_parts(others)[:20])
