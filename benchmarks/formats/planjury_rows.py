"""Rows in the chat format that hold all of a trajectory: read without guessing, and written."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import reduce
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictStr

from benchmarks.core.schemas import Checked, Number, RowSchema, TextOrNone, expects
from benchmarks.formats.attachments import contained_images, content_parts
from benchmarks.formats.messages import MOST_MESSAGES, ROLES, read_messages
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    Nth,
    RubricScore,
    task_key,
)

MOST_SCORES = 100_000
# Marks rows that hold all of a trajectory, so that nothing need be guessed when they are read back.
ROW_VERSION = 1
Object = dict[str, Any]


class CalledFunction(RowSchema):
    """The tool that a message calls; arguments are JSON as a text, or a text that is none."""

    name: Annotated[StrictStr, expects("the name of a tool", min_length=1)]
    arguments: Any = None


class MessageCall(RowSchema):
    """A call of a tool."""

    id: StrictStr | None = None
    type: Literal["function"] = "function"
    function: CalledFunction


class ContentPart(RowSchema):
    """A part of a message, such as a text or an image."""

    type: StrictStr
    text: StrictStr | None = None


class RowMessage(RowSchema):
    """A message in the chat format. A hidden one never reached the agent."""

    role: Literal[tuple(ROLES)]  # type: ignore[valid-type]
    content: Annotated[
        StrictStr | list[StrictStr | ContentPart] | None,
        expects("a text, a list of parts, or nothing"),
    ] = None
    name: StrictStr | None = None
    tool_calls: list[MessageCall] | None = None
    tool_call_id: StrictStr | None = None
    reasoning_content: StrictStr | None = None
    timestamp: StrictStr | None = None
    cost: Annotated[Number, Field(ge=0)] | None = None
    usage: Object | None = None
    hidden: StrictBool | None = None


class TrajectoryRow(RowSchema):
    """One trajectory: its messages, its scores, and what was hidden from the agent."""

    planjury: Literal[1] = Field(description="version of this row")
    task_id: Annotated[StrictStr, Field(min_length=1)] = Field(
        description="the task's id in its dataset"
    )
    attempt: Nth = Field(description="number of the attempt at the task, from 1")
    model: TextOrNone = Field("", description="name of the agent that made the trajectory")
    category: TextOrNone = Field("", description="kind of the task")
    prompt: TextOrNone = Field("", description="what the agent was asked")
    system: TextOrNone = Field("", description="what the agent was told first")
    messages: Annotated[list[RowMessage], Field(min_length=1, max_length=MOST_MESSAGES)] = Field(
        description="what was said, in the chat format"
    )
    tools: list[Object] | None = Field(
        None, description="the tools that the agent had, in the chat format"
    )
    hidden: Object | None = Field(None, description="what the agent was not told")
    stated: Object | None = Field(None, description="what the task states, beside the prompt")
    reward: Number | None = Field(None, description="the score named reward, where there is one")
    scores: dict[str, Number | None] | None = Field(
        None, description="value of each score; null is undefined"
    )
    undefined: dict[str, TextOrNone] | None = Field(None, description="why a score is undefined")
    rubric: Annotated[list[RubricScore], Field(max_length=MOST_SCORES)] | None = Field(
        None, description="what judges made of each turn"
    )
    termination: TextOrNone = Field("", description="how the trajectory ended")
    started: TextOrNone = Field("", description="when it began, ISO 8601")
    finished: TextOrNone = Field("", description="when it ended, ISO 8601")
    seed: Annotated[int, Field(strict=True)] | None = Field(
        None, description="seed of the trajectory"
    )
    metadata: Object | None = Field(None, description="everything else that is known of it")


ROWS = Checked[TrajectoryRow](TrajectoryRow)


def trajectory(
    spot: Spot, item: Mapping[str, Any], messages: tuple[ImportedMessage, ...] | None = None
) -> ImportedTrajectory | None:
    """Return the trajectory of a row; what is wrong with it is noted.

    Given ``messages`` stand in place of those of the row.
    """
    if messages is not None:
        item = {**item, "messages": [{"role": "assistant"}]}
    row = ROWS.read(item, lambda path, *fault: reduce(Spot.at, path, spot).fault(*fault))
    if row is None:
        return None
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(row.task_id),
            prompt=row.prompt,
            category=row.category[:80],
            hidden=row.hidden or {},
            payload=row.stated or {},
        ),
        messages=read_messages(spot.at("messages"), item["messages"], as_kept=True)
        if messages is None
        else messages,
        agent=row.model,
        attempt=row.attempt,
        seed=row.seed,
        scores=row.scores or {},
        undefined=row.undefined or {},
        termination=row.termination or "not_stated",
        started=row.started,
        finished=row.finished,
        tools=tuple(row.tools or ()),
        metadata=row.metadata or {},
        rubric=tuple(row.rubric or ()),
    )


def write_row(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """Return one trajectory with its tools, its scores and what was hidden from the agent."""
    return {**about_row(trajectory), "messages": list(map(write_message, trajectory.messages))}


def about_row(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """Return the row of a trajectory without its messages."""
    return {
        "planjury": ROW_VERSION,
        "task_id": trajectory.task.id,
        "attempt": trajectory.attempt or 1,
        "model": trajectory.agent,
        "category": trajectory.task.category,
        "prompt": trajectory.task.prompt,
        "system": next((m.text for m in trajectory.messages if m.speaker == "system"), None),
        "tools": [dict(tool) for tool in trajectory.tools],
        "hidden": {**trajectory.task.hidden, **trajectory.hidden},
        "stated": dict(trajectory.task.payload),
        "reward": trajectory.scores.get("reward"),
        "scores": dict(trajectory.scores),
        "undefined": dict(trajectory.undefined),
        "rubric": [asdict(score) for score in trajectory.rubric],
        "termination": trajectory.termination,
        "started": trajectory.started,
        "finished": trajectory.finished,
        "seed": trajectory.seed,
        "metadata": dict(trajectory.metadata),
    }


def write_message(message: ImportedMessage) -> dict[str, Any]:
    """Return a message in the chat format; what that format has no field for stands beside it."""
    made: dict[str, Any] = {**message.extra, "role": message.speaker}
    made["content"] = message.extra.get("content", message.text or None)
    if "content" not in message.extra and contained_images(made):
        made["content"] = content_parts(message.text, made.pop("attachments"))
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                **({"requestor": call.by} if call.by == "provider" else {}),
                "function": {
                    "name": call.name,
                    "arguments": call.arguments
                    if call.raw
                    else json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in message.calls
        ]
    if "usage" not in made and (message.tokens_in is not None or message.tokens_out is not None):
        made["usage"] = {
            "prompt_tokens": message.tokens_in,
            "completion_tokens": message.tokens_out,
        }
    optional = {
        "tool_call_id": message.call_id,
        "name": message.name,
        "reasoning_content": message.reasoning,
        "timestamp": message.at,
        "cost": message.cost,
        "hidden": message.hidden or None,
    }
    return {**made, **{key: value for key, value in optional.items() if value not in ("", None)}}
