"""Documents of ATIF (Harbor): a step for each message, a tool's result in the step of its call.

What the format has no place for, such as scores and hidden state, is written into ``extra``; images
are files beside the document.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.formats.attachments import contained_images, image_type
from benchmarks.formats.planjury_rows import about_row, write_message
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory, ToolCall

STEP_SOURCES = {"system": "system", "user": "user", "assistant": "agent"}
# The first version in which calls and results may have an ``extra``.
WRITTEN_VERSION = "ATIF-v1.7"


def write_document(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """Return one trajectory; what the agent never saw is kept apart from its steps.

    Images are named by the paths that ``image_files`` gives them.
    """
    steps: list[dict[str, Any]] = []
    unseen = []
    for message in trajectory.messages:
        if message.hidden:
            unseen.append(write_message(message))
        elif message.speaker == "tool" and steps:
            _add_result(steps, message)
        else:
            steps.append(_written_step(len(steps) + 1, message))
    return {
        "schema_version": WRITTEN_VERSION,
        "session_id": f"{trajectory.task.id}#{trajectory.attempt or 1}",
        "agent": {
            "name": trajectory.agent or "unknown",
            "version": "unknown",
            **({"model_name": trajectory.agent} if trajectory.agent else {}),
            **(
                {"tool_definitions": [dict(t) for t in trajectory.tools]}
                if trajectory.tools
                else {}
            ),
        },
        "steps": steps,
        "extra": {
            "planjury": {
                **about_row(trajectory),
                "hidden_messages": unseen,
            }
        },
    }


def _written_step(number: int, message: ImportedMessage) -> dict[str, Any]:
    step: dict[str, Any] = {
        "step_id": number,
        "source": STEP_SOURCES.get(message.speaker, "system"),
        "message": _content(message),
    }
    if _is_moment(message.at):
        step["timestamp"] = message.at
    beside = _beside(message, {"name": message.name})
    if message.at and "timestamp" not in step:
        beside["at"] = message.at
    if beside:
        step["extra"] = beside
    if message.speaker != "assistant":
        return step
    if message.reasoning:
        step["reasoning_content"] = message.reasoning
    if message.calls:
        step["tool_calls"] = [_written_call(call) for call in message.calls]
    metrics = {
        "prompt_tokens": message.tokens_in,
        "completion_tokens": message.tokens_out,
        "cost_usd": message.cost,
    }
    if known := {name: value for name, value in metrics.items() if value is not None}:
        step["metrics"] = known
    return step


def _add_result(steps: list[dict[str, Any]], message: ImportedMessage) -> None:
    """Put a result into the step of its call; without one, into the last step, where it names no
    call.
    """
    owner = steps[-1]
    result: dict[str, Any] = {"source_call_id": None, "content": _content(message)}
    name = ""
    for step in reversed(steps):
        names = {c["tool_call_id"]: c["function_name"] for c in step.get("tool_calls", ())}
        if message.call_id in names:
            owner, result["source_call_id"] = step, message.call_id or None
            name = names[message.call_id]
            break
    other = {"name": message.name if message.name != name else "", "at": message.at}
    if result["source_call_id"] is None:
        other["call_id"] = message.call_id
    if beside := _beside(message, other):
        result["extra"] = beside
    owner.setdefault("observation", {"results": []})["results"].append(result)


def _written_call(call: ToolCall) -> dict[str, Any]:
    """Return a call; arguments that are no object are wrapped in one, as the format asks."""
    extra: dict[str, Any] = {"requestor": call.by} if call.by == "provider" else {}
    arguments = call.arguments
    if not isinstance(arguments, dict):
        arguments, extra["wrapped"] = {"input": arguments}, True
    return {
        "tool_call_id": call.id,
        "function_name": call.name,
        "arguments": arguments,
        **({"extra": extra} if extra else {}),
    }


def _beside(message: ImportedMessage, other: Mapping[str, str]) -> dict[str, Any]:
    """Return what a step or a result has no field for; images are named with their files."""
    extra = {name: value for name, value in message.extra.items() if name != "content"}
    if "attachments" in extra:
        extra["attachments"] = [
            {**{n: v for n, v in one.items() if n != "data"}, "file": _image_path(one["data"])}
            if isinstance(one, dict) and "data" in one
            else one
            for one in extra["attachments"]
        ]
    return extra | {name: value for name, value in other.items() if value}


def _content(message: ImportedMessage) -> str | list[dict[str, Any]]:
    """Return the text, with the images after it where their content is known."""
    images = [image["data"] for image in contained_images(message.extra)]
    if not images:
        return message.text
    sources = [{"media_type": image_type(data), "path": _image_path(data)} for data in images]
    return [
        {"type": "text", "text": message.text},
        *({"type": "image", "source": source} for source in sources),
    ]


def image_files(trajectory: ImportedTrajectory) -> dict[str, str]:
    """Return the images of a trajectory in Base64, by the paths that its document names."""
    return {
        _image_path(image["data"]): image["data"]
        for message in trajectory.messages
        for image in contained_images(message.extra)
    }


def _image_path(data: str) -> str:
    return f"images/{digest_text(data)}.{image_type(data).rpartition('/')[2]}"


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
