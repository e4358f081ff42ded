"""What observations of a trace hold as input and output, in whichever framework's shape."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.sessions.dialects import ROLES, add_message
from benchmarks.formats.sessions.lines import decoded
from benchmarks.formats.sessions.parts import as_list, as_mapping, string
from benchmarks.formats.sessions.transcript import Transcript, as_system
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import ImportedMessage

_LISTS = ("messages", "input", "contents", "output", "chat_history")
_TEXTS = ("prompt", "text", "question", "query")


def messages_of(spot: Spot, given: Any, default: str) -> list[ImportedMessage]:
    """Return the messages in an input or output; a bare text is of the ``default`` role."""
    transcript = Transcript()
    for index, message in enumerate(_messages(transcript, decoded(given), default, 0)):
        if not _is_definition(message):
            add_message(transcript, spot.at(index), _with_calls(message))
    return transcript.messages()


def _messages(transcript: Transcript, given: Any, default: str, depth: int) -> Iterator[Any]:
    """Yield messages from the wraps of frameworks, at most a few deep."""
    if isinstance(given, str):
        if given.strip():
            yield {"role": default, "content": given}
    elif isinstance(given, list):
        if len(given) == 1 and isinstance(given[0], list) and depth < 3:
            yield from _messages(transcript, given[0], default, depth + 1)
            return
        objects = [one for one in given if isinstance(one, dict)]
        if objects and all("toolCallId" in one and "role" not in one for one in objects):
            yield {"role": "assistant", "tool_calls": objects}
            return
        if objects and all("text" in one and len(one) <= 2 for one in objects):
            yield {"role": default, "content": given}
            return
        for one in given:
            yield decoded(one) if isinstance(one, str) else one
    elif isinstance(given, dict):
        yield from _wrapped(transcript, given, default, depth)


def _wrapped(
    transcript: Transcript, given: Mapping[str, Any], default: str, depth: int
) -> Iterator[Any]:
    if depth > 4:
        return
    if default == "user":  # a response only repeats the instructions
        as_system(transcript, given.get("system", given.get("instructions")))
    choice = next(iter(as_list(given.get("choices"))), None)
    generation = next(iter(as_list(given.get("generations"))), None)
    if isinstance(generation, list):
        generation = next(iter(generation), None)
    candidate = next(iter(as_list(given.get("candidates"))), None)
    config = as_mapping(given.get("config"))
    if default == "user" and "system_instruction" in config:
        as_system(transcript, config["system_instruction"])
    if isinstance(given.get("toolCalls"), list):
        text = string(given.get("text"))
        yield {"role": "assistant", "content": text, "tool_calls": given["toolCalls"]}
    elif isinstance(as_mapping(candidate or given).get("content"), dict):
        yield as_mapping(candidate or given)["content"]
    elif choice is not None:
        yield as_mapping(choice).get("message", choice)
    elif generation is not None:
        inner = as_mapping(generation)
        yield inner.get("message", {"role": default, "content": string(inner.get("text"))})
    elif "role" in given or given.get("lc") == 1 or string(given.get("type")) in ROLES:
        yield given
    elif isinstance(given.get("content"), list | str) and default == "assistant":
        yield {"role": default, "content": given["content"]}
    else:
        field = next((name for name in _LISTS if given.get(name)), None)
        if field is not None:
            yield from _messages(transcript, decoded(given[field]), default, depth + 1)
        else:
            text = next((given[n] for n in _TEXTS if isinstance(given.get(n), str)), "")
            if text:
                yield {"role": default, "content": text}


def _with_calls(message: Any) -> Any:
    """Return a message whose calls stand in its content as JSON text in the usual shape."""
    content = message.get("content") if isinstance(message, dict) else None
    calls = decoded(content) if isinstance(content, str) and content[:1] == "[" else None
    if isinstance(calls, list) and calls and all(
        isinstance(call, dict) and isinstance(call.get("function"), dict) and "id" in call
        for call in calls
    ):  # fmt: skip
        return {"role": "assistant", "tool_calls": calls}
    return message


def _is_definition(message: Any) -> bool:
    """Return whether a message is the definition of a tool that poses as one."""
    if not isinstance(message, dict):
        return False
    content = decoded(message.get("content")) if "content" in message else message
    inner = as_mapping(content)
    return inner.get("type") == "function" and "function" in inner and "id" not in inner


def is_lossy(given: Any) -> bool:
    """Return whether an input says nothing of who spoke: an object without messages."""
    value = decoded(given)
    if not isinstance(value, dict) or not value:
        return value in (None, "", {})
    problems = Problems()
    messages = messages_of(Spot(problems, ""), value, "user")
    return problems.total > 0 or not messages


def as_arguments(given: Any) -> Any:
    """Return what a tool was called with, out of the wrap of its observation."""
    value = decoded(given)
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("input"), dict | str):
        return decoded(value["input"])
    return value
