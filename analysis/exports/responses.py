"""Parts of a report as answers: figures as JSON, tables as CSV and as LaTeX, deferred parts."""

import json
from collections.abc import Callable, Iterable, Sequence

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.text import slugify

from analysis.exports.latex import TableSource, latex_table
from analysis.exports.plotly_json import plotly_figure
from analysis.reports.content import Report
from analysis.reports.deferred_reports import (
    DeferredReport,
    ReportRequest,
    find_deferred,
    request_deferred,
)
from analysis.reports.stored_reports import same_state, same_subject
from annotation.access import person

LONGEST_NAME = 120
CHANGED = "The numbers have changed since this page was opened. Reload it to see them.\n"


def answer_figure(
    request: HttpRequest,
    key: str,
    part: str,
    report: Callable[[], Report],
    kept: Callable[[str], Iterable[Report | None]] = lambda key: (),
) -> HttpResponseBase:
    """Show a figure; unchanged (304) as long as the report has the same key.

    A page names in ``state`` the key of the report that it shows: while a run goes on, its figure
    is taken from what is ``kept`` under that key, and refused (409) where nothing is. With
    ``form=plotly`` in the address it is a file that Plotly reads outside of our pages.
    """
    as_plotly = request.GET.get("form") == "plotly"
    state = request.GET.get("state", key)
    if not same_subject(state, key):
        return _changed()
    tag = f'"{state}-{part}{"-plotly" if as_plotly else ""}"'
    unchanged = get_conditional_response(request, etag=tag)
    if unchanged is not None:
        unchanged["ETag"] = tag
        return _kept_privately(unchanged)
    specs = (one.figure(part) for one in kept(state) if one is not None)
    spec = next((spec for spec in specs if spec is not None), None)
    if spec is None:
        if not same_state(state, key):
            return _changed()
        spec = report().figure(part)
    if spec is None:
        raise Http404("There is no such figure.")
    text = json.dumps(plotly_figure(spec), ensure_ascii=False) if as_plotly else spec.json
    response = HttpResponse(text, content_type="application/json")
    response["ETag"] = tag
    if as_plotly:
        return as_file(response, [part], "plotly.json")
    return _kept_privately(response)


def _changed() -> HttpResponseBase:
    return _kept_privately(HttpResponse(CHANGED, status=409, content_type="text/plain"))


def answer_table(report: Report, part: str, name: Sequence[str]) -> HttpResponse:
    """Show a table: all of its rows, in numbers that are not rounded for reading."""
    shown = report.table(part)
    if shown is None:
        raise Http404("There is no such table.")
    response = HttpResponse(shown.csv(), content_type="text/csv; charset=utf-8")
    return as_file(response, name, "csv")


def answer_latex(
    report: Report, part: str, name: Sequence[str], source: TableSource
) -> HttpResponse:
    """Show a table as LaTeX: the rows of the page, as the page words them."""
    shown = report.table(part)
    if shown is None:
        raise Http404("There is no such table.")
    text = latex_table(shown, source)
    response = HttpResponse(text, content_type="application/x-tex; charset=utf-8")
    return as_file(response, name, "tex")


def poll_deferred(request: HttpRequest, wanted: ReportRequest) -> DeferredReport | None:
    """Return how far a deferred report is; a POST requests it.

    None if the page shows this state already.
    """
    if request.method == "POST":
        return request_deferred(wanted=wanted, person=person(request))
    state = find_deferred(wanted)
    return None if state.moving and request.GET.get("waiting") == state.stamp else state


def as_file(response: HttpResponse, name: Sequence[str], ending: str) -> HttpResponse:
    """Show a response that is kept as a file of this name, and not by anything in between."""
    filename = "-".join(word for word in map(slugify, name) if word)[:LONGEST_NAME]
    response["Content-Disposition"] = f'attachment; filename="{filename}.{ending}"'
    _kept_privately(response)
    return response


def _kept_privately(response: HttpResponseBase) -> HttpResponseBase:
    response["Cache-Control"] = "private, no-cache"
    return response
