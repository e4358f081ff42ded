"""Build the API from the routers of this app and those of other apps."""

from collections.abc import Iterable
from typing import Any

from ninja import NinjaAPI, Router
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from benchmarks.api import (
    branches,
    catalogue,
    deletions,
    endpoints,
    errors,
    exports,
    imports,
    judgings,
    runs,
    scores,
    trajectories,
    turns,
)
from benchmarks.api.auth import Token
from benchmarks.api.reference import ReferencePage
from benchmarks.api.requests import KnownFields, StrictParser

DESCRIPTION = (
    "Everything takes a token: `Authorization: Bearer pj_…`. Lists come in pages by id: follow "
    "`next` until it is null. What is undefined is null, with the reason beside it, never 0. "
    'Whatever is refused answers `{"error": {"code", "message", "field"}}`.'
)


class Api(NinjaAPI):
    """Operations are known by the names of their functions, which must differ."""

    _described: OpenAPISchema | None = None

    def get_openapi_schema(self, **given: Any) -> OpenAPISchema:
        """Return the description of the API, made once: it takes half a second, and anybody may
        ask.
        """
        if any(given.values()):
            return super().get_openapi_schema(**given)
        if self._described is None:
            self._described = super().get_openapi_schema()
        return self._described

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


def make_api(more: Iterable[tuple[str, Router]] = (), handlers: errors.Handlers = ()) -> NinjaAPI:
    """Make the API with the routers of this app and those handed in, by the prefix of each.

    ``handlers`` turn exceptions of other apps into answers.
    """
    api = Api(
        title="PlanJury",
        version="1",
        description=DESCRIPTION,
        urls_namespace="api",
        docs=ReferencePage(),
        auth=Token(KnownFields(lambda: api.get_openapi_schema())),
        parser=StrictParser(),
    )
    errors.register(api, handlers)
    own = [
        ("", catalogue.systems_router),
        ("", catalogue.datasets_router),
        ("", catalogue.agents_router),
        ("", endpoints.router),
        ("", runs.router),
        ("", judgings.router),
        ("", branches.router),
        ("", trajectories.router),
        ("", turns.router),
        ("", scores.router),
        ("", imports.router),
        ("", exports.router),
        ("", deletions.router),
    ]
    for prefix, router in [*own, *more]:
        api.add_router(prefix, router)
    return api
