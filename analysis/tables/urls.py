"""Addresses of uploaded tables, which the addresses of the app take in."""

from django.urls import URLPattern, path

from analysis.tables import views

ONE = "analysis/tables/<int:table_id>/"
CHECK = "analysis/tables/checks/<int:job_id>/"
table_paths: list[URLPattern] = [
    path("analysis/tables/", views.table_list, name="table_list"),
    path("analysis/tables/new/", views.table_new, name="table_new"),
    path("analysis/tables/example.csv", views.table_example, name="table_example"),
    path(CHECK, views.table_check, name="table_check"),
    path(f"{CHECK}progress/", views.table_check_progress, name="table_check_progress"),
    path(ONE, views.rating_table, name="rating_table"),
    path(f"{ONE}later/", views.rating_table_later, name="rating_table_later"),
    path(f"{ONE}<slug:part>.json", views.rating_table_figure, name="rating_table_figure"),
    path(f"{ONE}<slug:part>.csv", views.rating_table_csv, name="rating_table_csv"),
    path(f"{ONE}<slug:part>.tex", views.rating_table_latex, name="rating_table_latex"),
    path(f"{ONE}<slug:part>.pdf", views.rating_table_pdf, name="rating_table_pdf"),
    path(f"{ONE}rename/", views.rating_table_rename, name="rating_table_rename"),
    path(f"{ONE}share/", views.rating_table_share, name="rating_table_share"),
    path(f"{ONE}delete/", views.rating_table_delete, name="rating_table_delete"),
]
