"""Addresses of the benchmarks app."""

from django.urls import path

from benchmarks.asks import views as asks
from benchmarks.construction import views as construction
from benchmarks.datasets import views as datasets
from benchmarks.endpoints import views as endpoints
from benchmarks.experiments.urls import experiment_paths
from benchmarks.imports import views as imports
from benchmarks.judging import views as judging
from benchmarks.runs import views as runs
from benchmarks.trajectories import views as trajectories
from benchmarks.verification import views as verifying

app_name = "benchmarks"
urlpatterns = [
    path("datasets/", datasets.dataset_list, name="dataset_list"),
    path("datasets/import/", datasets.dataset_import, name="dataset_import"),
    path("datasets/import/<int:import_id>/", datasets.dataset_job, name="dataset_job"),
    path(
        "datasets/import/<int:import_id>/progress/",
        datasets.dataset_progress,
        name="dataset_progress",
    ),
    path("datasets/import/problems/", construction.problems_import, name="problems_import"),
    path("datasets/construct/", construction.construction_new, name="construction_new"),
    path("datasets/<int:dataset_id>/", datasets.dataset, name="dataset"),
    path("datasets/<int:dataset_id>/file/", construction.dataset_file, name="dataset_file"),
    path("tasks/<int:task_id>/", datasets.task, name="task"),
    path("tasks/<int:task_id>/growth/", construction.task_growth, name="task_growth"),
    path("agents/", datasets.agent_list, name="agent_list"),
    path("endpoints/", endpoints.endpoint_list, name="endpoint_list"),
    path("endpoints/new/", endpoints.endpoint_new, name="endpoint_new"),
    path("endpoints/<int:endpoint_id>/", endpoints.endpoint, name="endpoint"),
    path("endpoints/<int:endpoint_id>/edit/", endpoints.endpoint_edit, name="endpoint_edit"),
    path("endpoints/<int:endpoint_id>/retire/", endpoints.endpoint_retire, name="endpoint_retire"),
    path("endpoints/<int:endpoint_id>/try/", endpoints.endpoint_try, name="endpoint_try"),
    path("endpoints/<int:endpoint_id>/trials/", endpoints.endpoint_trials, name="endpoint_trials"),
    path("asks/", asks.ask_list, name="ask_list"),
    path("asks/<int:ask_id>/", asks.ask, name="ask"),
    path("asks/<int:ask_id>/next/", asks.ask_next, name="ask_next"),
    *experiment_paths,
    path("runs/", runs.run_list, name="run_list"),
    path("runs/new/", runs.run_new, name="run_new"),
    path("runs/<int:run_id>/", runs.run, name="run"),
    path(
        "runs/<int:run_id>/dataset/",
        construction.construction_dataset,
        name="construction_dataset",
    ),
    path("runs/<int:run_id>/progress/", runs.run_progress, name="run_progress"),
    path("runs/<int:run_id>/pause/", runs.run_pause, name="run_pause"),
    path("runs/<int:run_id>/resume/", runs.run_resume, name="run_resume"),
    path("runs/<int:run_id>/cancel/", runs.run_cancel, name="run_cancel"),
    path("runs/<int:run_id>/cap/", runs.run_cap, name="run_cap"),
    path("runs/<int:run_id>/verification/", verifying.run_verification, name="run_verification"),
    path("systems/<slug:key>/prompts/<int:version>/", verifying.prompts, name="prompts"),
    path("runs/<int:run_id>/judging/", judging.judging_choose, name="judging_choose"),
    path("judges/", judging.judge_list, name="judge_list"),
    path("judges/anew/", judging.judging_new, name="judging_new"),
    path("judges/try/", judging.judge_try, name="judge_try"),
    path("judges/try/<int:trial_id>/", judging.judge_trial, name="judge_trial"),
    path("trajectories/import/", imports.trajectory_import, name="trajectory_import"),
    path("trajectories/import/<int:job_id>/", imports.import_job, name="import_job"),
    path(
        "trajectories/import/<int:job_id>/progress/",
        imports.import_progress,
        name="import_progress",
    ),
    path(
        "trajectories/<int:trajectory_id>/exchanges/",
        trajectories.trajectory_exchanges,
        name="trajectory_exchanges",
    ),
    path(
        "trajectories/<int:trajectory_id>/retry/",
        trajectories.trajectory_retry,
        name="trajectory_retry",
    ),
    path(
        "trajectories/<int:trajectory_id>/restart/",
        trajectories.trajectory_restart,
        name="trajectory_restart",
    ),
]
