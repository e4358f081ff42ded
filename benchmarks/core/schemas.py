"""Schemas of rows from outside: pydantic models whose faults say what was expected where.

A field has the default None and a check such as `must`, so that a field that is missing
is told in the same words as one of another kind. Values stay as they are: nothing is converted.
"""

from collections.abc import Callable, Container
from typing import Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from benchmarks.core.problems import Problems, text_fault

M = TypeVar("M", bound=BaseModel)
Loc = tuple[int | str, ...]
# The default of a field whose type does not allow it: it is checked, and told as missing.
MISSING: Any = None
# What pydantic itself finds wrong, by the type of its error.
_KINDS = {"model_type": "an object", "list_type": "a list", "dict_type": "an object"}


class RowSchema(BaseModel):
    """A row from outside; fields that are not named are left out."""

    model_config = ConfigDict(extra="ignore", frozen=True, validate_default=True)


class FieldsSchema(RowSchema):
    """A row that has its required fields, and none that is not known."""

    @model_validator(mode="before")
    @classmethod
    def check_fields(cls, value: Any) -> Any:
        """Say which field is missing, or which there may be."""
        known = cls.model_fields
        if not isinstance(value, dict):
            required = [name for name, field in known.items() if field.is_required()]
            raise _expected(f"fields {', '.join(required)}")
        for name, field in known.items():
            if field.is_required() and name not in value:
                raise _expected(f"a field {name}")
        if any(name not in known for name in value):
            raise _expected(f"fields {', '.join(known)} only")
        return value


def _expected(words: str) -> PydanticCustomError:
    return PydanticCustomError("expected", "{expected}", {"expected": words})


def must(expected: str, holds: Callable[[Any], bool]) -> BeforeValidator:
    """Return a check that a value holds; ``expected`` says so in words."""

    def check(value: Any) -> Any:
        if not holds(value):
            raise _expected(expected)
        return value

    return BeforeValidator(check)


def text(longest: int) -> BeforeValidator:
    """Return a check for a text that can be stored, of at most ``longest`` characters."""

    def check(value: Any) -> Any:
        if fault := text_fault(value, longest):
            raise _expected(fault)
        return value

    return BeforeValidator(check)


def one_of(expected: str, known: Container[Any]) -> BeforeValidator:
    """Return a check for a text among known ones."""
    return must(expected, lambda value: isinstance(value, str) and value in known)


def list_of(most: int) -> BeforeValidator:
    """Return a check for a list of at most so many members."""
    words = f"a list of at most {most:,}"

    def check(value: Any) -> Any:
        if not isinstance(value, list) or len(value) > most:
            raise _expected(words if isinstance(value, list) else "a list")
        return value

    return BeforeValidator(check)


def read_row(schema: type[M], where: str, row: Any, problems: Problems) -> M | None:
    """Return a row by its schema, or None with its faults noted, each by its field."""
    return read_value(
        schema, row, lambda loc, expected, found: problems.add(placed(where, loc), expected, found)
    )


def read_value(schema: type[M], value: Any, fault: Callable[[Loc, str, Any], None]) -> M | None:
    """Return a value by its schema, or None after ``fault`` was told each fault with its path."""
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            expected = one.get("ctx", {}).get("expected") or _KINDS.get(one["type"], one["msg"])
            fault(one["loc"], str(expected), one["input"])
        return None


def placed(where: str, loc: Loc) -> str:
    """Return the place of a field in words: ``line 3, objects[0].type``."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return f"{where}, {path.removeprefix('.')}" if loc else where
