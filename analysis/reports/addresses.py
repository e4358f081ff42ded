"""Addresses of lists of trajectories, other pages and the form for new runs, with filters."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from analysis.filters import ALL_TASKS, KEPT, USABLE, with_query
from analysis.filters.selection import ChosenRun, Selection
from analysis.stats.results import Estimate
from benchmarks.roles.services import AT

# Of fewer failures than this there is nothing to group.
LEAST_GROUPED = 2
# Lists of trajectories know the verdicts of each run's primary judging alone.
OF_PRIMARY = frozenset({"accurate", "valid", "unscored", "score", "spread"})


def address(name: str, query: Mapping[str, Any] | str | None = None, **kwargs: Any) -> str:
    """Return an address by name, or nothing where there is none."""
    try:
        return with_query(reverse(name, kwargs=kwargs), query or {})
    except NoReverseMatch:
        return ""


def trajectories_of(run: ChosenRun, **more: Any) -> str:
    """Return the list of a run's trajectories that count, filtered.

    Where another judging counts here, filters that would choose by verdicts of the primary one are
    left out.
    """
    if run.judging != run.primary:
        more = {word: value for word, value in more.items() if word not in OF_PRIMARY}
    return trajectories({"run": run.pk, **usable_alone([run]), **more})


def usable_alone(runs: Iterable[ChosenRun]) -> dict[str, str]:
    """Return the filter of the list that leaves out the tasks which these runs leave out."""
    return {USABLE: "yes"} if any(run.left_out for run in runs) else {}


def trajectories(query: Mapping[str, Any]) -> str:
    """Return the list of trajectories, filtered; a value may be a list."""
    return address("analysis:trajectory_list", query)


def page_of(name: str, selection: Selection, **more: Any) -> str:
    """Return another page of analysis about the same runs."""
    shared = selection.filters.only(KEPT)
    return address(f"analysis:{name}", shared.query(**more))


class GroupsLink(NamedTuple):
    """The link to the groups of a list's failures; without a ``url`` where nothing is to group."""

    url: str
    words: str


def failure_groups(failed: int, query: str) -> GroupsLink:
    """Return the link to the groups of so many failures of the list with this address."""
    if failed < LEAST_GROUPED:
        words = "One failed: there is nothing to group it with."
        return GroupsLink("", words if failed else "None failed: there is nothing to group.")
    url = address("analysis:trajectory_groups", query)
    return GroupsLink(url, f"Group the {failed:,} failures by what happened and words")


def side_by_side(a: ChosenRun, b: ChosenRun, measure: str, **more: Any) -> str:
    """Return two runs task by task."""
    tasks = {"tasks": ALL_TASKS} if a.every_task else {}
    query = {"a": a.pk, "b": b.pk, "measure": measure, **tasks, **more}
    return address("analysis:compare_runs", query)


def successes(run: ChosenRun, share: Estimate, metric: str = "accurate") -> str:
    """Return the trajectories that a share counts as successes; without any, all that it counts."""
    return trajectories_of(run, **{metric: "yes" if share.value else ["yes", "no"]})


def new_run_url(
    selection: Selection,
    like: Sequence[ChosenRun],
    settings: Mapping[str, Any],
    *,
    level: str = "",
) -> str:
    """Return the form for runs of these agents with some settings changed and all else as it
    was.
    """
    if not like:
        return address("benchmarks:run_new", {"dataset": selection.filters.dataset})
    first = like[0]
    pairs: list[tuple[str, str]] = [("dataset", selection.filters.dataset)]
    pairs += [("agents", name) for name in dict.fromkeys(run.agent for run in like)]
    wanted = level or first.level
    if wanted:
        pairs.append(("levels", wanted))
    for name, value in {**first.settings, **settings}.items():
        pairs.append((f"set_{name}", str(value).lower() if isinstance(value, bool) else str(value)))
    for role, assignments in first.roles.items():
        if role != "agent":
            pairs += [
                (f"role_{role}_{seat}", _assignment_text(assignment))
                for seat, assignment in enumerate(assignments, 1)
            ]
    pairs.append(("seed", str(first.seed)))
    url = address("benchmarks:run_new")
    return f"{url}?{urlencode(pairs)}" if url else ""


def _assignment_text(assignment: Mapping[str, Any]) -> str:
    """Return the name of an assignment in the form of a new run."""
    if assignment.get("kind") == "endpoint":
        return f"{AT}{assignment.get('endpoint', '')}"
    return str(assignment.get("policy") or assignment.get("kind", ""))
