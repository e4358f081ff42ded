"""Historical trajectories of tau-bench: a list of {task_id, trial, reward, info, traj}.

The user's instruction and the gold actions are hidden from the agent. The file does not say which
model it was.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import (
    first_words,
    read_messages,
    read_number,
    read_text,
    read_whole,
)
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    task_key,
)

LARGEST = 30_000
STOP, TRANSFER = "###STOP###", "transfer_to_human_agents"
# Fields of info.task that say what the user was after and what would have been right.
HIDDEN = ("instruction", "actions", "outputs", "user_id")


def recognises(shape: Shape) -> bool:
    return shape.kind == "list" and shape.first_has("traj", "task_id")


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file; faults are noted, and what has one is left out."""
    for field, index, item in source.entries():
        spot = Spot(problems, source.name).at(field if index is None else index)
        if field or index is None:
            spot.fault("a list of trajectories at the top", item)
            return
        before = problems.total
        made = _trajectory(spot, item)
        if made is not None and problems.total == before:
            yield made


def _trajectory(spot: Spot, item: Any) -> ImportedTrajectory | None:
    if not isinstance(item, dict):
        spot.fault("an object with task_id, trial, reward, info and traj", item)
        return None
    number = item.get("task_id")
    if isinstance(number, bool) or not isinstance(number, int | str) or number == "":
        spot.at("task_id").fault("a whole number or a text", number)
    trial = read_whole(spot, "trial", item.get("trial"), 0, LARGEST)
    reward = read_number(spot, "reward", item.get("reward"))
    if item.get("reward") is None:
        spot.at("reward").fault("a number", None)
    info = item.get("info")
    if not isinstance(info, dict):
        spot.at("info").fault("an object", info)
        info = {}
    task = info.get("task")
    if not isinstance(task, dict):
        spot.at("info").at("task").fault("an object with 'instruction'", task)
        task = {}
    read_text(spot, "info.task.instruction", task.get("instruction"))
    cost = read_number(spot, "info.user_cost", info.get("user_cost"))
    messages = read_messages(spot.at("traj"), item.get("traj"))
    known = ("task_id", "trial", "reward", "info", "traj")
    metadata = {
        **{key: value for key, value in item.items() if key not in known},
        **{key: value for key, value in info.items() if key != "task"},
    }
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(str(number)),
            prompt=first_words(messages),
            hidden={key: task[key] for key in HIDDEN if key in task},
            payload={k: v for k, v in task.items() if k not in HIDDEN},
        ),
        messages=messages,
        attempt=None if trial is None else trial + 1,
        scores={"reward": reward, "user_cost": cost},
        undefined={} if cost is not None else {"user_cost": "the file does not state it"},
        termination=_termination(messages, info),
        metadata=metadata,
    )


def _termination(messages: Sequence[ImportedMessage], info: Mapping[str, Any]) -> str:
    """Return how a trajectory ended: the file does not say it, but its end shows it.

    An environment that was never done was not assessed either: its steps were used up.
    """
    if not messages:
        return "not_stated"
    if "reward_info" in info and info["reward_info"] is None:
        return "max_steps"
    last = messages[-1]
    if last.speaker == "user" and STOP in last.text:
        return "user_stop"
    if last.speaker == "tool" and last.name == TRANSFER:
        return "transfer"
    return "not_stated"
