"""URLs of branches."""

from django.urls import path

from benchmarks.branches import views

urlpatterns = [
    path("trajectories/<int:trajectory_id>/branches/new/", views.branch_new, name="branch_new"),
]
