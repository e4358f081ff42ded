"""Read trajectories for lists and pages: filters, list rows, endings, verdicts and scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet

from benchmarks.core.ports.labels import Ending, Measure, plain
from benchmarks.core.ports.results import NEARLY, HeaderAnswer, TrajectoryResult
from benchmarks.core.registry import EXTERNAL, SYSTEMS, find_system, system_of
from benchmarks.core.types import Outcome
from benchmarks.mappers import core_outcome, core_task
from benchmarks.models import JudgeScore, Run, Trajectory, Violation
from benchmarks.trajectories.turns import TurnView
from benchmarks.trajectories.word_search import with_words
from benchmarks.visibility import EVERYTHING, Visibility

S = Trajectory.Status
# Shown in place of an ending while a trajectory has not ended.
STATES: Mapping[str, Ending] = {
    S.PENDING: Ending("Not started", "It waits for a worker.", "idle"),
    S.RUNNING: Ending("Under way", "A worker carries it at this moment.", "info"),
    S.WAITING: Ending("Waits for a person", "It continues once a person has answered.", "warn"),
    S.FAILED: Ending("Failed", "The infrastructure failed; it can be resumed.", "bad"),
    S.DECISION: Ending(
        "Needs a decision", "The stored log does not match today's versions.", "warn"
    ),
    S.CANCELLED: Ending("Cancelled", "It was cancelled before its end.", "idle"),
}
YES, NO, UNDEFINED = "yes", "no", "undefined"
FULL, PART, ZERO = "full", "part", "zero"


def ending_title(code: str) -> str:
    """Return the title of an ending of any system."""
    for system in (*SYSTEMS, EXTERNAL):
        if code in find_system(system).labels.endings:
            return find_system(system).labels.endings[code].title
    return plain(code)


def trajectory_end(trajectory: Trajectory) -> Ending:
    """Return how a trajectory ended, or its state."""
    if trajectory.status == S.DONE:
        return find_system(trajectory.run.dataset.system).labels.ending(trajectory.termination)
    return STATES[trajectory.status]


def trajectory_result(trajectory: Trajectory, known: "CountedMetrics") -> TrajectoryResult:
    """Return whether a trajectory is right or wrong under the primary judging, or its state."""
    if trajectory.status != S.DONE:
        state = STATES[trajectory.status]
        return TrajectoryResult(state.title, state.tone)
    # Without the payload: lists do not read it.
    outcome = Outcome(trajectory.termination, known.metrics, known.undefined)
    return find_system(trajectory.run.dataset.system).labels.result_of(outcome)


def trajectory_list(
    chosen: Mapping[str, Any], seen: Visibility = EVERYTHING
) -> QuerySet[Trajectory]:
    """Return the trajectories that match a filter; names are those of the API's query.

    ``seen`` is the reader's visibility: names that only closed runs have find nothing in ``q``.

    Without a filter on endings, trajectories that have not started, or were cancelled before their
    first turn, are left out.
    """
    rows = Trajectory.objects.all()
    if not chosen.get("run"):  # re-judged trajectories and branches are listed by run
        rows = rows.filter(judged=None)
        rows = rows.exclude(run__in=Run.objects.filter(kind=Run.Kind.BRANCH).order_by())
    equal = {
        "dataset": "run__dataset",
        "agent": "run__agent",
        "level": "run__level",
        "condition": "run__condition",
        "run": "run",
        "task": "task",
    }
    for name, column in equal.items():
        if chosen.get(name):
            rows = rows.filter(**{column: chosen[name]})
    if words := chosen.get("q"):
        rows = with_words(rows, words, seen)
    rows = rows.filter(_ends(chosen.get("end") or ()))
    for name in ("valid", "accurate"):
        if wanted := chosen.get(name):
            rows = rows.filter(_metric(name, wanted))
    if wanted := chosen.get("reward"):
        rows = rows.filter(_reward(wanted))
    if wanted := chosen.get("failure"):
        rows = rows.filter(payload__failure_category=wanted)
    if wanted := chosen.get("repeated"):
        again = Violation.objects.filter(turn__trajectory=OuterRef("pk"), repeated=True)
        rows = rows.filter(Exists(again) if wanted == YES else ~Exists(again))
    if wanted := chosen.get("unscored"):
        missing = JudgeScore.objects.filter(trajectory=OuterRef("pk"), value=None)
        rows = rows.filter(Exists(missing) if wanted == YES else ~Exists(missing))
    if least := chosen.get("min_turns"):
        rows = rows.filter(turn_count__gte=least)
    if most := chosen.get("max_turns"):
        rows = rows.filter(turn_count__lte=most)
    return rows


def _ends(wanted: Sequence[str]) -> Q:
    if not wanted:
        return ~Q(status=S.PENDING) & ~Q(status=S.CANCELLED, turn_count=0)
    states = [code for code in wanted if code in STATES]
    codes = [code for code in wanted if code not in STATES]
    ended = Q(status__in=states)
    return ended | Q(status=S.DONE, termination__in=codes) if codes else ended


def _metric(name: str, wanted: str) -> Q:
    """Match trajectories whose metric is 1, 0, or undefined (null or not recorded)."""
    if wanted == UNDEFINED:
        undefined = Q(**{f"metrics__{name}": None}) | Q(**{f"metrics__{name}__isnull": True})
        return Q(status=S.DONE) & undefined
    return Q(**{f"metrics__{name}": 1.0 if wanted == YES else 0.0})


def _reward(wanted: str) -> Q:
    """Match imported trajectories by the reward in their file."""
    if wanted == FULL:
        # SQLite compares a stored null as text, which is greater than any number.
        return Q(metrics__reward__gte=1 - NEARLY) & ~Q(metrics__reward=None)
    if wanted == PART:
        return Q(metrics__reward__lt=1 - NEARLY, metrics__reward__gt=0)
    if wanted == ZERO:
        return Q(metrics__reward=0)
    unstated = Q(metrics__reward=None) | Q(metrics__reward__isnull=True)
    return Q(status=S.DONE, run__dataset__system=EXTERNAL) & unstated


@dataclass(frozen=True)
class FinalScores:
    """The judges' scores of the last turn: their mean, and how many are missing."""

    mean: float | None
    missing: int


@dataclass(frozen=True)
class MetricVerdict:
    """A yes-or-no metric of a trajectory: None is undefined, and ``reason`` says why."""

    value: bool | None
    reason: str = ""


@dataclass(frozen=True)
class TrajectoryLine:
    """One line of a list."""

    trajectory: Trajectory
    end: Ending
    result: TrajectoryResult
    verdicts: tuple[MetricVerdict, ...]
    metrics: tuple[tuple[Measure, float | None, str], ...]
    scores: FinalScores


@dataclass(frozen=True)
class TrajectoryColumns:
    """The columns of a list of trajectories.

    ``headline`` is the metric by which the trajectories of all their systems are sorted, if it is
    the same.
    """

    verdicts: Mapping[str, str]
    metrics: Mapping[str, Measure]
    scored: bool
    headline: str = ""


def list_columns(systems: Iterable[str]) -> TrajectoryColumns:
    """Return the columns for trajectories of these systems.

    Metrics belong to one system, so they are shown only for a single system. If systems give a
    verdict different titles, these stand beside each other.
    """
    keys = list(dict.fromkeys(systems))
    titles: dict[str, dict[str, None]] = {}
    for system in keys:
        for name, title in find_system(system).labels.verdicts.items():
            titles.setdefault(name, {})[title] = None
    verdicts = {name: " / ".join(words) for name, words in titles.items()}
    headlines = {find_system(system).labels.list_order for system in keys}
    return TrajectoryColumns(
        dict(sorted(verdicts.items(), reverse=True)),  # valid, then accurate
        find_system(keys[0]).labels.column_measures if len(keys) == 1 else {},
        not keys or any(is_scored(system) for system in keys),
        headlines.pop() if len(headlines) == 1 else "",
    )


def is_scored(system: str) -> bool:
    """Return whether judges score the turns of a system."""
    known = system_of(system)
    return bool(known and known.dimensions)


def with_row_relations(rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """Join the relations that a list row shows; leave out large payloads."""
    return rows.select_related(
        "run__dataset", "run__agent", "run__primary_judging", "task", "profile"
    ).defer("task__payload", "run__settings", "run__roles", "run__pins", "payload")


def trajectory_rows(trajectories: Iterable[Trajectory]) -> list[TrajectoryLine]:
    """Return list rows for these trajectories; all scores take one query."""
    listed = list(trajectories)
    columns = list_columns(row.run.dataset.system for row in listed)
    scores = final_scores([row.pk for row in listed]) | _rejudged_scores(listed)
    nothing = FinalScores(None, 0)
    figures = counted_metrics(listed)
    return [
        TrajectoryLine(
            row,
            trajectory_end(row),
            trajectory_result(row, figures[row.pk]),
            tuple(verdict(row, name, figures[row.pk]) for name in columns.verdicts),
            tuple(
                (
                    measure,
                    figures[row.pk].metrics.get(name),
                    figures[row.pk].undefined.get(name, "it has not ended"),
                )
                for name, measure in columns.metrics.items()
            ),
            scores.get(row.pk, nothing),
        )
        for row in listed
    ]


def final_scores(ids: Sequence[int]) -> dict[int, FinalScores]:
    """Return the mean score of the last turn, under each run's primary judging."""
    rows = (
        JudgeScore.objects.filter(
            trajectory__in=ids, is_final=True, judging=F("run__primary_judging")
        )
        .order_by()
        .values_list("trajectory")
        .annotate(mean=Avg("value"), missing=Count("pk", filter=Q(value=None)))
    )
    return {pk: FinalScores(mean, missing) for pk, mean, missing in rows}


def _rejudged_scores(rows: Sequence[Trajectory]) -> dict[int, FinalScores]:
    """Return the same for re-judged trajectories, from the scores of the re-judging run."""
    judged = {row.judged_id: row for row in rows if row.judged_id is not None}
    if not judged:
        return {}
    scores = (
        JudgeScore.objects.filter(
            judging__in={row.run.primary_judging_id for row in judged.values()},
            trajectory__in=list(judged),
            is_final=True,
        )
        .order_by()
        .values_list("judging", "trajectory")
        .annotate(mean=Avg("value"), missing=Count("pk", filter=Q(value=None)))
    )
    return {
        judged[pk].pk: FinalScores(mean, missing)
        for judging, pk, mean, missing in scores
        if judged[pk].run.primary_judging_id == judging
    }


@dataclass(frozen=True)
class CountedMetrics:
    """Metrics of a trajectory, and why some are undefined."""

    metrics: Mapping[str, float | None]
    undefined: Mapping[str, str]


def counted_metrics(rows: Sequence[Trajectory]) -> dict[int, CountedMetrics]:
    """Return the metrics of trajectories under their runs' primary judging.

    A trajectory stores the metrics of the live judging; those of a re-judging are stored with the
    re-judging run.
    """
    counted = {row.pk: CountedMetrics(row.metrics, row.undefined) for row in rows}
    counting = {row.pk: row.run.primary_judging for row in rows if row.judged_id is None}
    later = {pk: one for pk, one in counting.items() if one is not None and one.made_by_id}
    if not later:
        return counted
    anew = Trajectory.objects.filter(
        run__in={one.made_by_id for one in later.values()}, judged__in=list(later), status=S.DONE
    )
    for pk, one in later.items():
        why = f"the judging “{one.name}” did not include it"
        counted[pk] = CountedMetrics({}, dict.fromkeys(counted[pk].metrics, why))
    for row in anew.only("judged", "metrics", "undefined"):
        if row.judged_id is not None:
            counted[row.judged_id] = CountedMetrics(row.metrics, row.undefined)
    return counted


def verdict(
    trajectory: Trajectory, name: str, known: CountedMetrics | None = None
) -> MetricVerdict:
    """Return a yes-or-no metric under the primary judging, or the reason why it is undefined."""
    if trajectory.status != S.DONE:
        return MetricVerdict(None, "the trajectory has not ended")
    known = known or counted_metrics([trajectory])[trajectory.pk]
    value = known.metrics.get(name)
    if value is None:
        labels = find_system(trajectory.run.dataset.system).labels
        reason = known.undefined.get(name)
        return MetricVerdict(None, labels.reword_reason(reason) if reason else labels.no_verdict)
    return MetricVerdict(bool(value))


def verdicts(trajectory: Trajectory) -> list[tuple[str, MetricVerdict]]:
    """Return the verdicts that a trajectory's system defines, with their titles."""
    names = find_system(trajectory.run.dataset.system).labels.verdicts
    known = counted_metrics([trajectory])[trajectory.pk]
    return [(title, verdict(trajectory, name, known)) for name, title in names.items()]


def with_page_relations() -> QuerySet[Trajectory]:
    """Join the relations that a trajectory's own page shows."""
    return Trajectory.objects.select_related(
        "run__dataset", "run__agent", "run__primary_judging", "task__dataset", "profile"
    )


def why_ended(trajectory: Trajectory) -> str:
    """Explain why a trajectory ended, or what it waits for."""
    if trajectory.status == Trajectory.Status.DONE:
        known = counted_metrics([trajectory])[trajectory.pk]
        outcome = replace(
            core_outcome(trajectory), metrics=known.metrics, undefined=known.undefined
        )
        return find_system(trajectory.run.dataset.system).labels.explain_outcome(
            outcome, trajectory.run.settings
        )
    return trajectory.problem or STATES[trajectory.status].sentence


def answer_of(trajectory: Trajectory, last: TurnView | None) -> HeaderAnswer:
    """Return what a finished trajectory answered, and what was expected or violated."""
    labels = find_system(trajectory.run.dataset.system).labels
    if trajectory.status != S.DONE or last is None or labels.answer is None:
        return HeaderAnswer()
    known = counted_metrics([trajectory])[trajectory.pk]
    outcome = replace(core_outcome(trajectory), metrics=known.metrics, undefined=known.undefined)
    task = core_task(trajectory.task, trajectory.profile)
    return labels.answer(task, last.core, outcome, trajectory.run.settings)


@dataclass(frozen=True)
class Neighbours:
    """The previous and next trajectory in the list that the reader comes from."""

    newer: int | None
    older: int | None


def neighbours(rows: QuerySet[Trajectory], pk: int) -> Neighbours:
    """Return the neighbours of ``pk`` by id among ``rows``, even if it is not one of them."""
    ids = rows.order_by().values_list("pk", flat=True)
    return Neighbours(
        ids.filter(pk__gt=pk).order_by("pk").first(),
        ids.filter(pk__lt=pk).order_by("-pk").first(),
    )
