"""URLs of constructing datasets."""

from django.urls import path

from benchmarks.construction import views

urlpatterns = [
    path("datasets/import/problems/", views.problems_import, name="problems_import"),
    path("datasets/construct/", views.construction_new, name="construction_new"),
    path("datasets/<int:dataset_id>/file/", views.dataset_file, name="dataset_file"),
    path("tasks/<int:task_id>/growth/", views.task_growth, name="task_growth"),
    path(
        "runs/<int:run_id>/dataset/",
        views.construction_dataset,
        name="construction_dataset",
    ),
]
