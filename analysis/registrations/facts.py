"""What a page uses of its selection, in the words of registrations: names and digests, no ids."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Max, Min, Q
from django.db.models.functions import Coalesce

from analysis.filters import ALL_RUNS, ALL_TASKS
from analysis.filters.selection import ChosenRun, Selection
from analysis.registrations.differences import Used
from analysis.registrations.document import QUESTIONS
from analysis.registrations.gone import counted_answers
from analysis.reports.system_facts import judge_roles
from annotation.models import Assignment, Item
from annotation.ratings.selectors import left_out
from benchmarks.core.digests import digest
from benchmarks.core.registry import find_system
from benchmarks.models import Task, Trajectory

# The ε of pages that have no filter for it, and of an address that says nothing.
STRICTEST = 0.1
EPSILONS = {"0.15": 0.15, "0.2": 0.2}


def moment(at: datetime) -> str:
    """Return a time as documents have it: UTC, to the second."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def task_set(ids: Sequence[str]) -> str:
    """Return the digest of a set of tasks, by their external ids."""
    return digest(sorted(ids))


def judge_names(run: ChosenRun, system: str) -> list[str]:
    """Return who judges in a run: each by policy, endpoint or label."""
    return [
        str(one.get("policy") or one.get("endpoint") or one.get("label") or "unnamed")
        for role in judge_roles(system)
        for one in run.casting.get(role, ())
    ]


def used_by(page: str, selection: Selection, question: str, experiment: str = "") -> Used:
    """Return what a page uses; ``experiment`` is the name that a registration gives its own."""
    filters, runs = selection.filters, selection.runs
    named = {option.value: option.label for option in selection.options.get("experiment", ())}
    dataset, chosen = selection.dataset, filters.experiment
    facts: dict[str, Any] = {
        "version": dataset.version if dataset is not None else "",
        "checksum": dataset.checksum if dataset is not None else "",
        "measures": _measures(page, selection),
        "correction": QUESTIONS[question].correction,
        "family": _pairs(selection.agents_here) if QUESTIONS[question].paired else None,
        "experiment": "" if chosen in ("", ALL_RUNS) else named.get(chosen, chosen),
        "experiments": sum(label == experiment for label in named.values()) if experiment else 1,
        "level": filters.level,
        "condition": filters.condition,
        "judging": filters.judging,
        "all_tasks": filters.tasks == ALL_TASKS,
        "scores": filters.scores,
        "rated": bool(selection.options.get("scores")),
        "aligned": filters.align,
        "chosen_runs": bool(filters.runs),
        "shows_rest": bool(filters.deleted),
        "agents": tuple(sorted({run.agent for run in (*selection.family, *runs)})),
        "shown": tuple(sorted({run.agent for run in runs})),
        "judges": tuple(sorted({name for run in runs
                                for name in judge_names(run, selection.system)})),
        "versions": {name: sorted({run.pins[name] for run in runs if name in run.pins})
                     for name in ("protocol", "prompts", "parsers", "scorer")},
        "settings": tuple(sorted({digest(dict(run.settings)) for run in runs})),
        "imported": tuple(sorted({run.agent for run in runs if run.imported})),
    }  # fmt: skip
    if question == "judge":
        facts["epsilon"] = EPSILONS.get(filters.epsilon, STRICTEST)
    return Used(**facts, **(_study(selection) if selection.study is not None else _cut(selection)))


def _pairs(agents: int) -> int:
    return agents * (agents - 1) // 2


def _measures(page: str, selection: Selection) -> tuple[str, ...] | None:
    """Return the measures of which a page states comparisons; None where it shows all."""
    if page == "leaderboard":
        return tuple(find_system(selection.system).labels.headlines[:2])
    if page == "compare-models":
        return (selection.filters.measure,)
    if page != "decline":
        return None
    dimensions = selection.filters.dimensions
    # Scores of people, or corrected by them, are of the mean over the dimensions shown.
    corrected = selection.options.get("scores") and selection.filters.scores != "judges"
    if corrected and len(dimensions) > 1:
        return (f"the mean of {len(dimensions)} dimensions",)
    return dimensions


def _cut(selection: Selection) -> dict[str, Any]:
    """Return tasks and trajectories by agent, their task sets, and the earliest answer."""
    counts = {run.pk: run.agent for run in selection.runs}
    rows = Trajectory.objects.filter(run__in=counts).exclude(status=Trajectory.Status.CANCELLED)
    sums = rows.order_by().values("run").annotate(
        tasks=Count("task", distinct=True), planned=Count("pk"),
        done=Count("pk", filter=Q(status=Trajectory.Status.DONE)),
        first=Min(Coalesce("started_at", "finished_at")),
    )  # fmt: skip
    sets: dict[int, list[str]] = {pk: [] for pk in counts}
    for pk, task in rows.order_by().values_list("run", "task__external_id").distinct():
        sets[pk].append(task)
    by_run: dict[int, Mapping[str, Any]] = {row["run"]: row for row in sums}
    firsts = [row["first"] for row in by_run.values() if row["first"] is not None]

    def by_agent(name: str) -> dict[str, int]:
        return {agent: by_run[pk][name] if pk in by_run else 0 for pk, agent in counts.items()}

    return {
        **{name: by_agent(name) for name in ("tasks", "planned", "done")},
        "task_sets": tuple(sorted({task_set(ids) for ids in sets.values()})),
        "first_answer": moment(min(firsts)) if firsts else "",
    }


def _study(selection: Selection) -> dict[str, Any]:
    """Return items, raters and answers of the page's study, and what is left out of it."""
    study, filters = selection.study, selection.filters
    assert study is not None
    items = Item.objects.filter(study=study, use=Item.Use.MAIN)
    sums = items.aggregate(n=Count("pk"), low=Min("wanted"), high=Max("wanted"))
    submitted = Assignment.objects.filter(study=study, item__use=Item.Use.MAIN)
    first = submitted.aggregate(first=Min("submitted_at"))["first"]
    raters = {count for count in (sums["low"], sums["high"]) if count is not None}
    return {
        "questionnaire": study.questionnaire,
        "simulated": filters.simulated,
        "unblinded": filters.unblinded,
        "items": sums["n"],
        "raters": tuple(sorted(raters)),
        "answers": counted_answers(study),
        "first_answer": moment(first) if first is not None else "",
        "left_out": left_out(study).words,
    }


def all_tasks_of(dataset: int) -> list[str]:
    """Return the external ids of a dataset's tasks."""
    return list(Task.objects.filter(dataset=dataset).values_list("external_id", flat=True))
