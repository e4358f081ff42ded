"""Rows in every table there is, and everything that a database holds, for the tests of backups."""

import datetime
import decimal
import hashlib
import itertools
import uuid
from typing import Any

from django.apps import apps
from django.db import models

# Restoring changes these on purpose.
SETTLED = {
    "benchmarks.Run": {"data_version"},
    "benchmarks.Trajectory": {"lease_owner", "lease_until"},
    "benchmarks.Job": {"lease_owner", "lease_until"},
    "analysis.IndexedRun": {"version", "trajectories", "last_turn"},
}
# What the database's own checks ask for.
CHECKED = {
    "annotation.Item.given": 2,
    "annotation.Item.done": 1,
    "annotation.Adjudication.value": 0,
    "annotation.DuelVote.choice": "left",
    "annotation.Remark.turn": 1,
    "annotation.Remark.where": "plan",
    "annotation.Remark.start": 0,
    "annotation.Remark.end": 1,
    "benchmarks.Branch.arm": "edited",
    "benchmarks.Branch.edited_slot": 0,
}
ODD = "ü \u2028 \" ' \\ \\n \t \n \r , ; \\. \\x00 \U0001f528"
_numbers = itertools.count(1)


def all_models() -> list[type[models.Model]]:
    found = apps.get_models(include_auto_created=True)
    return [model for model in found if model._meta.managed and not model._meta.proxy]


def fill_every_table() -> None:
    """Two rows more in each: one as empty as can be, one with something in every column."""
    for model in all_models():
        for full in (False, True):
            _make(model, full)


def _make(model: type[models.Model], full: bool, *above: type[models.Model]) -> models.Model:
    fields = [f for f in model._meta.local_concrete_fields if not isinstance(f, models.AutoField)]
    around = (*above, model)
    return model._base_manager.create(
        **{f.name: _value(f, full, around) for f in fields if _wanted(f, full, around)}
    )


def _wanted(field: Any, full: bool, around: tuple[type[models.Model], ...]) -> bool:
    """Rows that point to each other are made once."""
    return not field.null or (full and field.related_model not in around) or str(field) in CHECKED


def _value(field: Any, full: bool, around: tuple[type[models.Model], ...]) -> Any:
    if str(field) in CHECKED:
        return CHECKED[str(field)]
    number = next(_numbers)
    moment = datetime.datetime(2026, 2, 28, 23, 59, 59, 123456 * full, tzinfo=datetime.UTC)
    match field:
        case models.ForeignKey():
            return _make(field.related_model, full, *around)
        case models.JSONField():
            return {"z": [number, 0.1, None, True], "a": {"ü": ODD}} if full else {}
        case models.DateTimeField():
            return moment + datetime.timedelta(days=number)
        case models.BinaryField():
            return bytes(range(256)) if full else b""
        case models.BooleanField():
            return full
        case models.FloatField():
            return number / 7
        case models.DecimalField():
            return decimal.Decimal(number).scaleb(-field.decimal_places)
        case models.UUIDField():
            return uuid.uuid4()
        case models.SmallIntegerField() | models.PositiveSmallIntegerField():
            return number % 30_000
        case models.BigIntegerField():
            return (
                number if isinstance(field, models.PositiveBigIntegerField) else -(2**62) + number
            )
        case models.IntegerField():
            return number
        case models.TextField() | models.CharField():
            text = f"{number}{ODD}" if full or not field.blank else ""
            return text[: field.max_length] if field.max_length else text * 20
    raise AssertionError(f"no value for {field}")


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """All rows of all tables, but for what restoring changes."""
    found = {}
    for model in all_models():
        left_out = SETTLED.get(model._meta.label, set())
        names = [f.attname for f in model._meta.local_concrete_fields if f.name not in left_out]
        rows = model._base_manager.order_by("pk").values_list(*names)
        found[model._meta.label] = sorted((tuple(map(_plain, row)) for row in rows), key=repr)
    return found


def _plain(value: Any) -> Any:
    # PostgreSQL keeps the keys of JSON objects in an order of its own.
    if isinstance(value, dict):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return bytes(value) if isinstance(value, memoryview) else value


def digest_of_everything() -> str:
    return hashlib.sha256(repr(everything()).encode()).hexdigest()
