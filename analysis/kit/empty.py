"""The reasons why a page about runs has nothing to show, and what to do about each."""

from analysis.kit.page import Page
from analysis.reports import addresses, chosen_runs, system_facts
from benchmarks.access import START
from benchmarks.core.registry import EXTERNAL, find_system


def no_runs(page: Page, purpose: str, *, of_judges: bool = False) -> None:
    """Say what the page is for, why it has nothing to show yet, and what to do.

    ``of_judges``: the page shows judges' scores, which some systems do not have.
    """
    title, reason, action, url, needs = _why(page, of_judges=of_judges)
    page.nothing(title, f"{purpose} {reason}", action, url, needs)


def nothing_finished(page: Page, purpose: str) -> None:
    """Say that runs fit the page, but have finished nothing that it could show."""
    title, reason, action, url, needs = _not_finished()
    page.nothing(title, f"{purpose} {reason}", action, url, needs)


def _not_finished() -> tuple[str, str, str, str, str]:
    reason = "The runs that these filters choose have finished nothing yet."
    url = addresses.address("benchmarks:run_list")
    return "Nothing is finished yet", reason, "Look at the runs", url, ""


def _why(page: Page, *, of_judges: bool) -> tuple[str, str, str, str, str]:
    """Return title, reason, the label and address of a button, and the permission it needs."""
    selection, clear = page.selection, ("Clear the filters", "?", "")
    if selection.closed and not selection.runs:
        reason = "Runs that it could show are closed to you while you annotate blind."
        return "Nothing is open to you here", reason, *clear
    if selection.dataset is None:
        reason = "It needs a run with finished trajectories; there is none yet."
        return "No runs yet", reason, "Start a run", addresses.address("benchmarks:run_new"), START
    query = {"dataset": selection.filters.dataset} if selection.filters.dataset else {}
    if selection.dataset.system == EXTERNAL:
        reason = (
            f"{find_system(EXTERNAL).labels.not_judged} Rewards, endings and turns are under "
            "Outcomes."
        )
        url = addresses.address("analysis:outcomes", query)
        return "Not known of trajectories made elsewhere", reason, "See the outcomes", url, ""
    if selection.runs and not system_facts.judge_roles(selection.system):
        labels, name = page.system.labels, chosen_runs.dataset_name(selection)
        if not labels.headlines:
            reason = (
                f"On {name} nobody judges, and no measure ranks agents. Its measures are under "
                "Effects and Compare models."
            )
            url = addresses.address("analysis:effects", query)
            return "Agents are not ranked here", reason, "See the effects", url, ""
        main = labels.measures[labels.headlines[0]]
        title, why = "These runs have no judges", f"On {name} nobody judges: rules decide."
        if not of_judges:
            title, why = "Not about these runs", f"It does not apply to {name}."
        reason = f"{why} The {main.name} of every agent is on the leaderboard."
        url = addresses.address("analysis:leaderboard", query)
        return title, reason, "See the leaderboard", url, ""
    if selection.left_out:
        return _not_finished()
    return "No runs here", "No run fits these filters.", *clear
