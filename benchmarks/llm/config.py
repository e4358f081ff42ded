"""The configuration of an endpoint: its address, parameters, prices and limits."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from benchmarks.core.answerers import Identity
from benchmarks.core.digests import digest
from benchmarks.core.errors import SettingError
from benchmarks.core.schemas import expects, schema_words
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


Filled = Annotated[str, expects("a text that is not blank", pattern=r"\S")]
Price = Annotated[FiniteFloat, Field(ge=0)] | None


class EndpointFields(BaseModel):
    """What an endpoint is: the fields of its form and of its configuration."""

    base_url: str = Field(title="Base URL", max_length=300, description="Up to and with `/v1`.")
    model: Filled = Field(
        title="Model", min_length=1, max_length=120,
        description="The model’s name as the server knows it.",
    )  # fmt: skip
    parameters: dict[str, Any] = Field(
        {}, title="Parameters",
        description="A JSON object that is sent with every request as it stands. A cost cap needs "
        "`max_tokens`. A parameter that is null is never sent. PlanJury sets these itself: "
        f"{', '.join(sorted(RESERVED))}. No secrets: who sees results sees parameters.",
    )  # fmt: skip
    structured: Structured = Field(
        "none", title="JSON mode",
        description="Judges reply in JSON. “By a schema” needs an endpoint that takes "
        "`response_format: json_schema`; the trial shows whether yours does.",
    )  # fmt: skip
    native_tools: bool = Field(
        False, title="Native tool calls",
        description="Sends tools in the request. Without it they are described in the prompt, and "
        "calls are read from the reply.",
    )  # fmt: skip
    key_variable: str = Field(
        "", title="Variable with the key", max_length=80,
        description="Name of the environment variable that holds the key.",
    )  # fmt: skip
    price_in: Price = Field(
        None, title="Price per million tokens in",
        description="Left empty, costs are not known, and a run with this endpoint takes no cap.",
    )  # fmt: skip
    price_out: Price = Field(
        None, title="Price per million tokens out",
        description="Reasoning counts as tokens out wherever the endpoint bills it so.",
    )  # fmt: skip
    currency: str = Field(
        "USD", title="Currency", max_length=8,
        description="Three letters, such as EUR. All endpoints of a run share one.",
    )  # fmt: skip
    timeout: float = Field(
        120, title="Timeout (seconds)", ge=0.1, le=3600,
        description="For one try, from its start to the last byte. One that takes longer may be "
        "billed, and counts in full against a cap.",
    )  # fmt: skip
    concurrency: int = Field(
        32, title="Calls at once", ge=1, le=1000,
        description="By all workers together. As many trajectories are carried at once. After a "
        "refusal (429) or a timeout it is halved, and grows back with each answer.",
    )  # fmt: skip
    requests_per_minute: int | None = Field(
        None, title="Calls in a minute", ge=1, le=1_000_000,
        description="By all workers together. Left empty, only refusals (429) and timeouts slow "
        "calls down.",
    )  # fmt: skip


class EndpointConfig(EndpointFields):
    """An OpenAI-compatible endpoint. It holds the name of the key's variable, never the key.

    Prices are None where not known. ``seed`` is every call's own unless a number (or None) is given
    among ``parameters``. Raises ``SettingError`` for the first field that does not fit.
    """

    model_config = ConfigDict(frozen=True)

    name: Filled

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]
            field, schema = str(fault["loc"][0]), EndpointFields.model_json_schema()
            words = schema_words(schema["properties"].get(field, {"type": "string"}), schema)
            raise SettingError(field, words, fault["input"]) from None
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
