"""Sentences of reports about the chosen runs: dataset, what was left out, how they were made."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from analysis.filters import ALL_TASKS
from analysis.filters.runs import BRANCHES, SHOWN
from analysis.filters.selection import ChosenRun, Selection
from analysis.reports.addresses import address, trajectories
from analysis.reports.content import Notice
from analysis.reports.formatting import listed, plural
from analysis.reports.system_facts import judge_roles
from annotation.annotator_quality.unanswered import unanswered_places
from annotation.models import LiveSession
from benchmarks.core.conditions import condition_title
from benchmarks.core.registry import SYSTEMS, find_system, get_system
from benchmarks.models import Trajectory

# At most so many trajectories are named in an address.
MOST_IDS = 500
REPLACED = "; shown is "


def dataset_name(selection: Selection) -> str:
    """Return the dataset in words; its version only where there was another."""
    dataset = selection.dataset
    if dataset is None:
        return ""
    return dataset.name if dataset.version == "1" else f"{dataset.name}, version {dataset.version}"


def _notice(note: str) -> Notice:
    """Return a note of a selection as a notice; that on branches leads to their runs."""
    if note.startswith(BRANCHES):
        return Notice(note, "info", address("benchmarks:run_list", {"kind": "branch"}))
    return Notice(note, "info" if note.startswith(SHOWN) else "warning")


def selection_notices(selection: Selection) -> list[Notice]:
    """Return what the address asked for and did not get, and runs that are not finished."""
    notices = [_notice(note) for note in selection.notes]
    replaced = [line for line in selection.left_out if REPLACED in line]
    if replaced:
        text = "; ".join(replaced[:5]) + (f"; and {len(replaced) - 5} more" * (len(replaced) > 5))
        notices.append(
            Notice(f"Several runs of one agent fit here, and one of each is shown. {text}.")
        )
    if any(run.judging != run.primary for run in selection.runs):
        text = (
            "Scores, and metrics that follow from them, are those of the judging "
            f"“{selection.filters.judging}”. Lists of trajectories, and what compares two of them, "
            "show each run's primary judging."
        )
        notices.append(Notice(text, "info"))
    notices += _about_tasks(selection)
    open_runs = [run for run in selection.runs if not run.finished]
    if open_runs:
        names = [f"{run.label} ({run.done} of {run.total})" for run in open_runs]
        notices.append(
            Notice(
                f"Not finished, so the figures will still move: {listed(names, most=5)}.", "info"
            )
        )
    return [*notices, *_unanswered(selection.runs)]


def _unanswered(runs: Sequence[ChosenRun]) -> list[Notice]:
    """Return how many of the sessions of these runs ended without one reply of a player."""
    played = [run.pk for run in runs if run.has_players]
    if not played:
        return []
    sessions = LiveSession.objects.filter(
        trajectory__run__in=played, trajectory__status=Trajectory.Status.DONE, practice=False
    )
    ids = list(sessions.order_by("trajectory").values_list("trajectory", flat=True))
    silent = sorted(unanswered_places(ids))
    if not silent:
        return []
    words = (
        f"A player sent no reply in {len(silent):,} of {plural(len(ids), 'session')} counted here."
    )
    return [Notice(words, url=trajectories({"ids": ",".join(map(str, silent[:MOST_IDS]))}))]


def _about_tasks(selection: Selection) -> list[Notice]:
    """Return how many tasks count, where their own reference does not solve some of them."""
    certificate = selection.certificate
    if certificate is None or not (unusable := len(certificate.unusable())):
        return []
    them = f"{unusable:,} that their own reference does not solve"
    if selection.filters.tasks == ALL_TASKS:
        text = f"All tasks are counted, also {them}: {certificate.usable_words}."
    else:
        are = "is" if unusable == 1 else "are"
        text = f"{certificate.usable_words}. The {them} {are} left out; All tasks counts all."
    return [Notice(text, "info")]


def how_runs(selection: Selection) -> list[str]:
    """Return dataset, level, condition, runs, seeds, judging and versions, to copy."""
    runs = selection.runs
    if not runs:
        return []
    by_label: dict[str, list[str]] = {}
    for run in runs:
        by_label.setdefault(run.label, []).append(str(run.pk))
    numbers = ", ".join(
        f"{label} (run{'s' if len(pks) > 1 else ''} {', '.join(pks)})"
        for label, pks in by_label.items()
    )
    levels = sorted({run.level or "none" for run in runs})
    system = find_system(selection.system)
    conditions = sorted({condition_title(system, run.condition) for run in runs})
    if all(run.imported for run in runs):
        return [
            f"Dataset {dataset_name(selection)}, made elsewhere and imported. Runs: {numbers}.",
            *_left_out(selection),
        ]
    leveled = f" level {', '.join(levels)};" if levels != ["none"] else ""
    judged = (
        f"Judging: {_same(run.judging_name or 'none' for run in runs)}; judges: "
        f"{_same(_judges(run, selection.system) for run in runs)}. "
    )
    lines = [
        f"Dataset {dataset_name(selection)};{leveled} condition {'; '.join(conditions)}.",
        f"Runs: {numbers}. Seed of the runs: {_same(str(run.seed) for run in runs)}.",
        f"{judged if judge_roles(selection.system) else 'Nobody judges. '}"
        f"Scorer version {_same(run.pins.get('scorer', 'unknown') for run in runs)}, protocol "
        f"{_same(run.pins.get('protocol', 'unknown') for run in runs)}, prompts "
        f"{_same(run.pins.get('prompts', 'unknown') for run in runs)}.",
    ]
    return [*lines, *_left_out(selection)]


def _left_out(selection: Selection) -> list[str]:
    lines = []
    if selection.left_out:
        lines.append(f"Runs left out: {'; '.join(selection.left_out)}.")
    if selection.filters.agents:
        lines.append("Only the chosen agents are counted.")
    return lines


def _judges(run: ChosenRun, system: str) -> str:
    if run.imported or system not in SYSTEMS:
        return "as imported"
    words = []
    for role in get_system(system).roles:
        if role.judges and run.casting.get(role.name):
            assignments = [
                _assignment_text(assignment, system) for assignment in run.casting[role.name]
            ]
            words.append(f"{role.title.lower()}: {', '.join(assignments)}")
    return "; ".join(words) or "none"


def _assignment_text(assignment: Mapping[str, Any], system: str) -> str:
    """Return who fills a role, by title, with the version."""
    policy = str(assignment.get("policy") or "")
    known = get_system(system).scripted.get(policy)
    name = known.title if known is not None else policy or assignment.get("label")
    return f"{name} {assignment.get('version', '')}".strip()


def _same(values: Iterable[str]) -> str:
    """Return one word for all where they agree, else each that occurs."""
    return " / ".join(dict.fromkeys(values))
