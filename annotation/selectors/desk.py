"""One item as its annotator sees it. Nothing here may tell which agent made the trajectory."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Aspect, Assignment, Rating, RatingEdit, Study
from annotation.questionnaires import COMMENT, Questionnaire, load_questionnaire, slot_name
from annotation.selectors.dialogue import Dialogue, load_dialogue
from annotation.selectors.studies import Counts, own_counts
from benchmarks.core.registry import EXTERNAL
from benchmarks.diffs import Line, diff_steps
from benchmarks.models import Turn, Violation
from benchmarks.systems.adaplanbench.plans import split_steps

# With more turns than this only the last two are unfolded at first.
FEW_TURNS = 3


@dataclass(frozen=True)
class Finding:
    """A condition that the judges found violated, and whether the agent heard of it."""

    text: str
    kind: str
    word: str
    tone: str
    why: str


@dataclass(frozen=True)
class TurnView:
    """A turn. ``lines`` compares with the plan before; empty where there is nothing in common."""

    index: int
    is_final: bool
    text: str
    steps: Sequence[str]
    lines: Sequence[Line]
    change: str
    decided: bool
    findings: Sequence[Finding]
    feedback: str
    unfolded: bool

    @property
    def previous(self) -> int:
        return self.index - 1


@dataclass(frozen=True)
class QuestionView:
    """A question as templates/includes/_score_scale.html takes it, with its answer so far."""

    name: str
    number: int
    title: str
    definition: str
    anchors: Sequence[tuple[int, str]]
    examples: Sequence[tuple[int, str]]
    value: int | None = None
    required: bool = False


@dataclass(frozen=True)
class SectionView:
    """Questions that belong together."""

    key: str
    title: str
    questions: Sequence[QuestionView]


@dataclass(frozen=True)
class Desk:
    """Everything on the annotator's desk; ``dialogue`` stands in for plans of what has none."""

    study: Study
    item: Assignment
    questionnaire: Questionnaire
    query: str
    turns: Sequence[TurnView]
    sections: Sequence[SectionView]
    comment: str
    counts: Counts
    answered: int
    # For the script: versions of the answers seen, and the edits that can still be undone.
    state: Mapping[str, Any] = field(default_factory=dict)
    dialogue: Dialogue | None = None

    @property
    def asked(self) -> int:
        return sum(len(section.questions) for section in self.sections)

    @property
    def previous(self) -> int | None:
        return self.item.position - 1 if self.item.position > 1 else None

    @property
    def next(self) -> int | None:
        return self.item.position + 1 if self.item.position < self.counts.total else None


def load_desk(item: Assignment) -> Desk:
    """The desk of an item (with study, trajectory and task at hand), in six queries at most."""
    study = item.study
    questionnaire = load_questionnaire(study.questionnaire)
    rows = list(Rating.objects.filter(assignment=item))
    ratings = {slot_name(r.question, r.subject): r for r in rows if r.aspect == Aspect.ANSWER}
    standing = (
        RatingEdit.objects.filter(assignment=item, undoes=None, undone_by__isnull=True)
        .order_by("pk")
        .values_list("client_id", "question", "subject", "aspect", "value", "chosen", "text")
    )
    sections = _sections(questionnaire, item, ratings)
    remarks = [r for r in rows if r.aspect == Aspect.COMMENT and not r.question]
    dialogue = load_dialogue(item) if questionnaire.system == EXTERNAL else None
    return Desk(
        study=study,
        item=item,
        questionnaire=questionnaire,
        query=item.item.task.prompt if item.item.task else "",
        turns=load_turns(item.trajectory_id) if item.trajectory_id and dialogue is None else [],
        dialogue=dialogue,
        sections=sections,
        comment=remarks[0].text if remarks else "",
        counts=own_counts(study, item.annotator),
        answered=sum(q.value is not None for s in sections for q in s.questions),
        state={
            "versions": {
                **{name: row.version for name, row in ratings.items()},
                **dict.fromkeys([COMMENT] * len(remarks), remarks[0].version if remarks else 0),
            },
            "edits": [
                {
                    "id": str(pk),
                    "question": question or COMMENT,
                    "subject": subject,
                    "aspect": aspect,
                    "value": value,
                    "chosen": chosen,
                    "text": text,
                }
                for pk, question, subject, aspect, value, chosen, text in standing
            ],
        },
    )


def _sections(
    questionnaire: Questionnaire, item: Assignment, ratings: Mapping[str, Rating]
) -> list[SectionView]:
    asked = questionnaire.of_keys(item.item.asked)
    sections = []
    for key, title in questionnaire.sections.items():
        views = [
            QuestionView(
                question.key,
                question.number,
                question.title,
                question.definition,
                sorted(question.anchors.items()),
                sorted(question.examples.items()),
                ratings[question.key].value if question.key in ratings else None,
            )
            for question in asked
            if question.section == key
        ]
        if views:
            sections.append(SectionView(key, title, views))
    return sections


def load_turns(trajectory: int) -> list[TurnView]:
    """All turns with what changed in each."""
    rows = list(
        Turn.objects.filter(trajectory=trajectory).order_by("index").prefetch_related("violations")
    )
    views: list[TurnView] = []
    for place, row in enumerate(rows):
        steps = split_steps(row.text)
        before = views[-1].steps if views else []
        lines = diff_steps(before, steps) if before else []
        change, shown = _change(lines, row.index, [view.steps for view in views], steps)
        views.append(
            TurnView(
                index=row.index,
                is_final=row.is_final,
                text="" if _is_all(row.text, steps) else row.text,
                steps=steps,
                lines=shown,
                change=change,
                decided=row.payload.get("valid", True) is not None,
                findings=[_finding(violation) for violation in row.violations.all()],
                feedback=row.feedback,
                unfolded=len(rows) <= FEW_TURNS or place >= len(rows) - 2,
            )
        )
    return views


_STEP_WORD = re.compile(r"^\s*step(?=\s*\d)", re.IGNORECASE | re.MULTILINE)


def _is_all(text: str, steps: Sequence[str]) -> bool:
    """Whether the steps are the whole text, numbers aside; else the text is shown as it is."""
    bare = _STEP_WORD.sub("", text)
    return _letters(bare) == _letters("".join(steps))


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalpha())


def _change(
    lines: Sequence[Line], index: int, earlier: Sequence[Sequence[str]], steps: Sequence[str]
) -> tuple[str, Sequence[Line]]:
    """What changed since the turn before, in words, and the lines worth showing."""
    if not earlier:
        return "first plan", []
    same_as = next((n for n, old in enumerate(earlier, 1) if list(old) == list(steps)), None)
    if same_as is not None:
        return f"same plan as turn {same_as}", []
    kept = sum(line.op in ("same", "changed") for line in lines)
    if not kept:
        return f"another plan than turn {index - 1}", []
    touched = sum(line.op != "same" for line in lines)
    return f"{touched} step{'s' * (touched > 1)} changed since turn {index - 1}", lines


KINDS = {"world": "situation", "user": "preference"}


def _finding(violation: Violation) -> Finding:
    if violation.repeated:
        word, tone = "repeated", "warn"
        why = "The assistant had been told of this in an earlier turn."
        if violation.revealed:
            why += " The feedback says it once more."
    elif violation.revealed:
        word, tone = "revealed now", "info"
        why = "The feedback of this turn is to tell the assistant of this for the first time."
    else:
        word, tone = "withheld", "idle"
        why = "Violated too, but the feedback of this turn is not to mention it."
    return Finding(violation.text, KINDS.get(violation.kind, violation.kind), word, tone, why)
