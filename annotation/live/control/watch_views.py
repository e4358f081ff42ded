"""Looking on at a session: for those who oversee its study, and change nothing here."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from annotation.live.access import fetch_session
from annotation.live.control.monitor import agent_now
from annotation.live.control.watching import (
    happenings,
    open_turn,
    sittings,
    watched_trajectory,
    watched_turns,
)
from annotation.live.play.services import note_end
from annotation.live.play.session_state import Table, read_table
from annotation.live.play.status import headline, limits
from annotation.live.play.views import STOP_POLLING
from benchmarks.access import VIEW, signed_in
from benchmarks.models import Exchange
from benchmarks.responses import own_template, wants_part
from benchmarks.runs.cautions import run_caution
from benchmarks.trajectories.selectors import is_scored


@require_safe
@signed_in
def session_watch(request: HttpRequest, pk: int) -> HttpResponseBase:
    """All of a session so far. Asked for by itself: 204 while nothing has changed."""
    access = fetch_session(request, pk)
    if not access.oversees:
        # Whoever plays sees what their role may see, until it is over.
        if access.place is not None and not wants_part(request):
            return redirect("annotation:session", pk=pk)
        raise Http404
    table = read_table(access)
    replies = table.trajectory.exchanges.filter(state=Exchange.State.ANSWERED).count()
    events = table.session.events.count()
    version = f"{table.token}.{table.trajectory.turn_count}.{replies}.{events}"
    part = wants_part(request)
    if part and request.GET.get("v") == version:
        return HttpResponse(status=STOP_POLLING if table.over else 204)
    given = request.GET.get("turn", "")
    after = int(given) if part and given.isdecimal() and len(given) < 6 else 0
    template = "annotation/partials/_watch_state.html" if part else "annotation/session_watch.html"
    context = {**_context(request, table, after), "version": version, "part": part}
    response = render(request, template, context)
    if part and table.over:
        response.status_code = STOP_POLLING
    patch_vary_headers(response, ["HX-Request"])
    return response


def _context(request: HttpRequest, table: Table, after: int) -> dict[str, Any]:
    if table.over:
        note_end(session=table.session)
    trajectory = watched_trajectory(table)
    system = trajectory.run.dataset.system
    turns = watched_turns(trajectory, after=after)
    spoken = open_turn(trajectory)
    return {
        "session": table.session,
        "study": table.access.study.study,
        "table": table,
        "state": headline(table),
        "limits": limits(table),
        "trajectory": trajectory,
        "caution": run_caution(trajectory.run, trajectory.recast),
        "run": trajectory.run,
        "agent": agent_now(trajectory),
        "turns": turns,
        "open": [one for one in spoken if not one.verdict],
        "verdicts": [one for one in spoken if one.verdict],
        "last": turns[-1].row.index if turns else after,
        "card": own_template(system, "_turn.html"),
        "badges": own_template(system, "_turn_badges.html"),
        "scored": is_scored(system),
        "sittings": sittings(table, system),
        "events": happenings(table),
        "manages": table.access.manages,
        "sees_results": request.user.has_perm(VIEW),
    }
