"""The list of trajectories: filters in the address, one page of rows at a time."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from benchmarks.access import START, VIEW, allow, signed_in, visibility
from benchmarks.blinding import Visibility
from benchmarks.forms.lists import TrajectoryFilter
from benchmarks.models import Trajectory
from benchmarks.selectors import paging, trajectories
from benchmarks.views.parts import address, clean_query, respond

ROWS = 50
# What belongs to a page of the list or of a trajectory, not to the choice that the list shows.
PLACE = ("after", "before", "step", "turn", "from", "find", "stretch", "line")


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
        "analysis/trajectory_list.html",
        "benchmarks/_trajectory_results.html",
        context,
    )
    response["HX-Push-Url"] = address(request)
    return response


def in_list(request: HttpRequest, found: Trajectory) -> dict[str, Any]:
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


def list_query(params: QueryDict) -> str:
    """The choice of a list as a query string, for the links that lead out of it."""
    kept = params.copy()
    for name in PLACE:
        kept.pop(name, None)
    return clean_query(kept)
