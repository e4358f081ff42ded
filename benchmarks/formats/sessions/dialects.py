"""Messages of chats in any dialect: OpenAI, Anthropic, Responses, LangChain, parts."""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.types import Speaker
from benchmarks.formats.messages import read_arguments
from benchmarks.formats.sessions.parts import (
    Parts,
    Result,
    answered_call,
    as_list,
    as_mapping,
    first_of,
    read_parts,
    read_result,
    read_tool_call,
    string,
)
from benchmarks.formats.sessions.transcript import Transcript
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import ImportedMessage, ToolCall

ROLES: Mapping[str, Speaker] = {
    "system": "system", "developer": "system", "user": "user", "human": "user",
    "assistant": "assistant", "ai": "assistant", "model": "assistant", "gpt": "assistant",
    "AIMessageChunk": "assistant", "tool": "tool", "function": "tool", "toolResult": "tool",
}  # fmt: skip
# Items of the Responses API that the provider ran itself.
HOSTED = frozenset(
    ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call")
    + ("mcp_call", "mcp_list_tools")
)
CALL_ITEMS = frozenset(
    ("function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call")
    + ("apply_patch_call", "tool_search_call")
)
_COMPACTED = frozenset(("compaction", "compaction_summary", "context_compaction"))


def add_message(transcript: Transcript, spot: Spot, given: Any, **known: Any) -> bool:
    """Append a message or item in whichever dialect; return whether it was one.

    What is none is a fault, named by its place and kind. ``known`` are ``id``, ``at`` and ``join``.
    """
    message = unwrapped(given)
    if isinstance(message, str):
        transcript.say("user", Parts(texts=[message]))
        return True
    if not isinstance(message, dict):
        spot.fault("a message: an object with 'role' and 'content'", given)
        return False
    role, kind = message.get("role"), message.get("type")
    if isinstance(kind, str) and not isinstance(role, str):
        role = ROLES.get(kind, "") and kind
        if not role:
            return add_item(transcript, spot, message, **known)
    speaker = ROLES.get(role) if isinstance(role, str) else None
    if speaker is None and isinstance(role, str) and role in transcript.called.values():
        # Langfuse gives some results of tools the tool's name as their role.
        named = [id for id in transcript.waiting if transcript.called[id] == role]
        speaker, message = "tool", {"tool_call_id": next(iter(named), ""), "name": role, **message}
    if speaker is None:
        spot.at("role").fault("one of " + ", ".join(ROLES), role)
        return False
    if speaker == "tool":
        _add_tool(transcript, message, **known)
        return True
    parts = read_parts(message.get("content", message.get("parts")))
    if speaker == "assistant":
        for name in ("reasoning_content", "reasoning", "thinking"):
            if isinstance(message.get(name), str):
                parts.thoughts.append(message[name])
                break
        parts.calls += _calls_beside(message, parts.calls)
        if isinstance(message.get("refusal"), str):
            parts.texts.append(message["refusal"])
        transcript.agent(parts, **known)
        return True
    for result in parts.results:
        transcript.result(result, at=known.get("at", ""))
    rest = bool(parts.texts or parts.attachments)
    if rest or not parts.results:
        transcript.say(speaker, parts, at=known.get("at", ""))
    return True


def read_dialect(spot: Spot, given: Any) -> list[ImportedMessage]:
    """Return messages in whichever dialect; those that are none are faults."""
    if isinstance(given, dict):
        given = given.get("messages", given.get("input", [given]))
    transcript = Transcript()
    for index, one in enumerate(given if isinstance(given, list) else [given]):
        add_message(transcript, spot.at(index), one)
    return transcript.messages()


def unwrapped(message: Any) -> Any:
    """Return the message inside LangChain's constructors and pairs of role and content."""
    if isinstance(message, list) and len(message) == 2 and isinstance(message[0], str):
        return {"role": message[0], "content": message[1]}
    if not isinstance(message, dict):
        return message
    if message.get("type") == "constructor" and isinstance(message.get("kwargs"), dict):
        names = as_list(message.get("id"))
        name = names[-1] if names and isinstance(names[-1], str) else ""
        role = name.removesuffix("Chunk").removesuffix("Message").lower()
        return {**message["kwargs"], "role": role, "type": None}
    if isinstance(message.get("data"), dict) and string(message.get("type")) in ROLES:
        return {**message["data"], "role": message["type"], "type": None}
    if "message" in message and "role" not in message and isinstance(message["message"], dict):
        return message["message"]
    return message


def _add_tool(transcript: Transcript, message: Mapping[str, Any], **known: Any) -> None:
    content = message.get("content", message.get("parts"))
    parts = read_parts(content) if isinstance(content, list) else Parts()
    if parts.results:
        for result in parts.results:
            transcript.result(result, at=known.get("at", ""))
        return
    if parts.calls:  # some write the calls themselves with the role of a tool
        transcript.agent(parts, **known)
        return
    text, attachments = read_result(content)
    failed = message.get("isError", message.get("is_error"))
    if not isinstance(failed, bool):
        status = message.get("status")
        failed = status == "error" if status in ("success", "error") else None
    result = Result(
        answered_call(message), text,
        string(message.get("name", message.get("toolName"))), failed, attachments=attachments,
    )  # fmt: skip
    if not result.call_id and transcript.waiting:  # results without an id come in order
        result.call_id = next(iter(transcript.waiting))
    transcript.result(result, at=known.get("at", ""))


def _calls_beside(message: Mapping[str, Any], known: list[ToolCall]) -> Iterator[ToolCall]:
    """Yield calls that stand beside the content, where the content does not have them."""
    given = message.get("tool_calls")
    given = given or as_mapping(message.get("additional_kwargs")).get("tool_calls")
    if not given and isinstance(message.get("function_call"), dict):
        given = [message["function_call"]]
    ids = {call.id for call in known if call.id}
    for one in as_list(given):
        if isinstance(one, dict):
            call = read_tool_call(one)
            if call.id not in ids or not call.id:
                yield call


def add_item(transcript: Transcript, spot: Spot, item: Mapping[str, Any], **known: Any) -> bool:
    """Append an item of the Responses API; return whether its kind is known."""
    kind, at = string(item.get("type")), known.get("at", "")
    if kind == "message":
        return add_message(transcript, spot, {**item, "type": None}, at=at, join=True)
    if kind == "reasoning":
        parts = read_parts(item.get("summary") or [])
        thoughts = [*parts.texts, *parts.thoughts]
        if item.get("content"):
            thoughts += read_parts(item["content"]).thoughts
        transcript.agent(Parts(thoughts=thoughts, encrypted=not any(thoughts)), at=at)
        return True
    if kind in CALL_ITEMS or kind in HOSTED:
        hosted = kind in HOSTED or item.get("execution") == "server"
        transcript.agent(Parts(calls=[_item_call(kind, item, hosted)]), at=at, to_last=True)
        return True
    if kind.endswith("_output"):
        output = item.get("output", item.get("tools"))
        text, attachments = read_result(output)
        transcript.result(
            Result(
                answered_call(item), text, failed=_failed(item, output), attachments=attachments
            ),
            at=at,
        )
        return True
    if kind in _COMPACTED:
        text = string(item.get("summary"))
        transcript.say(
            "user", Parts(texts=[text] if text else [], encrypted=not text), by_program=True
        )
        return True
    if kind in ("item_reference", "mcp_approval_request", "mcp_approval_response"):
        return True
    spot.at("type").fault("an item of the Responses API", item.get("type"))
    return False


def _item_call(kind: str, item: Mapping[str, Any], hosted: bool) -> ToolCall:
    arguments, is_text = read_arguments(first_of(item, ("action", "arguments", "input"), {}))
    name = string(item.get("name")) or kind.removesuffix("_call")
    id = string(item.get("call_id")) or string(item.get("id"))
    return ToolCall(name, arguments, id, "provider" if hosted else "agent", is_text)


def _failed(item: Mapping[str, Any], output: Any) -> bool | None:
    success = as_mapping(output).get("success", item.get("success"))
    return not success if isinstance(success, bool) else None
