"""The API's reference as a page, drawn from its own description; no script, no other host."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    schemas: "Sequence[SchemaView]" = ()


@dataclass(frozen=True)
class SchemaView:
    """A body that is sent or answered: its fields, those inside others under them, an example."""

    title: str
    about: str
    fields: Sequence[FieldView]
    example: str


class ReferencePage(DocsBase):
    """Takes the place of the page that comes with the library."""

    def render_page(self, request: HttpRequest, api: NinjaAPI, **kwargs: Any) -> HttpResponse:
        """Show all operations by resource."""
        schema: Mapping[str, Any] = api.get_openapi_schema()
        context = {
            "sections": sections(schema),
            "about": api.description,
            "openapi_url": self.get_openapi_url(api, kwargs),
        }
        return render(request, "benchmarks/api/api_reference.html", context)


def sections(schema: Mapping[str, Any]) -> dict[str, list[OperationView]]:
    """Return the operations by their tag, in the order of the description."""
    views_by_tag: dict[str, list[OperationView]] = {}
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
                list(_schemas(operation, models)),
            )
            views_by_tag.setdefault(operation["tags"][0], []).append(view)
    return views_by_tag


def _parameters(operation: Mapping[str, Any], models: Mapping[str, Any]) -> list[FieldView]:
    return [
        _field(one["name"], one["in"], one["schema"], one["required"], models, one)
        for one in operation["parameters"]
    ]


def _body(operation: Mapping[str, Any], models: Mapping[str, Any]) -> list[FieldView]:
    content = operation.get("requestBody", {}).get("content", {})
    fields = []
    for kind, body in content.items():
        schema = _resolved(body["schema"], models)
        where = "body" if kind.endswith("json") else "form"
        required = schema.get("required", ())
        for name, one in schema.get("properties", {}).items():
            fields.append(_field(name, where, one, name in required, models))
    return fields


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
    """Describe in words what a field takes."""
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
        model: Mapping[str, Any] = models[schema["$ref"].rpartition("/")[2]]
        return model
    return schema


def _answers(operation: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return status and what comes with it; refusals all have the same shape."""
    good = []
    for status, answer in operation["responses"].items():
        if int(status) < 400:
            kinds = [_answer(kind, body) for kind, body in answer.get("content", {}).items()]
            good.append((str(status), " or ".join(dict.fromkeys(kinds))))
    bad = sorted(int(status) for status in operation["responses"] if int(status) >= 400)
    return [*good, (", ".join(map(str, bad)), "an error")]


# --- Bodies with their fields and an example ------------------------------------------------------

# What stands for a field of this name where its schema gives no example.
NAMED: Mapping[str, Any] = {
    "agent": "explorer", "answer": "Explorer leads: accurate on 62.5 % of 8 trajectories.",
    "base_url": "http://localhost:11434/v1", "code": "invalid", "condition": "standard",
    "cost": 0.42, "currency": "USD", "dimension": "safety", "field": "limit", "kind": "scripted",
    "level": "mid", "message": "Input should be less than or equal to 100.", "model": "my-model",
    "name": "explorer", "question": "safety", "questionnaire": "ten_questions@1",
    "status": "done", "system": "adaplanbench", "text": "1. Take the glue.", "title": "Explorer",
    "turn": 2, "value": 4, "version": "1", "url": "/api/v1/imports/1", "task": "mend-a-chair",
}  # fmt: skip
BY_FORMAT = {
    "date-time": "2027-03-01T18:00:00Z",
    "uuid": "4f6c1a52-1c5e-4f7e-9d0a-5f0c2f6f8a11",
    "binary": "(file)",
}
# Schemas inside schemas are listed down to here.
DEEPEST = 4
LONGEST_EXAMPLE = 20


def _schemas(operation: Mapping[str, Any], models: Mapping[str, Any]) -> Iterator[SchemaView]:
    """Yield the JSON bodies of an operation: what is sent, and what is answered."""
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        if kind.endswith("json"):
            yield _schema_view(f"Sent: {_name(body['schema'])}", body["schema"], models)
    for status, answer in operation["responses"].items():
        for kind, body in answer.get("content", {}).items():
            if int(status) < 400 and kind.endswith("/json"):
                yield _schema_view(f"{status}: {_answer(kind, body)}", body["schema"], models)


def _schema_view(title: str, schema: Mapping[str, Any], models: Mapping[str, Any]) -> SchemaView:
    resolved = _resolved(schema, models)
    inner = resolved.get("items", resolved) if resolved.get("type") == "array" else resolved
    about = _resolved(inner, models).get("description", "")
    example = json.dumps(example_of(schema, models), indent=2, ensure_ascii=False)
    return SchemaView(title, about, list(_nested(inner, models)), example)


def _nested(
    schema: Mapping[str, Any], models: Mapping[str, Any], before: str = "", depth: int = 1
) -> Iterator[FieldView]:
    """Yield the fields of an object; of objects inside it ``outer.inner``, of lists
    ``outer[].inner``.
    """
    resolved = _resolved(schema, models)
    required = resolved.get("required", ())
    for name, one in resolved.get("properties", {}).items():
        view = _field(f"{before}{name}", "", one, name in required, models)
        null = any(option.get("type") == "null" for option in one.get("anyOf", ()))
        yield replace(view, kind=f"{view.kind} or null" if null else view.kind)
        inner, listed = _inside(one, models)
        if inner is not None and depth < DEEPEST:
            yield from _nested(inner, models, f"{before}{name}{'[]' * listed}.", depth + 1)


def _inside(
    schema: Mapping[str, Any], models: Mapping[str, Any]
) -> tuple[Mapping[str, Any] | None, bool]:
    """Return the object that a field holds, or that the members of its list are; None for
    others.
    """
    resolved = _resolved(schema, models)
    if "anyOf" in resolved:
        given = [one for one in resolved["anyOf"] if one.get("type") != "null"]
        return _inside(given[0], models) if len(given) == 1 else (None, False)
    if resolved.get("type") == "array":
        inner = _resolved(resolved["items"], models)
        return (inner, True) if "properties" in inner else (None, False)
    return (resolved, False) if "properties" in resolved else (None, False)


def example_of(
    schema: Mapping[str, Any], models: Mapping[str, Any], name: str = "", depth: int = 0
) -> Any:
    """Return a value that a schema takes: its own example, else one made by name and type."""
    if "examples" in schema:
        return schema["examples"][0]
    resolved = _resolved(schema, models)
    if "anyOf" in resolved:
        given = [one for one in resolved["anyOf"] if one.get("type") != "null"]
        return example_of(given[0], models, name, depth) if given else None
    if "const" in resolved:
        return resolved["const"]
    if "enum" in resolved:
        return resolved["enum"][0]
    match resolved.get("type"):
        case "object":
            if depth > LONGEST_EXAMPLE:  # only a schema inside itself comes so far
                return {}
            fields = resolved.get("properties", {})
            inside = resolved.get("additionalProperties")
            if not fields and isinstance(inside, dict):
                return {"safety": example_of(inside, models, "", depth + 1)}
            return {key: example_of(one, models, key, depth + 1) for key, one in fields.items()}
        case "array":
            return [example_of(resolved["items"], models, name, depth + 1)]
        case "string":
            return _example_text(resolved, name)
        case "integer":
            named = NAMED.get(name)
            return named if type(named) is int else max(1, resolved.get("minimum", 1))
        case "number":
            named = NAMED.get(name)
            return named if isinstance(named, float) else max(0.5, resolved.get("minimum", 0))
        case "boolean":
            return True
        case _:
            return NAMED.get(name)


def _example_text(schema: Mapping[str, Any], name: str) -> str:
    if schema.get("format") in BY_FORMAT:
        return BY_FORMAT[schema["format"]]
    named = NAMED.get(name)
    text = named if isinstance(named, str) else name.replace("_", " ") or "text"
    return text[: schema.get("maxLength", len(text))]


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
