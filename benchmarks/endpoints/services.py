"""Create and change endpoints, build their answerers, and check cost caps."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.core.answerers import Answerer
from benchmarks.core.errors import AnswererFailed, CoreError, UnknownName
from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import find_system
from benchmarks.endpoints.rules import EndpointRules, is_delegate
from benchmarks.endpoints.selectors import agent_title, endpoint_used
from benchmarks.llm.config import EndpointConfig, SchemaBuilder
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.llm.security import EndpointRefused
from benchmarks.mappers import endpoint_config
from benchmarks.models import Agent, Endpoint, Run
from benchmarks.models.role_assignments import Roles, all_assignments

# The fields that replies depend on.
SHAPING = ("base_url", "model", "parameters", "structured", "native_tools")
# Costs are stored as plain amounts, so the currency must not change either.
LOCKED = (*SHAPING, "currency")
# Allowed even for endpoints that the rules no longer permit.
_UNCHECKED = {"retired", "simulated"}


class EndpointError(CoreError):
    """Raised if an endpoint cannot be created or changed; the text says what to do."""


def create_endpoint(
    *, name: str, title: str, created_by: User | None = None, **values: Any
) -> Endpoint:
    """Create an endpoint, and the agent of the same name that asks it in runs of any system.

    ``created_by`` is None at the terminal. An endpoint of somebody who is no administrator is
    delegated, unless ``delegated`` is given: then it is a copy of one that is there already.
    """
    values.setdefault("delegated", is_delegate(created_by))
    endpoint = Endpoint(name=name, title=title, created_by=created_by, **values)
    EndpointRules.load().check(endpoint)
    with transaction.atomic():
        if Endpoint.objects.filter(name=name).exists() or Agent.objects.filter(name=name).exists():
            raise EndpointError(f"the name {name!r} is taken by another endpoint or agent")
        endpoint.save()
        Agent.objects.create(
            name=name, title=agent_title(endpoint), kind=Agent.Kind.ENDPOINT, endpoint=endpoint
        )
    return endpoint


def change_endpoint(*, endpoint: Endpoint, **values: Any) -> Endpoint:
    """Change an endpoint; once it has been asked, only fields that shape no reply and no cost."""
    with transaction.atomic():
        row = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        locked = [name for name in LOCKED if name in values and values[name] != getattr(row, name)]
        if row.simulated and values.get("simulated") is False:
            locked.append("simulated")
        if locked and endpoint_used(row):
            raise EndpointError(
                f"{row.title} has answered already, so its {', '.join(map(plain, locked)).lower()} "
                "cannot be changed; make another endpoint and retire this one"
            )
        found_out = values.get("simulated") and not row.simulated
        for name, value in values.items():
            setattr(row, name, value)
        if not values.keys() <= _UNCHECKED:
            EndpointRules.load().check(row)
        row.save()
        row.agents.update(title=agent_title(row))
        if found_out:
            _label_runs(row)
    return row


def endpoint_label(endpoint: Endpoint) -> str:
    """Return the label of an endpoint's results: model, or simulated by a program."""
    return "simulated" if endpoint.simulated else "endpoint"


def _label_runs(endpoint: Endpoint) -> None:
    """Relabel the earlier runs of an endpoint, once it is known to be simulated."""
    for run in Run.objects.exclude(currency="").select_for_update():
        mine = [row for row in all_assignments(run.roles) if row.get("endpoint") == endpoint.name]
        for row in mine:
            row["label"] = endpoint_label(endpoint)
        if mine:
            run.data_version += 1
            run.save(update_fields=["roles", "data_version"])


def answerer_at(system: str) -> Callable[[str, str], Answerer]:
    """Return a function from an endpoint's name and version to its answerer, with a cache."""

    @cache
    def build(name: str, version: str) -> Answerer:
        endpoint = Endpoint.objects.filter(name=name).first()
        if endpoint is None:
            raise UnknownName("endpoint", name, [])
        config = endpoint_config(endpoint)
        if config.identity.digest != version:
            raise AnswererFailed(
                f"endpoint {name!r} is not what it was when the run was started: "
                "its address, model or parameters were changed"
            )
        try:
            return endpoint_answerer(endpoint, find_system(system).reply_schemas)
        except EndpointRefused as error:
            raise AnswererFailed(f"endpoint {name!r}: {error}") from None

    return build


def endpoint_answerer(
    endpoint: Endpoint,
    schemas: Mapping[str, SchemaBuilder],
    *,
    timeout: float | None = None,
    **more: Any,
) -> EndpointAnswerer:
    """Return what asks an endpoint, under the rules as they are now.

    ``timeout`` shortens the seconds for one try; ``more`` are fields of `EndpointAnswerer`. Raises
    ``EndpointRefused`` where the rules do not allow the endpoint, or no longer.
    """
    rules, config = EndpointRules.load(), endpoint_config(endpoint)
    rules.check(endpoint, config)
    if timeout is not None:
        config = config.model_copy(update={"timeout": min(config.timeout, timeout)})
    return EndpointAnswerer(config, schemas, rules.hosts, **more)


def check_use(endpoints: Iterable[Endpoint], user: User | None) -> None:
    """Refuse to start something with endpoints whose keys are kept for other people."""
    asked = [endpoint for endpoint in endpoints if endpoint.key_variable]
    if asked:
        EndpointRules.load().check_use(asked, user)


def endpoints_in(assignments: Roles) -> list[Endpoint]:
    """Return the endpoints that these roles are assigned to, by title."""
    names = {row["endpoint"] for row in all_assignments(assignments) if "endpoint" in row}
    return list(Endpoint.objects.filter(name__in=names).order_by("title")) if names else []


def currency_of(endpoints: Iterable[Endpoint]) -> str:
    """Return the currency of a run; endpoints of several currencies are refused."""
    currencies = {endpoint.currency for endpoint in endpoints}
    if len(currencies) > 1:
        raise EndpointError(
            f"endpoints with prices in {', '.join(sorted(currencies))} cannot share a run"
        )
    return currencies.pop() if currencies else ""


class CapError(EndpointError):
    """Raised for a cost cap that could not be enforced."""


def check_cap(cap: float | None, endpoints: Iterable[Endpoint]) -> None:
    """Refuse a cap if the maximum cost of a call is unknown."""
    lacking = {e.title: _lacking(endpoint_config(e)) for e in endpoints} if cap is not None else {}
    sentences = [
        f"{title} has no {' and no '.join(parts)}" for title, parts in lacking.items() if parts
    ]
    if sentences:
        raise CapError(
            "a cost cap needs both prices and a max_tokens for every endpoint: "
            + "; ".join(sentences)
        )


def _lacking(config: EndpointConfig) -> list[str]:
    """Name what is missing to compute the maximum cost of a call."""
    parts = [
        words
        for words, price in (("input price", config.price_in), ("output price", config.price_out))
        if price is None
    ]
    # a reply that is free may have any length
    bounded = config.price_out == 0 or config.max_tokens(config.parameters) is not None
    return parts if bounded else [*parts, "max_tokens"]
