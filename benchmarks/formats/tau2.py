"""Results of tau2-bench: {info, tasks, simulations}, or an index with one file a simulation.

The second may be given as its ``results.json``, as its folder, or as a ZIP archive of that folder.

A task's scenario and its evaluation criteria are hidden from the agent, and so is what its user
does with tools of their own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import (
    MOST_MESSAGES,
    first_words,
    read_messages,
    read_number,
    read_text,
)
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import File, FileSource, Spot
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    task_key,
)

LARGEST = 30_000
MOST_TASKS = 20_000
HIDDEN = ("description", "user_scenario", "ticket", "initial_state", "evaluation_criteria")
_HEADER = ("timestamp", "info")
_PLAIN_NAME = re.compile(r"[\w-][\w.-]*")
_READ = frozenset(("messages", "task_id", "trial", "seed", "start_time", "end_time", "ticks"))


RESULTS, FOLDER = "results.json", "simulations"


def recognises(shape: Shape) -> bool:
    if shape.kind == "bundle":
        return RESULTS in shape.keys
    if shape.kind != "object":
        return False
    return shape.has("info", "tasks") or shape.has("simulations") or shape.has("simulation_index")


def whole(source: FileSource) -> FileSource:
    """Return the results alone, or together with the simulations that lie beside them."""
    members = dict(source.members)
    if isinstance(source, File) and not members:
        beside = sorted((source.path.parent / FOLDER).glob("*.json"))
        members = {RESULTS: source}
        members |= {f"{FOLDER}/{path.name}": File(path, f"{FOLDER}/{path.name}") for path in beside}
    results = [name for name in members if name.rpartition("/")[2] == RESULTS]
    if not results:
        return source
    top = min(results, key=lambda name: (name.count("/"), name)).removesuffix(RESULTS)
    kept = {RESULTS: members[top + RESULTS]}
    for name, member in members.items():
        if name.startswith(f"{top}{FOLDER}/") and name.endswith(".json"):
            kept[name.removeprefix(top)] = member
    return FileSource(source.name, kept) if len(kept) > 1 else kept[RESULTS]


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the simulations of a file; faults are noted, and what has one is left out."""
    results = source.members.get(RESULTS, source)
    top = Spot(problems, results.name)
    tasks = _tasks(results, top, header)
    model = _model(top.at("info"), header.get("info"))
    present = False
    for field, index, item in results.entries(skip=("tasks", *_HEADER)):
        if field not in ("simulations", "simulation_index"):
            continue
        present = True
        spot = top.at(field) if index is None else top.at(field).at(index)
        if index is None:
            spot.fault("a list", item)
            continue
        if field == "simulation_index":
            spot, item = _beside(source, spot, item, problems)
            if item is None:
                continue
        before = problems.total
        made = _trajectory(spot, item, tasks, model)
        if made is not None and problems.total == before:
            yield made
    if not present:
        top.fault("an object with 'simulations' or 'simulation_index'", None)


def _tasks(source: FileSource, top: Spot, header: dict[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the tasks by id; on the way, what the file says of the whole."""
    tasks: dict[str, Mapping[str, Any]] = {}
    for field, index, item in source.entries(skip=("simulations", "simulation_index")):
        if field in _HEADER and index is None:
            header[field] = item
        if field != "tasks":
            continue
        spot = top.at(f"tasks[{index}]" if index is not None else "tasks")
        given = item.get("id") if isinstance(item, dict) else None
        if index is None or isinstance(given, bool) or not isinstance(given, str | int):
            spot.fault("a task: an object with an 'id'", item)
        elif len(tasks) >= MOST_TASKS:
            spot.fault(f"at most {MOST_TASKS} tasks", item)
            break
        else:
            tasks[str(given)] = item
    return tasks


def _model(spot: Spot, info: Any) -> str:
    agent = info.get("agent_info") if isinstance(info, dict) else None
    if not isinstance(agent, dict):
        return ""
    name = read_text(spot, "agent_info.llm", agent.get("llm"))
    return name or read_text(spot, "agent_info.implementation", agent.get("implementation"))


def _beside(source: FileSource, spot: Spot, entry: Any, problems: Problems) -> tuple[Spot, Any]:
    """Return the simulation that an index names, from the folder beside it."""
    name = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
        spot.at("id").fault("the name of a file in the folder 'simulations'", name)
        return spot, None
    file = source.members.get(f"{FOLDER}/{name}.json")
    if file is None:
        spot.at("id").fault(f"a simulation with a file in the folder {FOLDER!r}", name)
        return spot, None
    return Spot(problems, file.name), file.document(MOST_MESSAGES, skip=("ticks",))


def _trajectory(
    spot: Spot, item: Any, tasks: Mapping[str, Mapping[str, Any]], model: str
) -> ImportedTrajectory | None:
    if not isinstance(item, dict):
        spot.fault("a simulation: an object with task_id and messages", item)
        return None
    number = item.get("task_id")
    if isinstance(number, bool) or not isinstance(number, str | int) or number == "":
        spot.at("task_id").fault("a text or a whole number", number)
        return None
    if not item.get("messages") and item.get("ticks"):
        spot.at("messages").fault("messages; ticks of voice runs cannot be imported", None)
        return None
    messages = read_messages(spot.at("messages"), _flat(item.get("messages")))
    messages = tuple(_hidden(message) for message in messages)
    trial, seed = item.get("trial"), item.get("seed")
    for name, value in (("trial", trial), ("seed", seed)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            spot.at(name).fault("a whole number", value)
            return None
    if trial is not None and not 0 <= trial <= LARGEST:
        spot.at("trial").fault(f"a whole number from 0 to {LARGEST}", trial)
    given = item.get("reward_info")
    if given is not None and not isinstance(given, dict):
        spot.at("reward_info").fault("an object or nothing", given)
        given = None
    scores = {
        "reward": read_number(spot, "reward_info.reward", (given or {}).get("reward")),
        "cost": read_number(spot, "agent_cost", item.get("agent_cost")),
        "user_cost": read_number(spot, "user_cost", item.get("user_cost")),
        "duration": read_number(spot, "duration", item.get("duration")),
    }
    task = tasks.get(str(number), {})
    ending = read_text(spot, "termination_reason", item.get("termination_reason"))
    return ImportedTrajectory(
        task=ImportedTask(
            id=task_key(str(number)),
            prompt=first_words(messages),
            hidden={key: task[key] for key in HIDDEN if task.get(key) is not None},
            payload={k: v for k, v in task.items() if k not in (*HIDDEN, "id")},
        ),
        messages=messages,
        agent=model,
        attempt=None if trial is None else trial + 1,
        seed=seed,
        scores=scores,
        undefined={n: "the file does not state it" for n, v in scores.items() if v is None},
        termination=ending or "not_stated",
        started=read_text(spot, "start_time", item.get("start_time")),
        finished=read_text(spot, "end_time", item.get("end_time")),
        metadata={k: v for k, v in item.items() if k not in _READ and v is not None},
    )


def _flat(messages: Any) -> Any:
    """Turn results that came back together into messages; ids stand where chats have them."""
    if not isinstance(messages, list):
        return messages
    flat: list[Any] = []
    for message in messages:
        inner = message.get("tool_messages") if isinstance(message, dict) else None
        for one in inner if isinstance(inner, list) else [message]:
            if isinstance(one, dict) and one.get("role") == "tool" and "tool_call_id" not in one:
                one = {**{k: v for k, v in one.items() if k != "id"}, "tool_call_id": one.get("id")}
            flat.append(one)
    return flat


def _hidden(message: ImportedMessage) -> ImportedMessage:
    """Return whether a message is hidden from the agent, as what its user's own tools said is."""
    theirs = message.speaker == "tool" and message.extra.get("requestor") == "user"
    return replace(message, hidden=True) if theirs else message
