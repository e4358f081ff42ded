"""Addresses of what is carried from a page into a paper: LaTeX, PDF, reports in one file."""

from django.urls import URLPattern, path

from analysis.downloads import experiment_report
from analysis.downloads.views import latex, page_file, pdf, run_file, study_file
from analysis.pages.catalogue import PAGES
from analysis.pages.quality import views as quality


def _of_page(name: str) -> list[URLPattern]:
    at, given = f"analysis/{PAGES[name].address}/", {"name": name}
    return [
        path(f"{at}<slug:part>.tex", latex, given, name=f"{name}_latex"),
        path(f"{at}<slug:part>.pdf", pdf, given, name=f"{name}_pdf"),
        path(f"{at}report.html", page_file, given, name=f"{name}_file"),
    ]


OF_EXPERIMENT = "experiments/<int:experiment_id>/report"
experiment_paths: list[URLPattern] = [
    path(f"{OF_EXPERIMENT}/", experiment_report.page, name="experiment_report"),
    path(f"{OF_EXPERIMENT}/later/", experiment_report.later, name="experiment_later"),
    path(f"{OF_EXPERIMENT}.html", experiment_report.one_file, name="experiment_file"),
    path(f"{OF_EXPERIMENT}.zip", experiment_report.folder, name="experiment_folder"),
    path(f"{OF_EXPERIMENT}/<slug:part>.json", experiment_report.figure, name="experiment_figure"),
    path(f"{OF_EXPERIMENT}/<slug:part>.csv", experiment_report.table, name="experiment_table"),
    path(f"{OF_EXPERIMENT}/<slug:part>.tex", experiment_report.latex, name="experiment_latex"),
]
QUALITY = "studies/<int:pk>/quality/"
export_paths: list[URLPattern] = [
    *(pattern for name in PAGES for pattern in _of_page(name)),
    *experiment_paths,
    path(f"{QUALITY}<slug:part>.tex", quality.latex, name="study_quality_latex"),
    path(f"{QUALITY}<slug:part>.pdf", quality.pdf, name="study_quality_pdf"),
    path("runs/<int:run_id>/report.html", run_file, name="run_file"),
    path("studies/<int:pk>/report.html", study_file, name="study_file"),
]
