"""Badges and banners that mark runs as something else than the work of models."""

from collections.abc import Iterable

from analysis.filters.selection import ChosenRun, Selection
from analysis.reports.addresses import trajectories_of
from analysis.reports.content import Badge, Banner, Cell
from analysis.reports.formatting import listed, plural
from analysis.reports.system_facts import judge_roles
from benchmarks.roles.cautions import tasks_cautions

LABEL_WORDS = {
    "scripted": Badge("scripted", "aside", "A script, not a model: it shows how things work."),
    "recorded": Badge(
        "recorded", "aside", "Answers that were recorded elsewhere, drawn from a pool."
    ),
    "lexicon": Badge("lexicon", "aside", "A list of words decides, not a model."),
    "simulated": Badge(
        "simulated", "aside", "A fake endpoint answers: a program that makes answers up."
    ),
    "human": Badge("person", "", "A person takes this part."),
}
BLIND_BADGE = Badge("blind", "aside", "A policy that does not read its task: a baseline, no agent.")
PUBLISHED_BADGE = Badge("published", "", "A figure from the paper, not from a run here.")


def label_of(run: ChosenRun, role: str) -> set[str]:
    """Return the kinds of those who fill a role: scripted, recorded, lexicon, human, …"""
    return {str(assignment.get("label", "")) for assignment in run.casting.get(role, ())}


def judge_labels(runs: Iterable[ChosenRun], system: str) -> set[str]:
    """Return the kinds of the judges, over all judging roles."""
    return {label for run in runs for role in judge_roles(system) for label in label_of(run, role)}


def agent_badges(run: ChosenRun) -> tuple[Badge, ...]:
    badges = [LABEL_WORDS[run.agent_kind]] if run.agent_kind in LABEL_WORDS else []
    if not run.finished:
        words = f"{run.done} of {run.total} trajectories are done"
        badges.append(Badge("unfinished", "warn", words))
    return tuple(badges)


def agent_cell(run: ChosenRun) -> Cell:
    """Return the name of a run's agent, leading to the run's trajectories."""
    return Cell(
        run.label,
        (run.label, run.agent_kind, f"run {run.pk}"),
        url=trajectories_of(run),
        badges=agent_badges(run),
    )


def banners(selection: Selection) -> tuple[Banner, ...]:
    """Return what marks the runs, or their tasks, as something else than the work of models."""
    runs, shown = selection.runs, []
    kinds = {run.agent_kind for run in runs}
    judges = judge_labels(runs, selection.system)
    made_by = []
    simulated = any("simulated" in label_of(run, role) for run in runs for role in run.casting)
    if simulated:
        made_by.append("a fake endpoint, which makes answers up")
    if "scripted" in kinds:
        made_by.append("scripted agents")
    if "recorded" in kinds:
        made_by.append("agents that draw recorded answers from a pool")
    if "scripted" in judges:
        made_by.append("scripted judges")
    if "lexicon" in judges:
        made_by.append("lexicon judges, which decide by lists of words")
    if any(run.is_demo for run in runs):
        title, end = "Demo data", "No real model took part."
    elif simulated:
        title, end = "Simulated answers", "No real model took part."
    elif "lexicon" in judges:
        title, end = "Lexicon judges", "Their verdicts are rough."
    elif "recorded" in kinds:
        title, end = "Recorded answers", "Nobody re-planned: an answer was chosen from the pool."
    else:
        title, end = "Scripted parts", "Read the figures with that in mind."
    if made_by:
        shown.append(Banner(title, f"Made with {listed(made_by)}. {end}"))
    imported = sum(run.imported for run in runs)
    if imported:
        words = f"{plural(imported, 'run was', 'runs were')} made elsewhere and imported."
        shown.append(Banner("Imported", words))
    if selection.dataset is not None:
        shown += [Banner(one.title, one.text) for one in tasks_cautions(selection.dataset)]
    return tuple(shown)
