"""From a run's stored role assignments to the answerers that fill the roles of one task."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.answerers import Answerer, Cast, Human
from benchmarks.core.errors import SettingError, UnknownName
from benchmarks.core.system import System
from benchmarks.core.types import Task
from benchmarks.models import Agent, Dataset

Filler = Mapping[str, Any]


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


def agent_filler(system: System, agent: Agent) -> dict[str, Any]:
    """How an agent fills the role ``agent``."""
    if agent.kind == Agent.Kind.HUMAN:
        return {"kind": "human", "label": "human"}
    if agent.kind in (Agent.Kind.SCRIPTED, Agent.Kind.RECORDED):
        return scripted_filler(system, "agent", agent.policy)
    raise UnknownName("kind of agent", agent.kind, ["scripted", "recorded", "human"])


def assign_roles(
    system: System,
    dataset: Dataset,
    agent: Agent,
    settings: Mapping[str, Any],
    chosen: Mapping[str, Sequence[str]],
) -> dict[str, list[dict[str, Any]]]:
    """Who fills every role of a run, one entry per seat.

    ``chosen`` names scripted policies by role (``human`` for a person); roles that it leaves out
    take the dataset's own choice, then the system's.
    """
    names = [role.name for role in system.roles]
    for name in chosen:
        if name not in names:
            raise UnknownName("role", name, names)
    roles: dict[str, list[dict[str, Any]]] = {}
    for role in system.roles:
        seats = system.seats(role.name, settings)
        if role.name == "agent":
            roles[role.name] = [agent_filler(system, agent)]
            continue
        wanted = list(chosen.get(role.name) or dataset.roles.get(role.name) or role.default)
        if seats and not wanted:
            raise SettingError(role.name, "somebody to fill the role", "nobody")
        fillers = []
        for place, _ in enumerate(seats):
            name = wanted[place % len(wanted)]
            human = {"kind": "human", "label": "human"}
            fillers.append(human if name == "human" else scripted_filler(system, role.name, name))
        roles[role.name] = fillers
    return roles


def build_cast(
    system: System,
    task: Task,
    roles: Mapping[str, Sequence[Filler]],
    settings: Mapping[str, Any],
) -> Cast:
    """The answerers of one trajectory, bound to its task."""
    return Cast(
        {
            role.name: {
                seat: _answerer(system, task, filler)
                for seat, filler in zip(
                    system.seats(role.name, settings), roles.get(role.name, ()), strict=False
                )
            }
            for role in system.roles
        }
    )


def _answerer(system: System, task: Task, filler: Filler) -> Answerer:
    if filler["kind"] == "human":
        return Human()
    policy = system.scripted.get(filler["policy"])
    if policy is None or policy.version != filler["version"]:
        raise UnknownName(
            "script version",
            f"{filler['policy']} {filler['version']}",
            [f"{p.name} {p.version}" for p in system.scripted.values()],
        )
    return policy.build(task, filler["parameters"])
