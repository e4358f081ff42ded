"""The results of an experiment: cell by cell, with their spread across replicates."""

from typing import NamedTuple

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.exports.responses import answer_table
from analysis.reports.content import Report
from analysis.reports.stored_reports import keep_report, key_of
from benchmarks.access import fetch, signed_in, visibility
from benchmarks.core.digests import digest
from benchmarks.experiments.selectors import experiment_matrix, experiment_runs
from benchmarks.models import Experiment
from benchmarks.responses import respond
from benchmarks.roles.cautions import Caution, runs_caution
from benchmarks.validity.selectors import unusable_tasks


class ExperimentPage(NamedTuple):
    """An experiment with its report, under the key of what that was made from."""

    experiment: Experiment
    report: Report
    key: str
    caution: Caution | None


@signed_in
@require_safe
def replicates(request: HttpRequest, experiment_id: int) -> HttpResponseBase:
    """Show the page, or the part that the experiment's own page shows."""
    opened = _open(request, experiment_id)
    context = {
        "experiment": opened.experiment,
        "report": opened.report,
        "key": opened.key,
        "caution": opened.caution,
        "figures": [],
        "tables": [(one, _table_url(experiment_id, one.name)) for one in opened.report.tables],
        "page_url": reverse("analysis:replicates", args=[experiment_id]),
    }
    return respond(request, "analysis/replicates.html", "analysis/_replicates.html", context)


@signed_in
@require_safe
def table(request: HttpRequest, experiment_id: int, part: str) -> HttpResponseBase:
    """Show the table as CSV, in numbers that are not rounded for reading."""
    opened = _open(request, experiment_id)
    return answer_table(opened.report, part, [part, f"experiment-{experiment_id}"])


def _table_url(experiment_id: int, part: str) -> str:
    return reverse("analysis:replicates_table", args=[experiment_id, part])


def _open(request: HttpRequest, experiment_id: int) -> ExperimentPage:
    """Authorise, then make the report of the runs that this person may see now."""
    # Arrays are slow to import: not when the server starts.
    from analysis.pages.replicates.page import replicates_report

    experiment = fetch(request, Experiment.objects.all(), pk=experiment_id)
    runs = experiment_runs(experiment, visibility(request))
    # One table has the measures of one system.
    system = runs[0].dataset.system if runs else ""
    runs = [run for run in runs if run.dataset.system == system]
    matrix = experiment_matrix(experiment, runs)
    stamps = [
        f"{place.run.pk}.{place.run.data_version}.{place.run.status}.{place.count.ended}"
        for place in matrix.places
    ]
    unusable = unusable_tasks({run.dataset_id for run in runs})
    left_out = digest([[*cell, *sorted(tasks)] for cell, tasks in sorted(unusable.items())])
    key = key_of("replicates", str(experiment.pk), *stamps, left_out)
    report = keep_report(key, lambda: replicates_report(matrix.groups, system))
    return ExperimentPage(experiment, report, key, runs_caution(runs))
