"""The demo datasets of all systems and their runs, made by the driver like every other."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from benchmarks.construction.candidates import save_candidates
from benchmarks.core.ports.demo import DemoDataset, DemoRejudging, DemoRuns
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.datasets.files import save_task_file
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import start_judging
from benchmarks.models import Agent, Dataset, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs

SEED = 20261121
LICENCE = "Same as PlanJury"


def demo_datasets() -> list[tuple[str, DemoDataset]]:
    """Return every demo dataset with the key of its system, in the order of the registry."""
    return [(key, demo) for key in SYSTEMS for demo in get_system(key).demo]


def demo_size() -> int:
    """Return how many trajectories the runs of the demo have in all, re-judging included."""
    return sum(_size(demo) for _, demo in demo_datasets())


def _size(demo: DemoDataset) -> int:
    tasks = len(list(demo.load().tasks))
    played = tasks * sum(len(runs.agents) for runs in demo.runs)
    again = demo.rejudging
    return played + (len(again.agents) * -(-tasks // again.nth_task) if again else 0)


def save_demo_dataset(system: str, demo: DemoDataset) -> Dataset:
    """Store a demo dataset; storing it twice adds nothing."""
    file = demo.load()
    saved = save_task_file(system=system, file=file, name=demo.name, licence=LICENCE, is_demo=True)
    if demo.candidates is not None:
        save_candidates(dataset=saved.dataset, rows=demo.candidates(file.tasks))
    return saved.dataset


def start_demo_runs(dataset: Dataset, runs: DemoRuns) -> list[Run]:
    """Start runs of the demo, unless they were started already."""
    ensure_scripted_agents()
    if demo_runs(dataset, runs).exists():
        return []
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=runs.agents)}
    return start_runs(
        dataset=dataset,
        agents=[agents[name] for name in runs.agents],
        levels=[runs.level] if runs.level else (),
        settings=runs.settings,
        roles=runs.roles,
        seed=SEED,
        name=experiment_name(dataset, runs),
    )


def demo_runs(dataset: Dataset, runs: DemoRuns) -> QuerySet[Run]:
    """Return runs of the demo, not those that people start later, such as those of a session."""
    return Run.objects.filter(dataset=dataset, experiment__name=experiment_name(dataset, runs))


def experiment_name(dataset: Dataset, runs: DemoRuns) -> str:
    """Return the name of the experiment that runs of the demo belong to."""
    return f"{dataset.name}: {runs.title}"


def start_demo_rejudging(dataset: Dataset, again: DemoRejudging) -> list[Run]:
    """Have judges look again at what some agents did, unless they did so already."""
    chosen = _judged_again(dataset, again)
    if rejudging_runs(dataset, again).exists() or not chosen:
        return []
    with transaction.atomic():
        runs = start_judging(
            name=again.title,
            chosen=TrajectoryChoice(ids=tuple(chosen)),
            roles=again.roles,
            settings=again.settings,
            seed=SEED,
        )
        Run.objects.filter(pk__in=[run.pk for run in runs]).update(is_demo=True)
    return runs


def rejudging_runs(dataset: Dataset, again: DemoRejudging) -> QuerySet[Run]:
    """Return the runs by which the demo's judges look again."""
    kind = Run.Kind.JUDGING
    return Run.objects.filter(dataset=dataset, kind=kind, experiment__name=again.title)


def _judged_again(dataset: Dataset, again: DemoRejudging) -> Sequence[int]:
    names = sorted(dataset.tasks.values_list("external_id", flat=True))
    rows = Trajectory.objects.filter(
        run__dataset=dataset,
        run__level=again.level,
        run__is_demo=True,
        run__condition="standard",
        run__agent__name__in=again.agents,
        task__external_id__in=names[:: again.nth_task],
        status=Trajectory.Status.DONE,
    )
    return list(rows.order_by("pk").values_list("pk", flat=True))
