"""Reads questionnaires from YAML and checks them: what is asked, and what each question needs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import EXTERNAL, get_system
from benchmarks.core.system import Dimension

FOLDER = Path(__file__).parent
# What a question may need of a trajectory, in the words of one that lacks it ("has no …");
# annotation.selectors.needs says which have it.
NEEDS: Mapping[str, str] = {
    "feedback": "feedback on a plan",
    "violations": "violations found by judges",
    "final_plan": "final plan",
    "instructions": "instructions to the agent",
    "tools": "calls of tools by the agent",
    "failed_calls": "call that failed",
    "user_replies": "reply of the user to the agent",
    "several_turns": "second turn",
}
# The free remark on an item; kept like an answer, but not a question and never required.
COMMENT = "comment"
SCALE = (1, 2, 3, 4, 5)
ANCHORED = (1, 3, 5)
_ID = re.compile(r"^(?P<name>[a-z][a-z0-9_]*)@(?P<version>[1-9][0-9]*)$")


class QuestionnaireError(CoreError):
    """A questionnaire that does not exist or cannot be used; the text says where and why."""


@dataclass(frozen=True)
class Question:
    """One question with everything that stands beside it. ``dimension`` is empty for our own."""

    key: str
    number: int
    section: str
    title: str
    definition: str
    anchors: Mapping[int, str]
    examples: Mapping[int, str]
    needs: frozenset[str]
    dimension: str = ""


@dataclass(frozen=True)
class Questionnaire:
    """One version of a questionnaire for trajectories of one system."""

    name: str
    version: int
    kind: str
    system: str
    title: str
    instructions: tuple[str, ...]
    sections: Mapping[str, str]
    questions: tuple[Question, ...] = field(default_factory=tuple)

    @property
    def id(self) -> str:
        return f"{self.name}@{self.version}"

    def asked(self, has: frozenset[str]) -> list[str]:
        """Keys of the questions that an item can be asked which ``has`` these things."""
        return [question.key for question in self.questions if question.needs <= has]

    @property
    def needs(self) -> frozenset[str]:
        """Everything that some question needs."""
        return frozenset(need for question in self.questions for need in question.needs)

    def of_keys(self, keys: Sequence[str]) -> list[Question]:
        """The questions of an item, in the order in which they are asked."""
        return [question for question in self.questions if question.key in keys]


def known_questionnaires() -> list[str]:
    """The ids of all questionnaires that ship with the product."""
    found = (path.name.split(".") for path in FOLDER.glob("*.v*.yaml"))
    return sorted(f"{name}@{version.removeprefix('v')}" for name, version, _ in found)


def questionnaires_for(system: str) -> list[Questionnaire]:
    """The questionnaires for trajectories of a system, of each the newest version."""
    newest: dict[str, Questionnaire] = {}
    for questionnaire in map(load_questionnaire, known_questionnaires()):
        known = newest.get(questionnaire.name)
        if questionnaire.system == system and (
            known is None or known.version < questionnaire.version
        ):
            newest[questionnaire.name] = questionnaire
    return list(newest.values())


@cache
def load_questionnaire(id: str) -> Questionnaire:
    """The questionnaire ``NAME@VERSION``, checked."""
    match = _ID.match(id)
    path = FOLDER / f"{match['name']}.v{match['version']}.yaml" if match else None
    if path is None or not path.is_file():
        known = ", ".join(known_questionnaires())
        raise QuestionnaireError(f"there is no questionnaire {id!r}; known are {known}")
    return read_questionnaire(path.read_text(encoding="utf-8"), source=path.name, id=id)


def read_questionnaire(text: str, *, source: str, id: str) -> Questionnaire:
    """A questionnaire from YAML; every problem is named at once, with ``source``."""
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise QuestionnaireError(f"{source}: not YAML: {error}") from None
    problems = list(_problems(data, id))
    if problems:
        raise QuestionnaireError(f"{source}: " + "; ".join(problems[:20]))
    dimensions = {d.key: d for d in _dimensions(data["system"])}
    questions = []
    for number, row in enumerate(data["questions"], 1):
        key = row.get("dimension") or row["key"]
        said = dimensions.get(row.get("dimension", ""))
        questions.append(
            Question(
                key=key,
                number=number,
                section=row["section"],
                title=said.title if said else row["title"],
                definition=said.definition if said else row["definition"],
                anchors=dict(said.anchors if said else row["anchors"]),
                examples=dict(said.examples if said else row["examples"]),
                needs=frozenset(row["needs"]),
                dimension=row.get("dimension", ""),
            )
        )
    return Questionnaire(
        name=data["id"],
        version=data["version"],
        kind=data["kind"],
        system=data["system"],
        title=data["title"],
        instructions=tuple(data.get("instructions", ())),
        sections={section["key"]: section["title"] for section in data["sections"]},
        questions=tuple(questions),
    )


def _dimensions(system: str) -> Sequence[Dimension]:
    """The rubric of a system; trajectories made elsewhere come without one."""
    return () if system == EXTERNAL else get_system(system).dimensions


def _problems(data: Any, id: str) -> Iterator[str]:
    if not isinstance(data, dict):
        yield "expected a mapping at the top"
        return
    missing = [
        name
        for name in ("id", "version", "kind", "system", "title", "sections", "questions")
        if not data.get(name)
    ]
    if missing:
        yield "missing: " + ", ".join(missing)
        return
    if f"{data['id']}@{data['version']}" != id:
        yield f"is {data['id']}@{data['version']} inside, but was asked for as {id}"
    try:
        dimensions = {d.key for d in _dimensions(data["system"])}
    except CoreError as error:
        yield str(error)
        return
    sections = {row.get("key") for row in data["sections"]}
    seen: set[str] = {COMMENT}
    for number, row in enumerate(data["questions"], 1):
        for problem in _question_problems(row, dimensions, sections, seen):
            yield f"question {number}: {problem}"


def _question_problems(
    row: Any, dimensions: set[str], sections: set[str], seen: set[str]
) -> Iterator[str]:
    if not isinstance(row, dict):
        yield "expected a mapping"
        return
    key = row.get("dimension") or row.get("key")
    if not isinstance(key, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", key):
        yield f"key {key!r} must be small letters, digits and _"
    elif key in seen:
        yield f"key {key!r} is taken"
    else:
        seen.add(key)
    if row.get("section") not in sections:
        yield f"section {row.get('section')!r} is not among {sorted(sections)}"
    needs = row.get("needs")
    if not isinstance(needs, list) or not set(needs) <= set(NEEDS):
        yield f"needs {needs!r} must be a list from {list(NEEDS)}"
    if "dimension" in row:
        if row["dimension"] not in dimensions:
            yield f"dimension {row['dimension']!r} is not among {sorted(dimensions)}"
        return
    for name in ("title", "definition"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            yield f"{name} is missing"
    for name in ("anchors", "examples"):
        given = row.get(name)
        if not isinstance(given, dict) or set(given) != set(ANCHORED):
            yield f"{name} must be given for 1, 3 and 5"
