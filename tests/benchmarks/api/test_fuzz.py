"""Requests that nobody thought of: the description is fuzzed, over the real application.

The long run is in docs/api.md.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.benchmarks.api.conftest import bearer
from tests.factories.benchmarks import (
    PERMISSIONS,
    make_user,
    play,
    save_sample_dataset,
    start_sample_runs,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
EXAMPLES = 8

# Read when the test runs: making its cases takes longer than to collect all other tests.
schema = schemathesis.pytest.from_fixture("api")


@pytest.fixture
def api(request: pytest.FixtureRequest, headers: dict[str, str]) -> BaseSchema:
    """The description."""
    # Schemathesis notes there which operation is under test; pytest no longer has it.
    request.node._nodeid = request.node.nodeid
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", get_wsgi_application())
    # One method that no address has stands for the others: they meet the same refusal.
    schema.config.phases.coverage.unexpected_methods = {"trace"}

    @schema.hook  # type: ignore[untyped-decorator]
    def map_path_parameters(context: Any, path_parameters: Any) -> Any:
        """Half of the ids name something that exists."""
        if not path_parameters:
            return path_parameters
        return {
            name: 1 if isinstance(value, int) and value % 2 else value
            for name, value in path_parameters.items()
        }

    @schema.hook  # type: ignore[untyped-decorator]
    def map_query(context: Any, query: Any) -> Any:
        """No browser is there: papers as PDF are 501, which tests of papers expect."""
        return {**query, "format": "html"} if query and query.get("format") == "pdf" else query

    return schema


@pytest.fixture
def headers(db: None) -> Iterator[dict[str, str]]:
    """A token that may start runs, and a run that was played.

    The connection stays open from request to request, as Django's own test client keeps it.
    """
    play(*start_sample_runs(dataset=save_sample_dataset(1)))
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield bearer(make_user("fuzz", PERMISSIONS))
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.slow
@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_no_request_breaks_the_description(case: Case, headers: dict[str, str]) -> None:
    # It speaks WSGI without a network, and so without what unpacks an answer.
    case.call_and_validate(headers={**headers, "Accept-Encoding": "identity"}, checks=CHECKS)
