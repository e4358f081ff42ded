"""Read a study's assignments with all their edits, a few hundred at a time.

Chunks are found by key, so no cursor or transaction stays open while a file is sent, and memory
does not grow with the study. Current answers are derived from the edits, so one read gives both.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.exports.scope import Scope
from annotation.models import Adjudication, Aspect, Assignment, Participant, RatingEdit

CHUNK = 500
BACKGROUND = Assignment.Part.BACKGROUND
Where = tuple[str, str]


@dataclass(slots=True)
class ExportedEdit:
    """One edit; ``number`` counts within the assignment, and ``undoes`` is such a number."""

    number: int
    question: str
    subject: str
    aspect: str
    value: int | None
    chosen: list[Any] | None
    text: str
    undoes: int | None
    unblinded: bool
    edited_at: datetime
    client_time: datetime | None = None
    client_id: UUID | None = None


@dataclass(slots=True)
class ExportedAnswer:
    """The answer to a question, part by part, by aspect; ``edits`` of all aspects together."""

    now: dict[str, ExportedEdit] = field(default_factory=dict)
    edits: int = 0
    last: ExportedEdit | None = None


@dataclass(slots=True)
class ExportedAssignment:
    """An item in one annotator's hands, with everything that they said of it."""

    person: Participant
    pk: int
    item_id: int
    part: str
    position: int
    state: str
    skip_reason: str
    note: str
    active_ms: int
    opened_at: datetime | None
    submitted_at: datetime | None
    verdicts: str
    rotation: int
    revealed: int | None
    swapped: bool
    item: int
    use: str
    task: str | None
    dataset: str | None
    dataset_version: str | None
    trajectory: int | None
    attempt: int | None
    level: str | None
    condition: str | None
    model: str | None
    other: int | None
    other_model: str | None
    span_first: int | None
    span_last: int | None
    edits: list[ExportedEdit] = field(default_factory=list)
    adjudicated: Mapping[Where, Adjudication] = field(default_factory=dict)

    @property
    def span(self) -> str:
        """Return the first and last turn of a part in its whole session; empty for a whole one."""
        return "" if self.span_first is None else f"{self.span_first}-{self.span_last}"

    @property
    def places(self) -> dict[Where, ExportedAnswer]:
        """The current answers by place, in the order in which they were first given."""
        answers: dict[Where, ExportedAnswer] = {}
        for edit in self.edits:
            where = edit.question, edit.subject
            place = answers.get(where)
            if place is None:
                place = answers[where] = ExportedAnswer()
            place.now[edit.aspect] = place.last = edit
            place.edits += 1
        return answers


_FIELDS = (
    "pk", "item", "part", "position", "state", "skip_reason", "note", "active_ms", "opened_at",
    "submitted_at", "verdicts", "rotation", "revealed", "swapped", "item__rank", "item__use",
    "item__task__external_id", "item__task__dataset__name", "item__task__dataset__version",
    "trajectory", "trajectory__attempt", "trajectory__run__level", "trajectory__run__condition",
    "trajectory__run__agent__name", "item__other", "item__other__run__agent__name",
    "trajectory__payload__metadata__span__first", "trajectory__payload__metadata__span__last",
)  # fmt: skip
# Marks are read where there are any: to look for them in every row takes longer than the rest.
_MARKS = Cast("chosen", TextField())
_EDIT_FIELDS = (
    "assignment", "pk", "question", "subject", "aspect", "value", _MARKS, "text", "undoes",
    "unblinded", "edited_at",
)  # fmt: skip
# What browsers said of an edit, as far as a file has it.
TIMES = ("client_time",)
CLIENTS = ("client_time", "client_id")
# The member of an enumeration would be hashed in Python, at every row.
ANSWER = Aspect.ANSWER.value


def iterate_assignments(
    scope: Scope, *, clients: Sequence[str] = ()
) -> Iterator[ExportedAssignment]:
    """Yield every assignment, annotator by annotator, in the order of their items.

    ``clients``: with ``TIMES`` or all of what browsers said of each edit, ``CLIENTS``. Where names
    stand beside answers, what people said about themselves is left out: they were told that it
    never stands beside their names.
    """
    decided = not scope.blind and _is_adjudicated(scope)
    for person in scope.people:
        after: tuple[str, int] = ("", 0)
        while chunk := _chunk(scope, person, after):
            _add_edits(chunk, clients)
            if decided:
                _add_adjudications(chunk)
            yield from chunk
            if len(chunk) < CHUNK:
                break
            after = chunk[-1].part, chunk[-1].position


def assignments_in(scope: Scope) -> QuerySet[Assignment]:
    """Return the assignments whose answers are in an export, for those who read it in pages."""
    people = [person.user_id for person in scope.people]
    rows = Assignment.objects.filter(study=scope.study, annotator__in=people)
    return rows.exclude(part=BACKGROUND) if scope.names else rows


def read_assignments(
    scope: Scope, ids: Sequence[int], *, clients: Sequence[str] = ()
) -> list[ExportedAssignment]:
    """Return these of the assignments with their edits, by id; ``clients`` as for all of them."""
    people = {person.user_id: person for person in scope.people}
    rows = assignments_in(scope).filter(pk__in=ids).order_by("pk")
    assignments = [
        ExportedAssignment(people[user], *row)
        for user, *row in rows.values_list("annotator", *_FIELDS)
    ]
    _add_edits(assignments, clients)
    if not scope.blind and _is_adjudicated(scope):
        _add_adjudications(assignments)
    return assignments


def _chunk(scope: Scope, person: Participant, after: tuple[str, int]) -> list[ExportedAssignment]:
    part, position = after
    rows = Assignment.objects.filter(
        Q(part__gt=part) | Q(part=part, position__gt=position),
        study=scope.study,
        annotator=person.user_id,
    )
    if scope.names:
        rows = rows.exclude(part=BACKGROUND)
    rows = rows.order_by("part", "position")
    return [ExportedAssignment(person, *row) for row in rows.values_list(*_FIELDS)[:CHUNK]]


def _add_edits(chunk: list[ExportedAssignment], clients: Sequence[str]) -> None:
    by_key = {assignment.pk: assignment for assignment in chunk}
    numbers: dict[int, int] = {}
    edits = RatingEdit.objects.filter(assignment__in=by_key).order_by("assignment", "pk")
    for pk, edit, *values in edits.values_list(*_EDIT_FIELDS, *clients):
        assignment = by_key[pk]
        numbers[edit] = number = len(assignment.edits) + 1
        exported = ExportedEdit(number, *values)
        if exported.chosen is not None:
            exported.chosen = json.loads(values[4])  # its text so far
        if exported.undoes is not None:
            exported.undoes = numbers[exported.undoes]
        assignment.edits.append(exported)


def _is_adjudicated(scope: Scope) -> bool:
    return Adjudication.objects.filter(item__study=scope.study).exists()


def _add_adjudications(assignments: list[ExportedAssignment]) -> None:
    """Return the latest decision at each place of these items."""
    latest: dict[int, dict[Where, Adjudication]] = {}
    rows = Adjudication.objects.filter(
        item__in={assignment.item_id for assignment in assignments}
    ).order_by("pk")
    for row in rows:
        latest.setdefault(row.item_id, {})[row.question, row.subject] = row
    for assignment in assignments:
        assignment.adjudicated = latest.get(assignment.item_id, {})


def answer_of(place: ExportedAnswer) -> ExportedEdit | None:
    """Return the answer that stands in a place, apart from what is said beside it."""
    return place.now.get(ANSWER)
