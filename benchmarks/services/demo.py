"""The demo dataset and its runs: made by the driver like every other run, from tasks we wrote."""

from collections.abc import Sequence

from benchmarks.core.digests import digest
from benchmarks.models import Agent, Dataset, Run
from benchmarks.services.agents import ensure_scripted_agents
from benchmarks.services.datasets import save_dataset
from benchmarks.services.runs import start_runs
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from benchmarks.systems.adaplanbench.scripted import TEMPERAMENTS

NAME = "Household demo"
SEED = 20261121


def save_demo_dataset() -> Dataset:
    """The demo tasks as a dataset; saving them twice adds nothing."""
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
    return save_dataset(
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
