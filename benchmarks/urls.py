"""URLs of the benchmarks app; each feature has its own."""

from django.urls import include, path

app_name = "benchmarks"
urlpatterns = [
    path("", include("benchmarks.pages.urls")),
    path("", include("benchmarks.deletion.urls")),
    path("", include("benchmarks.construction.urls")),
    path("", include("benchmarks.roles.urls")),
    path("", include("benchmarks.endpoints.urls")),
    path("", include("benchmarks.asks.urls")),
    path("", include("benchmarks.experiments.urls")),
    path("", include("benchmarks.training_rows.urls")),
    path("", include("benchmarks.validity.urls")),
    path("", include("benchmarks.verification.urls")),
    path("", include("benchmarks.judging.urls")),
    path("", include("benchmarks.branches.urls")),
    path("", include("benchmarks.imports.urls")),
    path("", include("benchmarks.trajectories.urls")),
    path("", include("benchmarks.lists.urls")),
]
