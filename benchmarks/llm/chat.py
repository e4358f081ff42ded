"""Asks as requests to chat completions, and completions as answers: values in, values out."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.types import Ask, Json, Message
from benchmarks.llm.config import RESERVED, EndpointConfig, SchemaBuilder
from benchmarks.llm.replies import read_json_object

# Some servers keep seeds in 32 bits, some in floating-point numbers.
SEEDS = 2**31
# What columns of stores hold.
LONGEST_NAME, MOST_TOKENS = 120, 2**31 - 1

_TOOLS_IN_TEXT = """\
You can call these functions, given as JSON:
{tools}

To call one, reply with one JSON object and nothing else: \
{{"tool_calls": [{{"name": "…", "arguments": {{…}}}}]}}. Reply in words to call none."""

_THOUGHT = re.compile(r"<(think|thinking|reasoning|thought)>(.*?)(?:</\1>\s*|\Z)", re.DOTALL)
# Templates that open the block for the model leave its end alone in the reply.
_THOUGHT_END = re.compile(r"\A(.*?)</(?:think|thinking|reasoning|thought)>", re.DOTALL)
_WORD = re.compile(r"[a-z][a-z_]{0,39}")


class MalformedReply(Exception):
    """An error: the reply is no chat completion. ``code`` is the error it reports, if any."""

    def __init__(self, reason: str, code: int | None = None, words: str = "") -> None:
        super().__init__(reason)
        self.code, self.words = code, words


@dataclass(frozen=True)
class Completion:
    """The parts of a chat completion that matter here."""

    text: str
    reasoning: str
    finish: str
    model: str
    tokens_in: int | None
    tokens_out: int | None


def request_body(
    config: EndpointConfig, ask: Ask, seed: int, schemas: Mapping[str, SchemaBuilder]
) -> dict[str, Any]:
    """Return the request for an ask; equal asks and seeds make equal requests."""
    native = config.native_tools
    body: dict[str, Any] = {"model": config.model, "messages": _messages(ask, native)}
    sampling = ask.expect.params.get("sampling", {})
    parameters = {"seed": seed % SEEDS, **sampling, **_fixed(config.parameters, sampling)}
    body |= {k: v for k, v in parameters.items() if v is not None and k not in RESERVED}
    if ask.tools and native:
        body["tools"] = [dict(tool) for tool in ask.tools]
    elif ask.expect.kind in schemas and not ask.tools:
        shape = _response_format(config, ask, schemas[ask.expect.kind])
        body |= {"response_format": shape} if shape else {}
    return body


def _fixed(parameters: Json, sampling: Json) -> dict[str, Any]:
    """Return the endpoint's own parameters, without those for which the protocol asks otherwise."""
    return {k: v for k, v in parameters.items() if v is None or k not in sampling}


def _response_format(
    config: EndpointConfig, ask: Ask, build: SchemaBuilder
) -> dict[str, Any] | None:
    if config.structured == "json_object":
        return {"type": "json_object"}
    if config.structured == "none":
        return None
    name = re.sub(r"[^A-Za-z0-9_-]", "_", ask.expect.kind)[:64]
    schema = {"name": name, "strict": True, "schema": dict(build(ask.expect.params))}
    return {"type": "json_schema", "json_schema": schema}


def _messages(ask: Ask, native: bool) -> list[dict[str, Any]]:
    if native:
        return [_native(message) for message in ask.messages]
    messages = [_in_words(message) for message in ask.messages]
    if ask.tools:
        listed = "\n".join(canonical_json(tool.get("function", tool)) for tool in ask.tools)
        notice = _TOOLS_IN_TEXT.format(tools=listed)
        if messages and messages[0]["role"] == "system":
            messages[0]["content"] = f"{messages[0]['content']}\n\n{notice}"
        else:
            messages.insert(0, {"role": "system", "content": notice})
    return messages


def _native(message: Message) -> dict[str, Any]:
    native: dict[str, Any] = {"role": message.speaker, "content": message.text}
    if message.tool_calls:
        native["tool_calls"] = [_call(call, n) for n, call in enumerate(message.tool_calls, 1)]
        native["content"] = message.text or None
    if message.speaker == "tool":
        native["tool_call_id"] = message.tool_call_id
    return native


def _in_words(message: Message) -> dict[str, Any]:
    """Return a message for an endpoint that knows no tools."""
    if message.speaker == "tool":
        return {"role": "user", "content": f"Result of the call:\n{message.text}"}
    text = message.text
    if message.tool_calls:
        calls = [_call(call, 1)["function"] for call in message.tool_calls]
        text = f"{text}\n{canonical_json({'tool_calls': calls})}".strip()
    return {"role": message.speaker, "content": text}


def _call(call: Json, number: int) -> dict[str, Any]:
    """Return a tool call in the chat format, whose arguments are JSON in a text."""
    function = call.get("function", call)
    arguments = function.get("arguments", {})
    if not isinstance(arguments, str):
        arguments = canonical_json(arguments)
    return {
        "id": str(call.get("id") or f"call_{number}"),
        "type": "function",
        "function": {"name": str(function.get("name", "")), "arguments": arguments},
    }


def read_completion(payload: bytes, ask: Ask, native: bool) -> Completion:
    """Return a chat completion as bytes; ``MalformedReply`` if it is none.

    Only what surrounds the reply is judged here. The reply itself may be nonsense, cut off or
    empty: that is for the ask's parser to say.
    """
    try:
        return _read(json.loads(payload), ask, native)
    except (ValueError, RecursionError):  # no JSON, or JSON that nobody writes
        raise MalformedReply("a reply that is no JSON") from None


def read_error(payload: bytes) -> Mapping[str, Any]:
    """Return what the body of a refusal says of the error; empty if it says nothing readable."""
    try:
        error = _dict(json.loads(payload))
    except (ValueError, RecursionError):
        return {}
    return _dict(error.get("error", error))


def _read(reply: Any, ask: Ask, native: bool) -> Completion:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise reported_error(reply) or MalformedReply("a reply without a choice")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict) or choice.get("finish_reason") == "error":
        raise reported_error(choice) or MalformedReply("a choice without a message")
    text, parts = _content(message.get("content"))
    thoughts, text = split_thoughts(text)
    raw_thoughts = message.get("reasoning_content") or message.get("reasoning")
    reasoning = [raw_thoughts if isinstance(raw_thoughts, str) else "", parts, thoughts]
    text = text or _text(message.get("refusal"))
    calls = message.get("tool_calls")
    tool_calls = (
        [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    )
    if ask.tools:
        text = _chat_message(text, tool_calls, native)
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Completion(
        text=text,
        reasoning="\n\n".join(part.strip() for part in reasoning if part.strip()),
        finish=_finish(choice.get("finish_reason")),
        model=_text(reply.get("model"))[:LONGEST_NAME],
        tokens_in=_tokens(usage.get("prompt_tokens"), least=1),
        tokens_out=_tokens(usage.get("completion_tokens"), least=bool(text)),
    )


def reported_error(value: Any) -> MalformedReply | None:
    """Return the error that some gateways send where a completion should be, as if all were
    well.
    """
    error = value.get("error") if isinstance(value, dict) else None
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    words = error.get("message") if isinstance(error, dict) else error
    known = isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600
    return MalformedReply("an error in place of a reply", code if known else None, _text(words))


def _chat_message(text: str, calls: list[Any], native: bool) -> str:
    """Return the whole message as JSON text, which is how asks with tools are answered."""
    if not native and not calls:
        try:
            listed = read_json_object(text).get("tool_calls")
        except UnreadableReply:
            listed = None
        if isinstance(listed, list) and all(isinstance(call, dict) for call in listed):
            text, calls = "", listed
    shaped = [
        _call({**call, "function": _dict(call.get("function", call))}, number)
        for number, call in enumerate(calls, 1)
    ]
    return canonical_json({"content": text, "tool_calls": shaped})


def _content(content: Any) -> tuple[str, str]:
    """Return text and thoughts of a content, which is a text or, with some servers, a list of
    parts.
    """
    if not isinstance(content, list):
        return _text(content), ""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for part in content:
        if isinstance(part, dict):
            thinks = part.get("type") in ("thinking", "reasoning")
            inner = part.get("thinking") if thinks else part.get("text")
            if isinstance(inner, list):
                inner = "".join(_text(_dict(piece).get("text")) for piece in inner)
            texts[thinks].append(_text(inner))
        else:
            texts[False].append(_text(part))
    return "".join(texts[False]), "\n".join(texts[True])


def split_thoughts(text: str) -> tuple[str, str]:
    """Split into (thoughts, answer): blocks of thinking at the start of a reply are no part of
    the answer.
    """
    thoughts, position = [], len(text) - len(text.lstrip())
    while thought := _THOUGHT.match(text, position):
        thoughts.append(thought[2])
        position = thought.end()
    if not thoughts and (end := _THOUGHT_END.match(text)):
        thoughts.append(end[1])
        position = end.end()
    if not thoughts:
        return "", text
    return "\n\n".join(part.strip() for part in thoughts), text[position:].strip()


def _finish(value: Any) -> str:
    """Return why the reply ended, in the server's word: ``stop``, ``length``, ``content_filter``
    …
    """
    word = _text(value)
    return word if not word or _WORD.fullmatch(word) else "other"


def _tokens(count: Any, least: int) -> int | None:
    """Return a number of tokens, None for what cannot be true."""
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    return count if least <= count <= MOST_TOKENS else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
