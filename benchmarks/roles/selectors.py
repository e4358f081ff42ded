"""Who fills the roles of a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max, QuerySet

from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.core.labels import plain
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.system import ScriptedPolicy, System
from benchmarks.mappers import system_of_run
from benchmarks.models import Agent, Run
from benchmarks.roles.assignments import Roles
from benchmarks.visibility import EVERYTHING, Visibility

LABELS = {
    "scripted": "scripted",
    "lexicon": "lexicon",
    "recorded": "recorded",
    "human": "person",
    "endpoint": "language model",
    "simulated": "simulated",
    "imported": "made elsewhere",
    "local": "endpoint on this machine",
}


@dataclass(frozen=True)
class FillerView:
    """Somebody who fills a seat; ``label`` says what they are where that is no model or person."""

    title: str
    label: str
    version: str
    seats: tuple[int, ...] = ()


@dataclass(frozen=True)
class RoleView:
    """A role with all who fill it; nobody where the role is not asked under these settings."""

    title: str
    fillers: tuple[FillerView, ...]


def system_of(key: str) -> System | None:
    """The system, or None for datasets of systems that are not registered (imports)."""
    try:
        return get_system(key)
    except UnknownName:
        return None


def playing_system(run: Run) -> System | None:
    """What a run is played by, its judges alone where it judges anew; None where nobody knows."""
    try:
        return system_of_run(run)
    except CoreError:
        return None


def roles_behind(run: Run) -> Roles:
    """Who stands behind what a run shows: with judges of its own, or those that count instead.

    In a run that judges anew these are its judges, and all others as they played what it looks at.
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
    """The run that a run of judges looks at; None for others."""
    if run.kind != Run.Kind.JUDGING:
        return None
    return Run.objects.filter(judgings__made_by=run).first()


def policy_title(system: System | None, policy: str) -> str:
    """The title of a scripted policy; its name where it is no longer known."""
    known = system.scripted.get(policy) if system else None
    return known.title if known else plain(policy)


def run_roles(run: Run, recast: Roles | None = None) -> list[RoleView]:
    """Every role of the system with who fills it in this run; and who took over by ``recast``."""
    recast = recast or {}
    system = playing_system(run)
    titles = {role.name: role.title for role in system.roles} if system else {}
    names = [*titles, *(name for name in run.roles if name not in titles)]
    return [
        RoleView(
            titles.get(name, plain(name)),
            (
                *_fillers(system, run.agent if name == "agent" else None, run.roles.get(name, ())),
                *(
                    replace(one, title=f"{one.title}, took over")
                    for one in _fillers(system, None, recast.get(name, ()))
                ),
            ),
        )
        for name in names
    ]


def role_words(run: Run, role: str) -> str:
    """Who fills a role of a run other than the agent's, in words."""
    found = _fillers(system_of(run.dataset.system), None, run.roles.get(role, ()))
    return ", ".join(f"{filler.title} ({filler.label})" for filler in found)


def _fillers(
    system: System | None, agent: Agent | None, rows: Iterable[Mapping[str, Any]]
) -> tuple[FillerView, ...]:
    """Fillers with their seats; one who fills several seats stands once."""
    seats: dict[tuple[str, str, str], list[int]] = {}
    for place, row in enumerate(rows, 1):
        title = agent.title if agent else _title(system, row)
        seats.setdefault((title, filler_label(row), _version(row)), []).append(place)
        if beside := row.get("suggests"):
            title = f"{_title(system, beside)}, suggests only"
            seats.setdefault((title, filler_label(beside), _version(beside)), []).append(place)
    return tuple(FillerView(*key, tuple(places)) for key, places in seats.items())


def filler_label(row: Mapping[str, Any]) -> str:
    """What somebody is, in words."""
    if is_local(row):
        return LABELS["local"]
    return LABELS.get(row.get("label", row["kind"]), str(row["kind"]))


def is_local(row: Mapping[str, Any]) -> bool:
    """Whether something on this machine answers of which nobody knows what it is."""
    return bool(row.get("local")) and row.get("label") != "simulated"


def _title(system: System | None, row: Mapping[str, Any]) -> str:
    if "policy" in row:
        return policy_title(system, row["policy"])
    return str(row.get("title") or "A person")


def _version(row: Mapping[str, Any]) -> str:
    """The version of a script; that of an endpoint is a digest, and says nothing to people."""
    return "" if "endpoint" in row else row.get("version", "")


def agents_for(system: str, seen: Visibility = EVERYTHING) -> list[Agent]:
    """Agents that a run on this system can be given; none whose policy is no longer known."""
    kinds = [Agent.Kind.ENDPOINT, Agent.Kind.SCRIPTED, Agent.Kind.RECORDED, Agent.Kind.HUMAN]
    rows = seen.of(Agent.objects.filter(system__in=[system, ""], kind__in=kinds))
    rows = rows.exclude(endpoint__retired=True).select_related("endpoint")
    known = system_of(system)
    policies = {"", *(known.scripted if known else ())}
    rows = rows.filter(policy__in=policies)
    return sorted(rows, key=lambda agent: (kinds.index(Agent.Kind(agent.kind)), agent.title))


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
