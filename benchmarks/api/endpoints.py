"""Model endpoints: the list for those who see results; new ones for those who may make them."""

import json
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from benchmarks.access import ENDPOINTS, OWN_ENDPOINTS, VIEW, allow, fetch, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.repeats import DESCRIPTION, Answer, once
from benchmarks.api.requests import Paged, PageOut, one_page
from benchmarks.endpoints.forms import EndpointForm
from benchmarks.endpoints.requests import EndpointRequest
from benchmarks.endpoints.rules import may_change
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Endpoint


class EndpointOut(Schema):
    """An endpoint. Roles name it as `endpoint:NAME`, runs as the agent NAME."""

    id: int
    name: str
    title: str
    base_url: str | None = Field(description="Null for those who may not change the endpoint.")
    model: str
    parameters: dict[str, Any]
    structured: str = Field(description="How replies are held to JSON.")
    native_tools: bool
    price_in: float | None = Field(description="Price of a million tokens in; null: unknown.")
    price_out: float | None
    currency: str
    timeout: float
    concurrency: int
    requests_per_minute: int | None
    simulated: bool
    retired: bool
    created_at: datetime


router = Router(tags=["Endpoints"])


@router.get("/endpoints", response={200: PageOut[EndpointOut], **refusals()})
def list_endpoints(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """List endpoints, the newest first."""
    allow(request, VIEW)
    rows = visibility(request).of(Endpoint.objects.all())
    page_rows, following = one_page(request, rows, page.limit, newest=True)
    return {"items": [_row(row, request) for row in page_rows.rows], "next": following}


@router.get("/endpoints/{int:endpoint_id}", response={200: EndpointOut, **refusals(404)})
def get_endpoint(request: HttpRequest, endpoint_id: int) -> dict[str, Any]:
    """Return one endpoint."""
    return _row(fetch(request, Endpoint.objects.all(), pk=endpoint_id), request)


@router.post(
    "/endpoints", response={201: EndpointOut, **refusals(400, 409, 413)}, openapi_extra=DESCRIPTION
)
def create_one_endpoint(request: HttpRequest, wanted: EndpointRequest) -> Status[Any]:
    """Make an endpoint and the agent of its name, with the checks of the page."""
    allow(request, ENDPOINTS, OWN_ENDPOINTS)

    def act() -> Answer:
        given = {**wanted.model_dump(), "parameters": json.dumps(wanted.parameters)}
        form = EndpointForm(given, by=user_of(request))
        if not form.is_valid():
            field, faults = next(iter(form.errors.items()))
            raise ApiError(422, " ".join(map(str, faults)), "" if field == "__all__" else field)
        made = create_endpoint(created_by=user_of(request), **form.cleaned_data)
        return 201, _row(made, request)

    return once(request, act, content=wanted.model_dump_json())


def _row(endpoint: Endpoint, request: HttpRequest) -> dict[str, Any]:
    names = (
        "name", "title", "model", "parameters", "structured", "native_tools",
        "price_in", "price_out", "currency", "timeout", "concurrency", "requests_per_minute",
        "simulated", "retired",
    )  # fmt: skip
    return {
        "id": endpoint.pk,
        "base_url": endpoint.base_url if may_change(user_of(request), endpoint) else None,
        **{name: getattr(endpoint, name) for name in names},
        "created_at": endpoint.created_at.isoformat(),
    }
