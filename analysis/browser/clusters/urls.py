"""Addresses of clusters of failures."""

from django.urls import URLPattern, path

from analysis.browser.clusters import views

AT = "trajectories/clusters/"
cluster_paths: list[URLPattern] = [
    path(f"{AT}new/", views.clusters_new, name="clusters_new"),
    path(f"{AT}<int:clustering_id>/", views.clusters, name="clusters"),
    path(f"{AT}<int:clustering_id>/progress/", views.clusters_progress, name="clusters_progress"),
    path(
        "endpoints/<int:endpoint_id>/clusters/", views.endpoint_clusters, name="endpoint_clusters"
    ),
]
