"""Parts of a report as answers: figures as JSON, tables as CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.text import slugify

from analysis.reports.parts import Datum, Report


def answer_figure(
    request: HttpRequest, key: str, part: str, report: Callable[[], Report]
) -> HttpResponseBase:
    """A figure; unchanged (304) as long as the report has the same key."""
    tag = f'"{key}-{part}"'
    unchanged = get_conditional_response(request, etag=tag)
    if unchanged is not None:
        unchanged["ETag"] = tag
        return _kept_privately(unchanged)
    spec = report().figure(part)
    if spec is None:
        raise Http404("There is no such figure.")
    response = HttpResponse(spec.json, content_type="application/json")
    response["ETag"] = tag
    return _kept_privately(response)


def answer_table(report: Report, part: str, name: Sequence[str]) -> HttpResponseBase:
    """A table: all of its rows, in numbers that are not rounded for reading."""
    shown = report.table(part)
    if shown is None:
        raise Http404("There is no such table.")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(shown.header)
    writer.writerows(_plain(row) for row in shown.records())
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    filename = "-".join(word for word in map(slugify, name) if word)
    response["Content-Disposition"] = f'attachment; filename="{filename}.csv"'
    return _kept_privately(response)


def _kept_privately(response: HttpResponseBase) -> HttpResponseBase:
    response["Cache-Control"] = "private, no-cache"
    return response


def _plain(row: Iterable[Datum]) -> list[Datum]:
    """Cells that a spreadsheet will not take for formulas."""
    return [
        f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" and cell else cell
        for cell in row
    ]
