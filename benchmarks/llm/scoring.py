"""Probabilities of a given text's tokens, by completions that echo their prompt.

An ask with ``continuation`` among the parameters of its ``Expect`` wants no new text: it wants to
know how probable that text is after the messages. Servers tell by ``/completions`` with ``echo``
and ``logprobs`` (vLLM does). Chat completions cannot tell, so nothing is guessed from them.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.core.types import Ask, Message
from benchmarks.llm.chat import Completion
from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.security import ReplyRefused

REQUIRED = "to score texts it must serve /completions with “echo” and “logprobs”"
# Statuses by which servers say that they do not serve this.
NOT_SERVED = (400, 404, 405, 422, 501)
# A log probability may be above 0 by rounding alone.
_ROUNDING = 1e-3


def wants_scores(ask: Ask) -> bool:
    """Return whether an ask is about the probability of a text, and not for a new one."""
    return "continuation" in ask.expect.params


def _transcript(messages: Sequence[Message]) -> str:
    return "".join(f"{m.speaker}:\n{m.text}\n\n" for m in messages) + "assistant:\n"


def _chatml(messages: Sequence[Message]) -> str:
    prompt = "".join(f"<|im_start|>{m.speaker}\n{m.text}<|im_end|>\n" for m in messages)
    return f"{prompt}<|im_start|>assistant\n"


def _llama3(messages: Sequence[Message]) -> str:
    # Servers put <|begin_of_text|> before it themselves.
    prompt = "".join(_llama3_header(m.speaker) + m.text + "<|eot_id|>" for m in messages)
    return prompt + _llama3_header("assistant")


def _llama3_header(speaker: str) -> str:
    return f"<|start_header_id|>{speaker}<|end_header_id|>\n\n"


# How messages become a prompt, since completions apply no chat template.
PROMPT_FORMS: Mapping[str, Callable[[Sequence[Message]], str]] = {
    "transcript": _transcript,
    "chatml": _chatml,
    "llama3": _llama3,
}


def scoring_body(config: EndpointConfig, ask: Ask) -> dict[str, Any]:
    """Return the request: the messages and the text as one prompt, of which one token is made.

    Some servers refuse to make none. The endpoint's own parameters are about sampling and stay out.
    """
    form = PROMPT_FORMS[ask.expect.params.get("prompt_form", "transcript")]
    return {
        "model": config.model,
        "prompt": form(ask.messages) + ask.expect.params["continuation"],
        "max_tokens": 1,
        "temperature": 0,
        "echo": True,
        "logprobs": 1,
    }


def read_scores(content: bytes, ask: Ask) -> Completion:
    """Return the tokens of the ask's continuation with their probabilities, as JSON text.

    Raises ``ReplyRefused`` where the reply does not have them, or has them for other borders.
    """
    try:
        reply = json.loads(content)
        choice = reply["choices"][0]
        listed = choice["logprobs"]
        tokens, logprobs = listed["tokens"], listed["token_logprobs"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ReplyRefused(f"its reply has no log probabilities of tokens; {REQUIRED}") from None
    shaped = (
        isinstance(tokens, list)
        and isinstance(logprobs, list)
        and len(tokens) == len(logprobs)
        and all(isinstance(token, str) for token in tokens)
    )
    if not shaped:
        raise ReplyRefused(f"its log probabilities do not go with its tokens; {REQUIRED}")
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    made = usage.get("completion_tokens")
    first, last = _find(tokens, ask.expect.params["continuation"], made)
    probabilities = [_probability(value) for value in logprobs[first:last]]
    words = reply.get("model")
    return Completion(
        text=canonical_json({"tokens": tokens[first:last], "probabilities": probabilities}),
        reasoning="",
        finish="",
        model=words[:120] if isinstance(words, str) else "",
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(made),
    )


def _find(tokens: Sequence[str], continuation: str, made: Any) -> tuple[int, int]:
    """Return the borders of the continuation among the tokens of prompt and new text.

    It is looked for from the end, where it must be: what servers put before a prompt differs.
    """
    known = _count(made)
    ends = [len(tokens) - known] if known is not None else [len(tokens) - 1, len(tokens)]
    for last in (end for end in ends if end > 0):
        rest, first = continuation, last
        # A token that ends within a character is empty; the last one has the character.
        while rest and first > 0 and rest.endswith(tokens[first - 1]):
            first -= 1
            rest = rest[: len(rest) - len(tokens[first])]
        if not rest:
            return first, last
        if first > 0 and first < last and tokens[first - 1].endswith(rest):
            raise ReplyRefused(
                f"the token {tokens[first - 1]!r} belongs to the prompt and to the text that is "
                "to be scored; choose the form of prompt that the model was trained with"
            )
    raise ReplyRefused(f"its reply does not repeat the text that is to be scored; {REQUIRED}")


def _probability(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value > _ROUNDING:
        raise ReplyRefused(f"a token has no log probability ({value!r}); {REQUIRED}")
    return math.exp(min(value, 0.0))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
