"""The results of branches: what an answer did, or which turn decided a failure."""

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.exports.responses import answer_figure, answer_table
from analysis.reports.content import Report
from benchmarks.access import fetch, signed_in
from benchmarks.models import Branch, Run, Trajectory
from benchmarks.roles.cautions import run_caution


@signed_in
@require_safe
def branches(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """Show the results of a branch run; of a single branch, the trajectory."""
    run = fetch(request, branch_runs(), pk=run_id)
    rows = Branch.objects.filter(trajectory__run=run).select_related("parent__task", "parent__run")
    if len(rows) == 1:
        return HttpResponseRedirect(reverse("analysis:trajectory", args=[rows[0].pk]))
    report = read_report(run)
    context = {
        "run": run,
        "parent": rows[0].parent,
        "report": report,
        "caution": run_caution(run),
        "figures": [
            (figure, reverse("analysis:branches_figure", args=[run.pk, figure.name]))
            for figure in report.figures
        ],
        "tables": [
            (table, reverse("analysis:branches_table", args=[run.pk, table.name]))
            for table in report.tables
        ],
    }
    return render(request, "analysis/branches.html", context)


@signed_in
@require_safe
def figure(request: HttpRequest, run_id: int, part: str) -> HttpResponseBase:
    """Send a figure as JSON; it changes when another replay has ended."""
    run = fetch(request, branch_runs(), pk=run_id)
    ended = run.trajectories.filter(status=Trajectory.Status.DONE).count()
    return answer_figure(request, f"branches-{run.pk}-{ended}", part, lambda: read_report(run))


@signed_in
@require_safe
def table(request: HttpRequest, run_id: int, part: str) -> HttpResponseBase:
    """Send a table as CSV, in numbers that are not rounded for reading."""
    run = fetch(request, branch_runs(), pk=run_id)
    return answer_table(read_report(run), part, [part, f"branches-{run.pk}"])


def branch_runs() -> QuerySet[Run]:
    """Return the runs that hold branches."""
    rows = Run.objects.filter(kind=Run.Kind.BRANCH)
    return rows.select_related("dataset", "agent", "primary_judging")


def read_report(run: Run) -> Report:
    """Return what the replays of a branch run come to."""
    # Arrays are slow to import: not when the server starts.
    from analysis.pages.branches.page import branch_report
    from analysis.pages.branches.replays import read_replays

    return branch_report(run, read_replays(run))
