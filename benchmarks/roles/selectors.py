"""Read who fills the roles of a run, and which agents a run can have."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max, QuerySet

from benchmarks.core.errors import CoreError
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import SYSTEMS, get_system, system_of
from benchmarks.core.system import ScriptedPolicy, System
from benchmarks.mappers import system_of_run
from benchmarks.models import Agent, Run
from benchmarks.models.role_assignments import Roles
from benchmarks.visibility import EVERYTHING, Visibility

LABELS = {
    "scripted": "scripted",
    "lexicon": "lexicon",
    "recorded": "recorded",
    "machine": "computed",
    "human": "person",
    "endpoint": "language model",
    "simulated": "simulated",
    "imported": "made elsewhere",
    "local": "endpoint on this machine",
}


@dataclass(frozen=True)
class AssignmentView:
    """An answerer of a role, with the seats it fills; ``label`` is its kind in words."""

    title: str
    label: str
    version: str
    seats: tuple[int, ...] = ()


@dataclass(frozen=True)
class RoleView:
    """A role with its answerers; there are none if these settings do not use the role."""

    title: str
    assignments: tuple[AssignmentView, ...]


def playing_system(run: Run) -> System | None:
    """Return the system that carries a run, or None if it is not known; see ``system_of_run``."""
    try:
        return system_of_run(run)
    except CoreError:
        return None


def roles_behind(run: Run) -> Roles:
    """Return the assignments behind what a run shows, with the judges whose scores count.

    For a re-judging run these are its own judges, and for the other roles those of the judged run.
    """
    if run.kind == Run.Kind.JUDGING:
        first, then = judged_run(run) or run, run
    else:
        counting = run.primary_judging
        first, then = run, (counting and counting.made_by) or run
    # A role that a judging does not ask has nobody there.
    roles: Roles = {**first.roles, **{role: rows for role, rows in then.roles.items() if rows}}
    return roles


def judged_run(run: Run) -> Run | None:
    """Return the run that a re-judging run judges; None for other runs."""
    if run.kind != Run.Kind.JUDGING:
        return None
    return Run.objects.filter(judgings__made_by=run).first()


def policy_title(system: System | None, policy: str) -> str:
    """Return the title of a scripted policy, or its name if it is no longer known."""
    known = system.scripted.get(policy) if system else None
    return known.title if known else plain(policy)


def run_roles(run: Run, role_changes: Roles | None = None) -> list[RoleView]:
    """Return each role of the system with its answerers, and those that took over."""
    role_changes = role_changes or {}
    system = playing_system(run)
    titles = {role.name: role.title for role in system.roles} if system else {}
    names = [*titles, *(name for name in run.roles if name not in titles)]
    return [
        RoleView(
            titles.get(name, plain(name)),
            (
                *_assignment_views(
                    system, run.agent if name == "agent" else None, run.roles.get(name, ())
                ),
                *(
                    replace(one, title=f"{one.title}, took over")
                    for one in _assignment_views(system, None, role_changes.get(name, ()))
                ),
            ),
        )
        for name in names
    ]


def describe_role(run: Run, role: str) -> str:
    """Name the answerers of a role of a run (not the agent's) in one line."""
    views = _assignment_views(system_of(run.dataset.system), None, run.roles.get(role, ()))
    return ", ".join(f"{assignment.title} ({assignment.label})" for assignment in views)


def _assignment_views(
    system: System | None, agent: Agent | None, rows: Iterable[Mapping[str, Any]]
) -> tuple[AssignmentView, ...]:
    """Return the answerers with their seats; an answerer of several seats appears once."""
    seats: dict[tuple[str, str, str], list[int]] = {}
    for place, row in enumerate(rows, 1):
        title = agent.title if agent else _title(system, row)
        seats.setdefault((title, answerer_label(row), _version(row)), []).append(place)
        if beside := row.get("suggests"):
            title = f"{_title(system, beside)}, suggests only"
            seats.setdefault((title, answerer_label(beside), _version(beside)), []).append(place)
    return tuple(AssignmentView(*key, tuple(places)) for key, places in seats.items())


def answerer_label(row: Mapping[str, Any]) -> str:
    """Return the kind of an answerer in words."""
    if is_local(row):
        return LABELS["local"]
    return LABELS.get(row.get("label", row["kind"]), str(row["kind"]))


def is_local(row: Mapping[str, Any]) -> bool:
    """Return whether an unknown program on this machine answers."""
    return bool(row.get("local")) and row.get("label") != "simulated"


def _title(system: System | None, row: Mapping[str, Any]) -> str:
    if "policy" in row:
        return policy_title(system, row["policy"])
    return str(row.get("title") or "A person")


def _version(row: Mapping[str, Any]) -> str:
    """Return the version of a script; an endpoint's is a digest, which tells readers nothing."""
    return "" if "endpoint" in row else row.get("version", "")


def agents_for(system: str, seen: Visibility = EVERYTHING) -> list[Agent]:
    """Return the agents that can run on a system, without those whose policy is gone."""
    kinds = [Agent.Kind.ENDPOINT, Agent.Kind.SCRIPTED, Agent.Kind.RECORDED, Agent.Kind.HUMAN]
    rows = seen.of(Agent.objects.filter(system__in=[system, ""], kind__in=kinds))
    rows = rows.exclude(endpoint__retired=True).select_related("endpoint")
    known = system_of(system)
    policies = {"", *(known.scripted if known else ())}
    rows = rows.filter(policy__in=policies)
    return sorted(rows, key=lambda agent: (kinds.index(Agent.Kind(agent.kind)), agent.title))


def agents(seen: Visibility = EVERYTHING) -> QuerySet[Agent]:
    """Return all agents by kind, with the number of their runs and the date of the last one."""
    runs = seen.counted("runs")
    rows = seen.of(Agent.objects.all()).annotate(
        run_count=Count("runs", filter=runs), last_run=Max("runs__created_at", filter=runs)
    )
    return rows.order_by("-kind", "title", "name")


@dataclass(frozen=True)
class SystemScripts:
    """The scripted answerers of a system for all roles but the agent's, by role title."""

    title: str
    roles: Sequence[tuple[str, Sequence[ScriptedPolicy]]]


def scripted_roles() -> list[SystemScripts]:
    """Return the scripts that can judge, simulate and so on, for each system."""
    scripts = []
    for key in SYSTEMS:
        system = get_system(key)
        roles = [
            (role.title, [p for p in system.scripted.values() if p.role == role.name])
            for role in system.roles[1:]
        ]
        if filled := [pair for pair in roles if pair[1]]:
            scripts.append(SystemScripts(system.title, filled))
    return scripts
