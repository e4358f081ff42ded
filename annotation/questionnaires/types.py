"""The types of a questionnaire: its questions, what each is about, and their scales."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Literal

from benchmarks.core.errors import CoreError

# What a question is asked of: the item as a whole, its last plan, each of its turns, each candidate
# constraint of a task, or the annotators themselves.
About = Literal["item", "final", "turn", "candidate", "person"]
PARTS: Mapping[str, str] = {
    "item": "asked once of the whole item",
    "final": "asked once, of the last plan",
    "turn": "asked of every turn",
    "candidate": "asked of every candidate constraint",
    "person": "asked of the annotator, before the first item",
}
# The parts of which an item may have many.
MANY = ("turn", "candidate")
# What an item may be: a trajectory, two trajectories of one task side by side, or a task with its
# candidate constraints.
Unit = Literal["trajectory", "pair", "task", "person"]
# The system of a questionnaire that is about no system's items.
ANY = "any"
# The kind of questionnaires that players answer about their own session.
PLAYING = "playing"
# What the desk may show of an item.
SHOWS: Mapping[str, str] = {
    "plans": "the plans",
    "final_plan": "the final plan alone",
    "feedback": "what came back after each plan",
    "findings": "what the judges found violated",
    "profile": "the hidden conditions",
    "candidates": "the candidate constraints",
    "reference": "the reference solution",
}
USUALLY_SHOWN = ("plans", "feedback", "findings")
# What a question may need of an item, in the words of one that lacks it ("has no …");
# annotation.questionnaires.requirements says which have it.
NEEDS: Mapping[str, str] = {
    "feedback": "feedback on a plan",
    "violations": "violations found by judges",
    "final_plan": "final plan",
    "profile": "hidden conditions",
    "world_constraints": "hidden conditions of the situation",
    "user_constraints": "hidden preferences",
    "candidates": "candidate constraints",
    "instructions": "instructions to the agent",
    "tools": "calls of tools by the agent",
    "failed_calls": "call that failed",
    "user_replies": "reply of the user to the agent",
    "several_turns": "second turn",
}


class QuestionnaireError(CoreError):
    """A questionnaire that does not exist or cannot be used; the text says where and why.

    ``problems``: what is wrong with its text, one by one.
    """

    def __init__(self, text: str, problems: Sequence[str] = ()) -> None:
        self.problems = tuple(problems) or (text,)
        super().__init__(text)


@dataclass(frozen=True)
class AnswerOption:
    """One of the answers to choose from; ``key`` is the key on the keyboard that chooses it."""

    value: int
    label: str
    key: str


# Which of the two trajectories of an item is preferred, as it is stored: the item's first or second
# one, whichever side it stood on.
FIRST, TIE, SECOND = 1, 0, 2
_SIDES = {FIRST: ("first", "a"), TIE: ("no difference", "t"), SECOND: ("second", "b")}


def pair_answers(ties: bool) -> tuple[AnswerOption, ...]:
    """Return the answers to which of two trajectories is preferred, by the order in the item."""
    return tuple(
        AnswerOption(value, *words) for value, words in _SIDES.items() if ties or value != TIE
    )


@dataclass(frozen=True)
class Scale:
    """The kind of answer that a question takes.

    ``points``: a whole number from 1 to ``most``. ``choice``: the value of one of ``options``; with
    ``pair``, which of the item's two trajectories is preferred.
    ``marks``: a set of the profile's constraints, of the kind ``of`` or of all kinds, possibly
    empty; with ``each``, every one of them gets a decision (`annotation.questionnaires.decisions`).
    ``text``: words, at most ``most`` characters. ``spans``: passages of the item's text, each with
    one of ``labels`` (key → name); an empty list says that there is nothing to mark.
    """

    kind: Literal["points", "choice", "marks", "text", "spans"] = "points"
    most: int = 5
    options: tuple[AnswerOption, ...] = ()
    of: str = ""
    each: bool = False
    pair: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)

    def as_shown(self, swapped: bool) -> "Scale":
        """Return the scale as the desk shows it: A is the trajectory on the left, or above."""
        if not self.pair:
            return self
        return self._named("A", "No difference", "B", swapped)

    def as_seen_by(self, is_second: bool) -> "Scale":
        """Return the scale as one of the two trajectories reads it, the item's second or first."""
        return self._named("this one", "no difference", "the other one", is_second)

    def _named(self, first: str, tie: str, second: str, swapped: bool) -> "Scale":
        labels = {FIRST: first, TIE: tie, SECOND: second}
        other = {FIRST: SECOND, SECOND: FIRST, TIE: TIE} if swapped else {}
        return replace(
            self,
            options=tuple(
                AnswerOption(other.get(o.value, o.value), labels[o.value], o.key)
                for o in self.options
            ),
        )

    @property
    def values(self) -> tuple[int, ...]:
        """The numbers that can be answered; none where the answer is no number."""
        if self.kind == "points":
            return tuple(range(1, self.most + 1))
        return tuple(option.value for option in self.options)

    @property
    def anchored(self) -> tuple[int, ...]:
        """The points that are described in words: the ends, and the middle where there is one."""
        if self.kind != "points":
            return ()
        middle = ((self.most + 1) // 2,) if self.most % 2 else ()
        return (1, *middle, self.most)

    def label(self, value: int) -> str:
        """Return how a value reads."""
        return next((o.label for o in self.options if o.value == value), str(value))


@dataclass(frozen=True)
class Condition:
    """A question is asked only if another, of the same part, has one of these answers."""

    question: str
    answers: tuple[int, ...]


@dataclass(frozen=True)
class Question:
    """One question with everything that stands beside it. ``dimension`` is empty for our own.

    ``note`` is for codebooks: how the question relates to its source. Raters do not read it.
    ``when`` is the condition under which it is asked; None for always.
    """

    key: str
    number: int
    section: str
    title: str
    definition: str
    anchors: Mapping[int, str]
    examples: Mapping[int, str]
    needs: frozenset[str]
    dimension: str = ""
    about: About = "item"
    scale: Scale = field(default_factory=Scale)
    required: bool = True
    note: str = ""
    when: Condition | None = None

    @property
    def of_final_plan(self) -> bool:
        """Return whether the final plan is scored; its judge scores would then bias the answer."""
        return self.about == "final" or self.about == "item" and "final_plan" in self.needs


@dataclass(frozen=True)
class Slot:
    """A place for one answer: a question and the part of the item that it is asked of."""

    question: Question
    subject: str = ""

    @property
    def name(self) -> str:
        """The name of its field in forms, such as ``safety`` or ``safety.turn-3``."""
        return slot_name(self.question.key, self.subject)

    def as_shown(self, swapped: bool) -> "Slot":
        """Return the place with its scale as the desk shows it (`Scale.as_shown`)."""
        question = self.question
        if not question.scale.pair:
            return self
        return replace(self, question=replace(question, scale=question.scale.as_shown(swapped)))

    @property
    def part(self) -> str:
        """The subject without its kind: ``3`` of ``turn-3``."""
        return self.subject.partition("-")[2]


def slot_name(question: str, subject: str = "") -> str:
    """Return how a place for an answer is called in forms and messages."""
    return f"{question}.{subject}" if subject else question


@dataclass(frozen=True)
class Questionnaire:
    """One version of a questionnaire for items of one system."""

    name: str
    version: int
    kind: str
    system: str
    title: str
    instructions: tuple[str, ...]
    sections: Mapping[str, str]
    questions: tuple[Question, ...] = ()
    unit: Unit = "trajectory"
    shows: frozenset[str] = frozenset(USUALLY_SHOWN)
    own_criteria: tuple[str, ...] = ()

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that stand beside a list of statements while they are decided about."""
        return self.own_criteria or self.instructions

    @property
    def id(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def source(self) -> str:
        """What its items are drawn from: trajectories, tasks or people."""
        return "trajectory" if self.unit == "pair" else self.unit

    @cached_property
    def by_key(self) -> Mapping[str, Question]:
        """The questions by their keys."""
        return {question.key: question for question in self.questions}

    def asked(self, has: frozenset[str]) -> list[str]:
        """Return the keys of the questions that an item can be asked which ``has`` these things."""
        return [question.key for question in self.questions if question.needs <= has]

    @property
    def needs(self) -> frozenset[str]:
        """Everything that some question needs."""
        return frozenset(need for question in self.questions for need in question.needs)

    @property
    def wants(self) -> frozenset[str]:
        """The lists of an item that its questions refer to: turns, candidates, constraints."""
        lists: set[str] = {q.about for q in self.questions if q.about in MANY}
        if any(q.scale.kind == "marks" for q in self.questions):
            lists.add("constraint")
        return frozenset(lists)

    def of_keys(self, keys: Sequence[str], rotation: int = 0) -> list[Question]:
        """Return the questions of an item, in the order in which they are asked.

        ``rotation``: by how many places the questions of each section are rotated; sections stay in
        their order, and a question under a condition stays behind the one before it.
        """
        asked = [question for question in self.questions if question.key in keys]
        if not rotation:
            return asked
        rotated: list[Question] = []
        for section in dict.fromkeys(question.section for question in asked):
            groups: list[list[Question]] = []
            for question in asked:
                if question.section == section and question.when and groups:
                    groups[-1].append(question)
                elif question.section == section:
                    groups.append([question])
            start = rotation % len(groups)
            rotated += chain.from_iterable(groups[start:] + groups[:start])
        return rotated

    def applies(self, slot: Slot, values: Mapping[tuple[str, str], int | None]) -> bool:
        """Return whether a place is asked, given the numbers answered by question and subject."""
        when = slot.question.when
        if when is None:
            return True
        other = Slot(self.by_key[when.question], slot.subject)
        return values.get((when.question, slot.subject)) in when.answers and self.applies(
            other, values
        )

    def condition_words(self, question: Question) -> str:
        """Return the condition under which a question is asked in words; empty for always."""
        if question.when is None:
            return ""
        other = self.by_key[question.when.question]
        labels = " or ".join(other.scale.label(value) for value in question.when.answers)
        return f"only if question {other.number} ({other.title}) is answered: {labels}"

    def slots(
        self, asked: Sequence[str], subjects: Mapping[str, Sequence[str]], rotation: int = 0
    ) -> Iterator[Slot]:
        """Yield the places for answers of an item, part by part within each question."""
        for question in self.of_keys(asked, rotation):
            if question.about in MANY:
                for part in subjects.get(question.about, ()):
                    yield Slot(question, f"{question.about}-{part}")
            else:
                yield Slot(question)
