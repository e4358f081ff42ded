"""Rows copied from one database to another of a different engine, by the ORM's own conversions.

Not by `dumpdata` and `loaddata`: those turn JSON's null into no value, take a statement for each
row, and hold a whole file in memory.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from django.apps import apps
from django.db import models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, TextField
from django.db.models.functions import Cast

from config.backups import postgresql, sqlite

Model = type[models.Model]
ROWS_AT_ONCE = 500
# Rows with bytes in them are as large as a piece of an uploaded file.
LARGE_ROWS_AT_ONCE = 4


def all_models() -> list[Model]:
    """Return the models that have a table, those of many-to-many relations among them."""
    models = apps.get_models(include_auto_created=True)
    return [model for model in models if model._meta.managed and not model._meta.proxy]


def copy_rows(source: BaseDatabaseWrapper, target: BaseDatabaseWrapper) -> None:
    """Replace all rows of ``target`` by those of ``source``; both have this version's tables.

    Foreign keys are checked when the target's transaction ends.
    """
    models = all_models()
    with transaction.atomic(using=target.alias):
        _empty(target, models)
        with transaction.atomic(using=source.alias):
            if source.vendor == "postgresql":
                with source.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for model in models:
                _copy_model(model, source, target)
            _copy_last_ids(source, target)


def _empty(target: BaseDatabaseWrapper, models: Sequence[Model]) -> None:
    tables = [target.ops.quote_name(model._meta.db_table) for model in models]
    with target.cursor() as cursor:
        if target.vendor == "postgresql":
            postgresql.lock_tables(cursor, ", ".join(tables))
            cursor.execute(f"TRUNCATE {', '.join(tables)}")
        else:
            for table in tables:
                cursor.execute(f"DELETE FROM {table}")


def column_fields(model: Model) -> list[Any]:
    """Return the fields of a model that are columns of its table."""
    return [
        field
        for field in model._meta.get_fields(include_parents=False)
        if isinstance(field, models.Field) and field.concrete and not field.many_to_many
    ]


def _copy_model(model: Model, source: BaseDatabaseWrapper, target: BaseDatabaseWrapper) -> None:
    quote = target.ops.quote_name
    fields = column_fields(model)
    names = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})"
    large = any(isinstance(field, models.BinaryField) for field in fields)
    size = LARGE_ROWS_AT_ONCE if large else ROWS_AT_ONCE
    rows = (
        model._base_manager.using(source.alias)
        .order_by("pk")
        .values_list(*map(select_column, fields))
        .iterator(chunk_size=size)
    )
    with target.cursor() as cursor:
        while block := [_converted(row, fields, target) for row in islice(rows, size)]:
            cursor.executemany(statement, block)


def select_column(field: Any) -> Any:
    """Return what to select of a field: JSON as its text, which tells JSON's null from no value."""
    is_json = isinstance(field, models.JSONField)
    return Cast(F(field.attname), TextField()) if is_json else field.attname


def _converted(row: Sequence[Any], fields: Sequence[Any], target: BaseDatabaseWrapper) -> list[Any]:
    return [to_column(field, value, target) for field, value in zip(fields, row, strict=True)]


def to_column(field: Any, value: Any, target: BaseDatabaseWrapper) -> Any:
    """Return a selected value as a statement of the target takes it; JSON is text already."""
    if value is None or isinstance(field, models.JSONField):
        return value
    return field.get_db_prep_save(value, target)


def _copy_last_ids(source: BaseDatabaseWrapper, target: BaseDatabaseWrapper) -> None:
    if source.vendor == "postgresql":
        sqlite.set_last_ids(target.connection, postgresql.last_ids(source))
    else:
        postgresql.set_last_ids(target, sqlite.last_ids(source.connection))
