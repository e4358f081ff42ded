"""The demo dataset of PlanBench-XL: the small world that ships with the product."""

from benchmarks.core.ports.demo import DemoDataset, DemoRuns
from benchmarks.core.ports.importer import TaskFile
from benchmarks.systems.planbench_xl.dataset import task_file
from benchmarks.systems.planbench_xl.scripted import POLICIES
from benchmarks.systems.planbench_xl.world import load_world

AGENTS = tuple(POLICIES)


def _nursery() -> TaskFile:
    return task_file(load_world(), "Written for PlanJury")


DEMO = (
    DemoDataset(
        "Nursery demo",
        _nursery,
        runs=tuple(
            DemoRuns(f"four scripted agents, {title}", AGENTS, settings={"condition": name})
            for name, title in (("default", "block-free"), ("blocker", "blocked"))
        ),
    ),
)
