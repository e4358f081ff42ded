"""Inserting rows on the path of every call, without building their statement anew each time."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Field, Model


def insert(rows: Sequence[Model]) -> None:
    """Insert new rows of one model, and give each its id.

    The statement for a single row, the usual case, is kept: to build it takes longer than to carry
    it out, and on SQLite no other thread can write meanwhile. Like ``bulk_create``, this sends no
    signals and calls no ``save``. Fields that make their own value (``auto_now``) are not
    supported.
    """
    if not rows:
        return
    if len(rows) > 1:
        type(rows[0])._default_manager.bulk_create(rows)
        return
    (row,) = rows
    statement, fields = _statement(type(row))
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        (row.pk,) = cursor.fetchone()
    row._state.adding = False


@cache
def _statement(model: type[Model]) -> tuple[str, list[Any]]:
    """Return the statement that inserts one row, and the fields that it takes values of."""
    fields = [
        field
        for field in model._meta.get_fields()
        if isinstance(field, Field) and field.concrete and not field.primary_key
    ]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table = model._meta.db_table
    return f'INSERT INTO "{table}" ({columns}) VALUES ({places}) RETURNING "id"', fields
