"""The page on which people accept, edit or veto rows of training data."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from benchmarks.access import START, VIEW, fetch, signed_in
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.training_rows import TrainingRows as Port
from benchmarks.models import Run, Trajectory
from benchmarks.responses import add_error_message, go_back, wants_fragment
from benchmarks.roles.cautions import run_caution
from benchmarks.training_rows.forms import TrainingRowFilter
from benchmarks.training_rows.selectors import (
    RowPlace,
    count_places,
    port_of,
    row_cards,
    row_places,
)
from benchmarks.training_rows.services import RowRefused, decide_row

ROWS = 20
# A small integer in every database; no trajectory has so many turns.
LARGEST_INDEX = 32767


def _run(request: HttpRequest, run_id: int, permission: str) -> tuple[Run, Port]:
    rows = Run.objects.select_related("dataset", "agent")
    run = fetch(request, rows, permission, pk=run_id)
    port = port_of(run)
    if port is None or run.kind == Run.Kind.JUDGING:
        raise Http404
    return run, port


@signed_in
@require_safe
def training_rows(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the rows that the thresholds propose, with what was decided about them."""
    run, port = _run(request, run_id, VIEW)
    form = TrainingRowFilter(request.GET, run, port)
    settings = form.settings()
    places = row_places(run, port, settings)
    wanted = [place for place in places if form.shows(place)]
    shown, before, after = _page(wanted, request.GET.get("after", ""))
    context = {
        **_shared(request, run, port, form, places),
        "form": form,
        "cards": row_cards(run, port, shown, settings),
        "kinds": [(port.kinds[key], n) for key, n in count_places(places).kinds.items()],
        "matching": len(wanted),
        "steps": len(places),
        "first": before + 1,
        "previous_url": _address(request, wanted, before - ROWS) if before else "",
        "next_url": _address(request, wanted, before + ROWS) if after else "",
        "caution": run_caution(run),
        "trail": [
            ("Runs", reverse("benchmarks:run_list")),
            (f"Run {run.pk}", reverse("benchmarks:run", args=[run.pk])),
            ("Rows", ""),
        ],
    }
    return render(request, "benchmarks/training_rows/training_rows.html", context)


@signed_in
@require_POST
def row_decide(request: HttpRequest, run_id: int, trajectory_id: int, index: int) -> HttpResponse:
    """Store a decision, and answer with the row as it stands then."""
    run, port = _run(request, run_id, START)
    form = TrainingRowFilter(request.GET, run, port)
    done = run.trajectories.filter(status=Trajectory.Status.DONE)
    trajectory = fetch(request, done, START, pk=trajectory_id)
    seen = request.POST.get("seen", "")
    text = request.POST.get("text", "")
    error = ""
    try:
        if index > LARGEST_INDEX:
            raise RowRefused("this step proposes no row under these thresholds")
        decide_row(
            port=port,
            trajectory=trajectory,
            index=index,
            settings=form.settings(),
            verdict=request.POST.get("verdict", ""),
            text=text,
            seen=int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 19 else 0,
            person=request.user if request.user.is_authenticated else None,
        )
    except CoreError as refused:
        error = _sentence(refused)
        if not wants_fragment(request):
            add_error_message(request, refused)
    page = f"{reverse('benchmarks:training_rows', args=[run.pk])}?{request.GET.urlencode()}"
    if not wants_fragment(request):
        return go_back(request, f"{page}#row-{trajectory.pk}-{index}")
    places = row_places(run, port, form.settings())
    place = next((p for p in places if (p.trajectory, p.index) == (trajectory.pk, index)), None)
    if place is None:
        messages.error(request, error)
        response = HttpResponse(status=204)
        response["HX-Redirect"] = page
        return response
    (card,) = row_cards(run, port, [place], form.settings())
    context = {
        **_shared(request, run, port, form, places),
        "card": card,
        "error": error,
        "typed": text if error else "",
        "alone": True,
    }
    status = 422 if error else 200
    return render(request, "benchmarks/training_rows/_row_answer.html", context, status=status)


def _shared(
    request: HttpRequest, run: Run, port: Port, form: TrainingRowFilter, places: Sequence[RowPlace]
) -> dict[str, Any]:
    """Return what the page and the answer to a decision both show."""
    changed = form.changed_settings()
    options = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in changed.items())
    return {
        "run": run,
        "counts": count_places(places),
        "may_decide": request.user.has_perm(START),
        # A decision is about the row as it is under these thresholds.
        "thresholds": f"?{urlencode(changed)}" if changed else "",
        "changed": changed,
        "command": f"manage.py {port.command} {run.pk} --out rows {options}".strip(),
    }


def _page(places: Sequence[RowPlace], after: str) -> tuple[Sequence[RowPlace], int, bool]:
    """Return the rows after a named one, how many come before them, and whether more follow.

    Pages begin after a row, not at a number: rows that were decided leave the list meanwhile.
    """
    trajectory, _, index = after.partition("-")
    start = 0
    if trajectory.isdigit() and index.isdigit() and len(after) < 30:
        mark = (int(trajectory), int(index))
        start = sum((place.trajectory, place.index) <= mark for place in places)
    return places[start : start + ROWS], start, len(places) > start + ROWS


def _address(request: HttpRequest, places: Sequence[RowPlace], start: int) -> str:
    """Return the address of the page that begins with the row of this number, from 0."""
    query = request.GET.copy()
    query.pop("after", None)
    if start > 0:
        query["after"] = places[start - 1].name
    return f"?{query.urlencode()}"


def _sentence(error: Exception) -> str:
    text = str(error)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
