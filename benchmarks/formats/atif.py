"""ATIF, the trajectory format of Harbor (1.0 to 1.8).

A file holds one trajectory, or a list or lines of them; a folder or an archive holds such files. A
tool's result stands in the step of its call; here it becomes a message of its own. Steps that only
repeat an earlier context are left out, continuations are joined to what they continue, sub-agents
are kept as metadata.
Images are files that steps name by paths; those beside the document are read with it.
A document that was exported here says under ``extra.planjury`` what the format has no place for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.core.problems import FileRefused, Problems
from benchmarks.core.types import Speaker
from benchmarks.formats.attachments import IMAGES_OF_TRAJECTORY, LARGEST_IMAGE, stored_image
from benchmarks.formats.continuations import Document, chains, documents
from benchmarks.formats.messages import (
    MOST_MESSAGES,
    By,
    first_words,
    read_call,
    read_content,
    read_number,
    read_text,
    read_whole,
    with_parts,
)
from benchmarks.formats.planjury_rows import ROW_VERSION, trajectory
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    task_key,
)

SPEAKERS: Mapping[str, Speaker] = {"system": "system", "user": "user", "agent": "assistant"}
LARGEST = 30_000
_VERSION = re.compile(r"ATIF-v1\.\d+")
_READ = frozenset(("steps", "agent", "final_metrics"))
_STEP = frozenset(
    ("step_id", "source", "message", "timestamp", "reasoning_content", "tool_calls", "observation")
    + ("is_copied_context",)
)
_AGENT: By = "agent"
# Texts of a message for which steps and results have no field, or not always.
_BESIDE = ("name", "at", "call_id")
# Fields of a message that an export from here tells in other fields, too.
_TOLD = ("extra", "metrics", "content", "attachments")


def recognises(shape: Shape) -> bool:
    fields = shape.keys if shape.kind == "object" else shape.first
    return shape.kind != "other" and {"schema_version", "steps"} <= fields


def whole(source: FileSource) -> FileSource:
    """Return the one file, or all JSON files of a folder or an archive."""
    files = {name: file for name, file in source.members.items() if name.endswith(".json")}
    return FileSource(source.name, files) if len(files) > 1 else next(iter(files.values()), source)


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a source; faults are noted, and what has one is left out."""
    roots = documents(source, problems)
    for parts in chains(source, problems, roots):
        before = problems.total
        made = _trajectory(parts)
        if made is not None and problems.total == before:
            files = [source.members.get(part.file, source) for part in parts]
            yield replace(made, messages=_with_images(made.messages, files))


def _with_images(
    messages: Sequence[ImportedMessage], files: Sequence[FileSource]
) -> tuple[ImportedMessage, ...]:
    """Return the messages with the images that lie as files beside the documents.

    A file that is missing, too large or no image stays named, as do all beyond what is kept of one
    trajectory.
    """
    images: dict[str, str] = {}
    room = IMAGES_OF_TRAJECTORY
    shown = []
    for message in messages:
        given = message.extra.get("attachments")
        rows = []
        for row in given if isinstance(given, list) else ():
            known = isinstance(row, dict) and row.get("kind") == "image" and "data" not in row
            path = row.get("file", row.get("name")) if known else None
            if not isinstance(path, str) or not path:
                rows.append(row)
                continue
            if path not in images:
                images[path] = _image_beside(path, files) if room > 0 else ""
                room -= len(images[path])
            data = images[path]
            size = {"bytes": len(data) * 3 // 4 - data[-2:].count("=")}
            plain = {name: value for name, value in row.items() if name != "file"}
            rows.append(
                {**plain, **size, "data": data}
                if data
                else {**plain, "name": plain.get("name", path)}
            )
        shown.append(
            replace(message, extra={**message.extra, "attachments": rows}) if rows else message
        )
    return tuple(shown)


def _image_beside(path: str, files: Sequence[FileSource]) -> str:
    for file in files:
        beside = file.beside(path)
        if beside is None:
            continue
        try:
            with beside.raw() as raw:
                return stored_image(raw.read(LARGEST_IMAGE))
        except FileRefused:  # a damaged member of an archive
            continue
    return ""


def _trajectory(parts: Sequence[Document]) -> ImportedTrajectory | None:
    """Return one trajectory from a document and those that continue it; None after a fault."""
    top, root = parts[0].spot, parts[0].root
    agent: Mapping[str, Any] = {}
    messages: list[ImportedMessage] = []
    final: Mapping[str, Any] = {}
    for part in reversed(parts):
        agent = _agent(part)
        messages[:0] = _messages(part.spot.at("steps"), part.root.get("steps"))
        stated = part.root.get("final_metrics")
        if stated is not None and not isinstance(stated, dict):
            part.spot.at("final_metrics").fault("an object", stated)
        elif not final and stated:  # those of a continuation count what came before it too
            final = stated
    own = _own(root)
    if own.get("planjury") == ROW_VERSION:
        return trajectory(top.at("extra.planjury"), own, tuple(map(_flat, messages)))
    cost = read_number(top, "final_metrics.total_cost_usd", final.get("total_cost_usd"))
    reward = read_number(top, "extra.planjury.reward", own.get("reward"))
    prompt = first_words(messages)
    tools = agent.get("tool_definitions")
    name = read_text(top, "agent.model_name", agent.get("model_name"))
    given = own.get("task_id") or root.get("trajectory_id") or root.get("session_id")
    hidden = own.get("hidden")
    attempt = own.get("attempt")
    if attempt is not None:
        attempt = read_whole(top, "extra.planjury.attempt", attempt, 1, LARGEST)
    ending = read_text(top, "extra.planjury.termination", own.get("termination"))
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(given) if isinstance(given, str) and given else digest_text(prompt),
            prompt=prompt,
            hidden=hidden if isinstance(hidden, dict) else {},
        ),
        messages=tuple(messages),
        agent=name or str(agent.get("name", "")),
        attempt=attempt,
        scores={"reward": reward, "cost": cost},
        undefined={
            name: "the file does not state it"
            for name, value in (("reward", reward), ("cost", cost))
            if value is None
        },
        termination=ending or "not_stated",
        started=messages[0].at if messages else "",
        finished=messages[-1].at if messages else "",
        tools=tuple(tool for tool in tools if isinstance(tool, dict))
        if isinstance(tools, list)
        else (),
        metadata={
            **_metadata(root, agent),
            **_session(own),
            **({"final_metrics": final} if final else {}),
            **({"continuations": [_metadata(p.root, {}) for p in parts[1:]]} if parts[1:] else {}),
        },
    )


def _agent(part: Document) -> Mapping[str, Any]:
    version, agent = part.root.get("schema_version"), part.root.get("agent")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        part.spot.at("schema_version").fault("ATIF-v1.0 to ATIF-v1.8", version)
    if isinstance(agent, dict) and isinstance(agent.get("name"), str):
        return agent
    part.spot.at("agent").fault("an object with 'name'", agent)
    return {}


def _own(root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an export from here states beyond the format."""
    extra = root.get("extra")
    own = extra.get("planjury") if isinstance(extra, dict) else None
    return own if isinstance(own, dict) else {}


def _flat(message: ImportedMessage) -> ImportedMessage:
    """Return a message of an export from here with the fields that its step has under extra."""
    beside = message.extra.get("extra")
    extra = {name: value for name, value in message.extra.items() if name not in _TOLD}
    extra |= beside if isinstance(beside, dict) else {}
    fields = {name: getattr(message, name) for name in _BESIDE}
    fields |= {name: extra.pop(name) for name in _BESIDE if isinstance(extra.get(name), str)}
    return replace(message, **fields, extra=extra)


def _session(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the session that an export from here names, with what its file counts."""
    metadata = own.get("metadata")
    session = metadata.get("session") if isinstance(metadata, dict) else None
    return {"session": session} if isinstance(session, dict) else {}


def _metadata(root: Mapping[str, Any], agent: Mapping[str, Any]) -> dict[str, Any]:
    about = {key: value for key, value in agent.items() if key != "tool_definitions"}
    return {
        **{key: value for key, value in root.items() if key not in _READ},
        **({"agent": about} if about else {}),
    }


def _messages(spot: Spot, steps: Any) -> tuple[ImportedMessage, ...]:
    if not isinstance(steps, list) or not steps:
        spot.fault("a list with at least one step", steps)
        return ()
    if len(steps) > MOST_MESSAGES:
        spot.fault(f"at most {MOST_MESSAGES} steps", steps)
        return ()
    made: list[ImportedMessage] = []
    for index, step in enumerate(steps):
        made += _step(spot.at(index), step, index + 1)
    if not any(m.speaker == "assistant" for m in made):
        spot.fault("at least one step of the agent", steps)
    return tuple(made)


def _step(spot: Spot, step: Any, number: int) -> Iterator[ImportedMessage]:
    """Yield the message of a step, and the results of its calls."""
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
        extra={**extra, **with_parts(kept, text)},
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
            extra={**extra, **with_parts(kept, text)},
        )


def _as_call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    extra, arguments = call.get("extra"), call.get("arguments")
    about = extra if isinstance(extra, dict) else {}
    if about.get("wrapped") is True and isinstance(arguments, dict):
        arguments = arguments.get("input")
    return {
        "requestor": about.get("requestor"),
        "id": call.get("tool_call_id"),
        "name": call.get("function_name"),
        "arguments": arguments,
    }


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)
