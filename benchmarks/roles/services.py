"""From a run's stored role assignments to the answerers that fill the roles of one task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.core.answerers import Answerer, Cast, Human
from benchmarks.core.errors import SettingError, UnknownName
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.system import System
from benchmarks.core.types import Task
from benchmarks.endpoints.services import answerer_at, endpoint_label
from benchmarks.mappers import endpoint_config
from benchmarks.models import Agent, Dataset, Endpoint
from benchmarks.roles.assignments import Filler

# How a person and an endpoint are named where scripted policies go by their names.
HUMAN, AT = "human", "endpoint:"


def scripted_filler(system: System, role: str, policy: str) -> dict[str, Any]:
    """The stored form of a scripted answerer, checked against the system's policies."""
    known = {name: p for name, p in system.scripted.items() if p.role == role}
    if policy not in known:
        raise UnknownName(f"scripted {role}", policy, sorted(known))
    chosen = known[policy]
    return {
        "kind": "scripted",
        "policy": policy,
        "version": chosen.version,
        "label": chosen.label,
        "parameters": dict(chosen.parameters),
    }


def human_filler(suggests: Filler | None = None) -> dict[str, Any]:
    """A person, and who suggests to them, if anybody."""
    person = {"kind": "human", "label": "human"}
    return person if suggests is None else {**person, "suggests": dict(suggests)}


def endpoint_filler(endpoint: Endpoint) -> dict[str, Any]:
    """The stored form of an endpoint; its version names all that shapes an answer."""
    if endpoint.retired:
        raise SettingError("endpoint", "one that is not retired", endpoint.name)
    config = endpoint_config(endpoint)
    return {
        "kind": "endpoint",
        "label": endpoint_label(endpoint),
        "endpoint": endpoint.name,
        "title": endpoint.title,
        "version": config.identity.digest,
        # pages say so: on this machine anything may pose as a model
        **({"local": True} if config.address.loopback else {}),
    }


def named_filler(system: System, role: str, name: str) -> dict[str, Any]:
    """A filler by name: ``human``, ``endpoint:NAME``, or a scripted policy of the role."""
    if name == HUMAN:
        return human_filler()
    if not name.startswith(AT):
        return scripted_filler(system, role, name)
    wanted = name.removeprefix(AT)
    endpoint = Endpoint.objects.filter(name=wanted).first()
    if endpoint is None:
        known = list(Endpoint.objects.filter(retired=False).values_list("name", flat=True))
        raise UnknownName("endpoint", wanted, known)
    return endpoint_filler(endpoint)


def agent_filler(system: System, agent: Agent) -> dict[str, Any]:
    """How an agent fills the role ``agent``."""
    if agent.kind == Agent.Kind.HUMAN:
        return human_filler()
    if agent.kind == Agent.Kind.ENDPOINT and agent.endpoint:
        return endpoint_filler(agent.endpoint)
    if agent.kind in (Agent.Kind.SCRIPTED, Agent.Kind.RECORDED):
        filler = scripted_filler(system, "agent", agent.policy)
        return {**filler, "parameters": {**filler["parameters"], **agent.parameters}}
    raise UnknownName("kind of agent", agent.kind, ["scripted", "recorded", "endpoint", "human"])


def assign_roles(
    system: System,
    dataset: Dataset,
    agent: Agent,
    settings: Mapping[str, Any],
    chosen: Mapping[str, Sequence[str]],
    suggests: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Who fills every role of a run, one entry per seat.

    ``chosen`` names who fills a role (see ``named_filler``); roles that it leaves out take the
    dataset's own choice, then the system's. ``suggests`` names in the same way who suggests in
    roles that people fill.
    """
    names = [role.name for role in system.roles]
    for name in (*chosen, *(suggests or {})):
        if name not in names:
            raise UnknownName("role", name, names)
    roles: dict[str, list[dict[str, Any]]] = {}
    for role in system.roles:
        seats = system.seats(role.name, settings)
        if role.name == "agent":
            roles[role.name] = [agent_filler(system, agent)]
            continue
        usual = list(dataset.roles.get(role.name) or role.default)
        wanted = list(chosen.get(role.name) or usual)
        if seats and not wanted:
            raise SettingError(role.name, "somebody to fill the role", "nobody")
        roles[role.name] = [
            named_filler(system, role.name, wanted[place % len(wanted)])
            for place, _ in enumerate(seats)
        ]
        if suggests is not None and role.name in suggests:
            asked = list(suggests[role.name] or usual)
            roles[role.name] = [
                _with_suggestion(system, role.name, filler, asked[place % len(asked)])
                for place, filler in enumerate(roles[role.name])
            ]
    return roles


def _with_suggestion(
    system: System, role: str, filler: dict[str, Any], name: str
) -> dict[str, Any]:
    """A person with who suggests to them; whoever is no person needs nobody."""
    if filler["kind"] != "human" or name == HUMAN:
        return filler
    return human_filler(named_filler(system, role, name))


def build_cast(
    system: System,
    task: Task,
    roles: Mapping[str, Sequence[Filler]],
    settings: Mapping[str, Any],
) -> Cast:
    """The answerers of one trajectory, bound to its task."""
    at = answerer_at(system.key)
    return Cast(
        {
            role.name: {
                seat: build_answerer(system, task, filler, at)
                for seat, filler in zip(
                    system.seats(role.name, settings), roles.get(role.name, ()), strict=False
                )
            }
            for role in system.roles
        }
    )


def build_answerer(
    system: System, task: Task, filler: Filler, at: Callable[[str, str], Answerer]
) -> Answerer:
    """The answerer that a filler stands for, bound to a task; ``at`` makes those at endpoints."""
    if filler["kind"] == "human":
        return Human()
    if filler["kind"] == "endpoint":
        return at(filler["endpoint"], filler["version"])
    policy = system.scripted.get(filler["policy"])
    if policy is None or policy.version != filler["version"]:
        raise UnknownName(
            "script version",
            f"{filler['policy']} {filler['version']}",
            [f"{p.name} {p.version}" for p in system.scripted.values()],
        )
    return policy.build(task, filler["parameters"])


# Whoever is there takes the agent's part on the page of open asks.
PERSON = "person"


def ensure_scripted_agents() -> int:
    """Make the missing ones; returns how many were made. Existing agents are left alone."""
    known = set(Agent.objects.values_list("name", flat=True))
    missing = [
        Agent(
            name=policy.name,
            title=policy.title,
            kind="recorded" if policy.label == "recorded" else "scripted",
            system=key,
            policy=policy.name,
        )
        for key in SYSTEMS
        for policy in get_system(key).scripted.values()
        if policy.role == "agent" and policy.name not in known
    ]
    if PERSON not in known:
        missing.append(Agent(name=PERSON, title="A person", kind=Agent.Kind.HUMAN))
    Agent.objects.bulk_create(missing, ignore_conflicts=True)
    return len(missing)
