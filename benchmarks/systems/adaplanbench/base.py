"""Shared parts of playing and re-judging AdaPlanBench: roles, replies, scripts, rubric, prompts."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.core.system import Dimension, Role, ScriptedPolicy, System
from benchmarks.core.types import Outcome, Profile, Task
from benchmarks.systems.adaplanbench import demo, metrics, parsers, prompts, scripted
from benchmarks.systems.adaplanbench.comparisons import COMPARISONS
from benchmarks.systems.adaplanbench.labels import DISCLOSURES, FAULTS, LABELS
from benchmarks.systems.adaplanbench.macgyver import judges as macgyver
from benchmarks.systems.adaplanbench.parsers import SCHEMAS
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS, RUBRICS


class AdaPlanBenchBase(System):
    """The roles of AdaPlanBench, and how replies are asked for, read and counted."""

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
    parsers: Mapping[str, Callable[[str, Mapping[str, Any]], Any]] = parsers.PARSERS
    scripted: Mapping[str, ScriptedPolicy] = {
        **scripted.POLICIES,
        **macgyver.POLICIES,
    }
    dimensions: tuple[Dimension, ...] = DIMENSIONS
    rubrics: Mapping[int, tuple[Dimension, ...]] = RUBRICS
    prompts = prompts.PROMPTS
    labels = LABELS
    reply_schemas = SCHEMAS
    comparisons = COMPARISONS
    faults = FAULTS
    disclosures = DISCLOSURES

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        return demo.load_demo_tasks()[:3]
