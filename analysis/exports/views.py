"""Downloads of analysis pages: tables as LaTeX, figures as PDF, reports as one file."""

from time import monotonic

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.exports.about import about_file, maker_name
from analysis.exports.figure_pdf import answer_pdf
from analysis.exports.latex import TableSource
from analysis.exports.report_file import FileSection, ReportFile, render_file
from analysis.exports.run_report import pages_of_run, run_facts, select_run
from analysis.filters import Filters, with_query
from analysis.filters.selection import Selection
from analysis.filters.studies import readable_studies
from analysis.pages.catalogue import AnalysisPage, pages_of, select
from analysis.pages.file_names import file_name
from analysis.pages.quality.views import BLIND, quality_section
from analysis.pages.reports import deferred_request, make_report, report_key
from analysis.pages.responses import answer_latex, as_file
from analysis.pages.views import open_page, report_with_part, subject_of
from analysis.reports.content import Banner, Report
from analysis.reports.deferred_reports import kept_deferred
from analysis.reports.run_marks import banners
from analysis.reports.stored_reports import kept_report
from annotation.access import fetch_overseen_study, person
from annotation.studies.selectors import study_banner
from benchmarks.access import VIEW, fetch, signed_in, visibility
from benchmarks.mappers import run_condition
from benchmarks.models import Run
from benchmarks.runs.cautions import run_caution

# A file whose reports were not kept stops writing new ones after so many seconds.
PATIENCE = 20
NOT_YET = (
    "Not in this file, because it takes long and was not computed yet. Open the page on the "
    "server, wait for it, and download this file again."
)
LACKS_DEFERRED = (
    "What takes longer on this page was not computed yet and is not in this file. Open the page on "
    "the server, have it computed, and download this file again."
)


@require_safe
@signed_in
def latex(request: HttpRequest, name: str, part: str) -> HttpResponseBase:
    """Show a table of a page as LaTeX."""
    found, selection, key = open_page(request, name)
    report = report_with_part(found, selection, key, part, "table")
    source = table_source(request, found, selection, report)
    return answer_latex(report, part, [file_name(found, selection, part)], source)


def table_source(
    request: HttpRequest, page: AnalysisPage, selection: Selection, report: Report
) -> TableSource:
    """Return what a table in LaTeX says of where it comes from."""
    return TableSource(
        page.key,
        subject_of(selection),
        about_file(_page_url(request, page, selection)),
        (*banners(selection), *report.banners),
    )


@require_safe
@signed_in
def pdf(request: HttpRequest, name: str, part: str) -> HttpResponseBase:
    """Show a figure of a page as PDF."""
    found, selection, key = open_page(request, name)
    figure = report_with_part(found, selection, key, part, "figure").figure(part)
    return answer_pdf(request, figure, key, [file_name(found, selection, part)])


@require_safe
@signed_in
def page_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """Show a page with its filters as one file."""
    found, selection, _ = open_page(request, name)
    url = _page_url(request, found, selection)
    made = ReportFile(
        found.title,
        found.question,
        url,
        maker_name(person(request)),
        (_section(found, selection, "", until=None),),
    )
    return _file(made, [file_name(found, selection)])


@require_safe
@signed_in
def run_file(request: HttpRequest, run_id: int) -> HttpResponseBase:
    """Download the report on one run, with its pages, endings and pinned versions."""
    rows = Run.objects.select_related(
        "dataset", "agent", "experiment", "primary_judging", "created_by"
    )
    run = fetch(request, rows, pk=run_id)
    until = monotonic() + PATIENCE
    caution = run_caution(run)
    marks = (Banner(caution.title, caution.text),) if caution is not None else ()
    url = request.build_absolute_uri(reverse("benchmarks:run", args=[run.pk]))
    sections = [FileSection("run", "The run", url=url, report=run_facts(run), banners=marks)]
    for page in pages_of_run(run):
        selection = select_run(run, page, visibility(request))
        section = _section(page, selection, _page_url(request, page, selection), until=until)
        if section.report is None or section.report.empty is None:
            sections.append(section)
    title = f"Run {run.pk}: {run.agent.title}"
    lead = f"{run.dataset}{f', level {run.level}' if run.level else ''}, {run_condition(run)}"
    made = ReportFile(title, lead, url, maker_name(person(request)), tuple(sections), marks)
    return _file(made, [f"run-{run.pk}", run.agent.name, str(run.dataset), run.level])


@require_safe
@signed_in
def study_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the results of a study as one file; the quality of answers for those who may read
    them.
    """
    access = fetch_overseen_study(request, pk)
    if access.blind:
        raise PermissionDenied(BLIND)
    study, user = access.study, person(request)
    until = monotonic() + PATIENCE
    sections = []
    if user.has_perm(VIEW) and study in readable_studies(user)[0]:
        for page in pages_of(study):
            selection = select(page, Filters(study=str(pk)), user, visibility(request))
            sections.append(
                _section(page, selection, _page_url(request, page, selection), until=until)
            )
    if access.reads_answers:
        sections.append(quality_section(request, study))
    if not sections:
        raise PermissionDenied("The results of this study are not open to you.")
    banner = study_banner(study)
    marks = (Banner(banner["title"], banner["text"]),) if banner is not None else ()
    url = request.build_absolute_uri(reverse("annotation:study", args=[pk]))
    lead = f"Results of the study, {study.get_status_display().lower()}."
    made = ReportFile(study.name, lead, url, maker_name(person(request)), tuple(sections), marks)
    return _file(made, ["study", study.name])


def _section(
    page: AnalysisPage, selection: Selection, url: str, *, until: float | None
) -> FileSection:
    """Return a page as a section: its report, kept or written now unless the time for that is
    over.
    """
    key = report_key(page, selection)
    report = kept_report(key)
    if report is None and (until is None or monotonic() < until):
        report = make_report(page, selection, key)
    wanted = deferred_request(page, selection) if report is not None else None
    deferred = kept_deferred(wanted.key) if wanted is not None else None
    missing = (
        NOT_YET
        if report is None
        else LACKS_DEFERRED
        if wanted is not None and deferred is None
        else ""
    )
    return FileSection(
        page.key,
        page.title,
        page.question,
        subject_of(selection),
        url,
        report,
        deferred,
        banners(selection),
        missing,
    )


def _page_url(request: HttpRequest, page: AnalysisPage, selection: Selection) -> str:
    url = with_query(reverse(f"analysis:{page.key}"), selection.filters.query())
    return request.build_absolute_uri(url)


def _file(made: ReportFile, name: list[str]) -> HttpResponse:
    response = HttpResponse(render_file(made), content_type="text/html; charset=utf-8")
    return as_file(response, [*name, "report"], "html")
