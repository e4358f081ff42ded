"""The construction pipeline of AdaPlanBench, assembled."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.ports.importer import Importer
from benchmarks.core.ports.making import Making
from benchmarks.core.ports.published import Published
from benchmarks.core.system import Dimension, Role, Setting, System
from benchmarks.core.types import Episode, Outcome, Profile, Task
from benchmarks.systems.adaplanbench_construction import (
    episode,
    metrics,
    parsers,
    problems,
    prompts,
    scripted,
)
from benchmarks.systems.adaplanbench_construction.asks import FIRST, planner_seats
from benchmarks.systems.adaplanbench_construction.labels import LABELS
from benchmarks.systems.adaplanbench_construction.making import MAKING
from benchmarks.systems.adaplanbench_construction.parsers import SCHEMAS
from benchmarks.systems.adaplanbench_construction.people import PEOPLE
from benchmarks.systems.adaplanbench_construction.problem_files import IMPORTER
from benchmarks.systems.adaplanbench_construction.protocol import SETTINGS
from benchmarks.systems.adaplanbench_construction.published import COMPARABILITY, PUBLISHED


class AdaPlanBenchConstruction(System):
    """Makes tasks with hidden constraints out of problems."""

    key = "adaplanbench_construction"
    title = "AdaPlanBench construction"
    protocol_version = "1"
    prompt_version = prompts.VERSION
    parser_version = "2"
    scorer_version = "1"
    roles: tuple[Role, ...] = (
        Role("agent", "First planner", ("recalling-first-planner",)),
        Role("planner", "Further planners", ("handy-planner", "roaming-planner")),
        Role("rewriter", "Rewriter", ("list-dropper",)),
        Role("filter", "Filter", ("word-filter",)),
        Role("extractor", "Extractor", ("lexicon-extractor",)),
        Role("merger", "Merger", ("lexicon-merger",)),
        Role("checker", "Checker", ("reference-checker",)),
    )
    settings: tuple[Setting, ...] = SETTINGS
    parsers = parsers.PARSERS
    scripted = scripted.POLICIES
    dimensions: tuple[Dimension, ...] = ()
    published: tuple[Published, ...] = PUBLISHED
    comparability = COMPARABILITY
    prompts = prompts.PROMPTS
    importer: Importer | None = IMPORTER
    labels = LABELS
    reply_schemas = SCHEMAS
    people = PEOPLE
    making: Making | None = MAKING
    demo = problems.DEMO

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        if role == "planner":
            return tuple(s for s in planner_seats(settings["planners"]) if s != FIRST)
        return ("",)

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        return [(task, ()) for task in problems.load_demo_problems() if task.id in problems.SAMPLES]


SYSTEM = AdaPlanBenchConstruction()
