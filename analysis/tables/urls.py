"""Addresses of uploaded tables, which the addresses of the app take in."""

from django.urls import URLPattern, path

from analysis.tables import check_views as table_checks
from analysis.tables import views as tables

ONE = "analysis/tables/<int:table_id>/"
CHECK = "analysis/tables/checks/<int:job_id>/"
table_paths: list[URLPattern] = [
    path("analysis/tables/", tables.table_list, name="table_list"),
    path("analysis/tables/new/", tables.table_new, name="table_new"),
    path("analysis/tables/example.csv", tables.table_example, name="table_example"),
    path(CHECK, table_checks.table_check, name="table_check"),
    path(f"{CHECK}progress/", table_checks.table_check_progress, name="table_check_progress"),
    path(ONE, tables.rating_table, name="rating_table"),
    path(f"{ONE}later/", tables.rating_table_later, name="rating_table_later"),
    path(f"{ONE}<slug:part>.json", tables.rating_table_figure, name="rating_table_figure"),
    path(f"{ONE}<slug:part>.csv", tables.rating_table_csv, name="rating_table_csv"),
    path(f"{ONE}<slug:part>.tex", tables.rating_table_latex, name="rating_table_latex"),
    path(f"{ONE}<slug:part>.pdf", tables.rating_table_pdf, name="rating_table_pdf"),
    path(f"{ONE}rename/", tables.rating_table_rename, name="rating_table_rename"),
    path(f"{ONE}share/", tables.rating_table_share, name="rating_table_share"),
    path(f"{ONE}delete/", tables.rating_table_delete, name="rating_table_delete"),
]
