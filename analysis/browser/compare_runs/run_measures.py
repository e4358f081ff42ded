"""Measures of two runs task by task: one value for every trajectory of both."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from django.db.models import Avg, Count, F, Q

from analysis.filters.page_filters import known_dimensions
from analysis.frames.outcomes import (
    NOT_JUDGED,
    NOT_RECORDED,
    UNFINISHED,
    rejudged_metrics,
)
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import EXTERNAL, find_system
from benchmarks.models import JudgeScore, Run, Task, Trajectory, Violation
from benchmarks.trajectories.selectors import final_scores
from benchmarks.visibility import Visibility

MEAN, TURNS = "mean", "turns"
NO_SCORE = "no judge scored the last plan"


@dataclass(frozen=True)
class RunMeasure:
    """A measure that runs are compared by. ``scores``: judges' scores of last plans.

    Where the measure is a verdict, ``verb`` and ``verb_not`` are the words for success and failure.
    """

    name: str
    title: str
    help: str
    binary: bool = False
    scores: bool = False
    verb: str = ""
    verb_not: str = ""


VERBS: Mapping[str, tuple[str, str]] = {
    "Passes": ("passes", "does not"),
    "Valid": ("ends with a valid plan", "does not"),
    "Correct": ("is correct", "is not"),
    "Full reward": ("gets the full reward", "does not"),
}


def measures_for(system: str) -> list[RunMeasure]:
    """Return the measures of a system, verdicts first."""
    known = find_system(system).labels.measures
    titles = {} if system == EXTERNAL else dict(find_system(system).labels.verdicts)
    rates = {name: m.title for name, m in known.items() if m.kind == "rate"}
    names = sorted(titles, key=lambda name: name != "accurate")
    measures = [_verdict(name, titles[name], known.get(name)) for name in names]
    measures += [_verdict(name, title, known[name]) for name, title in rates.items()
              if name not in titles]  # fmt: skip
    dimensions = known_dimensions(system)
    if dimensions:
        help = "Mean over the dimensions of the judges' means, of the last plan."
        measures.append(RunMeasure(MEAN, "Mean score", help, scores=True))
        measures += [
            RunMeasure(key, title, "Mean of the judges, of the last plan.", scores=True)
            for key, title in dimensions.items()
        ]
    measures += [RunMeasure(name, m.title, m.help) for name, m in known.items() if m.kind != "rate"]
    if TURNS not in known:
        measures.append(RunMeasure(TURNS, "Turns", "Number of turns."))
    return measures


def _verdict(name: str, title: str, measure: Measure | None) -> RunMeasure:
    verb = VERBS.get(title, (f"reaches “{title}”", "does not"))
    return RunMeasure(name, title, measure.help if measure else "", True, False, *verb)


@dataclass(frozen=True)
class Attempt:
    """One trajectory on the measure: without a value, ``why`` says why."""

    pk: int
    task: int
    number: int
    status: str
    termination: str
    turns: int
    value: float | None
    why: str = ""


def attempts_of(
    runs: Sequence[Run], measured: RunMeasure, seen: Visibility
) -> dict[int, list[Attempt]]:
    """Return the trajectories of some runs by run, in one query, or two where judges' scores count,
    or where what follows from a re-judging does.

    Cancelled ones are left out: others took their place, or they were given up.
    """
    rows = list(
        seen.of(Trajectory.objects.filter(run__in=runs))
        .exclude(status=Trajectory.Status.CANCELLED)
        .order_by("run_id", "task_id", "attempt", "pk")
        .values_list(
            "pk", "run", "task", "attempt", "status", "termination", "turn_count", "metrics",
            "undefined",
        )
    )  # fmt: skip
    scores = _final_scores([run.pk for run in runs], measured) if measured.scores else {}
    judged = {run.pk: run.primary_judging for run in runs}
    rejudged = {pk: one for pk, one in judged.items() if one is not None and one.made_by_id}
    anew = rejudged_metrics(one.made_by_id for one in rejudged.values())
    attempts: dict[int, list[Attempt]] = {run.pk: [] for run in runs}
    for pk, run, task, attempt, status, termination, turns, metrics, undefined in rows:
        if run in rejudged:
            gone = {measured.name: NOT_JUDGED.format(name=rejudged[run].name)}
            metrics, undefined = anew.get(pk, ({}, gone))
        if status != Trajectory.Status.DONE:
            value, why = None, UNFINISHED.get(status, "not finished")
        elif measured.scores:
            value, why = scores.get(pk, (None, NO_SCORE))
        else:
            stated = metrics.get(measured.name)
            if stated is None and measured.name == TURNS:
                stated = turns
            value = None if stated is None else float(stated)
            why = "" if stated is not None else undefined.get(measured.name, NOT_RECORDED)
        attempts[run].append(Attempt(pk, task, attempt, status, termination, turns, value, why))
    return attempts


def _final_scores(runs: Sequence[int], measured: RunMeasure) -> dict[int, tuple[float | None, str]]:
    """Return the scores of last plans by trajectory, of each run's own judging.

    A judge without a score leaves a dimension undefined, and with it the mean over dimensions.
    """
    rows = JudgeScore.objects.filter(
        run__in=runs, is_final=True, judging=F("run__primary_judging")
    ).order_by()
    if measured.name != MEAN:
        rows = rows.filter(dimension=measured.name)
    by: dict[int, list[tuple[float | None, int]]] = {}
    for pk, _, mean, missing in rows.values_list("trajectory", "dimension").annotate(
        mean=Avg("value"), missing=Count("pk", filter=Q(value=None))
    ):
        by.setdefault(pk, []).append((mean, missing))
    scores: dict[int, tuple[float | None, str]] = {}
    for pk, means in by.items():
        gone = sum(missing for _, missing in means)
        known = [mean for mean, _ in means if mean is not None]
        if gone or not known:
            scores[pk] = (None, "a judge gave no score")
        else:
            scores[pk] = (fmean(known), "")  # to the last digit the same in any order
    return scores


@dataclass(frozen=True)
class TaskText:
    """A task as a list names it."""

    pk: int
    name: str
    prompt: str


def task_texts(tasks: Iterable[int]) -> dict[int, TaskText]:
    """Return the tasks with these ids, in one query and their stored order."""
    rows = Task.objects.filter(pk__in=list(tasks)).order_by("pk")
    return {
        pk: TaskText(pk, name, prompt)
        for pk, name, prompt in rows.values_list("pk", "external_id", "prompt")
    }


@dataclass(frozen=True)
class AttemptDetails:
    """The details beside the measure: violations and mean scores by trajectory."""

    violations: Mapping[int, int] = field(default_factory=dict)
    means: Mapping[int, float | None] = field(default_factory=dict)


def details_of(trajectories: Sequence[int]) -> AttemptDetails:
    """Return the violations and mean scores of last plans, in two queries."""
    rows = (
        Violation.objects.filter(turn__trajectory__in=trajectories)
        .order_by()
        .values_list("turn__trajectory")
        .annotate(n=Count("pk"))
    )
    scores = final_scores(trajectories)
    return AttemptDetails(dict(rows), {pk: score.mean for pk, score in scores.items()})
