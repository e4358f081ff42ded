"""The demo dataset of SDA-Planner: the small house, played with each of the four planners."""

from benchmarks.core.ports.demo import DemoDataset, DemoRuns
from benchmarks.systems.sda_planner.dataset.sample_house import sample_file
from benchmarks.systems.sda_planner.settings import PLANNERS

NAME = "Small house"
AGENTS = ("errors-60", "errors-100")

DEMO = (
    DemoDataset(
        NAME,
        sample_file,
        runs=tuple(
            DemoRuns(f"scripted agents, planner {name}", AGENTS, settings={"planner": name})
            for name in PLANNERS
        ),
    ),
)
