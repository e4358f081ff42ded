"""JSON schemas of the replies that systems ask for: a module ``schemas`` in a system's folder.

Schemas keep to what strict modes of endpoints allow: every property required, no others.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from benchmarks.core.registry import SYSTEMS
from benchmarks.llm.config import SchemaBuilder


@cache
def schemas_of(system: str) -> Mapping[str, SchemaBuilder]:
    """What builds the schemas of a system, by ``Expect.kind``; empty where it has none."""
    if system not in SYSTEMS:
        return {}
    folder = SYSTEMS[system][1].rpartition(".")[0]
    path = f"{folder}.schemas"
    if not folder or not find_spec(path):
        return {}
    schemas: Mapping[str, SchemaBuilder] = import_module(path).SCHEMAS
    return schemas


def one_of(values: Sequence[str | int]) -> dict[str, Any]:
    """One of a few texts or numbers; any text where none are given."""
    if not values:
        return {"type": "string"}
    kind = "string" if isinstance(values[0], str) else "integer"
    return {"type": kind, "enum": list(values)}


def list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def nothing_or(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [dict(schema), {"type": "null"}]}


def object_of(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """An object with exactly these properties."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
