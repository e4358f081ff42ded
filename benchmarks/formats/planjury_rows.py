"""Rows in the chat format that hold all of a trajectory: read without guessing, and written."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from benchmarks.formats.messages import read_messages, read_number, read_text, read_whole
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    RubricScore,
    task_key,
)

LARGEST = 30_000
MOST_SCORES = 100_000
_TEXTS = ("dimension", "reason", "judge", "kind", "seat", "judging")


def trajectory(spot: Spot, item: Mapping[str, Any]) -> ImportedTrajectory:
    """Return the trajectory of a row; what is wrong with it is noted."""
    objects = {}
    for name in ("hidden", "stated", "scores", "undefined", "metadata"):
        objects[name] = given = item.get(name) or {}
        if not isinstance(given, dict):
            spot.at(name).fault("an object", given)
            objects[name] = {}
    tools = item.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        spot.at("tools").fault("a list of objects", tools)
        tools = []
    task = read_text(spot, "task_id", item.get("task_id"))
    if not task:
        spot.at("task_id").fault("a text", item.get("task_id"))
    seed = item.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
        spot.at("seed").fault("a whole number or nothing", seed)
        seed = None
    scores = {
        name: read_number(spot.at("scores"), name, value)
        for name, value in objects["scores"].items()
    }
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(task),
            prompt=read_text(spot, "prompt", item.get("prompt")),
            category=read_text(spot, "category", item.get("category"))[:80],
            hidden=objects["hidden"],
            payload=objects["stated"],
        ),
        messages=read_messages(spot.at("messages"), item.get("messages"), may_be_silent=True),
        agent=read_text(spot, "model", item.get("model")),
        attempt=read_whole(spot, "attempt", item.get("attempt"), 1, LARGEST),
        seed=seed,
        scores=scores,
        undefined={
            name: read_text(spot.at("undefined"), name, why)
            for name, why in objects["undefined"].items()
        },
        termination=read_text(spot, "termination", item.get("termination")) or "not_stated",
        started=read_text(spot, "started", item.get("started")),
        finished=read_text(spot, "finished", item.get("finished")),
        tools=tuple(tools),
        metadata=objects["metadata"],
        rubric=_rubric(spot.at("rubric"), item.get("rubric")),
    )


def _rubric(spot: Spot, given: Any) -> tuple[RubricScore, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MOST_SCORES:
        spot.fault(f"a list of at most {MOST_SCORES} scores", given)
        return ()
    made = []
    for index, score in enumerate(given):
        at = spot.at(index)
        if not isinstance(score, dict):
            at.fault("a score: an object with turn, dimension and value", score)
            continue
        made.append(
            RubricScore(
                turn=read_whole(at, "turn", score.get("turn"), 1, LARGEST) or 1,
                value=read_number(at, "value", score.get("value")),
                replicate=read_whole(at, "replicate", score.get("replicate"), 0, LARGEST) or 0,
                **{name: read_text(at, name, score.get(name)) for name in _TEXTS},
            )
        )
    return tuple(made)


# Marks rows that hold all of a trajectory, so that nothing need be guessed when they are read back.
ROW_VERSION = 1


def write_row(trajectory: ImportedTrajectory) -> dict[str, Any]:
    """Return one trajectory with its tools, its scores and what was hidden from the agent."""
    return {
        "planjury": ROW_VERSION,
        "task_id": trajectory.task.id,
        "attempt": trajectory.attempt or 1,
        "model": trajectory.agent,
        "category": trajectory.task.category,
        "prompt": trajectory.task.prompt,
        "system": next((m.text for m in trajectory.messages if m.speaker == "system"), None),
        "messages": [write_message(message) for message in trajectory.messages],
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
