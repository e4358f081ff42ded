"""AdaPlanBench, assembled."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from benchmarks.core.importer import Importer
from benchmarks.core.published import Published
from benchmarks.core.system import (
    Dimension,
    Rejudging,
    Role,
    ScriptedPolicy,
    Setting,
    System,
)
from benchmarks.core.types import Episode, Outcome, Profile, Task
from benchmarks.systems.adaplanbench import (
    demo,
    episode,
    metrics,
    parsers,
    prompts,
    sampling,
    scripted,
)
from benchmarks.systems.adaplanbench.comparisons import COMPARISONS
from benchmarks.systems.adaplanbench.demo_datasets import DEMO
from benchmarks.systems.adaplanbench.display import DISPLAYS
from benchmarks.systems.adaplanbench.importer import IMPORTER
from benchmarks.systems.adaplanbench.labels import LABELS
from benchmarks.systems.adaplanbench.macgyver import policies as macgyver
from benchmarks.systems.adaplanbench.people import PEOPLE
from benchmarks.systems.adaplanbench.protocol import SETTINGS
from benchmarks.systems.adaplanbench.published import PAPER, PRESETS, PUBLISHED
from benchmarks.systems.adaplanbench.rubric import DIMENSIONS
from benchmarks.systems.adaplanbench.schemas import SCHEMAS


class AdaPlanBench(System):
    """Adaptive planning under hidden world and user constraints."""

    key = "adaplanbench"
    title = "AdaPlanBench"
    protocol_version = "1"
    prompt_version = prompts.VERSION
    parser_version = "1"
    scorer_version = "1"
    roles: tuple[Role, ...] = (
        Role("agent", "Agent", ("careful-tracker",)),
        Role("world_judge", "World judge", ("world-facts",), judges=True, decides=True),
        Role("user_judge", "User judge", ("user-facts",), judges=True, decides=True),
        Role(
            "rubric_judge",
            "Rubric judges",
            ("judge-even", "judge-strict", "judge-lenient"),
            judges=True,
        ),
        Role("simulator", "User simulator", ("plain-words",)),
    )
    settings: tuple[Setting, ...] = SETTINGS
    parsers: Mapping[str, Callable[[str, Mapping[str, Any]], Any]] = parsers.PARSERS
    scripted: Mapping[str, ScriptedPolicy] = {
        **scripted.POLICIES,
        **sampling.POLICIES,
        **macgyver.POLICIES,
    }
    dimensions: tuple[Dimension, ...] = DIMENSIONS
    published: tuple[Published, ...] = PUBLISHED
    paper = PAPER
    presets = PRESETS
    prompts = prompts.PROMPTS
    importer: Importer | None = IMPORTER
    labels = LABELS
    reply_schemas = SCHEMAS
    people = PEOPLE
    comparisons = COMPARISONS
    displays = DISPLAYS
    demo = DEMO

    @cached_property
    def rejudging(self) -> Rejudging:
        from benchmarks.systems.adaplanbench.rejudging import REJUDGING

        return REJUDGING

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        off = {"world_only": "user_judge", "user_only": "world_judge"}
        if off.get(settings["constraints"]) == role:
            return ()
        if role == "rubric_judge":
            return tuple(str(n) for n in range(1, settings["rubric_judges"] + 1))
        return ("",)

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings, rng)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        return demo.load_demo_tasks()[:3]


SYSTEM = AdaPlanBench()
