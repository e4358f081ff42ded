"""Addresses of what is carried from a page into a paper: LaTeX, PDF, reports in one file."""

from django.urls import URLPattern, path

from analysis.pages import PAGES
from analysis.views import quality
from analysis.views.exports import latex, page_file, pdf, run_file, study_file


def _of_page(name: str) -> list[URLPattern]:
    at, given = f"analysis/{name}/", {"name": name}
    return [
        path(f"{at}<slug:part>.tex", latex, given, name=f"{name}_latex"),
        path(f"{at}<slug:part>.pdf", pdf, given, name=f"{name}_pdf"),
        path(f"{at}report.html", page_file, given, name=f"{name}_file"),
    ]


QUALITY = "studies/<int:pk>/quality/"
export_paths: list[URLPattern] = [
    *(pattern for name in PAGES for pattern in _of_page(name)),
    path(f"{QUALITY}<slug:part>.tex", quality.latex, name="study_quality_latex"),
    path(f"{QUALITY}<slug:part>.pdf", quality.pdf, name="study_quality_pdf"),
    path("runs/<int:run_id>/report.html", run_file, name="run_file"),
    path("studies/<int:pk>/report.html", study_file, name="study_file"),
]
