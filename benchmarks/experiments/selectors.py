"""Read experiments: the list, the matrix of runs with their progress, cost and results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from benchmarks.core.means import across_replicates
from benchmarks.core.ports.results import Tone
from benchmarks.datasets.selectors import counted
from benchmarks.mappers import run_condition
from benchmarks.models import Experiment, Run, Trajectory
from benchmarks.runs.selectors import TONES, RunCost, run_metrics
from benchmarks.visibility import EVERYTHING, Visibility

T = Trajectory.Status
_ENDED = (T.DONE, T.FAILED, T.DECISION, T.CANCELLED)
_FAILED = (T.FAILED, T.DECISION)
# The values stored beside the fields of a design; see experiments/services.py.
MADE = "made"


def experiments(seen: Visibility = EVERYTHING) -> QuerySet[Experiment]:
    """Return all experiments with visible or future runs, and the number of visible runs."""
    rows = seen.of(Experiment.objects.all()).annotate(
        run_count=counted(seen.of(Run.objects.exclude(kind=Run.Kind.JUDGING)), "experiment")
    )
    return rows.filter(Q(run_count__gt=0) | ~Q(design={})).select_related("created_by")


def taken_runs(experiment: Experiment) -> list[int]:
    """Return the existing runs that the experiment reuses."""
    return list(experiment.design.get(MADE, {}).get("taken", ()))


def experiment_runs(experiment: Experiment, seen: Visibility = EVERYTHING) -> list[Run]:
    """Return its own and reused runs, in the order of their creation."""
    rows = Run.objects.filter(Q(experiment=experiment) | Q(pk__in=taken_runs(experiment)))
    rows = seen.of(rows).select_related("agent__endpoint", "dataset", "primary_judging")
    return list(rows.order_by("pk"))


class UnitCount(NamedTuple):
    """The numbers of all, ended and failed trajectories of a run."""

    total: int = 0
    ended: int = 0
    failed: int = 0
    waiting: int = 0


def run_counts(runs: Sequence[Run]) -> dict[int, UnitCount]:
    """Count the trajectories of each run by status, from an index alone."""
    rows = (
        Trajectory.objects.filter(run__in=[run.pk for run in runs])
        .order_by()
        .values_list("run", "status")
        .annotate(n=Count("pk"))
    )
    by: dict[int, dict[str, int]] = {}
    for run, status, n in rows:
        by.setdefault(run, {})[status] = n
    return {run.pk: _count(by.get(run.pk, {})) for run in runs}


def _count(by: Mapping[str, int]) -> UnitCount:
    return UnitCount(
        sum(by.values()),
        sum(by.get(status, 0) for status in _ENDED),
        sum(by.get(status, 0) for status in _FAILED),
        by.get(T.WAITING, 0),
    )


@dataclass(frozen=True)
class MatrixRun:
    """A run in the matrix, with its seed and progress."""

    run: Run
    count: UnitCount
    taken: bool

    @property
    def tone(self) -> Tone:
        return TONES[self.run.status]


class MatrixGroup(NamedTuple):
    """Runs that differ only in their seed. ``temperature`` is the one asked for."""

    agent: str
    title: str
    temperature: float | None
    level: str
    condition: str
    places: tuple[MatrixRun, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(place.run for place in self.places)

    @property
    def condition_title(self) -> str:
        return run_condition(self.places[0].run)

    def at(self, seed: int) -> list[MatrixRun]:
        return [place for place in self.places if place.run.seed == seed]


class ExperimentMatrix(NamedTuple):
    """The groups of an experiment by condition, level and agent, with all seeds."""

    groups: tuple[MatrixGroup, ...]
    seeds: tuple[int, ...]
    total: int
    ended: int
    failed: int
    waiting: int

    @property
    def lines(self) -> list[tuple[MatrixGroup, list[list[MatrixRun]]]]:
        """Return each group with its run under every seed."""
        return [(group, [group.at(seed) for seed in self.seeds]) for group in self.groups]

    @property
    def places(self) -> list[MatrixRun]:
        return [place for group in self.groups for place in group.places]


def experiment_matrix(experiment: Experiment, runs: Sequence[Run]) -> ExperimentMatrix:
    """Return the matrix of runs, for experiments with or without a design."""
    asked = _asked(experiment)
    taken, counts = set(taken_runs(experiment)), run_counts(runs)
    runs_by_cell: dict[tuple[Any, ...], list[MatrixRun]] = {}
    for run in runs:
        who = asked.get(run.agent_id, (run.agent.name, None))
        key = (*who, run.level, run.condition)
        runs_by_cell.setdefault(key, []).append(MatrixRun(run, counts[run.pk], run.pk in taken))
    groups = []
    for (name, temperature, level, condition), places in runs_by_cell.items():
        title = places[0].run.agent.title
        groups.append(MatrixGroup(name, title, temperature, level, condition, tuple(places)))
    every = list(counts.values())
    return ExperimentMatrix(
        tuple(groups),
        tuple(sorted({run.seed for run in runs})),
        sum(count.total for count in every),
        sum(count.ended for count in every),
        sum(count.failed for count in every),
        sum(count.waiting for count in every),
    )


def _asked(experiment: Experiment) -> dict[int, tuple[str, float | None]]:
    """Map each player's id to the design's agent and the temperature asked for."""
    variants = {}
    for words, pk in experiment.design.get(MADE, {}).get("players", {}).items():
        name, _, temperature = words.rpartition(" ")
        variants[pk] = (name, None if temperature == "None" else float(temperature))
    return variants


class ExperimentListRow(NamedTuple):
    """A row of the list: an experiment's contents and progress."""

    experiment: Experiment
    runs: int
    agents: int
    levels: tuple[str, ...]
    total: int
    ended: int
    failed: int

    @property
    def moving(self) -> bool:
        return self.ended < self.total


def experiment_rows(
    rows: Sequence[Experiment], seen: Visibility = EVERYTHING
) -> list[ExperimentListRow]:
    """Return list rows, including reused runs; trajectories are counted in one query."""
    taken = {one.pk: taken_runs(one) for one in rows}
    every = {pk for pks in taken.values() for pk in pks}
    runs = seen.of(Run.objects.filter(Q(experiment__in=rows) | Q(pk__in=every)))
    known = {run.pk: run for run in runs.only("pk", "experiment", "agent", "level").order_by("pk")}
    mine: dict[int, list[Run]] = {}
    for run in known.values():
        mine.setdefault(run.experiment_id or 0, []).append(run)
    counts = run_counts(list(known.values()))
    return [
        _row(
            one,
            [*mine.get(one.pk, ()), *(known[pk] for pk in taken[one.pk] if pk in known)],
            counts,
        )
        for one in rows
    ]


def _row(
    experiment: Experiment, runs: Sequence[Run], counts: Mapping[int, UnitCount]
) -> ExperimentListRow:
    row_counts = [counts[run.pk] for run in runs]
    return ExperimentListRow(
        experiment,
        len(runs),
        len({run.agent_id for run in runs}),
        tuple(dict.fromkeys(run.level for run in runs if run.level)),
        sum(count.total for count in row_counts),
        sum(count.ended for count in row_counts),
        sum(count.failed for count in row_counts),
    )


def experiment_spent(experiment: Experiment, runs: Sequence[Run]) -> RunCost | None:
    """Return the total cost of its own runs and the common cap; None if nothing is paid."""
    own = [run for run in runs if run.experiment_id == experiment.pk and run.currency]
    cap = experiment.design.get("cost_cap")
    amount = sum(max(0.0, run.committed) for run in own)
    if len({run.currency for run in own}) != 1 or (cap is None and not amount):
        return None
    return RunCost(amount, cap, own[0].currency)


def experiment_results(experiment: Experiment) -> dict[str, Any]:
    """Return every group with its runs' metrics, their mean and spread, as JSON values."""
    groups = []
    for group in experiment_matrix(experiment, experiment_runs(experiment)).groups:
        metrics = [run_metrics(run) for run in group.runs]
        names = dict.fromkeys(name for one in metrics for name in one["metrics"])
        groups.append(
            {
                "agent": group.agent,
                "temperature": group.temperature,
                "level": group.level,
                "condition": group.condition,
                "runs": [
                    {**one, "status": run.status, "trajectories_by_status": one["status"]}
                    for run, one in zip(group.runs, metrics, strict=True)
                ],
                "across": {
                    name: vars(
                        across_replicates([one["metrics"][name]["value"] for one in metrics])
                    )
                    for name in names
                },
            }
        )
    return {"experiment": experiment.pk, "name": experiment.name, "groups": groups}
