"""URLs of runs, datasets and tasks."""

from django.urls import path

from benchmarks.pages import datasets, runs

urlpatterns = [
    path("datasets/", datasets.dataset_list, name="dataset_list"),
    path("datasets/import/", datasets.dataset_import, name="dataset_import"),
    path("datasets/import/<int:import_id>/", datasets.dataset_job, name="dataset_job"),
    path(
        "datasets/import/<int:import_id>/progress/",
        datasets.dataset_progress,
        name="dataset_progress",
    ),
    path("datasets/<int:dataset_id>/", datasets.dataset, name="dataset"),
    path("tasks/<int:task_id>/", datasets.task, name="task"),
    path("runs/", runs.run_list, name="run_list"),
    path("runs/new/", runs.run_new, name="run_new"),
    path("runs/<int:run_id>/", runs.run, name="run"),
    path("runs/<int:run_id>/export/", runs.run_export, name="run_export"),
    path("runs/<int:run_id>/progress/", runs.run_progress, name="run_progress"),
    path("runs/<int:run_id>/pause/", runs.run_pause, name="run_pause"),
    path("runs/<int:run_id>/resume/", runs.run_resume, name="run_resume"),
    path("runs/<int:run_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("runs/<int:run_id>/cap/", runs.run_cap, name="run_cap"),
]
