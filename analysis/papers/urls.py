"""Addresses of papers, which the addresses of the app take in."""

from django.urls import URLPattern, path

from analysis.papers import export_views, pin_views, views

ONE = "papers/<int:paper_id>/"
PIN = f"{ONE}pins/<slug:block_id>/"
paper_paths: list[URLPattern] = [
    path("papers/", views.paper_list, name="paper_list"),
    path("papers/pin/<slug:source_kind>/<slug:source_name>/", pin_views.pin, name="paper_pin"),
    path(ONE, views.paper, name="paper"),
    path(f"{ONE}versions/", views.paper_versions, name="paper_versions"),
    path(f"{ONE}restore/", views.paper_restore, name="paper_restore"),
    path(f"{ONE}share/", views.paper_share, name="paper_share"),
    path(f"{ONE}delete/", views.paper_delete, name="paper_delete"),
    path(f"{PIN}settings/", views.pin_settings, name="paper_pin_settings"),
    path(f"{PIN}now/", views.pin_now, name="paper_pin_now"),
    path(f"{ONE}figures/<slug:digest>.json", views.paper_figure, name="paper_figure"),
    *(
        path(f"{ONE}paper.{ending}", export_views.paper_file, {"ending": ending}, f"paper_{ending}")
        for ending in ("tex", "html", "pdf", "zip")
    ),
]
