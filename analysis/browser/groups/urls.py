"""Addresses of the groups of similar failures."""

from django.urls import URLPattern, path

from analysis.browser.groups import views as groups

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
