"""PlanBench-XL, assembled."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.ports.importer import Importer
from benchmarks.core.ports.published import Published
from benchmarks.core.system import Dimension, Role, Setting, System
from benchmarks.core.types import Episode, Outcome, Profile, Task
from benchmarks.systems.planbench_xl import episode, metrics, prompts, world
from benchmarks.systems.planbench_xl.comparisons import COMPARISONS
from benchmarks.systems.planbench_xl.dataset import IMPORTER
from benchmarks.systems.planbench_xl.demo import DEMO
from benchmarks.systems.planbench_xl.display import DISPLAYS
from benchmarks.systems.planbench_xl.environment.actions import parse_native, parse_tagged
from benchmarks.systems.planbench_xl.faults import DISCLOSURES, FAULTS
from benchmarks.systems.planbench_xl.labels import LABELS
from benchmarks.systems.planbench_xl.people import PEOPLE
from benchmarks.systems.planbench_xl.published import COMPARABILITY, PRESETS, PUBLISHED
from benchmarks.systems.planbench_xl.scripted import POLICIES
from benchmarks.systems.planbench_xl.settings import SETTINGS
from benchmarks.systems.planbench_xl.validity import VALIDITY


class PlanBenchXL(System):
    """Long-horizon planning over a large catalogue of tools, of which searches show a part."""

    key = "planbench_xl"
    title = "PlanBench-XL"
    protocol_version = "1"
    prompt_version = prompts.VERSION
    parser_version = "1"
    scorer_version = "2"
    roles: tuple[Role, ...] = (Role("agent", "Agent", ("path-follower",)),)
    settings: tuple[Setting, ...] = SETTINGS
    parsers = {"tagged_action": parse_tagged, "native_action": parse_native}
    scripted = POLICIES
    dimensions: tuple[Dimension, ...] = ()
    published: tuple[Published, ...] = PUBLISHED
    presets = PRESETS
    comparability = COMPARABILITY
    prompts = prompts.PROMPTS
    importer: Importer | None = IMPORTER
    labels = LABELS
    people = PEOPLE
    comparisons = COMPARISONS
    faults = FAULTS
    disclosures = DISCLOSURES
    displays = DISPLAYS
    demo = DEMO
    validity = VALIDITY

    def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("",)

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings, rng)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        return [(task, ()) for task in world.load_world().tasks[:5]]


SYSTEM = PlanBenchXL()
