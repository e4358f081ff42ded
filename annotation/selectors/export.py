"""Answers as tables, for spreadsheets and statistics programs; rows come one at a time."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from annotation.access import StudyAccess
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
# Ids of trajectories count up within a run, so they tell which items one agent made.
TELLING = "assignment__trajectory"
SAID = {
    "question": "question",
    "subject": "subject",
    "aspect": "aspect",
    "value": "value",
    "chosen": "chosen",
    "text": "text",
}
RATING = {**SAID, "version": "edits"}
EDIT = {
    "pk": "edit",
    **SAID,
    "undoes": "undoes",
    "by__username": "by",
    "client_id": "client_id",
    "client_time": "client_time",
    "edited_at": "edited_at",
}


def only_own(access: StudyAccess) -> User | None:
    """Whose answers alone somebody may see who annotates blind; None for everybody else."""
    return access.user if access.blind else None


def rating_rows(study: Study, *, only: User | None) -> Iterator[list[Cell]]:
    """A heading, then one row per current answer; ``only`` theirs, without what tells of agents."""
    fields = {**_item(only), **RATING, "updated_at": "updated_at"}
    rows = Rating.objects.filter(assignment__study=study, **_whose(only))
    return _table(study, fields, rows.order_by("assignment", "pk").values_list(*fields).iterator())


def edit_rows(study: Study, *, only: User | None) -> Iterator[list[Cell]]:
    """A heading, then one row per edit, the oldest first: the whole history, or ``only`` theirs."""
    fields = {**_item(only), **EDIT}
    rows = RatingEdit.objects.filter(assignment__study=study, **_whose(only)).order_by("pk")
    return _table(study, fields, rows.values_list(*fields).iterator())


def _item(only: User | None) -> dict[str, str]:
    if only is None:
        return ITEM | AGENT
    return {field: name for field, name in ITEM.items() if field != TELLING}


def _whose(only: User | None) -> dict[str, User]:
    return {} if only is None else {"assignment__annotator": only}


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
    text = json.dumps(value) if isinstance(value, list) else str(value)
    # Spreadsheets would run such a text as a formula.
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
