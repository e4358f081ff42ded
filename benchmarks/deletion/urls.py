"""URLs of deletions."""

from django.urls import path

from benchmarks.deletion import views

urlpatterns = [
    path("runs/<int:run_id>/delete/", views.run_delete, name="run_delete"),
    path(
        "experiments/<int:experiment_id>/delete/",
        views.experiment_delete,
        name="experiment_delete",
    ),
    path("datasets/<int:dataset_id>/delete/", views.dataset_delete, name="dataset_delete"),
    path("trajectories/import/<int:job_id>/delete/", views.import_delete, name="import_delete"),
]
