"""Variants of agents: the same agent with other parameters, created for an experiment.

A variant of an endpoint names the same variable for its key; keys themselves are never stored.
"""

from collections.abc import Iterator, Mapping
from itertools import count

from django.contrib.auth.models import User
from django.utils.text import slugify

from benchmarks.core.system import System
from benchmarks.endpoints.services import create_endpoint
from benchmarks.experiments.design import TEMPERATURE
from benchmarks.mappers import CONFIGURED
from benchmarks.models import Agent, Endpoint

# Either of these limits a reply; an endpoint accepts one of them.
_MAX_TOKENS, _MAX_COMPLETION = "max_tokens", "max_completion_tokens"
_LONGEST_NAME, _LONGEST_TITLE = 60, 120
_SAME = tuple(name for name in CONFIGURED if name not in ("name", "parameters"))


def takes_temperature(system: System, agent: Agent) -> bool:
    """Return whether an agent can have other temperatures: endpoints that accept one, and scripts
    whose policy has such a parameter.
    """
    if agent.endpoint is not None:
        parameters = agent.endpoint.parameters
        return parameters.get(TEMPERATURE, 1.0) is not None
    policy = system.scripted.get(agent.policy) if agent.kind == Agent.Kind.SCRIPTED else None
    return policy is not None and TEMPERATURE in policy.parameters


def own_temperature(system: System, agent: Agent) -> float | None:
    """Return the temperature of an agent; None if it is not set."""
    if agent.endpoint is not None:
        given = agent.endpoint.parameters.get(TEMPERATURE)
    else:
        policy = system.scripted.get(agent.policy)
        usual = policy.parameters.get(TEMPERATURE) if policy is not None else None
        given = agent.parameters.get(TEMPERATURE, usual)
    return float(given) if isinstance(given, int | float) else None


def changes_of(
    system: System, agent: Agent, temperature: float | None, parameters: Mapping[str, float]
) -> dict[str, float]:
    """Return the parameters that differ in a variant; empty if the agent itself fits.

    ``parameters`` are for endpoints. An endpoint that accepts no temperature gets none.
    """
    wanted = {} if temperature is None else {TEMPERATURE: temperature}
    if agent.endpoint is None:
        return {} if temperature == own_temperature(system, agent) else wanted
    own = agent.endpoint.parameters
    wanted = {**parameters, **wanted}
    if own.get(TEMPERATURE, 1.0) is None:
        wanted.pop(TEMPERATURE, None)
    if _MAX_COMPLETION in own and _MAX_TOKENS in wanted:
        wanted[_MAX_COMPLETION] = wanted.pop(_MAX_TOKENS)
    return {name: value for name, value in wanted.items() if own.get(name) != value}


def find_variant(agent: Agent, changes: Mapping[str, float]) -> Agent | None:
    """Return the existing variant, whoever created it."""
    endpoint = agent.endpoint
    if endpoint is None:
        alike = Agent.objects.filter(kind=agent.kind, system=agent.system, policy=agent.policy)
        wanted = {**agent.parameters, **changes}
        return next((one for one in alike.order_by("pk") if one.parameters == wanted), None)
    same = {name: getattr(endpoint, name) for name in _SAME}
    wanted = {**endpoint.parameters, **changes}
    same |= {"simulated": endpoint.simulated, "delegated": endpoint.delegated, "retired": False}
    if endpoint.delegated:
        same["created_by"] = endpoint.created_by
    others = Endpoint.objects.filter(**same)
    twin = next((one for one in others.order_by("pk") if one.parameters == wanted), None)
    return twin.agents.order_by("pk").first() if twin is not None else None


def ensure_variant(
    *, agent: Agent, changes: Mapping[str, float], experiment: str, created_by: User | None
) -> Agent:
    """Return the variant of an agent, created if needed with a note about the experiment."""
    known = find_variant(agent, changes)
    if known is not None:
        return known
    suffix = "".join(f", {name.replace('_', ' ')} {value:g}" for name, value in changes.items())
    title = agent.title[: _LONGEST_TITLE - len(suffix)] + suffix
    note = f"Made for the experiment “{experiment}” from {agent.title}."
    name = _free_name(agent.name, changes)
    endpoint = agent.endpoint
    if endpoint is None:
        return Agent.objects.create(
            name=name,
            title=title,
            kind=agent.kind,
            system=agent.system,
            policy=agent.policy,
            parameters={**agent.parameters, **changes},
            note=note,
        )
    made = create_endpoint(
        name=name,
        title=endpoint.title[: _LONGEST_TITLE - len(suffix)] + suffix,
        # The variant keeps its maker and their rights: only parameters are others.
        created_by=endpoint.created_by if endpoint.delegated else created_by,
        delegated=endpoint.delegated,
        parameters={**endpoint.parameters, **changes},
        simulated=endpoint.simulated,
        **{name: getattr(endpoint, name) for name in _SAME},
    )
    variant = made.agents.get()
    variant.note = note
    variant.save(update_fields=["note"])
    return variant


def _free_name(name: str, changes: Mapping[str, float]) -> str:
    taken = {*Agent.objects.values_list("name", flat=True)}
    taken.update(Endpoint.objects.values_list("name", flat=True))
    return next(one for one in _names(name, changes) if one not in taken)


def _names(name: str, changes: Mapping[str, float]) -> Iterator[str]:
    parts = [f"{key[0]}{value:g}".replace(".", "-") for key, value in changes.items()]
    end = "-" + slugify("-".join(parts))
    for number in count(1):
        tail = end if number == 1 else f"{end}-{number}"
        yield name[: _LONGEST_NAME - len(tail)] + tail
