"""Recordings of the reference runtime, played through this one and compared action for action.

Recordings are read, played and dropped one by one: memory does not grow with the file.
"""

import hashlib
import json
import random
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.core.digests import storable
from benchmarks.core.json_files import ODD_ESCAPE
from benchmarks.core.problems import FileRefused, Problem, Problems, describe, text_fault
from benchmarks.core.types import Json, Outcome, Reply, Task, Turn
from benchmarks.systems.planbench_xl.dataset import LoadedDataset, load_dataset
from benchmarks.systems.planbench_xl.environment.actions import parse_tagged
from benchmarks.systems.planbench_xl.episode import episode
from benchmarks.systems.planbench_xl.files import open_plain_or_packed, read_json, reason_of
from devtools.recordings.reference_knobs import (
    PUBLISHED,
    NamedConditions,
    read_conditions,
)

SHOWN = 10
# What recordings on the published catalogue and on a part of it call their data.
FULL, SLICE = "full", "slice"
# Distinct reasons that are counted apart; a file could give every recording its own.
MOST_REASONS = 100
LONGEST_LINE, LONGEST_NAME, MOST_NAMES = 32 << 20, 300, 1_000_000
# Long ones are cut where they are shown.
_LONGEST = 300
_FIELDS: tuple[tuple[str, type, str], ...] = (
    ("setting", str, "a text"),
    ("agent", str, "a text"),
    ("query_id", str, "a text"),
    ("steps", list, "a list"),
    ("result", dict, "an object"),
    ("eval", dict, "an object"),
)


class ReplayDifference(NamedTuple):
    """The place where a recording and its replay part: which episode, which step, what."""

    episode: str
    step: int
    field: str
    recorded: Any
    replayed: Any

    def record(self) -> dict[str, Any]:
        values = {"recorded": _short(self.recorded), "replayed": _short(self.replayed)}
        return {"episode": self.episode, "step": self.step, "field": self.field, **values}


class Replayed(NamedTuple):
    """A recording with what its replay came to: why it could not be played, or what differs."""

    recording: Json
    reason: str = ""
    differences: Sequence[ReplayDifference] = ()
    outcome: Outcome | None = None


@dataclass
class ReplayReport:
    """The results of replaying many recordings. An episode that parts is counted once."""

    episodes: int = 0
    steps: int = 0
    matches: int = 0
    mismatches: int = 0
    not_replayable: Counter[str] = field(default_factory=Counter)
    differences: list[ReplayDifference] = field(default_factory=list)
    warnings: Sequence[str] = ()

    def add(self, one: Replayed) -> None:
        """Count a recording."""
        self.episodes += 1
        if one.reason:
            known = one.reason in self.not_replayable or len(self.not_replayable) < MOST_REASONS
            self.not_replayable[one.reason if known else "other reasons"] += 1
            return
        self.steps += len(one.recording["steps"])
        self.mismatches += bool(one.differences)
        self.matches += not one.differences
        self.differences += one.differences[: SHOWN - len(self.differences)]

    def record(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "episodes": self.episodes,
            "steps": self.steps,
            "matches": self.matches,
            "mismatches": self.mismatches,
            "not_replayable": sum(self.not_replayable.values()),
            "not_replayable_because": dict(self.not_replayable),
            "differences": [difference.record() for difference in self.differences[:SHOWN]],
            "warnings": list(self.warnings),
        }


def replay_recordings(
    runs: Path, data: Path, *, tool_index: Path | None = None, conditions: Path | None = None
) -> ReplayReport:
    """Play every recording of a file (JSON lines, plain or packed) on the data of a folder.

    ``tool_index`` lists the names that whole numbers in the recordings stand for, ``conditions``
    holds conditions beyond the twelve.
    """
    dataset = load_dataset(data)
    names = read_tool_index(tool_index) if tool_index else None
    known = read_conditions(conditions) if conditions else PUBLISHED
    report = ReplayReport(warnings=dataset.warnings)
    for one in replayed(read_recordings(runs, names), dataset, known):
        report.add(one)
    return report


def replayed(
    recordings: Iterator[Json], dataset: LoadedDataset, known: NamedConditions = PUBLISHED
) -> Iterator[Replayed]:
    """Yield recording after recording with what its replay came to."""
    tasks = {task.id: task for task in dataset.tasks}
    for recording in recordings:
        if reason := why_not(recording, dataset, tasks, known):
            yield Replayed(recording, reason)
            continue
        settings = known.settings[recording["setting"]]
        played, outcome = replay(recording, tasks[recording["query_id"]], settings)
        yield Replayed(recording, "", played, outcome)


def read_tool_index(path: Path) -> list[str]:
    """Return the names of a JSON list, plain or packed."""
    problems = Problems()
    names = read_json(path, problems)
    problems.check()
    if not isinstance(names, list) or len(names) > MOST_NAMES:
        problems.add(path.name, f"a list of at most {MOST_NAMES:,} tool names", names)
        problems.check()
    for number, name in enumerate(names):
        if fault := text_fault(name, LONGEST_NAME):
            problems.add(f"{path.name}, entry {number}", fault, name)
    problems.check()
    return list(names)


def read_recordings(path: Path, names: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the recordings of a file, one a line; whole numbers for tools become ``names``."""
    for number, line in _lines(path):
        where = f"{path.name}, line {number}"
        recording = _value(line)
        if fault := _fault(recording):
            expected, found = fault
            raise FileRefused([Problem(where, expected, found)])
        for step, one in enumerate(recording["steps"], 1):
            if fault := _name_tools(one["o"], names):
                expected, found = fault
                raise FileRefused([Problem(f"{where}, step {step}", expected, found)])
        yield recording


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their numbers."""
    number = 0
    try:
        with open_plain_or_packed(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    expected = f"at most {LONGEST_LINE >> 20} MB"
                    raise FileRefused([Problem(f"{path.name}, line {number}", expected, "more")])
                if line.strip():
                    yield number, line
    except (OSError, EOFError, zlib.error) as error:
        where = f"{path.name}, after line {number}" if number else path.name
        expected = "a file that can be read"
        raise FileRefused([Problem(where, expected, reason_of(error))]) from None


def _value(line: bytes) -> Any:
    """Return the JSON value of a line, None where it holds none; odd characters are replaced."""
    try:
        text = line.decode("utf-8-sig")
        value = json.loads(text)
        return storable(value) if ODD_ESCAPE.search(text) else value
    except (ValueError, RecursionError):
        return None


def _fault(recording: Any) -> tuple[str, str] | None:
    """Return what was expected of a recording that it does not have, and what was found."""
    if not isinstance(recording, dict):
        return "a JSON object", "none"
    for name, kind, words in _FIELDS:
        if not isinstance(recording.get(name), kind):
            return f"{words} under {name!r}", describe(recording.get(name))
    if not isinstance(recording.get("data", ""), str):
        return "a text under 'data', or no such field", describe(recording["data"])
    for number, step in enumerate(recording["steps"], 1):
        whole = isinstance(step, dict) and isinstance(step.get("a"), str)
        if not whole or not isinstance(step.get("o"), dict):
            return f"an action (a) and an observation (o) in step {number}", describe(step)
    return None


def _name_tools(seen: dict[str, Any], names: Sequence[str] | None) -> tuple[str, str] | None:
    """Replace whole numbers by the names of tools; what is wrong with one that cannot be."""
    tools = seen.get("tools", [])
    if not isinstance(tools, list):
        return "a list under 'tools'", describe(tools)
    named = [(f"in tools[{number}]", tool) for number, tool in enumerate(tools)]
    if seen.get("tool") is not None:
        named.append(("under 'tool'", seen["tool"]))
    for where, tool in named:
        if not isinstance(tool, str) and (fault := _index_fault(tool, names)):
            return f"{fault} {where}", describe(tool)
    if names is not None:
        for key in ("tools", "tool"):
            if key in seen:
                seen[key] = _named(seen[key], names)
    return None


def _named(tool: Any, names: Sequence[str]) -> Any:
    if isinstance(tool, list):
        return [_named(one, names) for one in tool]
    return names[tool] if isinstance(tool, int) else tool


def _index_fault(tool: Any, names: Sequence[str] | None) -> str:
    """Return what was expected instead of a tool that is no text, or ''."""
    if not isinstance(tool, int) or isinstance(tool, bool):
        return "a name or a number"
    if names is None:
        return "a name (numbers need --tool-index FILE)"
    if not 0 <= tool < len(names):
        return f"a number below {len(names)}, as many names as the tool index has,"
    return ""


def why_not(
    recording: Json,
    dataset: LoadedDataset,
    tasks: Mapping[str, Task],
    known: NamedConditions = PUBLISHED,
) -> str:
    """Return why a recording cannot be replayed on these data, or ''.

    What a search finds depends on the whole catalogue, so recordings made on other data than these
    are neither matches nor mismatches. A recording that does not name its data is played.
    """
    data = recording.get("data")
    if data in (FULL, SLICE) and (data == FULL) != dataset.has_full_catalogue:
        return f"made on other data ({data})"
    if recording["query_id"] not in tasks:
        return "the data do not hold its query"
    return known.why_not(recording["setting"])


def group_of(recording: Json) -> str:
    """Return which recordings belong together: the same data, setting and agent."""
    return "/".join(recording[key] for key in ("data", "setting", "agent") if key in recording)


def replay(
    recording: Json, task: Task, settings: Mapping[str, Any] | None = None
) -> tuple[list[ReplayDifference], Outcome | None]:
    """Return the first difference of a recording from its replay, if any, and how the replay ended.

    Without ``settings`` the recording's setting is one of the twelve conditions.
    """
    name = f"{group_of(recording)}/{recording['query_id']}"
    played = episode(task, settings or {"condition": recording["setting"]}, random.Random(0))
    steps = recording["steps"]
    outcome = None
    next(played)
    for number, step in enumerate(steps, 1):
        reply = Reply("answered", parse_tagged(step["a"], {}), step["a"])
        turn = played.send([reply])
        assert isinstance(turn, Turn)
        for key, recorded in step["o"].items():
            replayed = turn.payload.get("category" if key == "cat" else key)
            if not _same(recorded, replayed, key):
                return [ReplayDifference(name, number, key, recorded, replayed)], None
        try:
            next(played)
        except StopIteration as end:
            outcome = end.value
            if number < len(steps):
                return [
                    ReplayDifference(name, number, "end", "goes on", outcome.termination)
                ], outcome
    if outcome is None:
        return [ReplayDifference(name, len(steps), "end", "ends", "goes on")], None
    return list(_differences_at_end(name, recording, outcome)), outcome


def _differences_at_end(name: str, recording: Json, outcome: Outcome) -> Iterator[ReplayDifference]:
    for part, own in (("result", "result"), ("eval", "evaluation")):
        for key, recorded in recording[part].items():
            replayed = outcome.payload[own].get(key)
            if recorded != replayed:
                where = f"{part}.{key}"
                yield ReplayDifference(name, len(recording["steps"]), where, recorded, replayed)


def _same(recorded: Any, replayed: Any, key: str) -> bool:
    """Return whether two values agree; tool names may be recorded by the start of their hash."""
    if key != "tools":
        return bool(recorded == replayed)
    if not isinstance(replayed, list) or len(recorded) != len(replayed):
        return False
    return all(one == two or one == _hash(two) for one, two in zip(recorded, replayed, strict=True))


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _short(value: Any) -> Any:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "a value that nests too deeply to be shown"
    return value if len(text) <= _LONGEST else text[:_LONGEST] + "…"
