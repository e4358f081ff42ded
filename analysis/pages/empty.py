"""Why a page about runs has nothing to show."""

from analysis.filters.selection import Selection
from analysis.pages.declaration import NothingToShow
from analysis.pages.prose import read_prose
from analysis.reports import common
from analysis.reports.content import Empty
from benchmarks.access import START
from benchmarks.core.registry import EXTERNAL, find_system


def why_no_runs(selection: Selection) -> NothingToShow:
    """Return why there is nothing yet; ``pages/_runs_empty.html`` says it, and what to do."""
    if selection.closed and not selection.runs:
        return NothingToShow("closed")
    if selection.dataset is None:
        return NothingToShow("no run", {"needs": START})
    facts = {
        "dataset_name": common.dataset_name(selection),
        "dataset": selection.filters.dataset,
    }
    if selection.dataset.system == EXTERNAL:
        return NothingToShow(
            "made elsewhere", {**facts, "missing": find_system(EXTERNAL).labels.not_judged}
        )
    if selection.runs and not common.judge_roles(selection.system):
        accurate = "accurate" in find_system(selection.system).labels.measures
        return NothingToShow("no judges" if accurate else "no accuracy", facts)
    if selection.left_out:
        return NothingToShow("not finished")
    return NothingToShow("none fits")


def no_runs(purpose: str, selection: Selection) -> Empty:
    """Return the same for a page that is written as a whole."""
    nothing = why_no_runs(selection)
    context = {"purpose": purpose, "reason": nothing.reason, **nothing.facts}
    return read_prose("pages/_runs_empty.html", context).empty()
