"""The demo dataset of PlanBench-XL: the small world that ships with the product."""

from benchmarks.core.ports.demo import DemoDataset, DemoRuns
from benchmarks.core.ports.importer import TaskFile
from benchmarks.systems.planbench_xl.dataset import task_file
from benchmarks.systems.planbench_xl.scripted import POLICIES
from benchmarks.systems.planbench_xl.world import load_world

# Scripts that fail as in cases of failure that the paper prints.
FAILING = ("wanderer", "mislabeller")
AGENTS = tuple(name for name in POLICIES if name not in FAILING)
# So few replies that agents run out of steps, as in such cases, too.
SHORT = {"condition": "default", "max_steps": 12}


def _nursery() -> TaskFile:
    return task_file(load_world(), "Written for PlanJury")


DEMO = (
    DemoDataset(
        "Nursery demo",
        _nursery,
        runs=(
            *(
                DemoRuns(f"four scripted agents, {title}", AGENTS, settings={"condition": name})
                for name, title in (("default", "block-free"), ("blocker", "blocked"))
            ),
            DemoRuns("cases of failure, at most 12 replies", (*AGENTS, *FAILING), settings=SHORT),
        ),
    ),
)
