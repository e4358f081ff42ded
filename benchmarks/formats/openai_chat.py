"""Chats as OpenAI writes them: JSON lines, or one JSON document.

A trajectory is a bare list of messages or an object with ``messages`` (or ``traj``); its other
fields are kept as metadata. Trajectories without an id belong to one task where they begin alike.
Event logs of OpenAI evals are read too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.digests import digest_text
from benchmarks.core.problems import Problems
from benchmarks.formats import openai_evals, parquet
from benchmarks.formats import planjury_rows as own_rows
from benchmarks.formats.messages import (
    MOST_MESSAGES,
    first_words,
    read_messages,
    read_number,
    read_text,
)
from benchmarks.formats.shape import Shape, shape_of
from benchmarks.formats.source import FileSource, Spot, read_line
from benchmarks.formats.trajectory import ImportedTask, ImportedTrajectory, task_key

CHATS = ("messages", "traj")
OWN = "planjury"
IDS = ("task_id", "id", "sample_id")
LARGEST = 30_000
_READ = frozenset(("messages", "traj", "task_id", "id", "sample_id", "model", "tools", "reward"))
_READ |= {"attempt", "termination", "prompt", "hidden", "scores"}


def recognises(shape: Shape) -> bool:
    fields = shape.keys if shape.kind == "object" else shape.first
    if shape.kind == "parquet":
        return True
    if shape.kind not in ("object", "list", "lines"):
        return False
    if openai_evals.recognises(shape):
        return True
    if any(name in fields for name in CHATS):
        return True
    return shape.kind != "object" and {"role", "content"} <= fields


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file; faults are noted, and what has one is left out."""
    shape = shape_of(source)
    if openai_evals.recognises(shape):
        yield from openai_evals.read(source, problems, header)
        return
    readers = {"lines": _lines, "parquet": parquet.rows}
    items = readers.get(shape.kind, _document)(source, problems)
    for spot, item in items:
        before = problems.total
        made = _trajectory(spot, item)
        if made is not None and problems.total == before:
            yield made


def _lines(source: FileSource, problems: Problems) -> Iterator[tuple[Spot, Any]]:
    for number, line in source.lines():
        before = problems.total
        value = read_line(source.name, number, line, problems)
        if problems.total == before:
            yield Spot(problems, f"{source.name}, line {number}"), value


def _document(source: FileSource, problems: Problems) -> Iterator[tuple[Spot, Any]]:
    top = Spot(problems, source.name)
    chat: list[Any] = []
    fields: dict[str, Any] = {}
    for field, index, item in source.entries():
        bare = index is not None and not field and isinstance(item, dict) and "role" in item
        if field in CHATS or bare:
            chat.append(item)
            if len(chat) > MOST_MESSAGES:
                top.fault(f"at most {MOST_MESSAGES} messages", chat)
                return
        elif not field:
            yield top.at(index or 0), item
        elif index is None:
            fields[field] = item
        else:
            fields.setdefault(field, []).append(item)
    if chat or fields:
        yield top, {**fields, "messages": chat}


def _trajectory(spot: Spot, item: Any) -> ImportedTrajectory | None:
    if isinstance(item, list):
        item = {"messages": item}
    if not isinstance(item, dict):
        spot.fault("a list of messages, or an object with 'messages' or 'traj'", item)
        return None
    if OWN in item:
        return own_rows.trajectory(spot, item)
    field = next((name for name in CHATS if name in item), CHATS[0])
    messages = read_messages(spot.at(field), item.get(field))
    tools = item.get("tools")
    if tools is not None and not (
        isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)
    ):
        spot.at("tools").fault("a list of objects", tools)
        tools = None
    reward = read_number(spot, "reward", item.get("reward"))
    hidden = item.get("hidden")
    if hidden is not None and not isinstance(hidden, dict):
        spot.at("hidden").fault("an object", hidden)
        hidden = None
    attempt = item.get("attempt")
    bad = isinstance(attempt, bool) or not isinstance(attempt, int) or not 1 <= attempt <= LARGEST
    if attempt is not None and bad:
        spot.at("attempt").fault(f"a whole number from 1 to {LARGEST}", attempt)
    prompt = read_text(spot, "prompt", item.get("prompt")) or first_words(messages)
    scores = {**_scores(spot.at("scores"), item.get("scores")), "reward": reward}
    return ImportedTrajectory(
        task=ImportedTask(
            id=_id(spot, item) or digest_text(prompt), prompt=prompt, hidden=hidden or {}
        ),
        messages=messages,
        agent=read_text(spot, "model", item.get("model")),
        attempt=attempt if not bad else None,
        scores=scores,
        undefined={} if reward is not None else {"reward": "the file does not state it"},
        termination=read_text(spot, "termination", item.get("termination")) or "not_stated",
        tools=tuple(tools or []),
        metadata={key: value for key, value in item.items() if key not in _READ},
    )


def _scores(spot: Spot, given: Any) -> Mapping[str, float | None]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        spot.fault("an object of numbers", given)
        return {}
    return {name: read_number(spot, name, value) for name, value in given.items()}


def _id(spot: Spot, item: Mapping[str, Any]) -> str:
    for name in IDS:
        given = item.get(name)
        if given is None:
            continue
        if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
            spot.at(name).fault("a text or a whole number", given)
            return ""
        return task_key(str(given))
    return ""
