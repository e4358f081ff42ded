"""Addresses of experiments."""

from django.urls import URLPattern, path

from benchmarks.experiments import views as experiments

ONE = "experiments/<int:experiment_id>/"
experiment_paths: list[URLPattern] = [
    path("experiments/", experiments.experiment_list, name="experiment_list"),
    path("experiments/new/", experiments.experiment_new, name="experiment_new"),
    path(ONE, experiments.experiment, name="experiment"),
    path(f"{ONE}progress/", experiments.experiment_progress, name="experiment_progress"),
    path(f"{ONE}design.yaml", experiments.experiment_design, name="experiment_design"),
    path(f"{ONE}pause/", experiments.experiment_pause, name="experiment_pause"),
    path(f"{ONE}resume/", experiments.experiment_resume, name="experiment_resume"),
    path(f"{ONE}cancel/", experiments.experiment_cancel, name="experiment_cancel"),
    path(f"{ONE}share/", experiments.experiment_share, name="experiment_share"),
]
