"""The demo as it is loaded, over a few of its tasks and agents."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache

import pytest

from annotation.demo import services as study_demo
from benchmarks import demo
from benchmarks.core.ports.demo import DemoDataset
from benchmarks.core.ports.importer import TaskFile
from benchmarks.models import Dataset


def demo_named(name: str) -> tuple[str, DemoDataset]:
    """Return a demo dataset, with the key of its system."""
    return next(pair for pair in demo.demo_datasets() if pair[1].name == name)


def save_household() -> Dataset:
    """Store the demo dataset that the studies are about."""
    return demo.save_demo_dataset(*demo_named("Household demo"))


def shrink_demo(
    monkeypatch: pytest.MonkeyPatch,
    *,
    tasks: int = 3,
    agents: int = 3,
    full_levels: Collection[str] = ("low", "mid", "high"),
    rejudged: bool = False,
) -> None:
    """Keep so many tasks and agents, one task of the full size, and two of other systems.

    Nothing is varied; the trajectories of one agent are re-judged where that is asked for.
    """
    full = "Full-size household demo"
    sizes = {"Household demo": (tasks, agents), full: (1, agents)}
    found = []
    for system, whole in demo.demo_datasets():
        most, fewer = sizes.get(whole.name, (2, 1))
        runs = tuple(
            replace(one, agents=one.agents[:fewer])
            for one in whole.runs
            if (system != "adaplanbench" or not one.settings)
            and (whole.name != full or one.level in full_levels)
        )
        again = whole.rejudging and replace(whole.rejudging, agents=whole.rejudging.agents[:1])
        small = replace(
            whole, load=first_tasks(whole, most), runs=runs, rejudging=again if rejudged else None
        )
        found.append((system, small))
    monkeypatch.setattr(demo, "demo_datasets", lambda: found)
    monkeypatch.setattr(study_demo, "demo_datasets", lambda: found)


def first_tasks(whole: DemoDataset, most: int) -> Callable[[], TaskFile]:
    @cache
    def load() -> TaskFile:
        file = whole.load()
        return replace(file, tasks=list(file.tasks)[:most])

    return load
