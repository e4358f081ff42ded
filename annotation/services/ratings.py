"""Taking answers down. What these functions acknowledge by returning is committed.

Rules that hold for all of them: edits are added and never changed; the same ``client_id`` twice
stores one edit and returns it; a refusal changes nothing.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import Assignment, Rating, RatingEdit, Study
from annotation.questionnaires import COMMENT
from annotation.questionnaires.loader import SCALE
from annotation.services.errors import Refused

LONGEST_TEXT = 5000


@dataclass(frozen=True)
class Edit:
    """What a click or a written remark asks for.

    ``undoes`` is the client id of the edit to take back; then ``question`` and ``value`` are not
    needed. ``seen`` is the version of the answer on the page where the click happened.
    """

    client_id: uuid.UUID
    question: str = ""
    value: int | None = None
    text: str = ""
    undoes: uuid.UUID | None = None
    client_time: datetime | None = None
    seen: int | None = None


@dataclass(frozen=True)
class Recorded:
    """An edit that is stored, and the answer as it now stands.

    ``overtook`` is the value from another page that this edit replaced without having seen it.
    """

    client_id: uuid.UUID
    question: str
    value: int | None
    text: str
    version: int
    repeated: bool = False
    overtook: int | None = None


Outcome = Recorded | Refused


def record_edits(
    *, assignment: Assignment, by: User, edits: Sequence[Edit], active_ms: int = 0
) -> list[Outcome]:
    """Store a batch in order, in one transaction; each edit is recorded or refused on its own."""
    if assignment.annotator_id != by.pk:
        raise Refused("not_yours", "this item is assigned to somebody else")
    try:
        with transaction.atomic():
            return _record(assignment, by, edits, active_ms)
    except IntegrityError:
        # another request stored one of these ids at the same moment; now it can be seen
        with transaction.atomic():
            return _record(assignment, by, edits, active_ms)


def record_rating(
    *,
    assignment: Assignment,
    by: User,
    question: str,
    value: int | None,
    client_id: uuid.UUID,
    text: str = "",
    client_time: datetime | None = None,
    seen: int | None = None,
) -> Recorded:
    """Store one answer; raises ``Refused`` where it cannot be taken."""
    edit = Edit(client_id, question, value, text, None, client_time, seen)
    return _only(record_edits(assignment=assignment, by=by, edits=[edit]))


def undo_edit(
    *,
    assignment: Assignment,
    by: User,
    client_id: uuid.UUID,
    undoes: uuid.UUID | None = None,
) -> Recorded:
    """Take back an edit, by default the latest score; the answer before it stands again."""
    if undoes is None:
        latest = _standing(assignment).exclude(question=COMMENT).order_by("-pk").first()
        if latest is None:
            raise Refused("invalid", "there is nothing to undo")
        undoes = latest.client_id
    edit = Edit(client_id, undoes=undoes)
    return _only(record_edits(assignment=assignment, by=by, edits=[edit]))


def _only(outcomes: list[Outcome]) -> Recorded:
    (outcome,) = outcomes
    if isinstance(outcome, Refused):
        raise outcome
    return outcome


def _record(
    assignment: Assignment, by: User, edits: Sequence[Edit], active_ms: int
) -> list[Outcome]:
    # The row is locked (PostgreSQL) or the whole database is (SQLite, IMMEDIATE): edits of one
    # item come one after the other, whichever page or tab they come from.
    fresh = Assignment.objects.select_for_update(of=("self",)).select_related("study")
    assignment = fresh.get(pk=assignment.pk)
    ids = [edit.client_id for edit in edits]
    known = {row.client_id: row for row in RatingEdit.objects.filter(client_id__in=ids)}
    current = {row.question: row for row in Rating.objects.filter(assignment=assignment)}
    outcomes: list[Outcome] = []
    for edit in edits:
        stored = known.get(edit.client_id)
        try:
            if stored is not None:
                outcomes.append(_repeat(assignment, stored, edit, current))
                continue
            _refuse_unless_open(assignment)
            row, overtook = _append(assignment, by, edit, current)
        except Refused as refused:
            outcomes.append(refused)
            continue
        known[edit.client_id] = row
        rating = current[row.question]
        outcomes.append(
            Recorded(
                edit.client_id, row.question, rating.value, rating.text, rating.version,
                overtook=overtook,
            )
        )  # fmt: skip
    note_active(assignment=assignment, active_ms=active_ms)
    return outcomes


def _repeat(
    assignment: Assignment, stored: RatingEdit, edit: Edit, current: dict[str, Rating]
) -> Recorded:
    same = stored.assignment_id == assignment.pk and (
        stored.undoes_id is not None
        if edit.undoes
        else (stored.question, stored.value, stored.text) == (edit.question, edit.value, edit.text)
    )
    if not same:
        raise Refused("conflict", "this id was used for another answer")
    rating = current[stored.question]
    return Recorded(
        edit.client_id, stored.question, rating.value, rating.text, rating.version, repeated=True
    )


def _refuse_unless_open(assignment: Assignment) -> None:
    if assignment.study.status != Study.Status.OPEN:
        raise Refused("closed", "the study is closed and takes no more answers")
    if assignment.state != Assignment.State.OPEN:
        word = assignment.get_state_display().lower()
        raise Refused("not_open", f"this item is {word}; reopen it to change an answer")


def _append(
    assignment: Assignment, by: User, edit: Edit, current: dict[str, Rating]
) -> tuple[RatingEdit, int | None]:
    """Add one edit and bring the current answer up to date."""
    undone = None
    question, value, text = edit.question, edit.value, edit.text
    if edit.undoes is not None:
        undone = _standing(assignment).filter(client_id=edit.undoes).first()
        if undone is None:
            raise Refused("invalid", "this answer is not there to be undone")
        question = undone.question
        before = _standing(assignment).filter(question=question).exclude(pk=undone.pk)
        last = before.order_by("-pk").first()
        value, text = (last.value, last.text) if last else (None, "")
    else:
        _refuse_unless_asked(assignment, question, value, text)
    row = RatingEdit.objects.create(
        assignment=assignment,
        question=question,
        value=value,
        text=text,
        client_id=edit.client_id,
        undoes=undone,
        by=by,
        client_time=edit.client_time,
    )
    rating = current.get(question)
    overtook = None
    if rating is None:
        current[question] = Rating.objects.create(
            assignment=assignment, question=question, value=value, text=text, edit=row,
            updated_at=row.edited_at,
        )  # fmt: skip
    else:
        if edit.seen is not None and edit.seen < rating.version and rating.value != value:
            overtook = rating.value
        rating.value, rating.text, rating.edit = value, text, row
        rating.version, rating.updated_at = rating.version + 1, row.edited_at
        rating.save(update_fields=["value", "text", "edit", "version", "updated_at"])
    return row, overtook


def _standing(assignment: Assignment) -> QuerySet[RatingEdit]:
    """Edits that are neither undone nor themselves an undo."""
    return RatingEdit.objects.filter(assignment=assignment, undoes=None, undone_by__isnull=True)


def _refuse_unless_asked(
    assignment: Assignment, question: str, value: int | None, text: str
) -> None:
    if question == COMMENT:
        if value is not None:
            raise Refused("invalid", "a comment has no score")
        if len(text) > LONGEST_TEXT:
            raise Refused("invalid", f"a comment has at most {LONGEST_TEXT} characters")
        return
    if question not in assignment.asked:
        raise Refused("invalid", f"this item is not asked {question!r}")
    if type(value) is not int or value not in SCALE:
        raise Refused("invalid", f"expected a whole number from 1 to 5, found {value!r}")
    if text:
        raise Refused("invalid", "a score comes without text")


def note_active(*, assignment: Assignment, active_ms: int) -> None:
    """Time at work as the page counts it: a total, so that telling it twice adds nothing."""
    if assignment.opened_at is None or active_ms <= 0:
        return
    passed = (timezone.now() - assignment.opened_at).total_seconds() * 1000
    total = min(active_ms, int(passed))
    Assignment.objects.filter(pk=assignment.pk, active_ms__lt=total).update(active_ms=total)


def open_assignment(*, assignment: Assignment) -> None:
    """Note when its annotator first saw an item."""
    if assignment.opened_at is None:
        now = timezone.now()
        Assignment.objects.filter(pk=assignment.pk, opened_at=None).update(opened_at=now)
        assignment.opened_at = now
