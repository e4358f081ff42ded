"""One trajectory: how it ended, its turns, what was hidden, and what people and judges said."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from analysis.views.browse import list_query, read_filter
from benchmarks.access import START, fetch, signed_in, visibility
from benchmarks.models import Trajectory
from benchmarks.selectors import trajectories
from benchmarks.selectors.casting import run_caution, run_roles
from benchmarks.selectors.turns import hidden_constraints, turn_views
from benchmarks.views.marks import final_marks
from benchmarks.views.parts import own_template


@signed_in
@require_safe
def trajectory(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    found = fetch(request, trajectories.whole_trajectories(), pk=trajectory_id)
    turns = turn_views([found])[found.pk]
    settings = found.run.settings
    context = {
        "trajectory": found,
        "run": found.run,
        "end": trajectories.trajectory_end(found),
        "why": trajectories.why_ended(found),
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
    return render(request, "analysis/trajectory.html", context)


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
