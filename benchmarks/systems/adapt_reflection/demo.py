"""The demo datasets of the builder: the training personas, and one of them for its run."""

from collections.abc import Collection
from dataclasses import replace

from benchmarks.core.digests import digest
from benchmarks.core.ports.demo import DemoDataset, DemoRuns
from benchmarks.core.ports.importer import TaskFile
from benchmarks.systems.adapt.dataset import LEVEL, load_personas
from benchmarks.systems.adapt_reflection.scripted import STUDENT_POLICY

# Personas of this fold stay unseen, as in the experiments on ADAPT.
HELD_OUT_FOLD = 0
GUESTS = ("persona_10",)


def _file(personas: Collection[str] = ()) -> TaskFile:
    """Return the meals of the training personas, or of some of them."""
    file = load_personas()
    tasks = [
        row
        for row in file.tasks
        if row[0].payload["fold"] != HELD_OUT_FOLD
        and (not personas or row[0].payload["persona"] in personas)
    ]
    return replace(
        file,
        tasks=tasks,
        checksum=digest([file.checksum, HELD_OUT_FOLD, sorted(personas)]),
        source="Written for PlanJury",
    )


DEMO = (
    DemoDataset("Reflection demo", _file),
    DemoDataset(
        "Reflection demo, one persona",
        lambda: _file(GUESTS),
        runs=(DemoRuns("scripted student and teacher", (STUDENT_POLICY,), level=LEVEL),),
    ),
)
