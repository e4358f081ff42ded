"""The four statements of every click whose SQL is written once.

The ORM builds the SQL of a statement anew each time, which takes several times longer than the
database takes to run it. At these four that decides whether a click stays within its budget
(docs/decisions/plain-django.md has the measurement). They use what Django documents: ``raw`` and
cursors, and the conversion of values by the fields of models. Everything else is plain ORM.
"""

from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Field, Model

from annotation.models import Assignment, Membership, Participant, Rating, RatingEdit

R = TypeVar("R", Rating, RatingEdit)

_FIND_ASSIGNMENT = f"""
    SELECT a.id, a.study_id, a.annotator_id, a.part, a.position
    FROM {Assignment._meta.db_table} a
    WHERE a.study_id = %s AND a.annotator_id = %s AND a.part = %s AND a.position = %s
    AND EXISTS (
        SELECT 1 FROM {Membership._meta.db_table} m
        WHERE m.study_id = a.study_id AND m.user_id = a.annotator_id AND m.role = %s
    )
"""
_PARTICIPANT = f"SELECT * FROM {Participant._meta.db_table} WHERE study_id = %s AND user_id = %s"


def find_own_assignment(*, study: int, user: int, part: str, position: int) -> Assignment | None:
    """Find what somebody has at a position, as long as they are an annotator of the study.

    Only where it is has been read; services read the rest under a lock.
    """
    values = [study, user, str(part), position, str(Membership.Role.ANNOTATOR)]
    return next(iter(Assignment.objects.raw(_FIND_ASSIGNMENT, values)), None)


def find_participant_row(*, study: int, user: int) -> Participant | None:
    """Read somebody's row in a study."""
    return next(iter(Participant.objects.raw(_PARTICIPANT, [study, user])), None)


def lock_participant_row(*, study: int, user: int) -> Participant | None:
    """Read somebody's row in a study, locked until the transaction ends.

    SQLite needs no lock for that: its transactions are IMMEDIATE, so there is one at a time.
    """
    lock = " FOR NO KEY UPDATE" if connection.vendor == "postgresql" else ""
    return next(iter(Participant.objects.raw(_PARTICIPANT + lock, [study, user])), None)


def insert_row(row: R) -> R:
    """Store a new edit or rating and give it its key, as ``save`` does."""
    if not row._state.adding:
        raise ValueError("the row is stored already")
    sql, fields = _insert(type(row))
    # The connection itself: `connection` would look it up anew at each of its uses by each field.
    database = connections[DEFAULT_DB_ALIAS]
    values = [field.get_db_prep_save(field.pre_save(row, True), database) for field in fields]
    with database.cursor() as cursor:
        cursor.execute(sql, values)
        (row.pk,) = cursor.fetchone()
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return row


@cache
def _insert(model: type[Model]) -> tuple[str, list["Field[Any, Any]"]]:
    fields = [
        field
        for field in model._meta.get_fields()
        if isinstance(field, Field) and field.concrete and not field.primary_key
    ]
    names = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    sql = f"INSERT INTO {model._meta.db_table} ({names}) VALUES ({places}) RETURNING id"
    return sql, fields
