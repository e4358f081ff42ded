"""ATIF, the trajectory format of Harbor (1.0 to 1.7): one trajectory a file.

A tool's result stands in the step of its call; here it becomes a message of its own. Steps that
only repeat an earlier context are left out, sub-agents are kept as metadata.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.digests import digest_text, storable
from benchmarks.core.problems import Problems, Said
from benchmarks.core.types import Speaker
from benchmarks.importers.messages import (
    MOST_MESSAGES,
    By,
    first_words,
    read_call,
    read_content,
    read_number,
    read_text,
)
from benchmarks.importers.shape import Shape
from benchmarks.importers.source import Source, Spot
from benchmarks.importers.values import ImportedMessage, ImportedTask, ImportedTrajectory, task_key

SPEAKERS: Mapping[str, Speaker] = {"system": "system", "user": "user", "agent": "assistant"}
_VERSION = re.compile(r"ATIF-v1\.\d+")
_READ = frozenset(("steps", "agent", "final_metrics"))
_STEP = frozenset(
    ("step_id", "source", "message", "timestamp", "reasoning_content", "tool_calls", "observation")
    + ("is_copied_context",)
)
_AGENT: By = "agent"


def recognises(shape: Shape) -> bool:
    return shape.kind == "object" and shape.has("schema_version", "steps")


def read(
    source: Source, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """The one trajectory of a file, unless something is wrong with it."""
    top = Spot(problems, source.name)
    root: dict[str, Any] = {"steps": []}
    for field, index, item in source.entries():
        if not field:
            top.fault("an object with schema_version, agent and steps", Said("a list"))
            return
        if index is None:
            root[field] = item
        else:
            root.setdefault(field, []).append(item)
        if isinstance(root[field], list) and len(root[field]) > MOST_MESSAGES:
            top.at(field).fault(f"at most {MOST_MESSAGES} members", root[field])
            return
    before = problems.total
    made = _trajectory(top, storable(root))
    if problems.total == before:
        yield made


def _trajectory(top: Spot, root: Mapping[str, Any]) -> ImportedTrajectory:
    version = root.get("schema_version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        top.at("schema_version").fault("ATIF-v1.0 to ATIF-v1.7", version)
    agent = root.get("agent")
    if not isinstance(agent, dict) or not isinstance(agent.get("name"), str):
        top.at("agent").fault("an object with 'name'", agent)
        agent = {}
    messages = _messages(top.at("steps"), root["steps"])
    extra = root.get("extra") if isinstance(root.get("extra"), dict) else {}
    own = extra.get("planjury") if isinstance(extra, dict) else None
    own = own if isinstance(own, dict) else {}
    final = root.get("final_metrics")
    if final is not None and not isinstance(final, dict):
        top.at("final_metrics").fault("an object", final)
        final = None
    cost = read_number(top, "final_metrics.total_cost_usd", (final or {}).get("total_cost_usd"))
    reward = read_number(top, "extra.planjury.reward", own.get("reward"))
    prompt = first_words(messages)
    tools = agent.get("tool_definitions")
    name = read_text(top, "agent.model_name", agent.get("model_name"))
    given = own.get("task_id") or root.get("trajectory_id") or root.get("session_id")
    started = messages[0].at if messages else ""
    hidden = own.get("hidden")
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(given) if isinstance(given, str) else digest_text(prompt),
            prompt=prompt,
            hidden=hidden if isinstance(hidden, dict) else {},
        ),
        messages=messages,
        agent=name or str(agent.get("name", "")),
        scores={"reward": reward, "cost": cost},
        undefined={
            name: "the file does not state it"
            for name, value in (("reward", reward), ("cost", cost))
            if value is None
        },
        started=started,
        finished=messages[-1].at if messages else "",
        tools=tuple(tool for tool in tools if isinstance(tool, dict))
        if isinstance(tools, list)
        else (),
        metadata={
            **{key: value for key, value in root.items() if key not in _READ},
            "agent": {k: v for k, v in agent.items() if k != "tool_definitions"},
            **({"final_metrics": final} if final else {}),
        },
    )


def _messages(spot: Spot, steps: Any) -> tuple[ImportedMessage, ...]:
    if not isinstance(steps, list) or not steps:
        spot.fault("a list with at least one step", steps)
        return ()
    made: list[ImportedMessage] = []
    for index, step in enumerate(steps):
        made += _step(spot.at(f"[{index}]"), step, index + 1)
    if not any(m.speaker == "assistant" for m in made):
        spot.fault("at least one step of the agent", steps)
    return tuple(made)


def _step(spot: Spot, step: Any, number: int) -> Iterator[ImportedMessage]:
    """The message of a step, and the results of its calls."""
    if not isinstance(step, dict):
        spot.fault("a step: an object with step_id, source and message", step)
        return
    if step.get("step_id") != number or isinstance(step.get("step_id"), bool):
        spot.at("step_id").fault(
            f"{number}, because steps are numbered without gaps", step.get("step_id")
        )
    if step.get("is_copied_context") is True:
        return
    given = step.get("source")
    if not isinstance(given, str) or given not in SPEAKERS:
        spot.at("source").fault("system, user or agent", given)
        return
    text, reasoning, kept = read_content(spot, "message", step.get("message"))
    metrics = step.get("metrics")
    if metrics is not None and not isinstance(metrics, dict):
        spot.at("metrics").fault("an object", metrics)
        metrics = None
    figures = {
        name: read_number(spot.at("metrics"), name, (metrics or {}).get(name), least=0)
        for name in ("prompt_tokens", "completion_tokens", "cost_usd")
    }
    calls = step.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        spot.at("tool_calls").fault("a list of calls", calls)
        calls = None
    read_calls = [
        read_call(spot.at(f"tool_calls[{i}]"), _as_call(call), _AGENT)
        for i, call in enumerate(calls or ())
    ]
    made = tuple(call for call in read_calls if call)
    extra = {key: value for key, value in step.items() if key not in _STEP and value is not None}
    yield ImportedMessage(
        speaker=SPEAKERS[given],
        text=text,
        calls=made,
        reasoning=read_text(spot, "reasoning_content", step.get("reasoning_content")) or reasoning,
        at=read_text(spot, "timestamp", step.get("timestamp")),
        tokens_in=_whole(figures["prompt_tokens"]),
        tokens_out=_whole(figures["completion_tokens"]),
        cost=figures["cost_usd"],
        extra={**extra, "content": kept} if kept else extra,
    )
    yield from _results(
        spot.at("observation"), step.get("observation"), {c.id: c.name for c in made}
    )


def _results(spot: Spot, given: Any, names: Mapping[str, str]) -> Iterator[ImportedMessage]:
    if given is None:
        return
    results = given.get("results") if isinstance(given, dict) else None
    if not isinstance(results, list):
        spot.fault("an object with a list 'results'", given)
        return
    for index, result in enumerate(results):
        at = spot.at(f"results[{index}]")
        if not isinstance(result, dict):
            at.fault("a result: an object", result)
            continue
        source = read_text(at, "source_call_id", result.get("source_call_id"))
        if source and source not in names:
            at.at("source_call_id").fault("the id of a call of this step", source)
        text, _, kept = read_content(at, "content", result.get("content"))
        extra = {k: v for k, v in result.items() if k not in ("source_call_id", "content")}
        yield ImportedMessage(
            speaker="tool",
            text=text,
            call_id=source,
            name=names.get(source, ""),
            extra={**extra, "content": kept} if kept else extra,
        )


def _as_call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    return {
        "id": call.get("tool_call_id"),
        "name": call.get("function_name"),
        "arguments": call.get("arguments"),
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
