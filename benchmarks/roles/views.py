"""The page of agents and of scripts for other roles."""

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv
from benchmarks.roles.selectors import agents, scripted_roles

AGENT_COLUMNS = (
    ListColumn("agent", "Agent", {"agent": "name", "title": "title"}, fixed=True),
    ListColumn("kind", "Kind", {"kind": "kind"}),
    ListColumn("system", "System", {"system": "system"}),
    ListColumn("note", "Note", {"note": "note"}),
    ListColumn("runs", "Runs", {"runs": "run_count"}),
    ListColumn("last", "Last run", {"last_run": "last_run"}),
)


@signed_in
@require_safe
def agent_list(request: HttpRequest) -> HttpResponseBase:
    allow(request, VIEW)
    rows = agents(visibility(request))
    if wants_csv(request):
        return list_csv("agents", AGENT_COLUMNS, rows)
    columns = column_choice(request, "agents", AGENT_COLUMNS)
    context = {
        "agents": rows,
        "systems": scripted_roles(),
        "columns": columns,
        "hidden": columns.hidden,
    }
    return render(request, "benchmarks/roles/agent_list.html", context)
