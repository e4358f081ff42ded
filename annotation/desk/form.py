"""The form of an item: the questions on it and on its parts, with the answers so far.

Fields are named after question and part: ``safety.turn-3`` is an answer, ``safety.turn-3:comment``
the comment on it, ``:comment`` a comment on the whole item.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from annotation.desk.trajectories import KINDS, Statement
from annotation.models import Aspect
from annotation.questionnaires import Question, Questionnaire, Slot, slot_name
from annotation.questionnaires.types import MANY, Scale

# Keys that decide about the condition in focus at the desk, and about all that are left of a list.
VIOLATED_KEY, RESPECTED_KEY, NONE_KEY = "1", "2", "0"
# Of conditions that are each decided: the keys of the three decisions, in their order.
DECISION_KEYS = ("1", "2", "3")
# Keys that mark the n-th condition, for adjudicators: digits, then letters that mean nothing else.
MARK_KEYS = "123456789abgilmoqrtvwxyz"
# Labels that are this long together stand one below the other.
SHORT_LABELS = 21
MANY_OPTIONS = 5


@dataclass(frozen=True)
class DeskAnswer:
    """The answer in one place. All empty: nothing was said, or it was taken back."""

    value: int | None = None
    chosen: Sequence[Any] | None = None
    text: str = ""
    version: int = 0

    @property
    def scalar(self) -> Any:
        """The answer as one value; of a flag its reason."""
        if self.chosen is not None:
            return list(self.chosen)
        return self.text or self.value

    @property
    def given(self) -> bool:
        return self.value is not None or self.chosen is not None or bool(self.text)


NOTHING = DeskAnswer()
# Question, part of the item, aspect; value, chosen, text, version.
Stored = tuple[str, str, str, int | None, list[Any] | None, str, int]
# Field name → the answer in that field.
Places = Mapping[str, DeskAnswer]


def field_name(slot: str, aspect: str = Aspect.ANSWER) -> str:
    """Return the name of a form field, of a slot's name and an aspect."""
    return slot if aspect == Aspect.ANSWER else f"{slot}:{aspect}"


def stored_places(rows: Iterable[Stored]) -> dict[str, DeskAnswer]:
    """Return what is stored of an item."""
    return {
        field_name(slot_name(question, subject), aspect): DeskAnswer(value, chosen, text, version)
        for question, subject, aspect, value, chosen, text, version in rows
    }


@dataclass(frozen=True)
class Remarks:
    """The remarks beside an answer, or about the whole item."""

    name: str
    comment: str = ""
    flag: str = ""
    evidence: Sequence[Mapping[str, Any]] = ()

    @property
    def words(self) -> str:
        """The remarks in words, such as ``flagged, comment, 2 passages``."""
        parts = ["flagged"] * bool(self.flag) + ["comment"] * bool(self.comment)
        if self.evidence:
            parts.append(f"{len(self.evidence)} passage{'s' * (len(self.evidence) > 1)}")
        return ", ".join(parts)


@dataclass(frozen=True)
class ConditionMark:
    """A condition that can be marked, with the key by which an adjudicator does it."""

    value: str
    label: str
    key: str
    kind: str = ""


@dataclass(frozen=True)
class FormRow:
    """One question about one part, with what was said. ``title`` stands in for the question's."""

    slot: Slot
    answer: DeskAnswer
    remarks: Remarks
    number: int
    title: str
    kind: str = ""
    missing: bool = False
    current: bool = False
    locked: bool = False
    remarked: bool = True
    conditions: int = 0
    unmet: bool = False
    when: str = ""

    @property
    def question(self) -> Question:
        return self.slot.question

    @property
    def required(self) -> bool:
        return self.question.required and not self.unmet

    @property
    def condition(self) -> str:
        """The field of the question on whose answer it depends; empty where it always is asked."""
        when = self.question.when
        return slot_name(when.question, self.slot.subject) if when else ""

    @property
    def answered(self) -> bool:
        """Return whether the question is answered, with every condition that needs a decision."""
        return _is_whole(self.slot, self.answer, self.conditions)

    @property
    def is_inline(self) -> bool:
        """Return whether its answers stand in columns beside its title."""
        scale = self.question.scale
        return scale.kind in ("points", "choice") and not (is_stacked(scale) or has_many(scale))


@dataclass(frozen=True)
class FormSection:
    """Questions of a part that belong together."""

    title: str
    rows: Sequence[FormRow]


@dataclass(frozen=True)
class FormPart:
    """All questions about one turn or candidate, or about the item if ``subject`` is empty.

    ``same_as`` is the earlier turn whose plan a turn repeats.
    """

    subject: str
    title: str
    sections: Sequence[FormSection]
    shown: bool = False
    same_as: str = ""

    @property
    def rows(self) -> list[FormRow]:
        return [row for section in self.sections for row in section.rows]

    @property
    def complete(self) -> bool:
        return all(row.answered for row in self.rows if row.required)


@dataclass(frozen=True)
class FormBlock:
    """Parts of one kind: ``whole``, ``turn`` or ``candidate``; of turns one is shown at a time.

    ``compact``: each part is asked one question, so the part's own words are its title.
    """

    kind: str
    parts: Sequence[FormPart]
    compact: bool = False
    question: Question | None = None

    @property
    def title(self) -> str:
        return self.parts[0].sections[0].title


@dataclass(frozen=True)
class DeskForm:
    """The whole form."""

    blocks: Sequence[FormBlock]
    remarks: Remarks
    marks: Mapping[str, Sequence[ConditionMark]] = field(default_factory=dict)

    @cached_property
    def rows(self) -> list[FormRow]:
        return [row for block in self.blocks for part in block.parts for row in part.rows]

    @cached_property
    def layout(self) -> str:
        """The layout of the form on a wide screen.

        ``columns``: every question is one line, with the scores in the same columns, and what is to
        be known of the question in focus stands in a place of its own. ``list``: statements are
        decided about one by one, so they have the width. Empty: one question below the other.
        """
        if any(block.compact for block in self.blocks) or self.marks:
            return "list"
        return "columns" if all(row.is_inline for row in self.rows) else ""

    @cached_property
    def required(self) -> int:
        return sum(row.required for row in self.rows)

    @cached_property
    def answered(self) -> int:
        return sum(row.required and row.answered for row in self.rows)


def build_form(
    questionnaire: Questionnaire,
    slots: Sequence[Slot],
    places: Places,
    *,
    candidates: Mapping[str, Statement],
    conditions: Sequence[Statement],
    missing: Sequence[str] = (),
    locked: bool = False,
    stays: Collection[str] = (),
    same: Mapping[str, str] | None = None,
) -> DeskForm:
    """Return the form with what was said; the first place in ``missing``, else the first that lacks
    an answer, is the one in focus.

    ``stays``: the places whose answers cannot change any more. ``same``: turns with the earlier
    turn whose plan they repeat.
    """
    marks = _marks(slots, conditions)
    counts = {key: len(rows) for key, rows in marks.items()}
    values = {(slot.question.key, slot.subject): _at(places, slot).value for slot in slots}
    lacking = [
        slot.name
        for slot in _as_shown(slots)
        if slot.question.required
        and questionnaire.applies(slot, values)
        and not _is_whole(slot, _at(places, slot), counts.get(slot.question.key, 0))
    ]
    current = next(iter([*missing, *lacking, *(slot.name for slot in slots)]), "")

    def row(slot: Slot, *, compact: bool, number: int) -> FormRow:
        about = candidates.get(slot.part) if compact else None
        return FormRow(
            slot,
            _at(places, slot),
            _remarks(places, slot.name),
            number if about else slot.question.number,
            about.text if about else slot.question.title,
            kind=about.word if about else "",
            missing=slot.name in missing,
            current=slot.name == current,
            locked=locked or slot.name in stays,
            remarked=questionnaire.unit != "person",
            conditions=counts.get(slot.question.key, 0),
            unmet=not questionnaire.applies(slot, values),
            when=questionnaire.condition_words(slot.question),
        )

    blocks = []
    for kind, grouped in _by_kind(slots):
        compact = kind == "candidate" and len({slot.question.key for slot in grouped}) == 1
        parts = []
        for number, subject in enumerate(dict.fromkeys(slot.subject for slot in grouped), 1):
            asked = [slot for slot in grouped if slot.subject == subject]
            sections = []
            for key, title in questionnaire.sections.items():
                of_section = [slot for slot in asked if slot.question.section == key]
                if of_section:
                    rows = [row(slot, compact=compact, number=number) for slot in of_section]
                    sections.append(FormSection(title, rows))
            title = _title(kind, asked[0].part, candidates)
            shown = any(slot.name == current for slot in asked)
            parts.append(FormPart(subject, title, sections, shown, (same or {}).get(subject, "")))
        if kind == "turn" and not any(part.shown for part in parts):
            first = parts[0]
            parts[0] = replace(first, shown=True)
        blocks.append(FormBlock(kind, parts, compact, grouped[0].question if compact else None))
    return DeskForm(blocks, _remarks(places, ""), marks)


def _is_whole(slot: Slot, answer: DeskAnswer, conditions: int) -> bool:
    """Return whether an answer leaves nothing open; ``conditions`` is how many can be decided."""
    if slot.question.scale.each and answer.chosen is not None:
        return len(answer.chosen) == conditions
    return answer.given


def _as_shown(slots: Sequence[Slot]) -> Iterator[Slot]:
    """Yield slots in the order of the page, part by part."""
    for _, grouped in _by_kind(slots):
        for subject in dict.fromkeys(slot.subject for slot in grouped):
            yield from (slot for slot in grouped if slot.subject == subject)


def is_stacked(scale: Scale) -> bool:
    """Return whether the options of a choice stand one below the other."""
    labels = sum(len(option.label) for option in scale.options)
    return scale.kind == "choice" and labels > SHORT_LABELS


def has_many(scale: Scale) -> bool:
    """Return whether there are more answers than fit beside a title."""
    return len(scale.values) > MANY_OPTIONS


def _by_kind(slots: Sequence[Slot]) -> Iterator[tuple[str, list[Slot]]]:
    """Yield slots by what they are about, each kind where it comes first."""
    by_kind: dict[str, list[Slot]] = {}
    for slot in slots:
        about = slot.question.about
        by_kind.setdefault(about if about in MANY else "whole", []).append(slot)
    yield from by_kind.items()


def _at(places: Places, slot: Slot) -> DeskAnswer:
    return places.get(slot.name, NOTHING)


def _remarks(places: Places, slot: str) -> Remarks:
    def answer_for(aspect: str) -> DeskAnswer:
        return places.get(field_name(slot, aspect), NOTHING)

    return Remarks(
        slot,
        answer_for(Aspect.COMMENT).text,
        answer_for(Aspect.FLAG).text if answer_for(Aspect.FLAG).value else "",
        answer_for(Aspect.EVIDENCE).chosen or (),
    )


def _title(kind: str, part: str, candidates: Mapping[str, Statement]) -> str:
    if kind == "turn":
        return f"Turn {part}"
    return candidates[part].text if part in candidates else ""


def _marks(
    slots: Sequence[Slot], conditions: Sequence[Statement]
) -> dict[str, list[ConditionMark]]:
    """Return what can be marked, by question; keys beyond those there are stay empty."""
    marks: dict[str, list[ConditionMark]] = {}
    for question in {slot.question.key: slot.question for slot in slots}.values():
        if question.scale.kind != "marks":
            continue
        kinds = [question.scale.of] if question.scale.of else list(KINDS)
        rows = [condition for kind in kinds for condition in conditions if condition.kind == kind]
        marks[question.key] = [
            ConditionMark(
                condition.key,
                condition.text,
                MARK_KEYS[place] if place < len(MARK_KEYS) else "",
                "" if question.scale.of else condition.word,
            )
            for place, condition in enumerate(rows)
        ]
    return marks
