"""The demo dataset of SDA-Planner: the small house, played with each of the four planners."""

from benchmarks.core.ports.demo import DemoDataset, DemoRuns
from benchmarks.systems.sda_planner.dataset.sample_house import sample_file
from benchmarks.systems.sda_planner.settings import GLOBAL, LOCAL, SDA, TREE

NAME = "Small house"
PLANNERS = {
    TREE: "Tree Planner",
    GLOBAL: "global planner",
    LOCAL: "local planner",
    SDA: "SDA-Planner",
}
AGENTS = ("errors-60", "stubborn-60")

DEMO = (
    DemoDataset(
        NAME,
        sample_file,
        runs=tuple(
            DemoRuns(f"scripted agents, {title}", AGENTS, settings={"planner": name})
            for name, title in PLANNERS.items()
        ),
    ),
)
