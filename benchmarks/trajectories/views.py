"""Pages of a trajectory's log, and the actions that resume or restart a trajectory."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from benchmarks import paging
from benchmarks.access import START, fetch, signed_in
from benchmarks.core.errors import CoreError
from benchmarks.responses import add_error_message, go_back, respond
from benchmarks.runs.services import restart_trajectory, retry_trajectory
from benchmarks.trajectories.exchanges import exchanges_of, turn_steps
from benchmarks.trajectories.selectors import with_page_relations


@signed_in
@require_safe
def trajectory_exchanges(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    trajectory = fetch(request, with_page_relations(), pk=trajectory_id)
    parts = turn_steps(trajectory)
    wanted = paging.as_id(request.GET.get("turn", "")) or 1
    shown = next((part for part in parts if part.turn == wanted), None)
    context = {
        "trajectory": trajectory,
        "run": trajectory.run,
        "parts": parts,
        "shown": shown,
        "exchanges": exchanges_of(trajectory, shown) if shown or not parts else [],
    }
    return respond(
        request,
        "benchmarks/trajectories/trajectory_exchanges.html",
        "benchmarks/trajectories/_exchanges.html",
        context,
    )


@signed_in
@require_POST
def trajectory_retry(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    trajectory = fetch(request, with_page_relations(), START, pk=trajectory_id)
    try:
        retry_trajectory(trajectory=trajectory)
    except CoreError as error:
        add_error_message(request, error)
    else:
        messages.success(request, "The trajectory resumes from its log.")
    return go_back(request, reverse("analysis:trajectory", args=[trajectory.pk]))


@signed_in
@require_POST
def trajectory_restart(request: HttpRequest, trajectory_id: int) -> HttpResponse:
    trajectory = fetch(request, with_page_relations(), START, pk=trajectory_id)
    try:
        fresh = restart_trajectory(trajectory=trajectory)
    except CoreError as error:
        add_error_message(request, error)
        return go_back(request, reverse("analysis:trajectory", args=[trajectory.pk]))
    messages.success(request, "A new attempt was started; the old one is kept.")
    return HttpResponseRedirect(reverse("analysis:trajectory", args=[fresh.pk]))
