"""Answers as tables, for spreadsheets and statistics programs; rows come one at a time."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from annotation.models import Rating, RatingEdit, Study
from annotation.questionnaires import load_questionnaire
from annotation.selectors.needs import study_questions

Cell = str | int | None

ITEM = {
    "assignment": "item",
    "assignment__annotator__username": "annotator",
    "assignment__annotator__annotator__is_simulated": "simulated",
    "assignment__position": "position",
    "assignment__state": "state",
    "assignment__skip_reason": "skip_reason",
    "assignment__active_ms": "active_ms",
    "assignment__submitted_at": "submitted_at",
    "assignment__trajectory": "trajectory",
    "assignment__trajectory__task__external_id": "task",
    "assignment__trajectory__run__level": "level",
}
AGENT = {"assignment__trajectory__run__agent__name": "agent"}
RATING = {"question": "question", "value": "value", "text": "text", "version": "edits"}
EDIT = {
    "pk": "edit",
    "question": "question",
    "value": "value",
    "text": "text",
    "undoes": "undoes",
    "by__username": "by",
    "client_id": "client_id",
    "client_time": "client_time",
    "edited_at": "edited_at",
}


def rating_rows(study: Study, *, blind: bool) -> Iterator[list[Cell]]:
    """A heading, then one row per current answer; without the agents' names where ``blind``."""
    fields = {**ITEM, **({} if blind else AGENT), **RATING, "updated_at": "updated_at"}
    rows = Rating.objects.filter(assignment__study=study).order_by("assignment", "pk")
    return _table(study, fields, rows.values_list(*fields).iterator())


def edit_rows(study: Study, *, blind: bool) -> Iterator[list[Cell]]:
    """A heading, then one row per edit, the oldest first: the whole history."""
    fields = {**ITEM, **({} if blind else AGENT), **EDIT}
    rows = RatingEdit.objects.filter(assignment__study=study).order_by("pk")
    return _table(study, fields, rows.values_list(*fields).iterator())


def question_rows(study: Study) -> Iterator[list[Cell]]:
    """A heading, then one row per question: how many items were asked it, and why others not."""
    yield ["study", "questionnaire", "number", "question", "title", "dimension", "needs",
           "items_asked", "items_not_asked", "not_asked_because"]  # fmt: skip
    for row in study_questions(study, load_questionnaire(study.questionnaire)):
        question = row.question
        yield [
            study.pk,
            study.questionnaire,
            question.number,
            question.key,
            question.title,
            question.dimension,
            " ".join(sorted(question.needs)),
            row.items,
            row.left_out,
            f"these items {row.why}" if row.left_out else "",
        ]


def _table(
    study: Study, fields: Mapping[str, str], rows: Iterator[tuple[Any, ...]]
) -> Iterator[list[Cell]]:
    dimensions = {q.key: q.dimension for q in load_questionnaire(study.questionnaire).questions}
    place = list(fields).index("question") + 1
    heading: list[Cell] = ["study", "questionnaire", *fields.values()]
    yield [*heading[: place + 2], "dimension", *heading[place + 2 :]]
    for row in rows:
        cells = [study.pk, study.questionnaire, *(_cell(value) for value in row)]
        dimension = dimensions.get(str(row[place - 1]), "")
        yield [*cells[: place + 2], dimension, *cells[place + 2 :]]


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, bool):
        return int(bool(value)) if isinstance(value, bool) else ""
    if isinstance(value, int):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value)
    # Spreadsheets would run such a text as a formula.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
