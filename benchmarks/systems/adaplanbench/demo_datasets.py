"""The demo datasets of AdaPlanBench, and what is run on them."""

from collections.abc import Mapping, Sequence

from benchmarks.core.digests import digest
from benchmarks.core.ports.demo import DemoDataset, DemoRejudging, DemoRuns
from benchmarks.core.ports.importer import TaskFile
from benchmarks.core.types import Json, Profile, Task
from benchmarks.systems.adaplanbench.demo import load_demo_tasks, load_full_tasks
from benchmarks.systems.adaplanbench.demo_candidates import LEVEL, demo_candidates
from benchmarks.systems.adaplanbench.scripted import TEMPERAMENTS

AGENTS = tuple(TEMPERAMENTS)
# Two who forget, whom tracking helps, and one who tries something else after every remark.
VARIED_AGENTS = ("explorer", "last-word", "forgetful")
# The level of the paper's main table comes first.
FULL_LEVELS = ("high", "low", "mid")
# Conditions of the paper. Temperature is not among them: scripts have none.
VARIATIONS: Mapping[str, Json] = {
    "world constraints alone": {"constraints": "world_only"},
    "user constraints alone": {"constraints": "user_only"},
    "tracking of constraints": {"tracking": True},
    "refinement, six extra turns": {"refinement": 6},
}


def _file(tasks: Sequence[tuple[Task, Sequence[Profile]]], notes: str) -> TaskFile:
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
    return TaskFile(tasks, digest(content), source="Written for PlanJury", notes=notes)


def _household() -> TaskFile:
    return _file(
        load_demo_tasks(),
        "Tasks, plans and constraints were written for this demo; agents and judges are scripts.",
    )


def _full_size() -> TaskFile:
    notes = (
        "Ten tasks with as many constraints as the paper's profiles have on average. They were "
        "written for this demo; agents and judges are scripts."
    )
    return _file(load_full_tasks(), notes)


def _ten_agents(level: str) -> DemoRuns:
    return DemoRuns(f"ten scripted agents, {level}", AGENTS, level)


DEMO = (
    DemoDataset(
        "Household demo",
        _household,
        runs=(_ten_agents(LEVEL),),
        # The same three judges once more over some of the last plans.
        rejudging=DemoRejudging(
            "Anchors from 5 down, twice",
            {"rubric_judge": ("judge-even", "judge-strict", "judge-lenient")},
            {"turns": "last", "anchors": "descending", "replicates": 2},
            AGENTS[:4],
            LEVEL,
            nth_task=3,
        ),
        candidates=demo_candidates,
    ),
    DemoDataset(
        "Full-size household demo",
        _full_size,
        runs=(
            *(_ten_agents(level) for level in FULL_LEVELS),
            *(
                DemoRuns(title, VARIED_AGENTS, FULL_LEVELS[0], settings)
                for title, settings in VARIATIONS.items()
            ),
        ),
    ),
)
