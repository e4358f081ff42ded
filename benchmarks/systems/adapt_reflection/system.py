"""The dataset builder of Reflection-DPO, assembled."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.ports.people import Mode, People, Place
from benchmarks.core.system import Role, System
from benchmarks.core.types import Episode, Outcome, Profile, Task
from benchmarks.systems.adapt.dataset import IMPORTER
from benchmarks.systems.adapt.scripted import PERSONA_POLICY
from benchmarks.systems.adapt.system import SYSTEM as ADAPT
from benchmarks.systems.adapt_reflection import episode, metrics, prompts
from benchmarks.systems.adapt_reflection.demo import DEMO
from benchmarks.systems.adapt_reflection.displays import DISPLAYS
from benchmarks.systems.adapt_reflection.exports import export_reflection
from benchmarks.systems.adapt_reflection.labels import LABELS
from benchmarks.systems.adapt_reflection.parsers import PARSERS, SCHEMAS
from benchmarks.systems.adapt_reflection.reviewing import ROWS
from benchmarks.systems.adapt_reflection.scripted import (
    POLICIES,
    STUDENT_POLICY,
    TABLE_POLICY,
    TEACHER_POLICY,
)
from benchmarks.systems.adapt_reflection.settings import SETTINGS
from benchmarks.systems.adapt_reflection.training.commands import TrainReflection, scoring_server


class AdaptReflection(System):
    """Makes training data of a student's trajectories in ADAPT and a teacher's corrections."""

    key = "adapt_reflection"
    title = "ADAPT Reflection-DPO"
    protocol_version = "1"
    prompt_version = prompts.VERSION
    parser_version = "1"
    scorer_version = ADAPT.scorer_version
    earlier_scorers = ADAPT.earlier_scorers
    roles = (
        Role("agent", "Student", (STUDENT_POLICY,)),
        Role("teacher", "Teacher", (TEACHER_POLICY,)),
        Role("persona", "Persona", (PERSONA_POLICY,)),
        Role("scorer", "Scorer", (TABLE_POLICY,)),
    )
    settings = SETTINGS
    parsers = PARSERS
    reply_schemas = SCHEMAS
    scripted = POLICIES
    prompts = prompts.PROMPTS
    importer = IMPORTER
    labels = LABELS
    displays = DISPLAYS
    # Nobody knows the probabilities of a model's tokens, so there is no place for a scorer.
    people = People(
        modes=tuple(
            Mode(role, title, about, (Place(title, (role,)),))
            for role, title, about in (
                ("agent", "Student", "You act in the house, and reflect on what to ask."),
                ("teacher", "Teacher", "You know the preferences and act on the student's behalf."),
                ("persona", "Persona", "You answer what the student asks."),
            )
        )
    )
    demo = DEMO
    training_rows = ROWS
    commands = {
        "export_reflection": export_reflection,
        "train_reflection_dpo": TrainReflection(),
        "serve_scorer": scoring_server,
    }

    def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
        return episode.episode(task, settings, rng)

    def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
        return metrics.summarise(outcomes)

    def sample_tasks(self) -> Sequence[tuple[Task, Sequence[Profile]]]:
        return ADAPT.sample_tasks()


SYSTEM = AdaptReflection()
