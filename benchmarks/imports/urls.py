"""URLs of importing trajectories."""

from django.urls import path

from benchmarks.imports import views

urlpatterns = [
    path("runs/<int:run_id>/turns/", views.run_turns, name="run_turns"),
    path("trajectories/import/", views.trajectory_import, name="trajectory_import"),
    path("trajectories/import/<int:job_id>/", views.import_job, name="import_job"),
    path(
        "trajectories/import/<int:job_id>/progress/",
        views.import_progress,
        name="import_progress",
    ),
]
