"""Downloads of analysis pages: tables as LaTeX, figures as PDF, reports as one file."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.downloads.run_report import pages_of_run, run_facts, select_run
from analysis.exports.about import about_file, maker_name
from analysis.exports.figure_pdf import pdf_file
from analysis.exports.latex import TableSource
from analysis.exports.report_file import FileSection, ReportFile, render_file
from analysis.exports.responses import answer_latex, as_file
from analysis.exports.table_choice import read_choice
from analysis.filters import Filters, with_query
from analysis.filters.selection import Selection
from analysis.filters.studies import readable_studies
from analysis.pages.catalogue import AnalysisPage, pages_of, select
from analysis.pages.file_names import file_name
from analysis.pages.quality.views import BLIND, quality_key, quality_section
from analysis.pages.reports import deferred_request, make_report, report_key, write_deferred
from analysis.pages.views import open_page, report_with_part, subject_of, table_file
from analysis.reports.content import Banner, FigureSpec, Report
from analysis.reports.deferred_files import DeferredFile, deferred_file
from analysis.reports.deferred_reports import note_progress
from analysis.reports.run_marks import banners
from analysis.reports.stored_reports import key_of
from annotation.access import fetch_overseen_study, person
from annotation.study_frame.context import study_banner
from benchmarks.access import VIEW, fetch, signed_in, visibility
from benchmarks.mappers import run_condition
from benchmarks.models import Run
from benchmarks.roles.cautions import run_caution


@require_safe
@signed_in
@deferred_file
def latex(request: HttpRequest, name: str, part: str) -> DeferredFile | HttpResponseBase:
    """Show a table of a page as LaTeX."""
    page, selection, key = open_page(request, name)

    def write(report: Report) -> HttpResponse:
        source = table_source(request, page, selection, report)
        return answer_latex(report, part, [file_name(page, selection, part)], source)

    variant = read_choice(request.GET).key
    return table_file(page, selection, key, part, "LaTeX", write, variant)


def table_source(
    request: HttpRequest, page: AnalysisPage, selection: Selection, report: Report
) -> TableSource:
    """Return what a table in LaTeX says of where it comes from."""
    return TableSource(
        page.key,
        subject_of(selection),
        about_file(_page_url(request, page, selection)),
        (*banners(selection), *report.banners),
        read_choice(request.GET),
    )


@require_safe
@signed_in
@deferred_file
def pdf(request: HttpRequest, name: str, part: str) -> DeferredFile | HttpResponseBase:
    """Show a figure of a page as PDF."""
    page, selection, key = open_page(request, name)

    def figure() -> FigureSpec | None:
        note_progress(f"computing {page.title}")
        return report_with_part(page, selection, key, part, "figure").figure(part)

    return pdf_file(request, figure, f"{key}:{part}", [file_name(page, selection, part)])


@require_safe
@signed_in
@deferred_file
def page_file(request: HttpRequest, name: str) -> DeferredFile | HttpResponseBase:
    """Show a page with its filters as one file."""
    page, selection, key = open_page(request, name)

    def write() -> HttpResponse:
        url = _page_url(request, page, selection)
        file = ReportFile(
            page.title,
            page.question,
            url,
            maker_name(person(request)),
            (_section(page, selection, ""),),
        )
        return _file(file, [file_name(page, selection)])

    return DeferredFile(f"page:{key}", f"{page.title} in one file", write)


@require_safe
@signed_in
@deferred_file
def run_file(request: HttpRequest, run_id: int) -> DeferredFile | HttpResponseBase:
    """Download the report on one run, with its pages, endings and pinned versions."""
    rows = Run.objects.select_related(
        "dataset", "agent", "experiment", "primary_judging", "created_by"
    )
    run = fetch(request, rows, pk=run_id)
    chosen = [(page, select_run(run, page, visibility(request))) for page in pages_of_run(run)]
    facts = run_facts(run)

    def write() -> HttpResponse:
        caution = run_caution(run)
        marks = (Banner(caution.title, caution.text),) if caution is not None else ()
        url = request.build_absolute_uri(reverse("benchmarks:run", args=[run.pk]))
        sections = [FileSection("run", "The run", url=url, report=facts, banners=marks)]
        for page, selection in chosen:
            section = _section(page, selection, _page_url(request, page, selection))
            if section.report is None or section.report.empty is None:
                sections.append(section)
        title = f"Run {run.pk}: {run.agent.title}"
        lead = f"{run.dataset}{f', level {run.level}' if run.level else ''}, {run_condition(run)}"
        file = ReportFile(title, lead, url, maker_name(person(request)), tuple(sections), marks)
        return _file(file, [f"run-{run.pk}", run.agent.name, str(run.dataset), run.level])

    key = key_of(
        f"run {run.pk} {run.status} {run.data_version}",
        *(report_key(page, selection) for page, selection in chosen),
    )
    return DeferredFile(f"run:{key}", f"Report on run {run.pk}", write)


@require_safe
@signed_in
@deferred_file
def study_file(request: HttpRequest, pk: int) -> DeferredFile | HttpResponseBase:
    """Show the results of a study as one file; the quality of answers for those who may read
    them.
    """
    access = fetch_overseen_study(request, pk)
    if access.blind:
        raise PermissionDenied(BLIND)
    study, user = access.study, person(request)
    chosen = []
    if user.has_perm(VIEW) and study in readable_studies(user)[0]:
        for page in pages_of(study):
            filters = Filters(study=str(pk))
            chosen.append((page, select(page, filters, user, visibility(request))))
    if not chosen and not access.reads_answers:
        raise PermissionDenied("The results of this study are not open to you.")

    def write() -> HttpResponse:
        sections = [
            _section(page, selection, _page_url(request, page, selection))
            for page, selection in chosen
        ]
        if access.reads_answers:
            sections.append(quality_section(request, study))
        banner = study_banner(study)
        marks = (Banner(banner["title"], banner["text"]),) if banner is not None else ()
        url = request.build_absolute_uri(reverse("annotation:study", args=[pk]))
        lead = f"Results of the study, {study.get_status_display().lower()}."
        file = ReportFile(
            study.name, lead, url, maker_name(person(request)), tuple(sections), marks
        )
        return _file(file, ["study", study.name])

    key = key_of(
        f"study {pk} {study.status} {access.reads_answers} {quality_key(study)}",
        *(report_key(page, selection) for page, selection in chosen),
    )
    return DeferredFile(f"study:{key}", f"Results of {study.name}"[:200], write)


def _section(page: AnalysisPage, selection: Selection, url: str) -> FileSection:
    """Return a page as a section, with the part that takes longer."""
    note_progress(f"computing {page.title}")
    report = make_report(page, selection, report_key(page, selection))
    wanted = deferred_request(page, selection)
    deferred = write_deferred(page, selection, wanted) if wanted is not None else None
    return FileSection(
        page.key,
        page.title,
        page.question,
        subject_of(selection),
        url,
        report,
        deferred,
        banners(selection),
    )


def _page_url(request: HttpRequest, page: AnalysisPage, selection: Selection) -> str:
    url = with_query(reverse(f"analysis:{page.key}"), selection.filters.query())
    return request.build_absolute_uri(url)


def _file(file: ReportFile, name: list[str]) -> HttpResponse:
    response = HttpResponse(render_file(file), content_type="text/html; charset=utf-8")
    return as_file(response, [*name, "report"], "html")
