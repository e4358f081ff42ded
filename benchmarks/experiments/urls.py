"""URLs of experiments."""

from django.urls import path

from benchmarks.experiments import views

ONE = "experiments/<int:experiment_id>/"
urlpatterns = [
    path("experiments/", views.experiment_list, name="experiment_list"),
    path("experiments/new/", views.experiment_new, name="experiment_new"),
    path(ONE, views.experiment, name="experiment"),
    path(f"{ONE}export/", views.experiment_export, name="experiment_export"),
    path(f"{ONE}progress/", views.experiment_progress, name="experiment_progress"),
    path(f"{ONE}design.yaml", views.experiment_design, name="experiment_design"),
    path(f"{ONE}pause/", views.experiment_pause, name="experiment_pause"),
    path(f"{ONE}resume/", views.experiment_resume, name="experiment_resume"),
    path(f"{ONE}cancel/", views.experiment_cancel, name="experiment_cancel"),
    path(f"{ONE}share/", views.experiment_share, name="experiment_share"),
]
