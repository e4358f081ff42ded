"""The configuration of an endpoint: its address, parameters, prices and limits."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from benchmarks.core.answerers import Identity
from benchmarks.core.digests import digest
from benchmarks.core.errors import SettingError
from benchmarks.core.types import Json
from benchmarks.llm.security import Address, check_key_variable, read_address

# How asks become requests. Raised when equal asks would be put differently than before.
VERSION = "1"

# What PlanJury's fake endpoint names as the owner of its models, so that its results are labelled.
FAKE_OWNER = "planjury-fake-endpoint"

Structured = Literal["json_schema", "json_object", "none"]
# The parameters of an ``Expect`` to the JSON schema of its replies.
SchemaBuilder = Callable[[Json], Json]

# What we decide ourselves; as parameters they would break the conversation or its reading.
RESERVED = frozenset(
    {"messages", "model", "n", "response_format", "stream", "stream_options", "tool_choice"}
    | {"tools", "functions", "function_call", "extra_body", "extra_headers", "extra_query"}
)
_LENGTHS = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True)
class EndpointConfig:
    """An OpenAI-compatible endpoint. It holds the name of the key's variable, never the key.

    Parameters
    ----------
    parameters
        Sent with each request as they stand: ``temperature``, ``top_p``, ``max_tokens`` and what
        else the endpoint understands. A parameter that is None is never sent, even if a protocol
        wishes for it. ``seed``: every call's own unless a number (or None) is given here.
    price_in, price_out
        Per million tokens, in ``currency``; None where not known.
    timeout
        Seconds for one try, from its start to the last byte of the reply.
    concurrency, requests_per_minute
        The most calls at once, and the most calls started in a minute, by all processes together.
    structured
        How the endpoint can be held to JSON: by a schema, by a switch, or not at all.
    native_tools
        Whether it takes tools as such; without, they are described in the text.
    """

    name: str
    base_url: str
    model: str
    parameters: Json = field(default_factory=dict)
    key_variable: str = ""
    price_in: float | None = None
    price_out: float | None = None
    currency: str = "USD"
    timeout: float = 120.0
    concurrency: int = 32
    requests_per_minute: int | None = None
    structured: Structured = "none"
    native_tools: bool = False

    def __post_init__(self) -> None:
        for name in ("name", "model"):
            if not getattr(self, name).strip():
                raise SettingError(name, "a text that is not blank", getattr(self, name))
        for name in ("price_in", "price_out"):
            price = getattr(self, name)
            if price is not None and not 0 <= price < math.inf:
                raise SettingError(name, "a number of at least 0, or nothing", price)
        if not 0 < self.timeout <= 3600:
            raise SettingError("timeout", "a number of seconds above 0, at most 3600", self.timeout)
        if not 1 <= self.concurrency <= 1000:
            raise SettingError("concurrency", "a number from 1 to 1000", self.concurrency)
        if self.requests_per_minute is not None and self.requests_per_minute < 1:
            raise SettingError("requests_per_minute", "at least 1", self.requests_per_minute)
        if self.structured not in ("json_schema", "json_object", "none"):
            raise SettingError("structured", "json_schema, json_object or none", self.structured)
        check_parameters(self.parameters)
        check_key_variable(self.key_variable)
        read_address(self.base_url)

    @cached_property
    def address(self) -> Address:
        return read_address(self.base_url)

    @cached_property
    def identity(self) -> Identity:
        """The identity of the answerer: all that shapes an answer, and nothing that is secret."""
        parameters = {
            "model": self.model,
            "host": self.address.netloc,
            "structured": self.structured,
            "native_tools": self.native_tools,
            "parameters": dict(self.parameters),
        }
        return Identity("endpoint", self.name, VERSION, parameters)

    @cached_property
    def connection_digest(self) -> str:
        """Equal for configurations that share connections and limits, whatever they are called.

        Servers count calls by key and model, so variants of an endpoint wait for each other.
        """
        parts = (self.base_url, self.model, self.key_variable)
        return connection_digest(*parts, self.concurrency, self.requests_per_minute)

    def max_tokens(self, parameters: Mapping[str, Any]) -> int | None:
        """Return the most tokens that a reply under these parameters can have, if there is a
        limit.
        """
        limits = [parameters[name] for name in _LENGTHS if parameters.get(name) is not None]
        return max(limits, default=None)

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Return the price of a call; None, not 0, where tokens or prices are not known."""
        counts, prices = (tokens_in, tokens_out), (self.price_in, self.price_out)
        total = 0.0
        for count, price in zip(counts, prices, strict=True):
            if count is None or price is None:
                return None
            total += count * price
        return total / 1e6


@lru_cache(maxsize=1024)
def connection_digest(
    base_url: str, model: str, key_variable: str, concurrency: int, requests_per_minute: int | None
) -> str:
    """Return the digest of what configurations with the same connections and limits share."""
    return digest([base_url, model, key_variable, concurrency, requests_per_minute])


def check_parameters(parameters: Json) -> None:
    """Refuse parameters that we set ourselves, that are no JSON, or that make no sense."""
    for name, value in parameters.items():
        if name in RESERVED:
            raise SettingError("parameters", f"no {name!r}, which PlanJury sets itself", name)
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise SettingError(name, "a JSON value", type(value).__name__) from None
        if name in _LENGTHS and value is not None and not _whole(value, 1):
            raise SettingError(name, "a whole number of at least 1, or null", value)
        if name == "seed" and value is not None and not _whole(value, 0):
            raise SettingError(name, "a whole number of at least 0, or null", value)


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
