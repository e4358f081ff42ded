"""Checks of requests: known fields, storable text, pages of bounded size."""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Annotated, Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import get_script_prefix
from ninja import Schema
from ninja.parser import Parser
from pydantic import BaseModel, ConfigDict, Field

from benchmarks.api.errors import ApiError
from benchmarks.core.problems import json_fault
from benchmarks.imports.forms import too_large
from benchmarks.imports.uploads import announces_too_much
from benchmarks.paging import RowPage, page_by_id

LARGEST_ID = 2**63 - 1
MOST_ROWS = 100
Id = Annotated[int, Field(ge=1, le=LARGEST_ID)]
M = TypeVar("M", bound=Model)
# A part of a route, such as <int:run_id>, which the description writes as {run_id}.
CONVERTER = re.compile(r"<(?:[^<>:]+:)?([^<>]+)>")
FORMS = ("multipart/form-data", "application/x-www-form-urlencoded")


class Strict(Schema):
    """Base of bodies: a field that is not known is refused, not ignored."""

    model_config = ConfigDict(extra="forbid")


class Paged(Schema):
    """The start of a page of a list, and its length."""

    after: Id | None = Field(None, description="Begin behind this id; `next` holds it.")
    limit: int = Field(50, ge=1, le=MOST_ROWS, description="Rows in a page.")


def one_page(
    request: HttpRequest, rows: QuerySet[M], limit: int, *, newest: bool = False
) -> tuple[RowPage[M], str | None]:
    """Return a page by id, and the address of the next one."""
    page = page_by_id(rows, request.GET, size=limit, newest=newest)
    return page, f"{request.path}{page.next_url}" if page.next_url else None


# --- Fields and texts -------------------------------------------------------------------------


class KnownFields:
    """The fields that each operation of an API knows, read from the API's own description."""

    def __init__(self, describe: Callable[[], Mapping[str, Any]]) -> None:
        self.describe = describe

    def of(self, request: HttpRequest) -> tuple[Collection[str], Collection[str]]:
        """Return the names of the fields in the address and in the form of a request."""
        route = request.resolver_match.route if request.resolver_match else ""
        path = get_script_prefix() + CONVERTER.sub(r"{\1}", route)
        return self._operations.get((path, request.method or ""), ((), ()))

    @cached_property
    def _operations(self) -> dict[tuple[str, str], tuple[Collection[str], Collection[str]]]:
        return {
            (path, method.upper()): (
                [one["name"] for one in each.get("parameters", ()) if one["in"] == "query"],
                [
                    name
                    for kind, body in each.get("requestBody", {}).get("content", {}).items()
                    if kind in FORMS
                    for name in body["schema"]["properties"]
                ],
            )
            for path, operations in self.describe()["paths"].items()
            for method, each in operations.items()
        }


def refuse_unknown(request: HttpRequest, fields: KnownFields) -> None:
    """Refuse fields that the operation does not know, and texts that no database can store."""
    query, form = fields.of(request)
    for name, value in _pairs(request.GET):
        _refuse(name, value, query, "query")
    if form:
        _refuse_large(request)
        for name, value in _pairs(request.POST):
            _refuse(name, value, form, "form")
        for name in request.FILES:
            _refuse(str(name), "", form, "form")


def _refuse_large(request: HttpRequest) -> None:
    if announces_too_much(request.META.get("CONTENT_LENGTH") or ""):
        raise ApiError(413, too_large(), "file")


def _pairs(data: Any) -> Iterator[tuple[str, str]]:
    for name, values in data.lists():
        for value in values:
            yield name, value


def _refuse(name: str, value: str, known: Collection[str], where: str) -> None:
    if name not in known:
        offered = ", ".join(sorted(known)) or "none"
        raise ApiError(
            422, f"There is no {where} field of this name; known: {offered}.", name[:80], "unknown"
        )
    if not storable(value):
        raise ApiError(422, "Text must not contain NUL or lone surrogates.", name)


def storable(text: str) -> bool:
    """Return whether every database can store a text."""
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


class StrictParser(Parser):
    """JSON as it is defined: no NaN, no repeated names, no text that cannot be stored."""

    def parse_body(self, request: HttpRequest) -> Any:
        try:
            value = json.loads(
                request.body,
                parse_constant=_no_constant,
                parse_float=_finite,
                object_pairs_hook=_no_repetition,
            )
        except ApiError:
            raise
        except (ValueError, RecursionError) as error:
            raise ApiError(400, f"The body is not JSON: {json_fault(error)}.") from None
        _check_texts(value)
        return value


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ApiError(400, f"The number {text[:20]} is too large.")
    return value


def _no_constant(name: str) -> Any:
    raise ApiError(400, f"The body is not JSON: {name} is not a number there.")


def _no_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ApiError(400, "The body names a field twice.")
    return values


def _check_texts(value: Any) -> None:
    left = [value]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            left += [*node, *node.values()]
        elif isinstance(node, list):
            left += node
        elif isinstance(node, str) and not storable(node):
            raise ApiError(422, "Text must not contain NUL or lone surrogates.")


def filled(query: BaseModel, *leave_out: str) -> dict[str, Any]:
    """Return the fields of a query that were given a value."""
    given = query.model_dump(exclude={"after", "limit", *leave_out})
    return {name: value for name, value in given.items() if value not in (None, "", [])}


T = TypeVar("T")


class PageOut(Schema, Generic[T]):
    """A page of a list."""

    items: list[T]
    next: str | None = Field(description="The address of the next page; null on the last.")


class DatasetRef(Schema):
    """A dataset by its name."""

    id: int
    system: str
    name: str
    version: str


class AgentRef(Schema):
    """An agent by its name."""

    id: int
    name: str
    title: str
    kind: str


class Verdict(Schema):
    """A yes-or-no result; null is undefined, and `reason` says why."""

    value: bool | None
    reason: str
