"""Store answers. When these functions return, the answer is committed.

All of them follow these rules: edits are added and never changed; the same ``client_id`` twice
stores one edit and returns it; a refusal changes nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce

from annotation.assignments.presence import note_active, note_seen, questionnaire_of
from annotation.assignments.services import (
    PARTICIPANT_COLUMNS,
    change_assignment_state,
    find_participant,
    lock_assignment,
    refuse_unless_working,
    renew_lease,
)
from annotation.assignments.stepwise import refuse_hindsight
from annotation.errors import Refused
from annotation.models import Aspect, Assignment, Participant, Rating, RatingEdit
from annotation.questionnaires import Slot
from annotation.ratings.checks import check_answer
from benchmarks.models.statements import read_rows

State = Assignment.State
# The place of an answer: question, part of the item, aspect.
Place = tuple[str, str, str]


@dataclass(frozen=True)
class EditRequest:
    """The edit that a click or a written remark asks for.

    The place is ``question``, ``subject`` and ``aspect``; the content is ``value``, ``chosen`` or
    ``text``, as the question's scale has it. ``undoes`` is the client id of the edit to take back;
    then nothing else is needed. ``seen`` is the version of the answer on the page where the click
    happened.
    """

    client_id: UUID
    question: str = ""
    value: int | None = None
    text: str = ""
    undoes: UUID | None = None
    client_time: datetime | None = None
    seen: int | None = None
    subject: str = ""
    aspect: str = Aspect.ANSWER
    chosen: list[Any] | None = None

    @property
    def place(self) -> Place:
        return self.question, self.subject, self.aspect

    @property
    def content(self) -> tuple[Any, ...]:
        return self.value, self.chosen, self.text


@dataclass(frozen=True)
class StoredEdit:
    """An edit that is stored, and the answer as it now stands.

    ``overtook`` is the answer from another page that this edit replaced without having seen it.
    """

    client_id: UUID
    question: str
    value: int | None
    text: str
    version: int
    repeated: bool = False
    overtook: int | list[Any] | str | None = None
    subject: str = ""
    aspect: str = Aspect.ANSWER
    chosen: list[Any] | None = None


Outcome = StoredEdit | Refused


def record_edits(
    *, assignment: Assignment, by: User, edits: Sequence[EditRequest], active_ms: int = 0
) -> list[Outcome]:
    """Store a batch in order, in one transaction; each edit is recorded or refused on its own."""
    if assignment.annotator_id != by.pk:
        raise Refused("not_yours", "this item is assigned to somebody else")
    try:
        with transaction.atomic():
            return _record(assignment, by, edits, active_ms, known=None)
    except (IntegrityError, _MaybeStored):
        # Some of them may be stored, by an earlier message or by one at the same moment. Nothing of
        # the attempt is left.
        with transaction.atomic():
            return _record(assignment, by, edits, active_ms, known=_known(edits))


def record_rating(
    *,
    assignment: Assignment,
    by: User,
    client_id: UUID,
    question: str = "",
    value: int | None = None,
    text: str = "",
    subject: str = "",
    aspect: str = Aspect.ANSWER,
    chosen: list[Any] | None = None,
    seen: int | None = None,
) -> StoredEdit:
    """Store one answer; raises ``Refused`` where it cannot be taken."""
    edit = EditRequest(
        client_id, question, value, text, seen=seen, subject=subject, aspect=aspect, chosen=chosen
    )
    return _only(record_edits(assignment=assignment, by=by, edits=[edit]))


def undo_edit(
    *,
    assignment: Assignment,
    by: User,
    client_id: UUID,
    undoes: UUID | None = None,
) -> StoredEdit:
    """Take back an edit, by default the latest score; the answer before it stands again."""
    if undoes is None:
        latest = _standing(assignment).filter(aspect=Aspect.ANSWER).order_by("-pk").first()
        if latest is None:
            raise Refused("invalid", "there is nothing to undo")
        undoes = latest.client_id
    edit = EditRequest(client_id, undoes=undoes)
    return _only(record_edits(assignment=assignment, by=by, edits=[edit]))


def withdraw_answers(*, assignment: Assignment, by: User, slots: Iterable[Slot]) -> None:
    """Leave these places without an answer, by an edit each; the assignment is locked."""
    for slot in slots:
        edit = EditRequest(uuid4(), slot.question.key, subject=slot.subject)
        rows = read_rows(Rating, assignment_id=assignment.pk, question=edit.question)
        current = {_place(row): row for row in rows}
        _append(assignment, by, None, edit, _CheckedEdit(edit.place, edit.content), current)


def _only(outcomes: list[Outcome]) -> StoredEdit:
    (outcome,) = outcomes
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


class _MaybeStored(Exception):
    """An edit would be refused that was not looked for among those that are stored."""


def _record(
    assignment: Assignment,
    by: User,
    edits: Sequence[EditRequest],
    active_ms: int,
    *,
    known: Sequence[RatingEdit] | None,
) -> list[Outcome]:
    """Record one after the other. ``known``: which are stored; None where nobody looked, because
    nearly always all are new and taken.
    """
    # The rows are locked (PostgreSQL) or the whole database is (SQLite, IMMEDIATE): edits of one
    # person come one after the other, whichever page or tab they come from.
    participant = find_participant(study=assignment.study_id, user=by, only=PARTICIPANT_COLUMNS)
    assignment = lock_assignment(assignment)
    rows = {row.client_id: row for row in known or ()}
    current = {_place(row): row for row in _current(assignment, edits)}
    outcomes: list[Outcome] = []
    for edit in edits:
        stored = rows.get(edit.client_id)
        try:
            if stored is not None:
                outcomes.append(_repeat(assignment, stored, edit, current))
                continue
            _refuse_unless_open(assignment, participant)
            what = _checked(assignment, edit)
            refuse_hindsight(assignment, *what.place[1:])
            if assignment.state == State.RETURNED:  # only now, as nothing else can be refused
                change_assignment_state(assignment, State.OPEN, by=assignment.annotator)
            row, overtook = _append(assignment, by, participant, edit, what, current)
        except Refused as refused:
            if known is None:
                raise _MaybeStored from None
            outcomes.append(refused)
            continue
        rows[edit.client_id] = row
        outcomes.append(_recorded(edit, current[_place(row)], overtook=overtook))
    if participant is not None:
        note_seen(participant)
    note_active(assignment=assignment, active_ms=active_ms)
    renew_lease(assignment)
    return outcomes


def _current(assignment: Assignment, edits: Sequence[EditRequest]) -> Iterable[Rating]:
    """Return the current answers that these edits may change: of one question, after a click."""
    questions = {edit.question for edit in edits}
    if len(questions) != 1 or any(edit.undoes for edit in edits):
        return read_rows(Rating, assignment_id=assignment.pk)
    return read_rows(Rating, assignment_id=assignment.pk, question=questions.pop())


def _known(edits: Sequence[EditRequest]) -> list[RatingEdit]:
    """Return the edits that are stored under the ids of these."""
    return list(RatingEdit.objects.filter(client_id__in=[edit.client_id for edit in edits]))


def _place(row: Rating | RatingEdit) -> Place:
    return row.question, row.subject, row.aspect


def _content(row: Rating | RatingEdit) -> tuple[Any, ...]:
    return row.value, row.chosen, row.text


def _recorded(
    edit: EditRequest, rating: Rating, *, repeated: bool = False, overtook: Any = None
) -> StoredEdit:
    return StoredEdit(
        edit.client_id, rating.question, rating.value, rating.text, rating.version, repeated,
        overtook, rating.subject, rating.aspect, rating.chosen,
    )  # fmt: skip


def _repeat(
    assignment: Assignment, stored: RatingEdit, edit: EditRequest, current: dict[Place, Rating]
) -> StoredEdit:
    same = stored.assignment_id == assignment.pk and (
        stored.undoes_id is not None
        if edit.undoes
        else (_place(stored), _content(stored)) == (edit.place, edit.content)
    )
    if not same:
        raise Refused("conflict", "this id was used for another answer")
    return _recorded(edit, current[_place(stored)], repeated=True)


def _refuse_unless_open(assignment: Assignment, participant: Participant | None) -> None:
    """Refuse where no answer is taken now. What was returned may be taken up again by an answer."""
    if participant is None:
        raise Refused("not_yours", "you are not an annotator of this study")
    refuse_unless_working(assignment.study, participant, assignment.part)
    if assignment.state not in (State.OPEN, State.RETURNED):
        if assignment.state == State.VOIDED:
            words = "a manager has voided this submission; it cannot be answered again"
            raise Refused("gone", words)
        word = assignment.get_state_display().lower()
        raise Refused("not_open", f"this item is {word}; reopen it to change an answer")


@dataclass(frozen=True)
class _CheckedEdit:
    """A checked edit: its place, its content, and the edit that it takes back."""

    place: Place
    content: tuple[Any, ...]
    undone: RatingEdit | None = None


def _checked(assignment: Assignment, edit: EditRequest) -> _CheckedEdit:
    """Return what an edit comes to; refused where it does not fit. Nothing is changed here."""
    if edit.undoes is None:
        check_answer(
            item=assignment.item, questionnaire=questionnaire_of(assignment),
            question=edit.question, subject=edit.subject, aspect=edit.aspect,
            value=edit.value, chosen=edit.chosen, text=edit.text,
        )  # fmt: skip
        return _CheckedEdit(edit.place, edit.content)
    undone = _standing(assignment).filter(client_id=edit.undoes).first()
    if undone is None:
        raise Refused("invalid", "this answer is not there to be undone")
    before = _standing(assignment).filter(
        question=undone.question, subject=undone.subject, aspect=undone.aspect
    )
    last = before.exclude(pk=undone.pk).order_by("-pk").first()
    return _CheckedEdit(_place(undone), _content(last) if last else (None, None, ""), undone)


def _append(
    assignment: Assignment,
    by: User,
    participant: Participant | None,
    edit: EditRequest,
    what: _CheckedEdit,
    current: dict[Place, Rating],
) -> tuple[RatingEdit, Any]:
    """Add one edit and bring the current answer up to date."""
    place, content = what.place, what.content
    question, subject, aspect = place
    value, chosen, text = content
    row = RatingEdit.objects.create(
        assignment=assignment, question=question, subject=subject, aspect=aspect,
        value=value, chosen=chosen, text=text, client_id=edit.client_id,
        undoes=what.undone, by=by, client_time=edit.client_time,
        unblinded=participant is not None and participant.unblinded_at is not None,
    )  # fmt: skip
    rating = current.get(place)
    overtook = None
    if rating is None:
        current[place] = Rating.objects.create(
            assignment=assignment, question=question, subject=subject, aspect=aspect,
            value=value, chosen=chosen, text=text, edit=row, updated_at=row.edited_at,
        )  # fmt: skip
    else:
        if edit.seen is not None and edit.seen < rating.version and _content(rating) != content:
            overtook = next((part for part in _content(rating) if part not in (None, "")), None)
        rating.value, rating.chosen, rating.text, rating.edit = value, chosen, text, row
        rating.version, rating.updated_at = rating.version + 1, row.edited_at
        rating.save(update_fields=["value", "chosen", "text", "edit", "version", "updated_at"])
    return row, overtook


def _standing(assignment: Assignment) -> QuerySet[RatingEdit]:
    """Return the edits that are neither undone nor themselves an undo."""
    # "undoes IS NULL" would have SQLite look through the edits of everybody by that column's index.
    rows = RatingEdit.objects.alias(took_back=Coalesce("undoes_id", 0))
    return rows.filter(assignment=assignment, took_back=0, undone_by__isnull=True)
