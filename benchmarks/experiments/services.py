"""Create the runs of an experiment, at once or in the background, each exactly once.

The missing runs are always computed from the existing ones, under the experiment's lock, so an
interrupted job continues where it stopped.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from benchmarks.core.errors import CoreError
from benchmarks.experiments.checks import CheckedDesign, check_design
from benchmarks.experiments.design import Design, design_of
from benchmarks.experiments.plans import (
    ExperimentCell,
    ExperimentPlan,
    cost_weights,
    plan_design,
    run_key,
)
from benchmarks.experiments.variants import ensure_variant
from benchmarks.jobs import wake_up
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import named_lock
from benchmarks.models import Agent, Experiment, Job, Run
from benchmarks.runs.services import start_runs

KIND = "make-experiment"
# Values stored beside the fields of the design: the dataset as found, the number of runs, the
# player for each agent and temperature, the reused runs, and the status of runs not created yet.
MADE = "made"
HELD = "held"
# The trajectories created while a page waits, and the runs and trajectories per transaction.
AT_ONCE, RUNS_A_PORTION, A_PORTION = 3_000, 20, 5_000


class ExperimentError(CoreError):
    """Raised if an experiment cannot be created or changed; the text says what to do."""


def make_experiment(
    *,
    plan: ExperimentPlan,
    created_by: User | None = None,
    take: bool = False,
    preset: str = "",
    wake: bool = True,
    at_once: bool = False,
) -> Experiment:
    """Create the experiment of a plan with its runs, or with a job that creates many runs.

    With ``take`` existing equal runs are reused instead of creating new ones.
    """
    taken = sorted(plan.there.values()) if take else []
    cells = plan.missing if take else list(plan.cells)
    checked = plan.checked
    made = {
        "dataset": checked.dataset.pk,
        "levels": [level for level in checked.levels if level],
        "total": len(plan.cells),
        "players": {_who(cell): cell.player.pk for cell in plan.cells if cell.player is not None},
        "taken": taken,
        "shares": _shares(plan, cells),
    }
    small = at_once or sum(cell.size for cell in cells) <= AT_ONCE
    with transaction.atomic():
        experiment = Experiment.objects.create(
            name=checked.design.name,
            design={**checked.design.data, MADE: made},
            preset=preset,
            created_by=created_by,
        )
        if small:
            make_missing(experiment=experiment, wake=wake)
        else:
            enqueue_making(experiment, total=len(plan.cells), created_by=created_by)
    return experiment


def _shares(plan: ExperimentPlan, cells: Sequence[ExperimentCell]) -> dict[str, float]:
    """Return the share of the common cap for each run, by its cell's name."""
    cap = plan.checked.design.cost_cap
    weights = cost_weights(plan, cells) if cap is not None else []
    total = sum(weights)
    if cap is None or not total:
        return {}
    return {
        _words(cell): cap * weight / total
        for cell, weight in zip(cells, weights, strict=True)
        if weight
    }


def _words(cell: ExperimentCell) -> str:
    """Name a cell by what stays the same when its agent's variant is created."""
    _, level, settings, seed = run_key(0, cell.level, cell.settings, cell.seed)
    return f"{_who(cell)} {level} {settings} {seed}"


def _who(cell: ExperimentCell) -> str:
    return f"{cell.agent.name} {cell.temperature}"


def enqueue_making(experiment: Experiment, *, total: int, created_by: User | None) -> Job:
    """Let a worker create the missing runs."""
    return enqueue_job(
        kind=KIND,
        title=f"Runs of {experiment.name}"[:200],
        payload={"experiment": experiment.pk},
        total=total,
        created_by=created_by,
    )


@job_kind(KIND)
def make_later(job: Job, progress: Progress) -> None:
    """Create the missing runs in portions; a restarted job continues."""
    experiment = Experiment.objects.get(pk=job.payload["experiment"])
    progress.report(message="Making runs")
    make_missing(experiment=experiment, tell=lambda done: progress.report(done=done))


def stored_design(experiment: Experiment) -> tuple[Design, Mapping[str, Any]] | None:
    """Return an experiment's design and the values stored beside it; None without one."""
    if not experiment.design:
        return None
    data = dict(experiment.design)
    made = data.pop(MADE, {})
    return design_of(data), made


def stored_plan(experiment: Experiment) -> ExperimentPlan | None:
    """Return the plan of an experiment on its own dataset, without regard to its own runs.

    Raises `FileRefused` if something that it names no longer exists.
    """
    stored = stored_design(experiment)
    return None if stored is None else plan_design(_checked(*stored))


def _checked(design: Design, made: Mapping[str, Any]) -> CheckedDesign:
    pinned = replace(
        design,
        dataset=str(made.get("dataset", design.dataset)),
        levels=tuple(made.get("levels", design.levels)),
    )
    return replace(check_design(pinned), design=replace(pinned, dataset=design.dataset))


def make_missing(
    *,
    experiment: Experiment,
    wake: bool = True,
    tell: Callable[[int], None] = lambda done: None,
) -> int:
    """Create the missing runs of an experiment; return how many."""
    plan = stored_plan(experiment)
    if plan is None:
        raise ExperimentError(f"{experiment} has no design, so it lacks no runs")
    made = 0
    while True:
        with named_lock(f"experiment {experiment.pk}"):
            experiment.refresh_from_db()
            missing = missing_cells(experiment, plan)
            if experiment.design[MADE].get(HELD) == Run.Status.CANCELLED or not missing:
                break
            runs = _make_portion(experiment, plan.checked, missing)
            if wake:
                _wake_on_commit([run.pk for run in runs if run.status == Run.Status.QUEUED])
        made += len(runs)
        tell(len(plan.cells) - len(missing) + len(runs))
        if len(runs) == len(missing):
            break
    return made


def missing_cells(experiment: Experiment, plan: ExperimentPlan) -> list[ExperimentCell]:
    """Return the cells that have no run yet, neither an own nor a reused one.

    Players are those stored with the experiment, because a variant may have been retired since.
    """
    made = experiment.design.get(MADE, {})
    rows = Run.objects.filter(Q(experiment=experiment) | Q(pk__in=made.get("taken", ())))
    there = {
        run_key(*row) for row in rows.values_list("agent", "level", "settings", "seed").iterator()
    }
    players = Agent.objects.in_bulk(made.get("players", {}).values())
    cells = [
        replace(cell, player=players.get(made.get("players", {}).get(_who(cell)), cell.player))
        for cell in plan.cells
    ]
    return [cell for cell in cells if cell.key is None or cell.key not in there]


def _make_portion(
    experiment: Experiment, checked: CheckedDesign, cells: Sequence[ExperimentCell]
) -> list[Run]:
    """Create the runs of the first cells, within a transaction."""
    made: list[Run] = []
    size = 0
    for cell in cells[:RUNS_A_PORTION]:
        if made and size + cell.size > A_PORTION:
            break
        made.append(_make_run(experiment, checked, cell))
        size += cell.size
    if experiment.design[MADE].get(HELD):
        Run.objects.filter(pk__in=[run.pk for run in made]).update(status=Run.Status.PAUSED)
        for run in made:
            run.status = Run.Status.PAUSED
    return made


def _make_run(experiment: Experiment, checked: CheckedDesign, cell: ExperimentCell) -> Run:
    player = cell.player
    if player is None:
        assert cell.changes
        player = ensure_variant(
            agent=cell.agent,
            changes=cell.changes,
            experiment=experiment.name,
            created_by=experiment.created_by,
        )
        experiment.design[MADE].setdefault("players", {})[_who(cell)] = player.pk
        experiment.save(update_fields=["design"])
    (run,) = start_runs(
        dataset=checked.dataset,
        agents=[player],
        levels=[cell.level] if cell.level else [],
        settings=cell.settings,
        roles=checked.design.roles,
        seed=cell.seed,
        tasks=checked.tasks,
        cost_cap=experiment.design[MADE].get("shares", {}).get(_words(cell)),
        created_by=experiment.created_by,
        wake=False,
        experiment=experiment,
    )
    return run


def _wake_on_commit(runs: Sequence[int]) -> None:
    transaction.on_commit(lambda: wake_up.wake_for_runs(runs))
