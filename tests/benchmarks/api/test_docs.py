"""docs/api.md: its addresses exist, its Python is Python, and no route is missing."""

import ast
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from django.conf import settings
from django.test import Client
from django.urls import resolve
from ninja import Schema

from benchmarks.api.errors import CODES
from benchmarks.api.reference import example_of, sections
from config.urls import api as app

TEXT = (Path(settings.BASE_DIR) / "docs" / "api.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
SCHEMA: Any = app.get_openapi_schema()


def curls() -> list[tuple[str, str, set[str]]]:
    """Method, path and names of the query of every call in the page."""
    found = []
    for kind, block in BLOCKS:
        if kind:
            continue
        for command in block.replace("\\\n", " ").splitlines():
            if re.match(r"(?:\w+=\$\()?curl ", command):
                (url,) = re.findall(r'"\$PLANJURY([^"]+)"', command)
                url = re.sub(r"\$[A-Z]+", "1", url)  # an id that an earlier answer gave
                path, _, query = url.partition("?")
                given = re.search(r"-X (\w+)", command)
                method = given[1].lower() if given else "get"
                names = {part.partition("=")[0] for part in query.split("&") if part}
                found.append((method, path, names))
    return found


def route(method: str, path: str) -> Any:
    """The operation that an address belongs to."""
    for known, methods in SCHEMA["paths"].items():
        pattern = re.sub(r"{\w+}", r"[^/]+", known)
        if re.fullmatch(pattern, path) and method in methods:
            return known, methods[method]
    raise AssertionError(f"{method} {path} is documented and does not exist")


def test_there_are_examples() -> None:
    assert len(curls()) > 25


@pytest.mark.parametrize(("method", "path", "names"), curls())
def test_a_documented_call_exists(method: str, path: str, names: set[str]) -> None:
    resolve(path)
    _, operation = route(method, path)
    assert names <= {one["name"] for one in operation["parameters"] if one["in"] == "query"}


def test_every_route_has_its_example() -> None:
    documented = {(method, route(method, path)[0]) for method, path, _ in curls()}
    known = {(m, path) for path, methods in SCHEMA["paths"].items() for m in methods}
    assert documented == known


@pytest.mark.parametrize("code", [block for kind, block in BLOCKS if kind == "python"])
def test_the_python_is_python_and_its_addresses_exist(code: str) -> None:
    tree = ast.parse(code)
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and value.startswith("/api/v1/"):
            path = value.partition("?")[0]
            if not path.endswith("/"):  # the beginning of an address that is put together
                route("post" if f'"POST", "{path}"' in re.sub(r"\s+", " ", code) else "get", path)


def test_every_code_is_explained() -> None:
    table = re.findall(r"^\| (\d+) \| (.+?) \|", TEXT, re.MULTILINE)
    explained = {int(status): words for status, words in table}
    assert set(CODES) | {500, 501, 503} == set(explained)
    for status, code in CODES.items():
        if status != 409:  # the one conflict that there is has a name of its own
            assert f"`{code}`" in explained[status]
    raised = set()
    for path in (Path(settings.BASE_DIR) / "benchmarks" / "api").glob("*.py"):
        raised |= set(re.findall(r'(?:code=|, )"((?:[a-z]+_)?[a-z]+)"\)', path.read_text()))
    for code in raised & {"read_only", "key_reused", "unknown", "refused"}:
        assert f"`{code}`" in TEXT


def test_every_schema_has_a_name_of_its_own() -> None:
    """Of two classes with one name, the description would hold one for both."""
    modules = [
        name for name in sys.modules if re.match(r"(benchmarks|annotation|analysis)\.api", name)
    ]
    classes = {
        value
        for name in modules
        for value in vars(sys.modules[name]).values()
        if isinstance(value, type) and issubclass(value, Schema) and value is not Schema
    }
    names = [one.__name__ for one in classes if one.__module__.split(".")[1] == "api"]
    assert len(names) > 60
    assert sorted(names) == sorted(set(names))


def test_the_reference_expands_every_body_with_a_valid_example() -> None:
    shown = sections(SCHEMA)
    bodies = [body for operations in shown.values() for one in operations for body in one.schemas]
    assert len(bodies) > 60
    models = SCHEMA["components"]["schemas"]
    for name, schema in models.items():
        example = example_of(schema, models)
        whole = {**schema, "components": SCHEMA["components"]}
        assert jsonschema_rs.is_valid(whole, example), (name, example)
    run = next(body for body in bodies if body.title == "200: RunDetail")
    assert "progress.total" in {field.name for field in run.fields}
    assert '"status": ' in run.example


def test_the_page_shows_them(client: Client, db: None) -> None:
    page = client.get("/api/v1/docs").content.decode()
    assert "dataset.name" in page and "items[].agent.title" in page
    assert page.count("<details") > 60
