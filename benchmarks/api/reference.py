"""The API's reference as a page, drawn from its own description; no script, no other host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from ninja import NinjaAPI
from ninja.openapi.docs import DocsBase


@dataclass(frozen=True)
class FieldView:
    """A field of a request: where it stands, what it takes."""

    name: str
    where: str
    kind: str
    required: bool
    about: str


@dataclass(frozen=True)
class OperationView:
    """One thing that can be asked for."""

    name: str
    method: str
    path: str
    about: str
    fields: Sequence[FieldView]
    answers: Sequence[tuple[str, str]]


class ReferencePage(DocsBase):
    """Takes the place of the page that comes with the library."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """All operations by resource."""
        schema: Mapping[str, Any] = api.get_openapi_schema()
        context = {
            "sections": sections(schema),
            "about": api.description,
            "openapi_url": self.get_openapi_url(api, kwargs),
        }
        return render(request, "benchmarks/api/api_reference.html", context)


def sections(schema: Mapping[str, Any]) -> dict[str, list[OperationView]]:
    """The operations by their tag, in the order of the description."""
    found: dict[str, list[OperationView]] = {}
    models = schema["components"]["schemas"]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            view = OperationView(
                operation["operationId"],
                method.upper(),
                path,
                operation.get("description", operation["summary"]),
                [*_parameters(operation, models), *_body(operation, models)],
                _answers(operation),
            )
            found.setdefault(operation["tags"][0], []).append(view)
    return found


def _parameters(operation: Mapping[str, Any], models: Mapping[str, Any]) -> list[FieldView]:
    return [
        _field(one["name"], one["in"], one["schema"], one["required"], models, one)
        for one in operation["parameters"]
    ]


def _body(operation: Mapping[str, Any], models: Mapping[str, Any]) -> list[FieldView]:
    content = operation.get("requestBody", {}).get("content", {})
    found = []
    for kind, body in content.items():
        schema = _resolved(body["schema"], models)
        where = "body" if kind.endswith("json") else "form"
        required = schema.get("required", ())
        for name, one in schema.get("properties", {}).items():
            found.append(_field(name, where, one, name in required, models))
    return found


def _field(
    name: str,
    where: str,
    schema: Mapping[str, Any],
    required: bool,
    models: Mapping[str, Any],
    beside: Mapping[str, Any] | None = None,
) -> FieldView:
    about = schema.get("description") or (beside or {}).get("description", "")
    default = schema.get("default")
    if default not in (None, "", [], {}):
        about = f"{about} Default: {_plain(default)}.".strip()
    return FieldView(name, where, kind_of(schema, models), required, about)


def kind_of(schema: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    """What a field takes, in words."""
    schema = _resolved(schema, models)
    if "anyOf" in schema:
        kinds = [kind_of(one, models) for one in schema["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return "one of " + ", ".join(map(_plain, schema["enum"]))
    match schema.get("type"):
        case "array":
            return f"list of {kind_of(schema['items'], models)}"
        case "integer":
            return "whole number"
        case "boolean":
            return "true or false"
        case "string":
            return "file" if schema.get("contentMediaType") or _binary(schema) else "text"
        case "object":
            return "object"
        case other:
            return str(other or "any")


def _binary(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("format") == "binary")


def _resolved(schema: Mapping[str, Any], models: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in schema:
        found: Mapping[str, Any] = models[schema["$ref"].rpartition("/")[2]]
        return found
    return schema


def _answers(operation: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Status and what comes with it; refusals all have the same shape."""
    good = []
    for status, answer in operation["responses"].items():
        if int(status) < 400:
            kinds = [_answer(kind, body) for kind, body in answer.get("content", {}).items()]
            good.append((str(status), " or ".join(dict.fromkeys(kinds))))
    bad = sorted(int(status) for status in operation["responses"] if int(status) >= 400)
    return [*good, (", ".join(map(str, bad)), "an error")]


def _answer(kind: str, body: Mapping[str, Any]) -> str:
    schema = body["schema"]
    if not kind.endswith("/json"):
        return kind
    if schema.get("type") == "array":
        return f"list of {_name(schema['items'])}"
    return _name(schema)


def _name(schema: Mapping[str, Any]) -> str:
    name = str(schema.get("$ref", "object")).rpartition("/")[2]
    if name.startswith("PageOut_"):
        return f"page of {name.removeprefix('PageOut_').strip('_')}"
    return name


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
