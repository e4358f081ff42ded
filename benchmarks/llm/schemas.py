"""Building blocks for the JSON schemas of replies.

Schemas keep to what strict modes of endpoints allow: every property required, no others.
"""

from collections.abc import Mapping, Sequence
from typing import Any


def one_of(values: Sequence[str | int]) -> dict[str, Any]:
    """Return one of a few texts or numbers; any text where none are given."""
    if not values:
        return {"type": "string"}
    kind = "string" if isinstance(values[0], str) else "integer"
    return {"type": kind, "enum": list(values)}


def list_of(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def nothing_or(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [dict(schema), {"type": "null"}]}


def object_of(properties: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return an object with exactly these properties."""
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }
