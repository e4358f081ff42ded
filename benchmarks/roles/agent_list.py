"""Who can answer: agents with the runs they were in, and the scripts for the other roles."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, QuerySet

from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.system import ScriptedPolicy
from benchmarks.models import Agent
from benchmarks.visibility import EVERYTHING, Visibility


def agents(seen: Visibility = EVERYTHING) -> QuerySet[Agent]:
    """All agents by kind, with how many runs each was in, and when it was last put into one."""
    runs = seen.counted("runs")
    rows = seen.of(Agent.objects.all()).annotate(
        run_count=Count("runs", filter=runs), last_run=Max("runs__created_at", filter=runs)
    )
    return rows.order_by("-kind", "title")


@dataclass(frozen=True)
class SystemScripts:
    """The scripted answerers of a system for all roles but the agent's, by role title."""

    title: str
    roles: Sequence[tuple[str, Sequence[ScriptedPolicy]]]


def scripted_roles() -> list[SystemScripts]:
    """What can judge, simulate and so on without a model or a person."""
    found = []
    for key in SYSTEMS:
        system = get_system(key)
        roles = [
            (role.title, [p for p in system.scripted.values() if p.role == role.name])
            for role in system.roles[1:]
        ]
        found.append(SystemScripts(system.title, [pair for pair in roles if pair[1]]))
    return found
