"""The client has a method for every operation of the API."""

import re
from pathlib import Path
from typing import Any

import planjury_client.client
from annotation.exports.services import FORMATS
from config.urls import api
from planjury_client import PlanJury

SOURCE = Path(planjury_client.client.__file__).read_text()
SCHEMA: Any = api.get_openapi_schema()
VERBS = {
    "get": "get",
    "pages": "get",
    "download": "get",
    "post": "post",
    "upload": "post",
    "delete": "delete",
}


def called() -> set[tuple[str, str]]:
    """Method and route of every request in the client; a route may be named the line before."""
    found, route = set(), ""
    for line in SOURCE.splitlines():
        if given := re.search(r'route = "([^"]+)"', line):
            route = given[1]
        for verb, text in re.findall(
            r"self\._(get|pages|download|post|upload|delete)\((\"[^\"]+\"|route)", line
        ):
            found.add((VERBS[verb], route if text == "route" else text.strip('"')))
    return found


def test_every_operation_has_its_method() -> None:
    known = {
        (method, path.removeprefix("/api/v1"))
        for path, methods in SCHEMA["paths"].items()
        for method in methods
    }
    assert called() == known


def test_export_formats_are_named() -> None:
    for method, formats in (
        (PlanJury.export_study, FORMATS),
        (PlanJury.export_run, {"openai-chat", "atif", "inspect", "session-traces", "huggingface"}),
    ):
        assert set(re.findall(r"``([a-z-]+)``", method.__doc__ or "")) == set(formats)
