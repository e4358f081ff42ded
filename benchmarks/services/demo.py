"""The demo datasets and their runs: made by the driver like every other, from tasks we wrote."""

from collections.abc import Sequence

from benchmarks.core.digests import digest
from benchmarks.models import Agent, Dataset, Run
from benchmarks.services.agents import ensure_scripted_agents
from benchmarks.services.candidates import save_candidates
from benchmarks.services.dataset_files import save_planbench_xl
from benchmarks.services.datasets import save_dataset
from benchmarks.services.runs import start_runs
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from benchmarks.systems.adaplanbench.demo_candidates import demo_candidates
from benchmarks.systems.adaplanbench.scripted import TEMPERAMENTS
from benchmarks.systems.planbench_xl.scripted import POLICIES
from benchmarks.systems.planbench_xl.world import load_world

NAME = "Household demo"
NURSERY = "Nursery demo"
CONDITIONS = ("default", "blocker")
SEED = 20261121


def save_demo_dataset() -> Dataset:
    """The demo tasks as a dataset, with candidates; saving them twice adds nothing."""
    tasks = load_demo_tasks()
    content = [
        [
            task.id,
            task.prompt,
            task.payload,
            [[c.key, c.text, c.about] for c in profile.constraints],
        ]
        for task, profiles in tasks
        for profile in profiles
    ]
    dataset = save_dataset(
        system="adaplanbench",
        name=NAME,
        version="",
        source="Written for PlanJury",
        licence="Same as PlanJury",
        checksum=digest(content),
        tasks=tasks,
        is_demo=True,
        notes="Tasks, plans and constraints were written for this demo; "
        "agents and judges are scripts.",
    ).dataset
    save_candidates(dataset=dataset, rows=demo_candidates(tasks))
    return dataset


def start_demo_runs(dataset: Dataset, levels: Sequence[str]) -> list[Run]:
    """Ten scripted agents at each level; levels that have their runs already are left alone."""
    ensure_scripted_agents()
    existing = set(Run.objects.filter(dataset=dataset).values_list("level", flat=True))
    missing = [level for level in levels if level not in existing]
    if not missing:
        return []
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=TEMPERAMENTS)}
    return start_runs(
        dataset=dataset,
        agents=[agents[name] for name in TEMPERAMENTS],
        levels=missing,
        seed=SEED,
        name=f"{NAME}: ten scripted agents, {', '.join(missing)}",
    )


def save_nursery_dataset() -> Dataset:
    """The small world of PlanBench-XL as a dataset; saving it twice adds nothing."""
    return save_planbench_xl(
        loaded=load_world(),
        name=NURSERY,
        source="Written for PlanJury",
        licence="Same as PlanJury",
        is_demo=True,
    ).dataset


def start_nursery_runs(dataset: Dataset, condition: str) -> list[Run]:
    """The scripted agents of PlanBench-XL under a condition, unless they have their runs."""
    ensure_scripted_agents()
    if Run.objects.filter(dataset=dataset, settings__condition=condition).exists():
        return []
    agents = {agent.name: agent for agent in Agent.objects.filter(name__in=POLICIES)}
    return start_runs(
        dataset=dataset,
        agents=[agents[name] for name in POLICIES],
        settings={"condition": condition},
        seed=SEED,
        name=f"{NURSERY}: four scripted agents, {condition}",
    )


def nursery_size() -> int:
    """How many trajectories the runs in the nursery have in all."""
    return len(load_world().tasks) * len(POLICIES) * len(CONDITIONS)
