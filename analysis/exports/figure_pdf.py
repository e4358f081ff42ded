"""A figure as PDF, where a Chromium is installed."""

from collections.abc import Sequence
from functools import cache
from shutil import which

from django.conf import settings
from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from analysis.exports.chromium import NotPrinted, print_to_pdf
from analysis.exports.figure_page import WIDTHS, figure_page
from analysis.pages.responses import as_file
from analysis.reports.content import FigureSpec

KEEP_SECONDS = 60 * 60
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
    found = (which(name) for name in settings.CHROMIUM_NAMES)
    return next((path for path in found if path), "")


def answer_pdf(
    request: HttpRequest, spec: FigureSpec | None, key: str, name: Sequence[str]
) -> HttpResponseBase:
    """Show a figure as PDF, as wide as the address says; kept, because the same figure is asked for
    again while a paper is written.
    """
    if spec is None:
        raise Http404("There is no such figure.")
    width = request.GET.get("width", "column")
    if width not in WIDTHS:
        return _text_response("There are figures of the widths column, wide and page.", status=400)
    path = chromium()
    if not path:
        return _text_response(ABSENT, status=501)
    kept = f"pdf:{key}:{spec.name}:{width}"
    pdf: bytes | None = caches["reports"].get(kept)
    if pdf is None:
        try:
            pdf = print_to_pdf(figure_page(spec, width), chromium=path)
        except NotPrinted as problem:
            return _text_response(
                f"{problem} Nothing was changed; SVG and PNG do not need it.", status=503
            )
        caches["reports"].set(kept, pdf, KEEP_SECONDS)
    response = HttpResponse(pdf, content_type="application/pdf")
    return as_file(response, [*name, NAMES[width]], "pdf")


def _text_response(words: str, *, status: int) -> HttpResponse:
    return HttpResponse(words, content_type="text/plain; charset=utf-8", status=status)
