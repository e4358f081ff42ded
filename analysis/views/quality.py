"""How carefully the annotators of a study work: a page for those who may read all answers."""

from importlib import import_module

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.pages import keep_report, kept_report, key_of, pages_of
from analysis.reports.parts import Report
from analysis.study_choice import study_version
from analysis.views.answers import answer_figure, answer_table
from annotation.access import StudyAccess, fetch_read_study
from annotation.models import Assignment, Study
from annotation.views.running import study_context
from benchmarks.access import VIEW, signed_in

# With more submitted items than this the report is written after the page has come.
AT_ONCE = 1500
BLIND = (
    "You annotate in this study and have items open. How others answered would sway you, so this "
    "page opens when your last item is submitted or skipped."
)


@require_safe
@signed_in
def quality(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Warnings, every annotator's signs, active times, and agreement so far."""
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
            "figures": [(f, _part(pk, "figure", f.name)) for f in report.figures],
            "tables": [(t, _part(pk, "table", t.name)) for t in report.tables],
            "empty_url": report.empty.action_url if report.empty else "",
        }
    return render(request, "analysis/quality.html", context)


@require_safe
@signed_in
def figure(request: HttpRequest, pk: int, part: str) -> HttpResponseBase:
    """A figure of the page as JSON."""
    access, key = _open(request, pk)
    return answer_figure(request, key, part, lambda: _report(access.study, key))


@require_safe
@signed_in
def table(request: HttpRequest, pk: int, part: str) -> HttpResponseBase:
    """A table of the page as CSV."""
    access, key = _open(request, pk)
    return answer_table(_report(access.study, key), part, ["quality", part, access.study.name])


def _open(request: HttpRequest, pk: int) -> tuple[StudyAccess, str]:
    access = fetch_read_study(request, pk)
    if access.blind:
        raise PermissionDenied(BLIND)
    return access, key_of("quality", study_version(access.study))


def _report(study: Study, key: str) -> Report:
    # Statistics are slow to import: not when the server starts.
    written = import_module("analysis.reports.quality").quality_report
    return keep_report(key, lambda: written(study))


def _results(access: StudyAccess) -> list[tuple[str, str]]:
    """The pages of results of the study, for those who may see any."""
    query = {"study": access.study.pk}
    return [
        (page.title, reverse(f"analysis:{page.name}", query=query))
        for page in pages_of(access.study)
    ]


def _is_large(study: Study) -> bool:
    submitted = Assignment.objects.filter(study=study, state=Assignment.State.SUBMITTED)
    return submitted.order_by()[: AT_ONCE + 1].count() > AT_ONCE


def _part(pk: int, kind: str, part: str) -> str:
    return reverse(f"analysis:study_quality_{kind}", kwargs={"pk": pk, "part": part})
