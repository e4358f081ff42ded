"""The fields of a request, as the API checks them, as a form and as options of a command.

A request is described once, by a pydantic model: titles are labels, descriptions are help texts,
and what stands there in backticks is code.
"""

import re
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django import forms
from django.core.management.base import CommandError
from django.utils.html import escape
from django.utils.safestring import mark_safe
from pydantic import BaseModel

from benchmarks.core.problems import describe
from benchmarks.core.schemas import Loc, read_value

M = TypeVar("M", bound=BaseModel)
_CODE = re.compile("`([^`]+)`")
_FIELDS: Mapping[str, type[forms.Field]] = {
    "string": forms.CharField, "integer": forms.IntegerField, "number": forms.FloatField,
    "boolean": forms.BooleanField,
}  # fmt: skip
# The bounds of JSON schemas, as form fields call them.
_BOUNDS = {"maxLength": "max_length", "minimum": "min_value", "maximum": "max_value"}


def _schemas(request: type[BaseModel]) -> dict[str, dict[str, Any]]:
    """Return the JSON schema of each field; of one that may be null, what it is otherwise."""
    fields = request.model_json_schema()["properties"]
    return {name: {**row, **row.get("anyOf", [{}])[0]} for name, row in fields.items()}


def request_form(
    request: type[BaseModel], names: Sequence[str] = (), /, **more: Mapping[str, Any]
) -> Any:
    """Return a form with the fields of a request: those of these names, or all.

    What has an empty default may be left empty. ``more`` are arguments of a field that differ from
    what the request says of it; ``kind`` is its class.
    """
    fields = {}
    for name, schema in _schemas(request).items():
        if names and name not in names:
            continue
        info, own = request.model_fields[name], dict(more.get(name, {}))
        kind = own.pop("kind", None) or _FIELDS[schema["type"]]
        usual = None if info.is_required() or info.default in ("", {}) else info.default
        words = _CODE.sub(r"<code>\1</code>", escape(info.description or ""))
        options = {
            "label": info.title,
            "help_text": mark_safe(words),  # noqa: S308  # escaped above
            "required": info.is_required() or (bool(usual) and schema["type"] != "boolean"),
            "initial": usual,
            **{option: schema[bound] for bound, option in _BOUNDS.items() if bound in schema},
        }
        fields[name] = kind(**options | own)
    return type(f"{request.__name__}Form", (forms.Form,), fields)


def add_options(parser: ArgumentParser, request: type[BaseModel], names: Mapping[str, str]) -> None:
    """Add options for fields of a request; ``names`` has the option of each field.

    Lists are options that can be repeated, objects such ones with ``KEY=VALUE``.
    """
    for name, schema in _schemas(request).items():
        if name not in names:
            continue
        info, option = request.model_fields[name], names[name]
        words = (info.description or "").replace("`", "").replace("%", "%%")
        repeated: dict[str, Any] = {"action": "append", "help": f"{words} Repeatable."}
        more: dict[str, Any]
        match schema["type"]:
            case "boolean":
                more = {"action": "store_true"}
            case "array":
                more = {**repeated, "metavar": option.lstrip("-").upper()}
            case "object":
                pair = "KEY=VALUE[,VALUE…]" if _holds_lists(schema) else "KEY=VALUE"
                more = {**repeated, "metavar": pair}
            case kind:
                more = {"type": {"integer": int, "number": float}.get(kind, str)}
        if not info.is_required():
            more["default"] = [] if "metavar" in more else info.default
        more = {"help": words, **more}
        parser.add_argument(option, required=info.is_required(), **more)


def read_options(request: type[M], names: Mapping[str, str], options: Mapping[str, Any]) -> M:
    """Return the request that the options of a command are; CommandError with every fault."""
    schemas, faults = _schemas(request), list[str]()
    values = {name: options[names[name].lstrip("-").replace("-", "_")] for name in names}
    for name, option in names.items():
        if schemas[name]["type"] == "object":
            several = _holds_lists(schemas[name])
            values[name] = dict(read_pair(option, text, several=several) for text in values[name])

    def fault(path: Loc, expected: str, given: Any) -> None:
        place = ", ".join([names[str(path[0])], *map(str, path[1:])])
        faults.append(f"{place}: expected {expected}, found {describe(given)}")

    wanted = read_value(request, values, fault)
    if wanted is None:
        raise CommandError("; ".join(faults))
    return wanted


def read_pair(option: str, text: str, *, several: bool) -> tuple[str, str | list[str]]:
    """Return the key and the value of ``KEY=VALUE``, or the ``several`` values."""
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise CommandError(f"{option}: expected KEY=VALUE, found {text!r}")
    return key, value.split(",") if several else value


def _holds_lists(schema: Mapping[str, Any]) -> bool:
    return bool(schema["additionalProperties"].get("type") == "array")
