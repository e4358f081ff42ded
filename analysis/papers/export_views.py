"""The files of a paper: LaTeX, HTML, PDF, and a folder with data. Jobs write them."""

import io
import zipfile
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from analysis.exports.about import maker_name
from analysis.exports.chromium import NotPrinted, print_to_pdf
from analysis.exports.figure_pdf import chromium
from analysis.exports.responses import as_file
from analysis.papers.folder import paper_files
from analysis.papers.html_page import paper_html
from analysis.papers.latex import paper_latex
from analysis.papers.output import PaperOutput, output_blocks, with_pictures
from analysis.papers.selectors import shown_blocks
from analysis.papers.views import asked_version, open_paper, paper_url
from analysis.reports.deferred_files import DeferredFile, deferred_file
from analysis.reports.deferred_reports import note_progress
from analysis.reports.stored_reports import key_of
from annotation.access import person
from benchmarks.access import signed_in, visibility
from benchmarks.core.errors import CoreError

NO_BROWSER = (
    "No Chromium is installed here, so papers cannot be made into PDF. Take the folder and compile "
    "paper.tex, or print the HTML from your browser."
)
SECONDS = 300


def html_content(output: PaperOutput) -> str:
    """Return a paper as one HTML file that holds its figures."""
    return paper_html(with_pictures(output, "pictures"), "png")


def pdf_content(output: PaperOutput) -> bytes:
    """Return a paper as PDF."""
    page = paper_html(with_pictures(output, "pictures"), "svg")
    note_progress("printing")
    try:
        return print_to_pdf(page, chromium=chromium(), seconds=SECONDS)
    except NotPrinted as problem:
        raise CoreError(f"{problem} Nothing was changed; HTML and LaTeX need no print.") from None


def folder_content(output: PaperOutput) -> bytes:
    """Return a paper as a folder (ZIP) with LaTeX, HTML, data and a script."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in paper_files(with_pictures(output, "pdf")):
            file.writestr(f"paper/{name}", content)
    return packed.getvalue()


# By the ending of the file: its name in words, its media type, and what writes it.
FORMS: dict[str, tuple[str, str, Callable[[PaperOutput], str | bytes]]] = {
    "tex": ("LaTeX", "application/x-tex; charset=utf-8", paper_latex),
    "html": ("HTML", "text/html; charset=utf-8", html_content),
    "pdf": ("PDF", "application/pdf", pdf_content),
    "zip": ("folder", "application/zip", folder_content),
}


@require_safe
@signed_in
@deferred_file
def paper_file(request: HttpRequest, paper_id: int, ending: str) -> DeferredFile | HttpResponseBase:
    """Send a version of a paper as a file, as far as the reader may see it."""
    row = open_paper(request, paper_id)
    if ending == "pdf" and not chromium():
        return HttpResponse(NO_BROWSER, content_type="text/plain; charset=utf-8", status=501)
    version, user = asked_version(request, row), person(request)
    blocks = output_blocks(shown_blocks(version, user, visibility(request)))
    server = request.build_absolute_uri("/").rstrip("/")
    output = PaperOutput(
        version.title,
        version.number,
        maker_name(row.owner),
        f"{server}{paper_url(row)}?version={version.number}",
        server,
        blocks,
    )
    form, media_type, content = FORMS[ending]

    def write() -> HttpResponse:
        response = HttpResponse(content(output), content_type=media_type)
        return as_file(response, [output.title], ending)

    open_to_reader = [block.pin.block.id for block in output.pins]
    open_to_reader += [f"{gap.id} {gap.text}" for gap in output.gaps]
    key = key_of(f"paper {row.pk} {version.number} {server}", *open_to_reader)
    return DeferredFile(f"{form}:{key}", f"{version.title} as {form}"[:200], write)
