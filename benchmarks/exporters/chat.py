"""Trajectories as OpenAI chat messages, one JSON object a line; our importer reads them back."""

import json
from dataclasses import asdict
from typing import Any

from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

# Marks rows that hold all of a trajectory, so that nothing need be guessed when they are read back.
VERSION = 1


def row(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """One trajectory with its tools, its scores and what was hidden from the agent."""
    return {
        "planjury": VERSION,
        "task_id": trajectory.task.id,
        "attempt": trajectory.attempt or 1,
        "model": trajectory.agent,
        "category": trajectory.task.category,
        "prompt": trajectory.task.prompt,
        "system": next((m.text for m in trajectory.messages if m.speaker == "system"), None),
        "messages": [message_row(message) for message in trajectory.messages],
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


def message_row(message: ImportedMessage) -> dict[str, Any]:
    """A message in the chat format; what that format has no field for stands beside it."""
    made: dict[str, Any] = {**message.extra, "role": message.speaker}
    made["content"] = message.extra.get("content", message.text or None)
    if message.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
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
