"""A figure as PDF, where a Chromium is installed."""

from collections.abc import Callable, Sequence
from functools import cache
from shutil import which

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from analysis.exports.chromium import NotPrinted, print_to_pdf
from analysis.exports.figure_page import WIDTHS, figure_page
from analysis.exports.responses import as_file
from analysis.reports.content import FigureSpec
from analysis.reports.deferred_files import DeferredFile
from analysis.reports.deferred_reports import note_progress
from benchmarks.core.errors import CoreError

ABSENT = (
    "No Chromium is installed here, so figures cannot be made into PDF. Take the SVG: LaTeX reads "
    "it with the package svg, and Inkscape turns it into PDF."
)
NAMES = {"column": "85mm", "wide": "178mm", "page": "page"}


@cache
def chromium() -> str:
    """Return the browser that prints, or nothing where there is none."""
    if settings.CHROMIUM == "off":
        return ""
    if settings.CHROMIUM:
        return str(settings.CHROMIUM)
    paths = (which(name) for name in settings.CHROMIUM_NAMES)
    return next((path for path in paths if path), "")


def pdf_file(
    request: HttpRequest, figure: Callable[[], FigureSpec | None], key: str, name: Sequence[str]
) -> DeferredFile | HttpResponseBase:
    """Return a figure as PDF, as wide as the address says; ``figure`` is called by the job."""
    width = request.GET.get("width", "column")
    if width not in WIDTHS:
        return _text_response("There are figures of the widths column, wide and page.", status=400)
    path = chromium()
    if not path:
        return _text_response(ABSENT, status=501)

    def write() -> HttpResponse:
        spec = figure()
        if spec is None:
            raise Http404("There is no such figure.")
        note_progress("drawing the figure")
        try:
            pdf = print_to_pdf(figure_page(spec, width), chromium=path)
        except NotPrinted as problem:
            raise CoreError(f"{problem} Nothing was changed; SVG and PNG do not need it.") from None
        response = HttpResponse(pdf, content_type="application/pdf")
        return as_file(response, [*name, NAMES[width]], "pdf")

    return DeferredFile(f"pdf:{key}:{width}", "Figure as PDF", write)


def _text_response(words: str, *, status: int) -> HttpResponse:
    return HttpResponse(words, content_type="text/plain; charset=utf-8", status=status)
