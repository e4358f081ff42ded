"""The demo datasets of ADAPT: all personas that ship with the product, and four for its runs."""

from dataclasses import replace

from benchmarks.core.digests import digest
from benchmarks.core.ports.demo import DemoDataset, DemoRuns
from benchmarks.core.ports.importer import TaskFile
from benchmarks.systems.adapt.dataset import LEVEL, load_personas
from benchmarks.systems.adapt.scripted import AGENT_POLICY
from benchmarks.systems.adapt.settings import (
    BASELINE,
    METHODS,
    NEVER_ASK,
    REFLECTION_DPO,
    TEACHER,
)

# One persona of each fold.
GUESTS = ("persona_02", "persona_06", "persona_10", "persona_14")


def _all() -> TaskFile:
    return replace(load_personas(), source="Written for PlanJury")


def _four() -> TaskFile:
    file = _all()
    tasks = [row for row in file.tasks if row[0].payload["persona"] in GUESTS]
    return replace(file, tasks=tasks, checksum=digest([file.checksum, GUESTS]))


DEMO = (
    DemoDataset("Breakfast demo", _all),
    DemoDataset(
        "Breakfast demo, four personas",
        _four,
        runs=tuple(
            DemoRuns(
                f"scripted cook, {METHODS[method].title}",
                (AGENT_POLICY,),
                level=LEVEL,
                settings={"method": method},
            )
            for method in (NEVER_ASK, BASELINE, REFLECTION_DPO, TEACHER)
        ),
    ),
)
