"""Endpoints: made and changed by administrators, tried, and turned into answerers."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.core.answerers import Answerer
from benchmarks.core.errors import AnswererFailed, CoreError, UnknownName
from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.llm.schemas import schemas_of
from benchmarks.llm.security import check_host
from benchmarks.models import Agent, AnswererVersion, Endpoint

# What may be changed at any time, because no answer depends on it.
CHANGEABLE = (
    "title", "key_variable", "price_in", "price_out", "currency", "timeout", "concurrency",
    "requests_per_minute", "retired",
)  # fmt: skip
SHAPING = ("base_url", "model", "parameters", "structured", "native_tools")
_CONFIGURED = tuple(name for name in (*SHAPING, *CHANGEABLE) if name not in ("title", "retired"))


class EndpointError(CoreError):
    """An endpoint that cannot be made or changed like this; the text says what to do."""


def endpoint_config(endpoint: Endpoint) -> EndpointConfig:
    """What the client has to know; raises ``SettingError`` or ``EndpointRefused`` for nonsense."""
    return EndpointConfig(
        name=endpoint.name, **{name: getattr(endpoint, name) for name in _CONFIGURED}
    )


def create_endpoint(
    *, name: str, title: str, created_by: User | None = None, **values: Any
) -> Endpoint:
    """An endpoint, and the agent of the same name that asks it, for runs on any system."""
    endpoint = Endpoint(name=name, title=title, created_by=created_by, **values)
    _check(endpoint)
    with transaction.atomic():
        if Endpoint.objects.filter(name=name).exists() or Agent.objects.filter(name=name).exists():
            raise EndpointError(f"the name {name!r} is taken by another endpoint or agent")
        endpoint.save()
        Agent.objects.create(name=name, title=title, kind=Agent.Kind.ENDPOINT, endpoint=endpoint)
    return endpoint


def change_endpoint(*, endpoint: Endpoint, **values: Any) -> Endpoint:
    """Change an endpoint; once it was asked, only what shapes no answer."""
    with transaction.atomic():
        row = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        shaped = [name for name in SHAPING if name in values and values[name] != getattr(row, name)]
        if shaped and endpoint_used(row):
            raise EndpointError(
                f"{row.title} has answered already, so its {', '.join(shaped)} cannot be changed; "
                "make another endpoint and retire this one"
            )
        for name, value in values.items():
            setattr(row, name, value)
        _check(row)
        row.save()
        row.agents.update(title=row.title)
    return row


def endpoint_used(endpoint: Endpoint) -> bool:
    """Whether anybody was asked there, or a run counts on it."""
    asked = AnswererVersion.objects.filter(kind="endpoint", name=endpoint.name).exists()
    return asked or endpoint.agents.filter(runs__isnull=False).exists()


def _check(endpoint: Endpoint) -> None:
    check_host(endpoint_config(endpoint).address, settings.PLANJURY_ENDPOINT_HOSTS)


def answerer_at(system: str) -> Callable[[str, str], Answerer]:
    """A function from an endpoint's name and version to its answerer; looks each up once."""
    schemas = schemas_of(system)

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
        return EndpointAnswerer(config, schemas, settings.PLANJURY_ENDPOINT_HOSTS)

    return build


def currency_of(fillers: Mapping[str, list[dict[str, Any]]]) -> str:
    """The currency in which a run is paid; a run cannot add up amounts in several."""
    names = {row["endpoint"] for rows in fillers.values() for row in rows if "endpoint" in row}
    found = set(Endpoint.objects.filter(name__in=names).values_list("currency", flat=True))
    if len(found) > 1:
        raise EndpointError(
            f"endpoints with prices in {', '.join(sorted(found))} cannot share a run"
        )
    return found.pop() if found else ""
