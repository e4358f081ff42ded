"""Trajectories of SWE-agent (``.traj``): the history of messages, and the steps beside it.

The history is read; a last step that stands only among the steps is added. Models without calls of
tools write an action as text: the next message holds its result. Ids of calls come again in later
steps, so that results are matched by step.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.lines import decoded
from benchmarks.formats.sessions.parts import (
    Parts,
    Result,
    amount,
    as_list,
    as_mapping,
    read_parts,
    read_tool_call,
    string,
    total,
)
from benchmarks.formats.sessions.transcript import Transcript, leave_out
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedTrajectory, ToolCall

UNSTATED = ("errors",)
_ABOUT = ("exit_status", "submission", "edited_files", "model_stats", "swe_agent_version")


def recognises(shape: Shape) -> bool:
    if shape.kind != "object" or "instance_id" in shape.keys:
        return False
    steps = {"environment", "trajectory"} <= shape.keys or {"trajectory", "info"} <= shape.keys
    return steps or ("history" in shape.keys and {"role", "content"} <= shape.names)


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the one trajectory; faults are noted."""
    top = Spot(problems, source.name)
    root = source.document(MOST_MESSAGES, skip=("environment",))
    history, steps = root.get("history"), root.get("trajectory")
    if not isinstance(history, list):
        top.at("history").fault("a list of messages", history)
        return
    transcript = Transcript(source.name.split(".traj")[0], UNSTATED)
    actions = 0
    for index, message in enumerate(history):
        if isinstance(message, dict):
            if message.get("is_demo") is True:
                leave_out(header, "message of a demonstration")
                continue
            actions += message.get("role") == "assistant"
            _add(transcript, top.at("history").at(index), message)
        else:
            top.at("history").at(index).fault("a message: an object", message)
    if isinstance(steps, list):
        _add_steps(transcript, steps, actions)
    _describe(transcript, root)
    if not problems.total and (made := transcript.trajectory(top)) is not None:
        yield made


def _add(transcript: Transcript, spot: Spot, message: Mapping[str, Any]) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "assistant":
        _add_answer(transcript, message)
    elif role == "tool":
        ids = [id for id in as_list(message.get("tool_call_ids")) if isinstance(id, str)]
        parts = read_parts(content)
        for id in _newest(transcript, ids) or [""]:
            transcript.result(Result(id, parts.text, attachments=parts.attachments))
    elif role == "user":
        parts = read_parts(content)
        waiting = next(iter(transcript.waiting), "")
        if waiting:
            transcript.result(Result(waiting, parts.text, attachments=parts.attachments))
        else:
            started = any(one.speaker == "assistant" for one in transcript.said)
            transcript.say("user", parts, by_program=started)
    elif role == "system":
        transcript.say("system", read_parts(content))
    else:
        spot.at("role").fault("system, user, assistant or tool", role)


def _add_answer(transcript: Transcript, message: Mapping[str, Any]) -> None:
    transcript.waiting.clear()  # a result never comes after the next step
    calls = [
        _unique(transcript, read_tool_call(call))
        for call in as_list(message.get("tool_calls"))
        if isinstance(call, dict)
    ]
    thoughts = read_parts(as_list(message.get("thinking_blocks"))).thoughts
    thought, action = string(message.get("thought")), string(message.get("action")).strip()
    parts = read_parts(message.get("content"))
    if not calls and action:
        parts = Parts(texts=[thought] if thought.strip() else [], attachments=parts.attachments)
        calls = [_action(transcript, action)]
    parts.calls += calls
    parts.thoughts += thoughts
    transcript.agent(parts)


def _action(transcript: Transcript, action: str) -> ToolCall:
    """Return the call that an action written as text makes."""
    return ToolCall(action.split()[0][:100], {"action": action}, f"step-{len(transcript.said)}")


def _unique(transcript: Transcript, call: ToolCall) -> ToolCall:
    if call.id and call.id in transcript.called:
        new = f"{call.id}~{len(transcript.said)}"
        return ToolCall(call.name, call.arguments, new, call.by, call.raw)
    return call


def _newest(transcript: Transcript, ids: list[str]) -> list[str]:
    """Return the ids as the calls of the last step have them."""
    waiting = list(transcript.waiting)
    return [next((w for w in waiting if w == id or w.startswith(f"{id}~")), id) for id in ids]


def _add_steps(transcript: Transcript, steps: list[Any], actions: int) -> None:
    """Add the last step, or its result, where the history does not have it."""
    own = [as_mapping(step) for step in steps]
    if len(own) == actions and own and transcript.waiting:
        observation = string(own[-1].get("observation"))
        for id in list(transcript.waiting):
            transcript.result(Result(id, observation))
    elif len(own) == actions + 1:
        step = own[-1]
        action = string(step.get("action")).strip()
        text = string(step.get("thought")) or string(step.get("response"))
        calls = [_action(transcript, action)] if action else []
        transcript.agent(Parts(texts=[text] if text else [], calls=calls))
        for call in calls:
            transcript.result(Result(call.id, string(step.get("observation"))))


def _describe(transcript: Transcript, root: Mapping[str, Any]) -> None:
    info = as_mapping(root.get("info"))
    stats = as_mapping(info.get("model_stats"))
    transcript.counts["tokens_in"] = total(stats, "tokens_sent")
    transcript.counts["tokens_out"] = total(stats, "tokens_received")
    transcript.scores = {"reward": None, "cost": amount(stats.get("instance_cost"))}
    transcript.termination = string(info.get("exit_status"))
    transcript.about |= {name: info[name] for name in _ABOUT if info.get(name)}
    config = as_mapping(decoded(root.get("replay_config")))
    model = as_mapping(as_mapping(config.get("agent")).get("model"))
    other = as_mapping(config.get("model"))
    transcript.model = string(model.get("name")) or string(other.get("name"))
