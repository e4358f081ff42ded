"""Messages of chats: one reader for the shapes that OpenAI, tau2 and Inspect write."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from benchmarks.core.json_files import load, nests_too_deep
from benchmarks.core.problems import Unquoted
from benchmarks.core.types import Speaker
from benchmarks.formats.attachments import CALLS, attachment, content_parts
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import ImportedMessage, ToolCall

By = Literal["agent", "user", "provider"]
MOST_MESSAGES = 20_000
ROLES: Mapping[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
NO_CALLS = (
    "texts, images or files: calls and their results have fields of their own in this format; for "
    "messages with tool_use and tool_result use --format anthropic"
)
_TEXTS = frozenset(("text", "input_text", "output_text", "refusal"))
_WORDS = _TEXTS | {"reasoning", "thinking"}
_READ = frozenset(
    ("role", "content", "name", "tool_calls", "tool_call_id", "function_call", "timestamp", "cost")
    + ("reasoning_content", "hidden")
)


def read_messages(spot: Spot, given: Any, *, as_kept: bool = False) -> tuple[ImportedMessage, ...]:
    """Return all messages of a chat; what is wrong with them is noted.

    In one ``as_kept`` here before, the agent need not have come to speak, and a result may lack its
    call, as in an excerpt of a session.
    """
    if not isinstance(given, list) or not given:
        spot.fault("a list with at least one message", given)
        return ()
    if len(given) > MOST_MESSAGES:
        spot.fault(f"at most {MOST_MESSAGES} messages", given)
        return ()
    made = []
    known: set[str] = set()
    for index, raw in enumerate(given):
        message = read_message(spot.at(index), raw)
        if message is None:
            continue
        if message.calls:
            known.update(call.id for call in message.calls)
        if message.call_id and message.call_id not in known and not as_kept:
            where = spot.at(index).at("tool_call_id")
            where.fault("the id of a call before it", message.call_id)
        made.append(message)
    if made and not as_kept and not any(m.speaker == "assistant" for m in made):
        spot.fault("at least one message of the assistant", given)
    return tuple(made)


def read_message(spot: Spot, raw: Any) -> ImportedMessage | None:
    """Return one message, or None where it is none."""
    if not isinstance(raw, dict):
        spot.fault("a message: an object with 'role' and 'content'", raw)
        return None
    role = raw.get("role")
    if not isinstance(role, str) or role not in ROLES:
        spot.at("role").fault("one of " + ", ".join(ROLES), role)
        return None
    # Most fields are absent from most messages, and files have millions of them.
    content = raw.get("content")
    text, reasoning, kept = (
        (content, "", []) if type(content) is str else read_content(spot, "content", content)
    )
    by: By = "user" if role == "user" else "agent"
    calls = _calls(spot, raw, by) if "tool_calls" in raw or "function_call" in raw else ()
    tokens = _tokens(raw["usage"]) if "usage" in raw else (None, None)
    extra: dict[str, Any] = {}
    if not raw.keys() <= _READ:
        extra = {key: value for key, value in raw.items() if key not in _READ and value is not None}
        if extra.get("usage") == {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}:
            del extra["usage"]
    if kept:
        extra.update(with_parts(kept, text))
    call_id = _text(spot, raw, "tool_call_id") if "tool_call_id" in raw else ""
    name = _text(spot, raw, "name") if "name" in raw else ""
    # what its user does for itself reaches the agent only as far as the user tells it
    hidden = (bool(calls) and by == "user") or raw.get("hidden") is True
    if "reasoning_content" in raw:
        reasoning = _text(spot, raw, "reasoning_content") or reasoning
    at = _text(spot, raw, "timestamp") if "timestamp" in raw else ""
    cost = read_number(spot, "cost", raw["cost"], least=0) if "cost" in raw else None
    return ImportedMessage(  # by place, which takes half the time
        ROLES[role], text, calls, call_id, name, hidden, reasoning, at, *tokens, cost, extra
    )


def _text(spot: Spot, raw: Mapping[str, Any], name: str) -> str:
    return read_text(spot, name, raw[name])


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    """Return tokens read and written, where a message states its usage."""
    if not isinstance(usage, dict):
        return None, None
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def read_content(spot: Spot, name: str, given: Any) -> tuple[str, str, list[Any]]:
    """Return (text, reasoning, the parts as given where some of them are neither).

    A part that calls a tool or answers a call is refused: in these formats calls have a field of
    their own, and as a text it would be words that nobody said.
    """
    if given is None or isinstance(given, str):
        return given or "", "", []
    if not isinstance(given, list):
        spot.at(name).fault("a text, a list of parts, or nothing", given)
        return "", "", []
    texts, thoughts, other = [], [], False
    for index, part in enumerate(given):
        at = spot.at(f"{name}[{index}]")
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, str):
            texts.append(part)
        elif not isinstance(part, dict) or not isinstance(kind, str):
            at.fault("a part: an object with 'type'", part)
        elif kind in _TEXTS:
            texts.append(read_text(at, "text", part.get("text", part.get("refusal"))))
        elif kind in ("reasoning", "thinking"):
            thoughts.append(read_text(at, kind, part.get(kind)))
        elif kind in CALLS and "tool_type" not in part:  # Inspect's calls by the provider have it
            at.fault(NO_CALLS, Unquoted(f"a part of kind {kind}"))
        else:
            other = True
    return "\n".join(texts), "\n".join(thoughts), given if other else []


def with_parts(parts: Sequence[Any], text: str) -> dict[str, Any]:
    """Return what a message keeps of parts that are neither text nor reasoning, if there are any:
    what each of them holds, and the parts as given, where text and attachments do not tell them.
    """
    others = [
        attachment(part["type"], part)
        for part in parts
        if isinstance(part, dict) and part.get("type") not in _WORDS
    ]
    if not parts or parts == content_parts(text, others):
        return {"attachments": others} if parts else {}
    return {"content": list(parts), "attachments": others}


def _calls(spot: Spot, raw: Mapping[str, Any], by: By) -> tuple[ToolCall, ...]:
    if (old := raw.get("function_call")) is not None:
        call = read_call(spot.at("function_call"), {"function": old}, by)
        return (call,) if call else ()
    given = raw.get("tool_calls")
    if given is None:
        return ()
    if not isinstance(given, list):
        spot.at("tool_calls").fault("a list of calls", given)
        return ()
    inside = spot.at("tool_calls")
    calls = (read_call(inside.at(index), one, by) for index, one in enumerate(given))
    return tuple(call for call in calls if call)


def read_call(spot: Spot, raw: Any, by: By) -> ToolCall | None:
    """Return a call as OpenAI (function an object), Inspect (function a text) or tau2 (name) write
    it.
    """
    if not isinstance(raw, dict):
        spot.fault("a call: an object", raw)
        return None
    inner = raw.get("function")
    body, field = (inner, "function.name") if isinstance(inner, dict) else (raw, "function")
    name = body.get("name") if isinstance(inner, dict) or inner is None else inner
    if not isinstance(name, str) or not name:
        spot.at(field if inner is not None else "name").fault("the name of a tool", name)
        return None
    arguments, is_raw = read_arguments(body.get("arguments"))
    given = raw.get("requestor")
    return ToolCall(
        name=name,
        arguments=arguments,
        id=read_text(spot, "id", raw.get("id")),
        by="user" if given == "user" else "provider" if given == "provider" else by,
        raw=is_raw,
    )


def read_arguments(given: Any) -> tuple[Any, bool]:
    """Return arguments as a value; a text that is no JSON stays what it is."""
    if not isinstance(given, str):
        return given, False
    try:
        value = load(given)
    except (ValueError, RecursionError):
        return given, True
    return (given, True) if nests_too_deep(given, value) else (value, False)


def read_text(spot: Spot, name: str, given: Any) -> str:
    """Return a text, or nothing."""
    if given is None:
        return ""
    if not isinstance(given, str):
        spot.at(name).fault("a text or nothing", given)
        return ""
    return given


def read_number(spot: Spot, name: str, given: Any, least: float | None = None) -> float | None:
    """Return a number, or nothing."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float):
        spot.at(name).fault("a number or nothing", given)
        return None
    if least is not None and given < least:
        spot.at(name).fault(f"a number of at least {least}", given)
        return None
    try:
        return float(given)
    except OverflowError:
        spot.at(name).fault("a number that fits", Unquoted("a larger one"))
        return None


def _count(value: Any) -> int | None:
    if value is None:
        return None
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if good else None


def read_whole(spot: Spot, name: str, given: Any, least: int, most: int) -> int | None:
    """Return a whole number within bounds; its absence is a fault."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= most:
        spot.at(name).fault(f"a whole number from {least} to {most}", given)
        return None
    return given


def first_words(messages: Sequence[ImportedMessage]) -> str:
    """Return what the agent was first told by its user; by the system where no user spoke."""
    for speaker in ("user", "system"):
        for message in messages:
            if message.speaker == speaker and message.text.strip() and not message.hidden:
                return message.text.strip()
    return ""
