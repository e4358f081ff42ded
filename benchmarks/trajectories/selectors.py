"""The list of trajectories: what can be chosen, what a choice selects, and what a row shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet

from benchmarks.core.labels import Ending, Measure, plain
from benchmarks.core.registry import EXTERNAL, SYSTEMS, find_system
from benchmarks.mappers import core_outcome
from benchmarks.models import JudgeScore, Run, Trajectory, Violation
from benchmarks.roles.selectors import system_of
from benchmarks.visibility import EVERYTHING, Visibility

S = Trajectory.Status
# What stands in place of an ending while, or because, there is none.
STATES: Mapping[str, Ending] = {
    S.PENDING: Ending("Not begun", "It waits for a worker.", "idle"),
    S.RUNNING: Ending("Under way", "A worker carries it at this moment.", "info"),
    S.WAITING: Ending("Waits for a person", "A person has to answer before it can go on.", "warn"),
    S.FAILED: Ending("Failed", "Infrastructure let it down; it can be taken up again.", "bad"),
    S.DECISION: Ending(
        "Needs a decision", "What is stored no longer agrees with today's versions.", "warn"
    ),
    S.CANCELLED: Ending("Cancelled", "It was given up before its end.", "idle"),
}
YES, NO, UNDEFINED = "yes", "no", "undefined"
FULL, PART, ZERO = "full", "part", "zero"
# A reward this close to 1 is one.
NEARLY = 1e-6


@dataclass(frozen=True)
class RunOptions:
    """What runs differ in, as (value, label) pairs for the filters of lists."""

    datasets: list[tuple[int, str]]
    agents: list[tuple[int, str]]
    levels: list[tuple[str, str]]
    conditions: list[tuple[str, str]]


def run_options(seen: Visibility = EVERYTHING) -> RunOptions:
    """The datasets, agents, levels and conditions that there are runs of, in one query."""
    rows = (
        seen.of(Run.objects.order_by())
        .values_list(
            "dataset", "dataset__name", "dataset__version", "agent", "agent__title", "level",
            "condition",
        )
        .distinct()
    )  # fmt: skip
    found = list(rows)
    datasets = {row[0]: f"{row[1]} {row[2]}" for row in found}
    agents = {row[3]: row[4] for row in found}
    return RunOptions(
        sorted(datasets.items(), key=lambda pair: pair[1].lower()),
        sorted(agents.items(), key=lambda pair: pair[1].lower()),
        [(level, level) for level in sorted({row[5] for row in found if row[5]}, key=_rank)],
        [(name, name) for name in sorted({row[6] for row in found})],
    )


def _rank(level: str) -> tuple[int, str]:
    known = ("low", "mid", "high")
    return (known.index(level) if level in known else len(known), level)


def ending_title(code: str) -> str:
    """An ending in words, whichever system it belongs to."""
    for system in (*SYSTEMS, EXTERNAL):
        if code in find_system(system).labels.endings:
            return find_system(system).labels.endings[code].title
    return plain(code)


def trajectory_end(trajectory: Trajectory) -> Ending:
    """How a trajectory ended, or where it stands."""
    if trajectory.status == S.DONE:
        return find_system(trajectory.run.dataset.system).labels.ending(trajectory.termination)
    return STATES[trajectory.status]


def trajectory_list(chosen: Mapping[str, Any]) -> QuerySet[Trajectory]:
    """The trajectories of a choice; names are those of the API's query, which
    the page of the list knows too.

    Without a choice of endings, what has not begun and what was given up before its first turn
    is left out.
    """
    rows = Trajectory.objects.all()
    if not chosen.get("run"):  # what judges look at again is listed with its run, if anywhere
        rows = rows.filter(judged=None)
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
        rows = rows.filter(Q(task__external_id__icontains=words) | Q(task__prompt__icontains=words))
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
    found = Q(status__in=states)
    return found | Q(status=S.DONE, termination__in=codes) if codes else found


def _metric(name: str, wanted: str) -> Q:
    """Trajectories whose metric is 1, 0, or undefined (null, or not recorded)."""
    if wanted == UNDEFINED:
        undefined = Q(**{f"metrics__{name}": None}) | Q(**{f"metrics__{name}__isnull": True})
        return Q(status=S.DONE) & undefined
    return Q(**{f"metrics__{name}": 1.0 if wanted == YES else 0.0})


def _reward(wanted: str) -> Q:
    """Trajectories by the reward that their file states; made here, they have none."""
    if wanted == FULL:
        # SQLite compares a stored null as a text, which is more than any number.
        return Q(metrics__reward__gte=1 - NEARLY) & ~Q(metrics__reward=None)
    if wanted == PART:
        return Q(metrics__reward__lt=1 - NEARLY, metrics__reward__gt=0)
    if wanted == ZERO:
        return Q(metrics__reward=0)
    unstated = Q(metrics__reward=None) | Q(metrics__reward__isnull=True)
    return Q(status=S.DONE, run__dataset__system=EXTERNAL) & unstated


@dataclass(frozen=True)
class FinalScores:
    """The judges' scores of a last plan: their mean, and how many there should be but are not."""

    mean: float | None
    missing: int


@dataclass(frozen=True)
class Verdict:
    """A yes-or-no metric of a trajectory: None is undefined, and ``reason`` says why."""

    value: bool | None
    reason: str = ""


@dataclass(frozen=True)
class TrajectoryRow:
    """One line of a list."""

    trajectory: Trajectory
    end: Ending
    verdicts: tuple[Verdict, ...]
    metrics: tuple[tuple[Measure, float | None, str], ...]
    scores: FinalScores


@dataclass(frozen=True)
class Columns:
    """What a list of trajectories shows: what their systems have, and what they have in common."""

    verdicts: Mapping[str, str]
    metrics: Mapping[str, Measure]
    scored: bool


def list_columns(systems: Iterable[str]) -> Columns:
    """The columns for trajectories of these systems.

    Metrics are those of one system, so they show where there is no other. Where systems give a
    verdict different titles, the first one's stands.
    """
    found = list(dict.fromkeys(systems))
    verdicts: dict[str, str] = {}
    for system in found:
        verdicts = {**find_system(system).labels.verdicts, **verdicts}
    return Columns(
        dict(sorted(verdicts.items(), reverse=True)),  # valid, then accurate
        find_system(found[0]).labels.column_measures if len(found) == 1 else {},
        not found or any(is_scored(system) for system in found),
    )


def is_scored(system: str) -> bool:
    """Whether judges score the turns of a system."""
    known = system_of(system)
    return bool(known and known.dimensions)


def with_parts(rows: QuerySet[Trajectory]) -> QuerySet[Trajectory]:
    """What a line shows, joined; a task's payload (its pool of plans) stays where it is."""
    return rows.select_related(
        "run__dataset", "run__agent", "run__primary_judging", "task", "profile"
    ).defer("task__payload", "run__settings", "run__roles", "run__pins", "payload")


def trajectory_rows(trajectories: Iterable[Trajectory]) -> list[TrajectoryRow]:
    """Lines for these trajectories; the scores of all of them in one query."""
    found = list(trajectories)
    columns = list_columns(row.run.dataset.system for row in found)
    scores = final_scores([row.pk for row in found]) | _scores_anew(found)
    nothing = FinalScores(None, 0)
    figures = measured(found)
    return [
        TrajectoryRow(
            row,
            trajectory_end(row),
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
        for row in found
    ]


def final_scores(ids: Sequence[int]) -> dict[int, FinalScores]:
    """The mean over all scores of the last turn, by the judging that each run calls its own."""
    rows = (
        JudgeScore.objects.filter(
            trajectory__in=ids, is_final=True, judging=F("run__primary_judging")
        )
        .order_by()
        .values_list("trajectory")
        .annotate(mean=Avg("value"), missing=Count("pk", filter=Q(value=None)))
    )
    return {pk: FinalScores(mean, missing) for pk, mean, missing in rows}


def _scores_anew(rows: Sequence[Trajectory]) -> dict[int, FinalScores]:
    """The same of trajectories that were judged anew: of what their own run of judges gave."""
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
class Measured:
    """Metrics of a trajectory, and why some are undefined."""

    metrics: Mapping[str, float | None]
    undefined: Mapping[str, str]


def measured(rows: Sequence[Trajectory]) -> dict[int, Measured]:
    """What holds of trajectories under the judging that counts for their runs.

    What is stored with them follows from the live one; a later one's stands with the run of judges.
    """
    found = {row.pk: Measured(row.metrics, row.undefined) for row in rows}
    counting = {row.pk: row.run.primary_judging for row in rows if row.judged_id is None}
    later = {pk: one for pk, one in counting.items() if one is not None and one.made_by_id}
    if not later:
        return found
    anew = Trajectory.objects.filter(
        run__in={one.made_by_id for one in later.values()}, judged__in=list(later), status=S.DONE
    )
    for pk, one in later.items():
        why = f"the judging “{one.name}” did not look at it"
        found[pk] = Measured({}, dict.fromkeys(found[pk].metrics, why))
    for row in anew.only("judged", "metrics", "undefined"):
        if row.judged_id is not None:
            found[row.judged_id] = Measured(row.metrics, row.undefined)
    return found


def verdict(trajectory: Trajectory, name: str, known: Measured | None = None) -> Verdict:
    """A yes-or-no metric under the judging that counts, with the reason where it is undefined."""
    if trajectory.status != S.DONE:
        return Verdict(None, "the trajectory has not ended")
    known = known or measured([trajectory])[trajectory.pk]
    value = known.metrics.get(name)
    if value is None:
        labels = find_system(trajectory.run.dataset.system).labels
        return Verdict(None, known.undefined.get(name) or labels.no_verdict)
    return Verdict(bool(value))


def verdicts(trajectory: Trajectory) -> list[tuple[str, Verdict]]:
    """The verdicts that a trajectory's system speaks of, with their titles."""
    names = find_system(trajectory.run.dataset.system).labels.verdicts
    known = measured([trajectory])[trajectory.pk]
    return [(title, verdict(trajectory, name, known)) for name, title in names.items()]


def whole_trajectories() -> QuerySet[Trajectory]:
    """Trajectories with all that their own pages show of them, joined."""
    return Trajectory.objects.select_related(
        "run__dataset", "run__agent", "run__primary_judging", "task__dataset", "profile"
    )


def why_ended(found: Trajectory) -> str:
    """Why it ended, or what keeps it from going on."""
    if found.status == Trajectory.Status.DONE:
        known = measured([found])[found.pk]
        outcome = replace(core_outcome(found), metrics=known.metrics, undefined=known.undefined)
        return find_system(found.run.dataset.system).labels.explain_outcome(
            outcome, found.run.settings
        )
    return found.problem or STATES[found.status].sentence


@dataclass(frozen=True)
class Neighbours:
    """Where a trajectory stands in the list that its reader comes from."""

    newer: int | None
    older: int | None


def neighbours(rows: QuerySet[Trajectory], pk: int) -> Neighbours:
    """The trajectories next to ``pk`` by id among ``rows``, whether or not it is one of them."""
    ids = rows.order_by().values_list("pk", flat=True)
    return Neighbours(
        ids.filter(pk__gt=pk).order_by("pk").first(),
        ids.filter(pk__lt=pk).order_by("-pk").first(),
    )
