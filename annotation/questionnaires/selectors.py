"""All questionnaires with their versions, and questions as pages show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotation.models import StoredQuestionnaire, Study
from annotation.questionnaires import (
    Question,
    Questionnaire,
    known_questionnaires,
    load_questionnaire,
    plug_in_of,
    shipped_questionnaires,
)
from annotation.questionnaires.decisions import DECISIONS
from annotation.questionnaires.types import NEEDS, PARTS

MARKED = {"": "conditions", "world": "conditions of the situation", "user": "preferences"}
NOUNS: Mapping[str, str] = {
    "item": "each {unit}",
    "final": "each {unit}",
    "turn": "each turn",
    "candidate": "each candidate condition",
}


@dataclass(frozen=True)
class QuestionnaireVersion:
    """One version of a questionnaire. ``by`` is empty for those in files.

    ``plug_in`` is where one comes from that does not ship with the product.
    """

    questionnaire: Questionnaire
    shipped: bool
    by: str
    studies: int
    plug_in: str = ""


@dataclass(frozen=True)
class ShownQuestion:
    """A question as annotators see it, with what can be answered in words."""

    question: Question
    about: str
    answer: str
    options: Sequence[tuple[str, str]]
    anchors: Sequence[tuple[int, str, str]]
    needs: Sequence[str]
    when: str


def questionnaire_versions() -> list[tuple[str, list[QuestionnaireVersion]]]:
    """Return every questionnaire by name, its versions the newest first, in three queries."""
    shipped = set(shipped_questionnaires())
    makers = StoredQuestionnaire.objects.values_list("name", "version", "by__username")
    by = {f"{name}@{version}": maker or "" for name, version, maker in makers}
    rows = Study.objects.order_by().values_list("questionnaire").annotate(n=Count("pk"))
    used = dict(rows)
    versions: dict[str, list[QuestionnaireVersion]] = {}
    for id in known_questionnaires():
        plug_in = plug_in_of(id)
        row = QuestionnaireVersion(
            load_questionnaire(id),
            id in shipped,
            by.get(id, ""),
            used.get(id, 0),
            plug_in.origin if plug_in is not None else "",
        )
        versions.setdefault(row.questionnaire.name, []).append(row)
    return [
        (name, sorted(rows, key=lambda row: -row.questionnaire.version))
        for name, rows in sorted(versions.items())
    ]


def shown_sections(questionnaire: Questionnaire) -> list[tuple[str, list[ShownQuestion]]]:
    """Return the questions by section, in the order in which they are asked."""
    return [
        (title, [_shown(q, questionnaire) for q in questionnaire.questions if q.section == key])
        for key, title in questionnaire.sections.items()
    ]


def _shown(question: Question, questionnaire: Questionnaire) -> ShownQuestion:
    scale = question.scale
    match scale.kind:
        case "points":
            answer, options = f"1 to {scale.most}", [(str(v), "") for v in scale.values]
        case "choice" if scale.pair:
            shown = scale.as_shown(False).options
            answer, options = "one of these", [(o.key, o.label) for o in shown]
        case "choice":
            answer, options = "one of these", [(o.key, o.label) for o in scale.options]
        case "marks":
            marks = f"mark {MARKED[scale.of]}, or none"
            words = f"one of these for each of the {MARKED[scale.of]}"
            answer = words if scale.each else marks
            decisions = enumerate(DECISIONS.values(), 1) if scale.each else ()
            options = [(str(key), label) for key, label in decisions]
        case "spans":
            answer = "passages, each with one of these labels"
            options = [(str(n), label) for n, label in enumerate(scale.labels.values(), 1)]
        case _:
            answer, options = f"words, at most {scale.most:,} characters", []
    return ShownQuestion(
        question,
        PARTS[question.about],
        answer,
        options,
        [(p, question.anchors[p], question.examples.get(p, "")) for p in sorted(question.anchors)],
        [NEEDS[need] for need in sorted(question.needs)],
        questionnaire.condition_words(question),
    )


def describe_questions(questionnaire: Questionnaire) -> str:
    """Return in one line what is asked, such as "10 questions on each trajectory"."""
    counts: dict[str, int] = {}
    for question in questionnaire.questions:
        noun = NOUNS.get(question.about, "each {unit}").format(unit=questionnaire.unit)
        counts[noun] = counts.get(noun, 0) + 1
    if len(questionnaire.questions) == 1:
        return f"{questionnaire.questions[0].title}, for {next(iter(counts))}"
    parts = [
        f"{count} question{'s' * (count > 1)} on {noun}" if n == 0 else f"{count} on {noun}"
        for n, (noun, count) in enumerate(counts.items())
    ]
    return ", ".join(parts)
