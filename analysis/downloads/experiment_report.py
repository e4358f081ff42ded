"""The report on an experiment: a page, one file, and the folder that `reproduce` writes."""

import io
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from analysis.exports.about import maker_name
from analysis.exports.report_file import FileSection
from analysis.exports.responses import (
    answer_figure,
    answer_latex,
    answer_table,
    as_file,
    poll_deferred,
)
from analysis.exports.table_choice import read_choice
from analysis.reports.content import Report
from analysis.reports.deferred_files import DeferredFile, deferred_file
from analysis.reports.deferred_reports import (
    DeferredReport,
    Params,
    ReportRequest,
    find_deferred,
    kept_deferred,
    note_progress,
    report_maker,
)
from analysis.reports.stored_reports import key_of_state, with_state
from analysis.reproduction.experiment import NotReady, reproduction_of
from analysis.reproduction.files import Reproduction, folder_files, report_page, source_of
from analysis.reproduction.manifest import banners_of
from analysis.reproduction.presets import known_presets, parts_of
from analysis.reproduction.sections import reports_of, sections_of
from annotation.access import person
from benchmarks.access import fetch, signed_in, visibility
from benchmarks.experiments.selectors import experiment_runs
from benchmarks.models import Experiment
from benchmarks.responses import wants_fragment
from benchmarks.visibility import Visibility

MAKER = "experiment-report"
WORDS = "Every page of the report is computed in the background, which takes up to a minute."
Sections = tuple[FileSection, ...]


@require_safe
@signed_in
def page(request: HttpRequest, experiment_id: int) -> HttpResponseBase:
    """Show the report on an experiment: the pages of its preset, or of the factors it varies."""
    experiment = _open(request, experiment_id)
    context: dict[str, Any] = {
        "experiment": experiment,
        "preset": known_presets().get(experiment.preset),
    }
    try:
        reproduction = _made(request, experiment)
    except NotReady as problem:
        context["waits"] = str(problem)
        return render(request, "analysis/experiment_report.html", context)
    state = find_deferred(_wanted(experiment, reproduction))
    sections = _stored(state)
    context |= {
        "lead": reproduction.lead,
        **_waiting(experiment, state),
        "banners": banners_of(sections),
        "sections": [
            {
                "section": section,
                "reports": [_shown(experiment, report, state) for report in reports_of(section)],
            }
            for section in sections
        ],
    }
    return render(request, "analysis/experiment_report.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def later(request: HttpRequest, experiment_id: int) -> HttpResponseBase:
    """Have the report computed on POST; tell on GET how far it is."""
    experiment = _open(request, experiment_id)
    state = poll_deferred(request, _wanted(experiment, _ready(request, experiment)))
    if state is None:
        return HttpResponse(status=204)
    if not wants_fragment(request):
        return redirect("analysis:experiment_report", experiment_id=experiment_id)
    response = render(request, "analysis/_deferred.html", _waiting(experiment, state))
    if _stored(state):
        response["HX-Refresh"] = "true"
    return response


@report_maker(MAKER)
def make_report(params: Params, seen: Visibility) -> tuple[str, Callable[[], Any]]:
    """Return the sections of an experiment's report, for somebody who may see so much."""
    experiment = seen.of(Experiment.objects.filter(pk=params["experiment"])).get()
    reproduction = reproduction_of(experiment, seen=seen)
    return _wanted(experiment, reproduction).key, lambda: _sections(reproduction)


def _wanted(experiment: Experiment, reproduction: Reproduction) -> ReportRequest:
    params = {"experiment": str(experiment.pk)}
    key = _key(experiment, reproduction)
    return ReportRequest(MAKER, params, key, f"Report on {experiment.name}"[:200])


def _stored(state: DeferredReport) -> Sections:
    """Return the sections of a report that is there; none before."""
    kept: Any = state.report
    return kept or ()


def _kept_reports(key: str) -> Iterable[Report]:
    """Return the reports of the sections that are stored under this key."""
    kept: Any = kept_deferred(key)
    return (report for section in kept or () for report in reports_of(section))


def _waiting(experiment: Experiment, state: DeferredReport) -> dict[str, object]:
    """Return what shows how far a report is."""
    return {
        "deferred": state,
        "deferred_url": reverse("analysis:experiment_later", args=[experiment.pk]),
        "deferred_settled": True,
        "deferred_alone": True,
        "deferred_words": WORDS,
        "page_url": reverse("analysis:experiment_report", args=[experiment.pk]),
    }


@require_safe
@signed_in
def figure(request: HttpRequest, experiment_id: int, part: str) -> HttpResponseBase:
    """Send a figure of the page as JSON."""
    experiment = _open(request, experiment_id)
    wanted = _wanted(experiment, _ready(request, experiment))
    return answer_figure(
        request,
        wanted.key,
        part,
        lambda: _section_with_part(_stored(find_deferred(wanted)), part)[1],
        _kept_reports,
    )


@require_safe
@signed_in
@deferred_file
def table(request: HttpRequest, experiment_id: int, part: str) -> DeferredFile | HttpResponseBase:
    """Send a table of the page as CSV."""
    experiment = _open(request, experiment_id)
    reproduction = _ready(request, experiment)

    def write() -> HttpResponse:
        _, report = _section_with_part(_computed_sections(reproduction), part)
        return answer_table(report, part, [_name(experiment), part])

    return DeferredFile(f"csv:{_key(experiment, reproduction)}:{part}", "Table as CSV", write)


@require_safe
@signed_in
@deferred_file
def latex(request: HttpRequest, experiment_id: int, part: str) -> DeferredFile | HttpResponseBase:
    """Send a table of the page as LaTeX."""
    experiment = _open(request, experiment_id)
    reproduction = _ready(request, experiment, absolute=True)
    choice = read_choice(request.GET)

    def write() -> HttpResponse:
        section, report = _section_with_part(_computed_sections(reproduction), part)
        source = replace(source_of(section, report), choice=choice)
        return answer_latex(report, part, [_name(experiment), part], source)

    key = f"tex:{_key(experiment, reproduction)}:{part}:{choice.key}"
    return DeferredFile(key, "Table as LaTeX", write)


@require_safe
@signed_in
@deferred_file
def one_file(request: HttpRequest, experiment_id: int) -> DeferredFile | HttpResponseBase:
    """Send the page as one HTML file."""
    experiment = _open(request, experiment_id)
    reproduction = _ready(request, experiment, absolute=True, compute_deferred=True)

    def write() -> HttpResponse:
        text = report_page(reproduction, _sections(reproduction), maker_name(person(request)))
        response = HttpResponse(text, content_type="text/html; charset=utf-8")
        return as_file(response, [_name(experiment), "report"], "html")

    return DeferredFile(f"page:{_key(experiment, reproduction)}", "Report in one file", write)


@require_safe
@signed_in
@deferred_file
def folder(request: HttpRequest, experiment_id: int) -> DeferredFile | HttpResponseBase:
    """Send the folder that `manage.py reproduce` writes as ZIP."""
    experiment = _open(request, experiment_id)
    reproduction = _ready(request, experiment, absolute=True, compute_deferred=True)

    def write() -> HttpResponse:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in folder_files(
                reproduction, figures="pdf", person=maker_name(person(request))
            ):
                note_progress(f"writing {name}")
                file.writestr(f"{_name(experiment)}/{name}", content)
        response = HttpResponse(packed.getvalue(), content_type="application/zip")
        return as_file(response, [_name(experiment)], "zip")

    return DeferredFile(f"zip:{_key(experiment, reproduction)}", "Tables and figures (ZIP)", write)


def _key(experiment: Experiment, reproduction: Reproduction) -> str:
    versions = [
        f"{run.pk}.{run.data_version}.{run.primary_judging_id}" for run in reproduction.about.runs
    ]
    # What a page may show depends on its reader.
    user = reproduction.about.seen.user
    subject = ("experiment", str(experiment.pk), str(user.pk if user is not None else 0))
    return key_of_state(subject, versions)


def _open(request: HttpRequest, experiment_id: int) -> Experiment:
    """Return the experiment, unless one of its runs is closed to the reader: its design names all
    agents.
    """
    experiment = fetch(request, Experiment.objects.select_related("created_by"), pk=experiment_id)
    seen = visibility(request)
    if seen.closed and any(run.pk in seen.closed for run in experiment_runs(experiment)):
        raise Http404("There is no such experiment.")
    return experiment


def _made(
    request: HttpRequest,
    experiment: Experiment,
    *,
    absolute: bool = False,
    compute_deferred: bool = False,
) -> Reproduction:
    """Return the report. With ``absolute`` its addresses name the server, for files.

    ``compute_deferred``: parts that take long are computed, as a job may.
    """
    server = request.build_absolute_uri("/").rstrip("/") if absolute else ""
    return reproduction_of(
        experiment, seen=visibility(request), compute_deferred=compute_deferred, server=server
    )


def _ready(request: HttpRequest, experiment: Experiment, **options: bool) -> Reproduction:
    try:
        return _made(request, experiment, **options)
    except NotReady as problem:
        raise Http404(str(problem)) from None


def _sections(reproduction: Reproduction) -> Sections:
    return tuple(_computed_sections(reproduction))


def _computed_sections(reproduction: Reproduction) -> Iterable[FileSection]:
    """Compute the sections one by one, as far as they are asked for."""
    return sections_of(parts_of(reproduction.preset, reproduction.design), reproduction.about)


def _section_with_part(sections: Iterable[FileSection], part: str) -> tuple[FileSection, Report]:
    """Return the section and report that have this figure or table."""
    for section in sections:
        for report in reports_of(section) if part.startswith(f"{section.name}-") else ():
            if report.figure(part) is not None or report.table(part) is not None:
                return section, report
    raise Http404("There is no such figure or table.")


def _shown(experiment: Experiment, report: Report, state: DeferredReport) -> dict[str, object]:
    """Return a report with the addresses of its figures, in this state, and of its tables."""

    def url(kind: str, part: str) -> str:
        return reverse(f"analysis:experiment_{kind}", args=[experiment.pk, part])

    key = state.wanted.key
    figures = [(f, with_state(url("figure", f.name), key)) for f in report.figures]
    tables = [(t, url("table", t.name)) for t in report.tables]
    return {"report": report, "figures": figures, "tables": tables}


def _name(experiment: Experiment) -> str:
    return slugify(f"{experiment.preset or experiment.name}-{experiment.pk}")
