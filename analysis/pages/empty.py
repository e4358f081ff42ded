"""The reasons why a page about runs has nothing to show."""

from analysis.filters.selection import Selection
from analysis.pages.declaration import NothingToShow
from analysis.reports import chosen_runs, system_facts
from benchmarks.access import START
from benchmarks.core.registry import EXTERNAL, find_system


def why_no_runs(selection: Selection) -> NothingToShow:
    """Return why there is nothing yet; ``pages/_runs_empty.html`` says it, and what to do."""
    if selection.closed and not selection.runs:
        return NothingToShow("closed")
    if selection.dataset is None:
        return NothingToShow("no run", {"needs": START})
    facts = {
        "dataset_name": chosen_runs.dataset_name(selection),
        "dataset": selection.filters.dataset,
    }
    if selection.dataset.system == EXTERNAL:
        return NothingToShow(
            "made elsewhere", {**facts, "missing": find_system(EXTERNAL).labels.not_judged}
        )
    if selection.runs and not system_facts.judge_roles(selection.system):
        labels = find_system(selection.system).labels
        if not labels.headlines:
            return NothingToShow("no headline", facts)
        main = labels.measures[labels.headlines[0]]
        return NothingToShow("no judges", {**facts, "measure": main.name})
    if selection.left_out:
        return NothingToShow("not finished")
    return NothingToShow("none fits")
