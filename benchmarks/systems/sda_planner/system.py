"""SDA-Planner on symbolic ALFRED, assembled."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.ports.importer import Importer
from benchmarks.core.system import Role, System
from benchmarks.core.types import Episode, Outcome, Profile, Task
from benchmarks.systems.sda_planner import episode, metrics, prompts
from benchmarks.systems.sda_planner.comparisons import COMPARISONS
from benchmarks.systems.sda_planner.dataset.importer import IMPORTER
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from benchmarks.systems.sda_planner.demo import DEMO
from benchmarks.systems.sda_planner.faults import FAULTS
from benchmarks.systems.sda_planner.labels import LABELS
from benchmarks.systems.sda_planner.pages.display import DISPLAYS
from benchmarks.systems.sda_planner.people import PEOPLE
from benchmarks.systems.sda_planner.published import COMPARABILITY, PAPER, PRESETS, PUBLISHED
from benchmarks.systems.sda_planner.repair.graph_files import parse_edges
from benchmarks.systems.sda_planner.scripted import POLICIES
from benchmarks.systems.sda_planner.settings import SETTINGS
from benchmarks.systems.sda_planner.steps import parse_choice, parse_corrective, parse_plan
from benchmarks.systems.sda_planner.validity import VALIDITY


class SDAPlanner(System):
    """Plans carried out in a symbolic house, diagnosed over a graph, and repaired in part."""

    key = "sda_planner"
    title = "SDA-Planner"
    protocol_version = "1"
    prompt_version = prompts.VERSION
    parser_version = "1"
    scorer_version = "1"
    roles: tuple[Role, ...] = (Role("agent", "Planner", ("errors-60",)),)
    settings = SETTINGS
    parsers = {
        "plan": parse_plan,
        "remainder": parse_plan,
        "corrective": parse_corrective,
        "choice": parse_choice,
        "graph": parse_edges,
    }
    scripted = POLICIES
    published = PUBLISHED
    paper = PAPER
    presets = PRESETS
    comparability = COMPARABILITY
    prompts = prompts.PROMPTS
    importer: Importer | None = IMPORTER
    labels = LABELS
    people = PEOPLE
    comparisons = COMPARISONS
    faults = FAULTS
    displays = DISPLAYS
    demo = DEMO
    validity = VALIDITY

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings, rng)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        """Return one task of each type."""
        by_type = {task.category: task for task in reversed(sample_tasks())}
        return [(task, ()) for task in by_type.values()]


SYSTEM = SDAPlanner()
