"""The page of agents and of scripts for other roles."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.roles.selectors import agents, scripted_roles


@signed_in
@require_safe
def agent_list(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    context = {"agents": agents(visibility(request)), "systems": scripted_roles()}
    return render(request, "benchmarks/roles/agent_list.html", context)
