"""The most that a call can cost, known before it is sent: what a cap on cost has to count with."""

from collections.abc import Sequence
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.llm.config import EndpointConfig

# What chat templates put around each message, and around all of them, in tokens; generous.
PER_MESSAGE, PER_REQUEST = 16, 64


def estimate_tokens(messages: Sequence[Any], rest: Sequence[Any] = ()) -> int:
    """The most tokens that a prompt can have: no token is shorter than a byte."""
    size = sum(len(canonical_json(part).encode()) for part in (*messages, *rest))
    return size + PER_MESSAGE * len(messages) + PER_REQUEST


def estimate_cost(config: EndpointConfig, body: dict[str, Any]) -> float | None:
    """The most that a request can cost; None where prices or the reply's length are unknown."""
    longest = 0 if config.price_out == 0 else config.max_tokens(body)
    if longest is None:
        return None
    rest = [body[name] for name in ("tools", "response_format") if name in body]
    prompt = body["messages"] if "messages" in body else [body["prompt"]]
    return config.cost(estimate_tokens(prompt, rest), longest)
