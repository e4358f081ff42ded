"""URLs of datasets and their tasks."""

from django.urls import path

from benchmarks.datasets import views

urlpatterns = [
    path("datasets/", views.dataset_list, name="dataset_list"),
    path("datasets/import/", views.dataset_import, name="dataset_import"),
    path("datasets/import/<int:import_id>/", views.dataset_job, name="dataset_job"),
    path(
        "datasets/import/<int:import_id>/progress/",
        views.dataset_progress,
        name="dataset_progress",
    ),
    path("datasets/<int:dataset_id>/", views.dataset, name="dataset"),
    path("tasks/<int:task_id>/", views.task, name="task"),
]
