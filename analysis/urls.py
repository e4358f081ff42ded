"""Addresses of the analysis app."""

from django.urls import URLPattern, URLResolver, path

from analysis.browser import comparison_views as comparing
from analysis.browser import failure_label_views as failures
from analysis.browser import label_set_views as label_sets
from analysis.browser import list_views as browse
from analysis.browser import remark_views as remarks
from analysis.browser import session_views as session
from analysis.browser import trajectory_views as trajectory
from analysis.browser.clusters import views as clusters
from analysis.browser.compare_runs import views as flips
from analysis.browser.groups import views as groups
from analysis.browser.questions import views as questions
from analysis.downloads.urls import export_paths
from analysis.pages import views as reports
from analysis.pages.branches import views as branching
from analysis.pages.catalogue import PAGES
from analysis.pages.quality import views as quality
from analysis.pages.replicates import views as experiments
from analysis.pages.saved_views import views as saved
from analysis.papers.urls import paper_paths
from analysis.registrations.urls import registration_paths
from analysis.tables.urls import table_paths

app_name = "analysis"


def _paths(name: str) -> list[URLPattern]:
    """Return a page, the figures and tables that it shows, and what of it takes longer."""
    at, given = f"analysis/{PAGES[name].address}/", {"name": name}
    deferred = [path(f"{at}later/", reports.deferred_part, given, name=f"{name}_later")]
    return [
        path(at, reports.page, given, name=name),
        path(f"{at}details/", reports.details, given, name=f"{name}_details"),
        *(deferred if PAGES[name].deferred else []),
        path(f"{at}<slug:part>.json", reports.figure, given, name=f"{name}_figure"),
        path(f"{at}<slug:part>.csv", reports.table, given, name=f"{name}_table"),
    ]


ONE = "trajectories/<int:trajectory_id>/"
reading_paths: list[URLPattern] = [
    path(f"{ONE}export/", trajectory.trajectory_export, name="trajectory_export"),
    path(f"{ONE}images/<slug:digest>/", session.trajectory_image, name="trajectory_image"),
    path(f"{ONE}messages/", session.trajectory_messages, name="trajectory_messages"),
    path(f"{ONE}messages/<int:number>/", session.trajectory_message, name="trajectory_message"),
    path(f"{ONE}turns/", trajectory.trajectory_turns, name="trajectory_turns"),
    path(f"{ONE}scores/", trajectory.trajectory_scores, name="trajectory_scores"),
    path(f"{ONE}labels/", remarks.label_put, name="label_put"),
    path(f"{ONE}labels/<int:put_id>/off/", remarks.label_off, name="label_off"),
    path(f"{ONE}notes/", remarks.note_add, name="note_add"),
    path(f"{ONE}notes/<int:note_id>/", remarks.note_change, name="note_change"),
    path("failure-labels/", failures.failure_labels, name="failure_labels"),
    path("label-sets/", label_sets.label_sets, name="label_sets"),
    path("label-sets/<slug:set_key>/", label_sets.label_set, name="label_set"),
    path("label-sets/<slug:set_key>/labels.csv", label_sets.label_set_csv, name="label_set_csv"),
    path("failure-labels/<slug:label_key>/", failures.failure_label, name="failure_label"),
]
GROUPS = "trajectories/groups/"
group_paths: list[URLPattern] = [
    path(GROUPS, groups.trajectory_groups, name="trajectory_groups"),
    path(f"{GROUPS}later/", groups.trajectory_groups_later, name="trajectory_groups_later"),
    path(
        f"{GROUPS}<slug:part>.json",
        groups.trajectory_groups_figure,
        name="trajectory_groups_figure",
    ),
    path(
        f"{GROUPS}<slug:part>.csv", groups.trajectory_groups_table, name="trajectory_groups_table"
    ),
]
CLUSTERS = "trajectories/clusters/"
QUESTIONS = "trajectories/questions/"
cluster_paths: list[URLPattern] = [
    path(f"{QUESTIONS}new/", questions.question_new, name="question_new"),
    path(f"{QUESTIONS}<int:question_id>/", questions.question, name="question"),
    path(f"{QUESTIONS}<int:question_id>/check/", questions.question_check, name="question_check"),
    path(
        f"{QUESTIONS}<int:question_id>/progress/",
        questions.question_progress,
        name="question_progress",
    ),
    path(f"{QUESTIONS}<int:question_id>/answers.csv", questions.question_csv, name="question_csv"),
    path(f"{CLUSTERS}new/", clusters.clusters_new, name="clusters_new"),
    path(f"{CLUSTERS}<int:clustering_id>/", clusters.clusters, name="clusters"),
    path(
        f"{CLUSTERS}<int:clustering_id>/progress/",
        clusters.clusters_progress,
        name="clusters_progress",
    ),
    path(
        "endpoints/<int:endpoint_id>/clusters/",
        clusters.endpoint_clusters,
        name="endpoint_clusters",
    ),
]
QUALITY = "studies/<int:pk>/quality/"
urlpatterns: list[URLPattern | URLResolver] = [
    path("trajectories/", browse.trajectory_list, name="trajectory_list"),
    path("trajectories/search/", browse.search_completions, name="search_completions"),
    path("trajectories/export/", browse.trajectory_list_export, name="trajectory_list_export"),
    *group_paths,
    *cluster_paths,
    path("trajectories/facts/", browse.read_facts, name="read_facts"),
    path("trajectories/facts/progress/", browse.facts_progress, name="facts_progress"),
    path("trajectories/<int:trajectory_id>/", trajectory.trajectory, name="trajectory"),
    *reading_paths,
    path("trajectories/branches/<int:run_id>/", branching.branches, name="branches"),
    path(
        "trajectories/branches/<int:run_id>/<slug:part>.csv",
        branching.table,
        name="branches_table",
    ),
    path(
        "trajectories/branches/<int:run_id>/<slug:part>.json",
        branching.figure,
        name="branches_figure",
    ),
    path("compare/", comparing.compare, name="compare"),
    path("compare/runs/", flips.compare_runs, name="compare_runs"),
    path("compare/runs/tasks.csv", flips.compare_runs_table, name="compare_runs_table"),
    path("views/save/", saved.saved_view_save, name="saved_view_save"),
    path("views/<int:view_id>/rename/", saved.saved_view_rename, name="saved_view_rename"),
    path("views/<int:view_id>/share/", saved.saved_view_share, name="saved_view_share"),
    path("views/<int:view_id>/delete/", saved.saved_view_delete, name="saved_view_delete"),
    path("analysis/", reports.index, name="index"),
    path(
        "analysis/experiments/<int:experiment_id>/replicates/",
        experiments.replicates,
        name="replicates",
    ),
    path(
        "analysis/experiments/<int:experiment_id>/replicates/<slug:part>.csv",
        experiments.table,
        name="replicates_table",
    ),
    path("analysis/of-study/<int:pk>/", reports.of_study, name="of_study"),
    *table_paths,
    *paper_paths,
    *registration_paths,
    *(pattern for name in PAGES for pattern in _paths(name)),
    *export_paths,
    path(QUALITY, quality.quality, name="study_quality"),
    path(f"{QUALITY}<slug:part>.json", quality.figure, name="study_quality_figure"),
    path(f"{QUALITY}<slug:part>.csv", quality.table, name="study_quality_table"),
    # The addresses that parts had before they were parts of pages.
    path("analysis/<slug:moved>/", reports.moved, name="moved"),
    path("analysis/<slug:moved>/<path:rest>", reports.moved, name="moved_below"),
]
