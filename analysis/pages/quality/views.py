"""The view of the quality page, for those who may read all answers of a study."""

from dataclasses import replace
from importlib import import_module

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.exports.about import about_file
from analysis.exports.figure_pdf import pdf_file
from analysis.exports.latex import TableSource
from analysis.exports.report_file import FileSection
from analysis.exports.responses import answer_figure, answer_latex, answer_table
from analysis.exports.table_choice import read_choice
from analysis.filters.studies import study_version
from analysis.pages.catalogue import pages_of
from analysis.reports.content import Banner, Report
from analysis.reports.deferred_files import DeferredFile, deferred_file
from analysis.reports.stored_reports import keep_report, kept_report, key_of_state, with_state
from annotation.access import StudyAccess, fetch_read_study
from annotation.models import Assignment, Study
from annotation.study_frame.context import study_banner, study_context
from benchmarks.access import VIEW, signed_in

# With more submitted items than this the report is written after the page has come.
AT_ONCE = 1500
UNNAMED = (
    "What is known of each annotator is left out of files. It is on the server, for those who may "
    "read the answers."
)
BLIND = (
    "You annotate in this study and have items open. How others answered would sway you, so this "
    "page opens when your last item is submitted or skipped."
)


@require_safe
@signed_in
def quality(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show warnings, every annotator's signs, active times, and agreement so far."""
    access, key = _open(request, pk)
    report = kept_report(key)
    if report is None and ("now" in request.GET or not _is_large(access.study)):
        report = _report(access.study, key)
    context = {
        **study_context(access, "quality"),
        "report": report,
        "results": _results(access) if request.user.has_perm(VIEW) else [],
    }
    if report is not None:
        context |= {
            "key": key,
            "figures": [(f, with_state(_part(pk, "figure", f.name), key)) for f in report.figures],
            "tables": [(t, _part(pk, "table", t.name)) for t in report.tables],
            "empty_url": report.empty.action_url if report.empty else "",
        }
    return render(request, "analysis/quality.html", context)


@require_safe
@signed_in
def figure(request: HttpRequest, pk: int, part: str) -> HttpResponseBase:
    """Show a figure of the page as JSON."""
    access, key = _open(request, pk)
    return answer_figure(
        request,
        key,
        part,
        lambda: _report(access.study, key),
        lambda state: (kept_report(state),),
    )


@require_safe
@signed_in
def table(request: HttpRequest, pk: int, part: str) -> HttpResponseBase:
    """Show a table of the page as CSV."""
    access, key = _open(request, pk)
    return answer_table(_report(access.study, key), part, ["quality", part, access.study.name])


@require_safe
@signed_in
def latex(request: HttpRequest, pk: int, part: str) -> HttpResponseBase:
    """Show a table of the page as LaTeX."""
    access, key = _open(request, pk)
    source = quality_source(request, access.study)
    report = _report(access.study, key)
    return answer_latex(report, part, ["quality", part, access.study.name], source)


@require_safe
@signed_in
@deferred_file
def pdf(request: HttpRequest, pk: int, part: str) -> DeferredFile | HttpResponseBase:
    """Show a figure of the page as PDF."""
    access, key = _open(request, pk)
    name = ["quality", part, access.study.name]
    return pdf_file(request, lambda: _report(access.study, key).figure(part), f"{key}:{part}", name)


def quality_source(request: HttpRequest, study: Study) -> TableSource:
    """Return where the tables of the page come from."""
    banner = study_banner(study)
    marks = (Banner(banner["title"], banner["text"]),) if banner is not None else ()
    return TableSource(
        "quality",
        study.name,
        about_file(_page_url(request, study)),
        marks,
        read_choice(request.GET),
    )


def quality_section(request: HttpRequest, study: Study) -> FileSection:
    """Return a summary for a file, which goes from hand to hand: how far people agree, and nobody's
    name.

    Who may read the answers was decided before.
    """
    title, url = "Quality of the answers", _page_url(request, study)
    report = _report(study, quality_key(study))
    kept = tuple(table for table in report.tables if table.name == "agreement")
    summary = replace(report, sentence="", figures=(), notices=(), tables=kept)
    return FileSection("quality", title, url=url, report=summary, missing=UNNAMED)


def _page_url(request: HttpRequest, study: Study) -> str:
    return request.build_absolute_uri(reverse("analysis:study_quality", kwargs={"pk": study.pk}))


def _open(request: HttpRequest, pk: int) -> tuple[StudyAccess, str]:
    access = fetch_read_study(request, pk)
    if access.blind:
        raise PermissionDenied(BLIND)
    return access, quality_key(access.study)


def quality_key(study: Study) -> str:
    """Return the key of the report on a study's answers as they are now."""
    return key_of_state(("quality", str(study.pk)), (study_version(study),))


def _report(study: Study, key: str) -> Report:
    # Statistics are slow to import: not when the server starts.
    written = import_module("analysis.pages.quality.page").quality_report
    return keep_report(key, lambda: written(study))


def _results(access: StudyAccess) -> list[tuple[str, str]]:
    """Return the pages of results of the study, for those who may see any."""
    query = {"study": access.study.pk}
    return [
        (page.title, reverse(f"analysis:{page.key}", query=query))
        for page in pages_of(access.study)
    ]


def _is_large(study: Study) -> bool:
    submitted = Assignment.objects.filter(study=study, state=Assignment.State.SUBMITTED)
    return submitted.order_by()[: AT_ONCE + 1].count() > AT_ONCE


def _part(pk: int, kind: str, part: str) -> str:
    return reverse(f"analysis:study_quality_{kind}", kwargs={"pk": pk, "part": part})
