"""Who can be put into a run."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from benchmarks.access import VIEW, allow, fetch, visibility
from benchmarks.api.errors import refusals
from benchmarks.api.requests import Paged, one_page
from benchmarks.api.schemas.catalogue import AgentOut
from benchmarks.api.schemas.common import PageOut
from benchmarks.models import Agent

router = Router(tags=["Agents"])


@router.get("/agents", response={200: PageOut[AgentOut], **refusals()})
def list_agents(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """All agents."""
    allow(request, VIEW)
    rows = visibility(request).of(Agent.objects.all())
    found, following = one_page(request, rows, page.limit)
    return {"items": found.rows, "next": following}


@router.get("/agents/{int:agent_id}", response={200: AgentOut, **refusals(404)})
def get_agent(request: HttpRequest, agent_id: int) -> Agent:
    """One agent."""
    return fetch(request, Agent.objects.all(), pk=agent_id)
