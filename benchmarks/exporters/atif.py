"""Trajectories as ATIF 1.6; scores and hidden state, for which it has no place, stand in extra."""

from dataclasses import asdict
from typing import Any

from benchmarks.exporters.chat import message_row
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

SOURCES = {"system": "system", "user": "user", "assistant": "agent"}
VERSION = "ATIF-v1.6"


def document(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """One trajectory; what the agent never saw is kept apart from its steps."""
    steps: list[dict[str, Any]] = []
    unseen = []
    for message in trajectory.messages:
        if message.hidden:
            unseen.append(message_row(message))
        elif message.speaker == "tool" and steps:
            _add_result(steps, message)
        else:
            steps.append(_step(len(steps) + 1, message))
    return {
        "schema_version": VERSION,
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
                "task_id": trajectory.task.id,
                "attempt": trajectory.attempt or 1,
                "reward": trajectory.scores.get("reward"),
                "scores": dict(trajectory.scores),
                "termination": trajectory.termination,
                "rubric": [asdict(score) for score in trajectory.rubric],
                "hidden": {**trajectory.task.hidden, **trajectory.hidden},
                "hidden_messages": unseen,
                "metadata": dict(trajectory.metadata),
            }
        },
    }


def _step(number: int, message: ImportedMessage) -> dict[str, Any]:
    step: dict[str, Any] = {
        "step_id": number,
        "source": SOURCES.get(message.speaker, "system"),
        "message": message.text,
    }
    if message.at:
        step["timestamp"] = message.at
    if message.speaker != "assistant":
        return step
    if message.reasoning:
        step["reasoning_content"] = message.reasoning
    if message.calls:
        step["tool_calls"] = [
            {"tool_call_id": call.id, "function_name": call.name, "arguments": call.arguments}
            for call in message.calls
        ]
    metrics = {
        "prompt_tokens": message.tokens_in,
        "completion_tokens": message.tokens_out,
        "cost_usd": message.cost,
    }
    if known := {name: value for name, value in metrics.items() if value is not None}:
        step["metrics"] = known
    return step


def _add_result(steps: list[dict[str, Any]], message: ImportedMessage) -> None:
    """Put a result into the step of its call; without one, into the last step."""
    owner = steps[-1]
    for step in reversed(steps):
        if any(call["tool_call_id"] == message.call_id for call in step.get("tool_calls", ())):
            owner = step
            break
    result = {"source_call_id": message.call_id or None, "content": message.text}
    owner.setdefault("observation", {"results": []})["results"].append(result)
