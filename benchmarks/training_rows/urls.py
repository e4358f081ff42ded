"""URLs of rows of training data."""

from django.urls import path

from benchmarks.training_rows import views

urlpatterns = [
    path("runs/<int:run_id>/rows/", views.training_rows, name="training_rows"),
    path(
        "runs/<int:run_id>/rows/<int:trajectory_id>/<int:index>/",
        views.row_decide,
        name="row_decide",
    ),
]
