"""Trajectories as OpenAI chat messages, one JSON object a line; our importer reads them back."""

import json
from typing import Any

from benchmarks.importers.values import ImportedMessage, ImportedTrajectory


def row(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """One trajectory with its tools, its scores and what was hidden from the agent."""
    return {
        "task_id": trajectory.task.id,
        "attempt": trajectory.attempt or 1,
        "model": trajectory.agent,
        "prompt": trajectory.task.prompt,
        "messages": [message_row(message) for message in trajectory.messages],
        "tools": [dict(tool) for tool in trajectory.tools],
        "hidden": {**trajectory.task.hidden, **trajectory.hidden},
        "reward": trajectory.scores.get("reward"),
        "scores": {n: v for n, v in trajectory.scores.items() if n != "reward" and v is not None},
        "termination": trajectory.termination,
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
