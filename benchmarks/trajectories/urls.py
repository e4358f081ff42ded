"""URLs of one trajectory."""

from django.urls import path

from benchmarks.trajectories import views

urlpatterns = [
    path(
        "trajectories/<int:trajectory_id>/exchanges/",
        views.trajectory_exchanges,
        name="trajectory_exchanges",
    ),
    path(
        "trajectories/<int:trajectory_id>/retry/",
        views.trajectory_retry,
        name="trajectory_retry",
    ),
    path(
        "trajectories/<int:trajectory_id>/restart/",
        views.trajectory_restart,
        name="trajectory_restart",
    ),
]
