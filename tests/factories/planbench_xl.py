"""Runs on the small world of PlanBench-XL that wait for a person."""

from typing import Any

from benchmarks.asks.selectors import open_asks
from benchmarks.datasets.files import import_dataset
from benchmarks.models import Agent, Dataset, OpenAsk, Run
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.planbench_xl import world
from tests.factories.benchmarks import play

TASK = "grower-of-entry"


def save_small_world() -> Dataset:
    return import_dataset(
        system="planbench_xl",
        paths=[world.DATA],
        name="Small world",
        options={"domain": world.DOMAIN},
    ).saved.dataset


def start_for_person(*tasks: str, **settings: Any) -> Run:
    """A run in which a person is the agent, carried up to its first ask."""
    dataset = save_small_world()
    ensure_scripted_agents()
    wanted = dataset.tasks.filter(external_id__in=tasks or (TASK,))
    (run,) = start_runs(
        dataset=dataset,
        agents=list(Agent.objects.filter(kind=Agent.Kind.HUMAN)),
        levels=[],
        tasks=list(wanted.values_list("external_id", flat=True)),
        settings=settings,
        wake=False,
    )
    play(run)
    return run


def waiting_ask(run: Run) -> OpenAsk:
    """Return what a run waits for now."""
    found = open_asks().filter(trajectory__run=run).first()
    assert found is not None
    return found
