"""ACPBench Hard, assembled."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.ports.importer import Importer
from benchmarks.core.ports.published import PaperStatements, Published
from benchmarks.core.system import Dimension, Role, Setting, System
from benchmarks.core.types import Episode, Json, Outcome, Profile, Task
from benchmarks.systems.acpbench_hard import episode, metrics, prompts, samples
from benchmarks.systems.acpbench_hard.commands import score_acpbench
from benchmarks.systems.acpbench_hard.comparisons import COMPARISONS
from benchmarks.systems.acpbench_hard.dataset import IMPORTER
from benchmarks.systems.acpbench_hard.display import DISPLAYS
from benchmarks.systems.acpbench_hard.faults import FAULTS
from benchmarks.systems.acpbench_hard.generation.files import generate_acpbench
from benchmarks.systems.acpbench_hard.labels import LABELS
from benchmarks.systems.acpbench_hard.people import PEOPLE
from benchmarks.systems.acpbench_hard.prompts.task_files import check_published_prompt
from benchmarks.systems.acpbench_hard.published import COMPARABILITY, PAPER, PRESETS, PUBLISHED
from benchmarks.systems.acpbench_hard.scripted import POLICIES
from benchmarks.systems.acpbench_hard.settings import SETTINGS
from benchmarks.systems.acpbench_hard.validity import VALIDITY
from benchmarks.systems.acpbench_hard.verdicts import parse_answer, parse_verdict


class ACPBenchHard(System):
    """Open questions about actions, change and planning, checked by symbolic validators."""

    key = "acpbench_hard"
    title = "ACPBench Hard"
    protocol_version = "1"
    prompt_version = prompts.VERSION
    parser_version = "1"
    scorer_version = "1"
    roles: tuple[Role, ...] = (
        Role("agent", "Agent", ("acp-perfect",)),
        Role("validator", "Validator", ("validator",)),
    )
    settings: tuple[Setting, ...] = SETTINGS
    parsers = {"answer": parse_answer, "verdict": parse_verdict}
    scripted = POLICIES
    dimensions: tuple[Dimension, ...] = ()
    published: tuple[Published, ...] = PUBLISHED
    paper = PaperStatements(name=PAPER, tasks="1,040 questions, ten of each task and domain")
    presets = PRESETS
    comparability = COMPARABILITY
    prompts = prompts.PROMPTS
    importer: Importer | None = IMPORTER
    labels = LABELS
    commands = {"generate_acpbench": generate_acpbench, "score_acpbench": score_acpbench}
    people = PEOPLE
    comparisons = COMPARISONS
    faults = FAULTS
    displays = DISPLAYS
    demo = samples.DEMO
    validity = VALIDITY

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings, rng)

    def check_settings(self, settings: Mapping[str, Any], shared: Json) -> None:
        check_published_prompt(settings, shared)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        return [(task, ()) for task in samples.small_sample()]


SYSTEM = ACPBenchHard()
