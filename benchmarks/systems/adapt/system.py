"""ADAPT, assembled."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.system import Role, System
from benchmarks.core.types import Episode, Outcome, Profile, Task
from benchmarks.systems.adapt import episode, metrics, prompts
from benchmarks.systems.adapt.comparisons import COMPARISONS
from benchmarks.systems.adapt.dataset import IMPORTER, load_personas
from benchmarks.systems.adapt.demo import DEMO
from benchmarks.systems.adapt.faults import DISCLOSURES, FAULTS
from benchmarks.systems.adapt.labels import LABELS
from benchmarks.systems.adapt.parsers import PARSERS, SCHEMAS
from benchmarks.systems.adapt.people import PEOPLE
from benchmarks.systems.adapt.published import COMPARABILITY, PAPER, PRESETS, PUBLISHED
from benchmarks.systems.adapt.scripted import AGENT_POLICY, PERSONA_POLICY, POLICIES
from benchmarks.systems.adapt.settings import SETTINGS
from benchmarks.systems.adapt.validity import VALIDITY

SAMPLES = 4


class Adapt(System):
    """A household agent that may ask a person about preferences it cannot see."""

    key = "adapt"
    title = "ADAPT"
    protocol_version = "1"
    prompt_version = prompts.VERSION
    parser_version = "1"
    # Version 1 did not count what nobody asked for, nor what the persona told unasked.
    scorer_version = "2"
    earlier_scorers = ("1",)
    roles = (Role("agent", "Agent", (AGENT_POLICY,)), Role("persona", "Persona", (PERSONA_POLICY,)))
    settings = SETTINGS
    parsers = PARSERS
    reply_schemas = SCHEMAS
    scripted = POLICIES
    prompts = prompts.PROMPTS
    importer = IMPORTER
    labels = LABELS
    people = PEOPLE
    comparisons = COMPARISONS
    faults = FAULTS
    disclosures = DISCLOSURES
    published = PUBLISHED
    paper = PAPER
    presets = PRESETS
    comparability = COMPARABILITY
    demo = DEMO
    validity = VALIDITY

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("",)

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings, rng)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        tasks = list(load_personas().tasks)
        return tasks[2 :: len(tasks) // SAMPLES + 1][:SAMPLES]


SYSTEM = Adapt()
