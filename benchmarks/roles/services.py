"""Make role assignments, and build the answerers that they stand for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.core.answerers import Answerer, Cast, Human, Identity
from benchmarks.core.errors import SettingError, UnknownName
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.core.system import System
from benchmarks.core.types import Task
from benchmarks.endpoints.services import endpoint_label
from benchmarks.mappers import endpoint_config
from benchmarks.models import Agent, Dataset, Endpoint
from benchmarks.models.role_assignments import RoleAssignment

# How a person and an endpoint are named where scripted policies go by their names.
HUMAN, AT = "human", "endpoint:"


def assign_script(system: System, role: str, policy: str) -> dict[str, Any]:
    """Return the assignment of a scripted policy, which the system must know."""
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


def assign_person(suggests: RoleAssignment | None = None) -> dict[str, Any]:
    """Return the assignment of a person, with a script or model that suggests to them, if any."""
    person = {"kind": "human", "label": "human"}
    return person if suggests is None else {**person, "suggests": dict(suggests)}


def assign_endpoint(endpoint: Endpoint) -> dict[str, Any]:
    """Return the assignment of an endpoint; its version is a digest of all that shapes a reply."""
    if endpoint.retired:
        raise SettingError("endpoint", "one that is not retired", endpoint.name)
    config = endpoint_config(endpoint)
    return {
        "kind": "endpoint",
        "label": endpoint_label(endpoint),
        "endpoint": endpoint.name,
        "title": endpoint.title,
        "version": config.identity.digest,
        # Pages say so, because any program on this machine may pose as a model.
        **({"local": True} if config.address.loopback else {}),
    }


def assign_by_name(system: System, role: str, name: str) -> dict[str, Any]:
    """Return an assignment by name: ``human``, ``endpoint:NAME``, or a policy of the role."""
    if name == HUMAN:
        return assign_person()
    if not name.startswith(AT):
        return assign_script(system, role, name)
    wanted = name.removeprefix(AT)
    endpoint = Endpoint.objects.filter(name=wanted).first()
    if endpoint is None:
        known = list(Endpoint.objects.filter(retired=False).values_list("name", flat=True))
        raise UnknownName("endpoint", wanted, known)
    return assign_endpoint(endpoint)


def assign_agent(system: System, agent: Agent) -> dict[str, Any]:
    """Return the assignment of an agent to the role ``agent``."""
    if agent.kind == Agent.Kind.HUMAN:
        return assign_person()
    if agent.kind == Agent.Kind.ENDPOINT and agent.endpoint:
        return assign_endpoint(agent.endpoint)
    if agent.kind in (Agent.Kind.SCRIPTED, Agent.Kind.RECORDED):
        assignment = assign_script(system, "agent", agent.policy)
        return {**assignment, "parameters": {**assignment["parameters"], **agent.parameters}}
    raise UnknownName("kind of agent", agent.kind, ["scripted", "recorded", "endpoint", "human"])


def assign_roles(
    system: System,
    dataset: Dataset,
    agent: Agent,
    settings: Mapping[str, Any],
    chosen: Mapping[str, Sequence[str]],
    suggests: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Return the assignments of every role of a run, one for each seat.

    ``chosen`` names who fills a role (see ``assign_by_name``); roles that it leaves out take the
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
            roles[role.name] = [assign_agent(system, agent)]
            continue
        usual = list(dataset.roles.get(role.name) or role.default)
        wanted = list(chosen.get(role.name) or usual)
        if seats and not wanted:
            raise SettingError(role.name, "somebody to fill the role", "nobody")
        roles[role.name] = [
            assign_by_name(system, role.name, wanted[place % len(wanted)])
            for place, _ in enumerate(seats)
        ]
        if suggests is not None and role.name in suggests:
            asked = list(suggests[role.name] or usual)
            roles[role.name] = [
                _with_suggestion(system, role.name, assignment, asked[place % len(asked)])
                for place, assignment in enumerate(roles[role.name])
            ]
    return roles


def _with_suggestion(
    system: System, role: str, assignment: dict[str, Any], name: str
) -> dict[str, Any]:
    """Add a suggesting script or model to a person's assignment; leave all others as they are."""
    if assignment["kind"] != "human" or name == HUMAN:
        return assignment
    return assign_person(assign_by_name(system, role, name))


def build_answerers(
    system: System,
    task: Task,
    roles: Mapping[str, Sequence[RoleAssignment]],
    settings: Mapping[str, Any],
    at: Callable[[str, str], Answerer],
) -> Cast:
    """Build the answerers of one trajectory, bound to its task; ``at`` as in `build_answerer`."""
    return Cast(
        {
            role.name: {
                seat: build_answerer(system, task, assignment, at)
                for seat, assignment in zip(
                    system.seats(role.name, settings), roles.get(role.name, ()), strict=False
                )
            }
            for role in system.roles
        }
    )


def build_answerer(
    system: System, task: Task, assignment: RoleAssignment, at: Callable[[str, str], Answerer]
) -> Answerer:
    """Build the answerer of an assignment, bound to a task; ``at`` builds those of endpoints."""
    if assignment["kind"] == "human":
        return Human()
    if assignment["kind"] == "endpoint":
        return at(assignment["endpoint"], assignment["version"])
    policy, version = system.scripted.get(assignment["policy"]), assignment.get("version", "")
    if policy is None or policy.version != version:
        raise UnknownName(
            "script version",
            f"{assignment['policy']} {version}",
            [f"{p.name} {p.version}" for p in system.scripted.values() if policy in (None, p)],
        )
    return policy.build(task, assignment["parameters"])


# The name of the agent whose role any person may fill on the page of open asks.
PERSON = "person"


def unbuilt_identity(assignment: RoleAssignment) -> Identity:
    """Return the identity of an answerer that could not be built, as far as it is known."""
    name = str(assignment.get("endpoint") or assignment.get("policy") or assignment["kind"])
    return Identity(assignment["kind"], name, str(assignment.get("version", "")))


def ensure_scripted_agents() -> int:
    """Create an agent for each scripted policy that has none; return how many were created."""
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
