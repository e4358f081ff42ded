"""The content of a message, in whichever dialect a program writes its parts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.formats.attachments import attachment
from benchmarks.formats.messages import read_arguments
from benchmarks.formats.trajectory import ToolCall

_TEXTS = frozenset(("text", "input_text", "output_text", "refusal", "summary_text"))
_THOUGHTS = frozenset(("thinking", "reasoning", "reasoning_text", "thought"))
_SEALED = frozenset(("redacted_thinking", "encrypted_content"))
_CALLS = frozenset(
    ("tool_use", "toolCall", "tool-call", "tool_call", "functionCall", "function_call")
)
_HOSTED_CALLS = frozenset(("server_tool_use", "mcp_tool_use"))
_RESULTS = frozenset(
    ("tool_result", "tool-result", "tool_call_response", "functionResponse", "function_response")
    + ("function_result",)
)
# Fields of Gemini's parts, which have no type; some programs write them with underscores.
_GEMINI: tuple[str, ...] = ("functionCall", "functionResponse", "inlineData", "fileData")
_GEMINI += ("function_call", "function_response", "inline_data", "file_data")


@dataclass(slots=True)
class Result:
    """An answer to a call. ``failed`` is None where the format does not say it."""

    call_id: str
    text: str
    name: str = ""
    failed: bool | None = None
    hosted: bool = False
    attachments: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Parts:
    """The content of a message, each kind of part apart from the others."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    attachments: list[dict[str, Any]] = field(default_factory=list)
    encrypted: bool = False

    @property
    def text(self) -> str:
        """Return the texts, one below the other."""
        return "\n".join(self.texts)

    def add(self, parts: "Parts") -> None:
        """Add what another content holds, but for results."""
        self.texts += parts.texts
        self.thoughts += parts.thoughts
        self.calls += parts.calls
        self.attachments += parts.attachments
        self.encrypted |= parts.encrypted

    @property
    def reasoning(self) -> str:
        """Return the readable thoughts, one below the other."""
        return "\n".join(filter(None, self.thoughts)) if self.thoughts else ""


def read_parts(content: Any) -> Parts:
    """Return the parts of a content: a text, a part, or a list of them.

    What is of no known kind becomes an attachment that has the kind's name, never a text.
    """
    if isinstance(content, str):
        return Parts([content])
    parts = Parts()
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            parts.texts.append(part)
        elif isinstance(part, dict):
            _add(parts, part)
        elif part is not None:
            parts.attachments.append({"kind": type(part).__name__})
    return parts


def _add(parts: Parts, part: Mapping[str, Any]) -> None:
    kind = part.get("type")
    if not kind or not isinstance(kind, str):
        kind = _kind(part)
    if kind in _TEXTS:
        text = first_of(part, ("text", "refusal", "content"))
        parts.texts.append(text if isinstance(text, str) else as_text(text))
    elif kind in _THOUGHTS:
        given = first_of(part, ("thinking", "reasoning", "text", "content"), "")
        given = given if given or "summary" not in part else part["summary"]
        text = given if isinstance(given, str) else read_parts(given).text
        parts.thoughts.append(text)
        parts.encrypted |= not text
    elif kind in _SEALED:
        parts.encrypted = True
    elif kind in _CALLS:
        parts.calls.append(read_tool_call(part))
    elif kind in _HOSTED_CALLS:
        call = read_tool_call(part)
        parts.calls.append(ToolCall(call.name, call.arguments, call.id, "provider", call.raw))
    elif kind in _RESULTS:
        parts.results.append(_result(part))
    elif kind.endswith("_tool_result"):
        result = _result(part)
        result.hosted = True
        parts.results.append(result)
    else:
        parts.attachments.append(attachment(kind, part))


def _kind(part: Mapping[str, Any]) -> str:
    """Return the kind of a part without a type, such as Gemini's, which have a field of their
    own.
    """
    for name in _GEMINI:
        if name in part:
            return name
    if part.get("thought") is True:
        return "thought"
    return "text" if isinstance(part.get("text"), str) else "part without a type"


def first_of(given: Mapping[str, Any], names: Sequence[str], default: Any = None) -> Any:
    """Return the value of the first field of these names that there is."""
    for name in names:
        if name in given:
            return given[name]
    return default


def read_tool_call(given: Mapping[str, Any]) -> ToolCall:
    """Return a call as Anthropic, OpenAI, Pi, LangChain, Gemini and others write it."""
    inner = first_of(given, ("function", "functionCall", "function_call"))
    body = inner if isinstance(inner, dict) else given
    name = first_of(body, ("name", "toolName"), given.get("name"))
    if not isinstance(name, str):
        name = inner if isinstance(inner, str) else ""
    raw = first_of(body, ("arguments", "input", "args", "parameters", "kwargs"), {})
    arguments, is_text = read_arguments(raw)
    return ToolCall(name or "(no name)", arguments, call_id(given) or call_id(body), raw=is_text)


def call_id(given: Mapping[str, Any]) -> str:
    """Return the id of a call, as it or its result names it."""
    return answered_call(given) or string(given.get("id"))


def answered_call(given: Mapping[str, Any]) -> str:
    """Return the id of the call that a result answers, where it has an ``id`` of its own."""
    for name in ("call_id", "tool_call_id", "tool_use_id", "toolCallId"):
        value = given.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _result(part: Mapping[str, Any]) -> Result:
    inner = first_of(part, ("functionResponse", "function_response"))
    body = inner if isinstance(inner, dict) else part
    content = first_of(body, ("content", "output", "response", "result"), "")
    text, attachments = read_result(content)
    name = first_of(body, ("name", "toolName"))
    stated = [body[name] for name in ("is_error", "isError") if isinstance(body.get(name), bool)]
    failed = stated[0] if stated else None
    if failed is None and part.get("type") == "tool_result":
        failed = False  # Anthropic's mark may be left out where nothing failed
    return Result(
        call_id(part) or call_id(body), text, string(name), failed, attachments=attachments,
    )  # fmt: skip


def read_result(content: Any) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of a tool's result and its images and files; other values are JSON."""
    if isinstance(content, str):
        return content, []
    if isinstance(content, dict) and isinstance(content.get("output"), str) and len(content) == 1:
        content = content["output"]
    if isinstance(content, dict) and string(content.get("type")) not in _TEXTS:
        return as_text(content), []
    if isinstance(content, list) and not all(
        isinstance(one, str) or _is_part(one) for one in content
    ):
        return as_text(content), []
    if not isinstance(content, list | dict | str):
        return as_text(content), []
    parts = read_parts(content)
    return parts.text, parts.attachments


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def as_text(value: Any) -> str:
    """Return a value as a text: itself, or JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return an object, or an empty one where the value is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> Sequence[Any]:
    """Return a list, or an empty one where the value is none."""
    return value if isinstance(value, list) else ()


def string(value: Any) -> str:
    """Return a text, or an empty one where the value is none."""
    return value if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """Return a count, or None where the value is none."""
    return value if type(value) is int and 0 <= value < 2**53 else None  # True is no count


def amount(value: Any) -> float | None:
    """Return a sum of money, or None where the value is none."""
    good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
    return float(value) if good else None


def total(usage: Mapping[str, Any], *names: str) -> int | None:
    """Return the sum of the counts under these names; None where none of them is stated."""
    counts = [count for name in names if (count := whole(usage.get(name))) is not None]
    return sum(counts) if counts else None
