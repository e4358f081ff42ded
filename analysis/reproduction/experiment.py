"""Finding the experiment of a preset, or making it with its runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from analysis.reproduction.files import Reproduction
from analysis.reproduction.presets import preset_design
from analysis.reproduction.sections import ReportedRuns
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.published import PaperPreset
from benchmarks.core.registry import get_system
from benchmarks.datasets.selectors import find_dataset
from benchmarks.experiments.checks import check_design
from benchmarks.experiments.control import runs_lacking
from benchmarks.experiments.design import Design
from benchmarks.experiments.plans import ExperimentPlan, plan_design
from benchmarks.experiments.selectors import experiment_runs
from benchmarks.experiments.services import (
    HELD,
    MADE,
    make_experiment,
    make_missing,
    stored_design,
)
from benchmarks.locks import named_lock
from benchmarks.models import Experiment, Run
from benchmarks.runs.versions import current_pins
from benchmarks.visibility import EVERYTHING, Visibility

ENDED = (Run.Status.DONE, Run.Status.ATTENTION)
# How runs that go on by themselves stand.
GOING = (Run.Status.QUEUED, Run.Status.RUNNING)


class NotReady(CoreError):
    """Runs that have not come to their end; the text says what to do."""


def design_of_preset(preset: PaperPreset, changes: Mapping[str, Any]) -> Design:
    """Return the design of a preset with fields changed; those that are empty are left as they
    are.
    """
    given = {name: value for name, value in changes.items() if value not in (None, (), [])}
    return replace(preset_design(preset), **given)


def plan_preset(design: Design) -> ExperimentPlan:
    """Return the plan of a design; raises `FileRefused` for names that do not exist."""
    return plan_design(check_design(design))


def find_experiment(design: Design, preset: str) -> Experiment | None:
    """Return the newest experiment of this design on this dataset that can go on as it is.

    Not one that was cancelled, nor one with runs of other versions, which cannot go on.
    """
    dataset = find_dataset(design.dataset)
    for experiment in Experiment.objects.filter(preset=preset).order_by("-pk"):
        stored = stored_design(experiment)
        if stored is None or stored[0].digest != design.digest:
            continue
        origin = experiment.design[MADE]
        ours = origin.get("dataset") == dataset.pk and origin.get(HELD) != Run.Status.CANCELLED
        if ours and _as_now(experiment):
            return experiment
    return None


def _as_now(experiment: Experiment) -> bool:
    """Return whether its runs were made with the versions of now, and none was cancelled."""
    runs = experiment_runs(experiment)
    pins = current_pins(get_system(runs[0].dataset.system)) if runs else {}
    return all(run.pins == pins and run.status != Run.Status.CANCELLED for run in runs)


def begin(plan: ExperimentPlan, preset: str, *, take: bool, wake: bool) -> tuple[Experiment, bool]:
    """Return the experiment with all its runs, and whether it was there. ``take``: runs that are
    the same are taken as they are; ``wake``: workers are woken.
    """
    with named_lock(f"reproduce {preset} {plan.checked.design.digest}"):
        existing = find_experiment(plan.checked.design, preset)
        if existing is None:
            experiment = make_experiment(
                plan=plan, take=take, preset=preset, wake=wake, at_once=True
            )
            return experiment, False
    make_missing(experiment=existing, wake=wake)
    return existing, True


def reproduction_of(
    experiment: Experiment,
    *,
    seen: Visibility = EVERYTHING,
    compute_deferred: bool = True,
    server: str = "",
) -> Reproduction:
    """Return an experiment as what a report is about; raises `NotReady` until all its runs have
    ended.
    """
    stored = stored_design(experiment)
    tried = [run for run in experiment_runs(experiment, seen) if run.kind == Run.Kind.MADE]
    runs = [run for run in tried if run.dataset_id == tried[0].dataset_id]
    if not runs:
        raise NotReady(f"{experiment.name} has no runs that were made here: nothing to tell")
    design = stored[0] if stored is not None else _design_of_runs(experiment.name, runs)
    lacking = runs_lacking(experiment)
    faults = [f"{lacking} runs are not made yet"] * bool(lacking)
    faults += [_why_open(run) for run in runs if run.status not in ENDED]
    if faults:
        more = f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise NotReady(f"{experiment.name} is not at its end: {'; '.join(faults[:5])}{more}")
    about = ReportedRuns(tuple(runs), experiment.pk, seen, compute_deferred, server)
    return Reproduction(design, experiment.preset, about)


def _design_of_runs(name: str, runs: Sequence[Run]) -> Design:
    """Derive the design of runs started together without a stored design."""
    dataset = runs[0].dataset
    settings = get_system(dataset.system).settings
    usual = {setting.name: setting.default for setting in settings}
    changed = [
        {name: value for name, value in run.settings.items() if usual.get(name, value) != value}
        for run in runs
    ]
    return Design(
        name=name,
        dataset=f"{dataset.name}@{dataset.version}",
        agents=tuple(dict.fromkeys(run.agent.name for run in runs)),
        levels=tuple(dict.fromkeys(run.level for run in runs if run.level)),
        conditions=tuple(one for place, one in enumerate(changed) if one not in changed[:place]),
        seeds=tuple(dict.fromkeys(run.seed for run in runs)),
    )


def _why_open(run: Run) -> str:
    """Return why a run has not ended, and what would help."""
    who = f"run {run.pk} ({run.agent.name})"
    match run.status:
        case Run.Status.PAUSED:
            why = f", {run.problem}" if run.problem else ""
            return f"{who} is paused{why}: resume it on its page"
        case Run.Status.WAITING:
            return f"{who} waits for people to reply"
        case Run.Status.CANCELLED:
            return f"{who} was cancelled: take the missing run anew in a new experiment"
    return f"{who} is {run.get_status_display().lower()}"
