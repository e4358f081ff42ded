"""Addresses of lists of trajectories and of other pages, with their filters."""

from collections.abc import Mapping
from typing import Any

from django.urls import NoReverseMatch, reverse

from analysis.filters import KEPT, with_query
from analysis.filters.selection import ChosenRun, Selection
from analysis.stats.results import Estimate

# Lists of trajectories know the verdicts of each run's primary judging alone.
OF_PRIMARY = frozenset({"accurate", "valid", "unscored", "score", "spread"})


def address(name: str, query: Mapping[str, Any] | str | None = None, **kwargs: Any) -> str:
    """An address by name, or nothing where there is none."""
    try:
        return with_query(reverse(name, kwargs=kwargs), query or {})
    except NoReverseMatch:
        return ""


def trajectories_of(run: ChosenRun, **more: Any) -> str:
    """The list of a run's trajectories, filtered.

    Where another judging counts here, filters that would choose by verdicts of the primary one are
    left out.
    """
    if run.judging != run.primary:
        more = {word: value for word, value in more.items() if word not in OF_PRIMARY}
    return trajectories({"run": run.pk, **more})


def trajectories(query: Mapping[str, Any]) -> str:
    """The list of trajectories, filtered; a value may be a list."""
    return address("analysis:trajectory_list", query)


def page_of(name: str, selection: Selection, **more: Any) -> str:
    """Another page of analysis about the same runs."""
    shared = selection.filters.only(KEPT)
    return address(f"analysis:{name}", shared.query(**more))


def side_by_side(a: ChosenRun, b: ChosenRun, measure: str, **more: Any) -> str:
    """Two runs task by task."""
    return address("analysis:compare_runs", {"a": a.pk, "b": b.pk, "measure": measure, **more})


def successes(run: ChosenRun, share: Estimate, metric: str = "accurate") -> str:
    """The trajectories that a share counts as successes; without any, all that it counts."""
    return trajectories_of(run, **{metric: "yes" if share.value else ["yes", "no"]})
