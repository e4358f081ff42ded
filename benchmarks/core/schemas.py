"""Schemas of rows from outside: pydantic models whose faults say what was expected where.

A field has the default None and a check such as `must`, so that a field that is missing
is told in the same words as one of another kind. Values stay as they are: nothing is converted.
"""

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    StrictStr,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from benchmarks.core.problems import Problems, Unquoted, text_fault

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
Loc = tuple[int | str, ...]
# The default of a field whose type does not allow it: it is checked, and told as missing.
MISSING: Any = None
# The types of pydantic's errors for a field that the type does not have, and for one that is not
# there.
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument")
# Bounds of a column are not worth a word.
_LARGE = 2**53


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
            raise expect(f"fields {', '.join(required)}")
        for name, field in known.items():
            if field.is_required() and name not in value:
                raise expect(f"a field {name}")
        if any(name not in known for name in value):
            raise expect(f"fields {', '.join(known)} only")
        return value


def expect(words: str) -> PydanticCustomError:
    """Return the error of a value that is not what ``words`` say."""
    return PydanticCustomError("expected", "{expected}", {"expected": words})


def must(expected: str, holds: Callable[[Any], bool]) -> BeforeValidator:
    """Return a check that a value holds; ``expected`` says so in words."""

    def check(value: Any) -> Any:
        if not holds(value):
            raise expect(expected)
        return value

    return BeforeValidator(check)


def text(longest: int) -> BeforeValidator:
    """Return a check for a text that can be stored, of at most ``longest`` characters."""

    def check(value: Any) -> Any:
        if fault := text_fault(value, longest):
            raise expect(fault)
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
            raise expect(words if isinstance(value, list) else "a list")
        return value

    return BeforeValidator(check)


def read_row(schema: type[M], where: str, row: Any, problems: Problems) -> M | None:
    """Return a row by its schema, or None with its faults noted, each by its field."""
    return read_value(
        schema, row, lambda loc, expected, found: problems.add(placed(where, loc), expected, found)
    )


def read_value(schema: type[M], value: Any, fault: Callable[[Loc, str, Any], None]) -> M | None:
    """Return a value by its schema, or None after ``fault`` was told each fault with its path."""
    return _checked(schema).read(value, fault)


@cache
def _checked(schema: type[M]) -> "Checked[M]":
    return Checked(schema)


def placed(where: str, loc: Loc) -> str:
    """Return the place of a field in words: ``line 3, objects[0].type``."""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return f"{where}, {path.removeprefix('.')}" if loc else where


# --- Faults in the words of the schema ------------------------------------------------------------


@dataclass(frozen=True)
class ShortText:
    """A check for a short text; a number is taken as it is written, since names may look like
    numbers.
    """

    longest: int

    def read(self, value: Any) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(value)
        if fault := text_fault(value, self.longest):
            raise expect(fault)
        return str(value).strip()

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return {"type": ["string", "number"], "minLength": 1, "maxLength": self.longest}


def expects(words: str, **more: Any) -> Any:
    """Return a pydantic field whose value is expected in these words; ``more`` are its options."""
    return Field(json_schema_extra={"$comment": words}, **more)


# A field that the type does not have is refused.
STRICT = ConfigDict(extra="forbid")
Whole = Annotated[int, Field(strict=True, ge=0, le=2**63 - 1)]
Number = Annotated[FiniteFloat, Field(strict=True)]
Word = Annotated[str, ShortText(400)]
TextOrNone = Annotated[
    StrictStr,
    BeforeValidator(
        lambda value: "" if value is None else value, json_schema_input_type=str | None
    ),
]


@dataclass(frozen=True)
class Among:
    """A check for one of several words."""

    words: Collection[str]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.literal_schema(list(self.words))


class _WithoutTitles(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class Checked(Generic[T]):
    """A type whose values come from outside: checked by pydantic, with its JSON schema.

    What was expected is said in the words of that schema, or in those of its comment there (see
    `expects`), so that errors and the published schema agree.
    """

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(kind)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of a value as it is given."""
        return self._adapter.json_schema(schema_generator=_WithoutTitles)

    def read(self, value: Any, fault: Callable[[Loc, str, Any], None]) -> T | None:
        """Return the value, or None after ``fault`` was told each fault with its path."""
        try:
            return self._adapter.validate_python(value)
        except ValidationError as error:
            faults = list(self._faults(value, error))
        # Of the branches of a union that one counts whose inside is at fault.
        around = {path[:depth] for path, *_ in faults for depth in range(len(path))}
        for path, expected, found in faults:
            if path not in around:
                fault(path, expected, found)
        return None

    def faults(self, value: Any) -> list[tuple[Loc, str, Any]]:
        """Return each fault: its path, what was expected, what is there."""
        faults: list[tuple[Loc, str, Any]] = []
        self.read(value, lambda *fault: faults.append(fault))
        return faults

    def write(self, value: T) -> Any:
        """Return a value as JSON has it, without what is as usual."""
        return self._adapter.dump_python(value, mode="json", exclude_defaults=True, by_alias=True)

    def _faults(self, value: Any, error: ValidationError) -> Iterator[tuple[Loc, str, Any]]:
        known = set()
        for one in error.errors(include_url=False):
            path = self._path(value, one["loc"])
            if path in known:
                continue
            known.add(path)
            if one["type"] in _UNKNOWN:
                fields = ", ".join(self._properties(path[:-1]))
                yield path, f"a field among {fields}", Unquoted("another one")
                continue
            words = one["ctx"]["expected"] if one["type"] == "expected" else self.expected(path)
            yield path, words, None if one["type"] in _MISSING else one["input"]

    def _path(self, value: Any, loc: Loc) -> Loc:
        """Return the part of a place that leads through the value, or to a field that it lacks,
        without the names of branches of unions.
        """
        path: list[int | str] = []
        for part in loc:
            inside = range(len(value)) if isinstance(value, list | tuple) else value
            if isinstance(inside, Mapping | range) and part in inside:
                value = value[part]
            elif isinstance(value, Mapping) and part in self._properties(path):
                value = None
            else:
                continue
            path.append(part)
        return tuple(path)

    def expected(self, path: Loc) -> str:
        """Return in words what the schema expects at a path."""
        return schema_words(self._node(path), self.schema)

    def _node(self, path: Sequence[int | str]) -> dict[str, Any]:
        node = self.schema
        for part in path:
            node = _resolved(next(self._inside(node, part), {}), self.schema)
        return node

    def _properties(self, path: Sequence[int | str]) -> dict[str, Any]:
        """Return the fields that the schema knows at a path, in any of its branches."""
        node = self._node(path)
        branches = [_resolved(branch, self.schema) for branch in node.get("anyOf", [node])]
        return {k: v for branch in branches for k, v in branch.get("properties", {}).items()}

    def _inside(self, node: dict[str, Any], part: int | str) -> Iterator[dict[str, Any]]:
        for branch in node.get("anyOf", [node]):
            branch = _resolved(branch, self.schema)
            inner = branch.get("properties", {}).get(part) or branch.get("additionalProperties")
            inner = branch.get("items") if isinstance(part, int) else inner
            if isinstance(inner, dict):
                yield inner


def _resolved(node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    name = node.get("$ref", "").rpartition("/")[2]
    return {**root["$defs"][name], **node} if name else node


def schema_words(node: dict[str, Any], root: dict[str, Any]) -> str:
    """Return in words what a part of a JSON schema expects; ``root`` is the whole of it."""
    node = _resolved(node, root)
    if "$comment" in node:
        return str(node["$comment"])
    if branches := node.get("anyOf"):
        return ", or ".join(dict.fromkeys(schema_words(branch, root) for branch in branches))
    if "enum" in node or "const" in node:
        known = node.get("enum") or [node["const"]]
        return f"one of {', '.join(str(word) for word in known if word != '')}"
    match node.get("type"):
        case "integer" | "number" as kind:
            ways = {" above": "exclusiveMinimum", " from": "minimum", " to": "maximum"}
            bounds = {way: node[name] for way, name in ways.items() if name in node}
            return ("a whole number" if kind == "integer" else "a number") + "".join(
                f"{way} {int(bound) if bound == int(bound) else bound:,}"
                for way, bound in bounds.items()
                if bound < _LARGE
            )
        case "string" | ["string", "number"]:
            longest = node.get("maxLength")
            return f"a text of at most {longest:,} characters" if longest else "a text"
        case "array":
            most = node.get("maxItems")
            return f"a list of {node.get('minItems', 0):,} to {most:,}" if most else "a list"
        case "object":
            fields = list(node.get("properties", ()))[:3]
            return f"fields such as {', '.join(fields)}" if fields else "names and their values"
        case "boolean":
            return "true or false"
        case "null":
            return "nothing"
    return "another value"
