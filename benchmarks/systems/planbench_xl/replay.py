"""Recordings of the reference runtime, played through this one and compared action for action."""

import gzip
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.core.problems import FileRefused, Problem
from benchmarks.core.types import Json, Outcome, Reply, Task, Turn
from benchmarks.systems.planbench_xl.actions import parse_tagged
from benchmarks.systems.planbench_xl.dataset import Dataset, load_dataset
from benchmarks.systems.planbench_xl.episode import episode

SHOWN = 10
FULL = "full"
# Long ones are cut where they are shown.
_LONGEST = 300
_FIELDS: tuple[tuple[str, type, str], ...] = (
    ("data", str, "a text"),
    ("setting", str, "a text"),
    ("agent", str, "a text"),
    ("query_id", str, "a text"),
    ("steps", list, "a list"),
    ("result", dict, "an object"),
    ("eval", dict, "an object"),
)


@dataclass(frozen=True)
class Difference:
    """Where a recording and its replay part: which episode, which step, what."""

    episode: str
    step: int
    field: str
    recorded: Any
    replayed: Any

    def record(self) -> dict[str, Any]:
        values = {"recorded": _short(self.recorded), "replayed": _short(self.replayed)}
        return {"episode": self.episode, "step": self.step, "field": self.field, **values}


@dataclass
class Report:
    """What a replay of many recordings came to. An episode that parts is counted once."""

    episodes: int = 0
    steps: int = 0
    matches: int = 0
    mismatches: int = 0
    not_replayable: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)
    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """The report as JSON values, without the outcomes."""
        return {
            "episodes": self.episodes,
            "steps": self.steps,
            "matches": self.matches,
            "mismatches": self.mismatches,
            "not_replayable": sum(self.not_replayable.values()),
            "not_replayable_because": dict(self.not_replayable),
            "differences": [difference.record() for difference in self.differences[:SHOWN]],
        }


def replay_recordings(runs: Path, data: Path) -> Report:
    """Play every recording of a file (JSON lines, plain or packed) on the data of a folder."""
    dataset = load_dataset(data)
    report = Report()
    tasks = {task.id: task for task in dataset.tasks}
    for recording in read_recordings(runs):
        report.episodes += 1
        if reason := why_not(recording, dataset, tasks):
            report.not_replayable[reason] += 1
            continue
        found, outcome = replay(recording, tasks[recording["query_id"]])
        report.steps += len(recording["steps"])
        report.mismatches += bool(found)
        report.matches += not found
        report.differences += found[: SHOWN - len(report.differences)]
        if outcome is not None:
            group = "/".join(recording[key] for key in ("data", "setting", "agent"))
            report.outcomes.setdefault(group, {})[recording["query_id"]] = outcome
    return report


def read_recordings(path: Path) -> Iterator[dict[str, Any]]:
    """The recordings of a file, one a line."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                recording = json.loads(line)
            except (ValueError, RecursionError):
                recording = None
            if fault := _fault(recording):
                raise FileRefused([Problem(f"{path.name}, line {number}", fault, "none")])
            yield recording


def _fault(recording: Any) -> str:
    """What a line lacks to be a recording, or ''."""
    if not isinstance(recording, dict):
        return "a JSON object"
    for name, kind, words in _FIELDS:
        if not isinstance(recording.get(name), kind):
            return f"{words} under {name!r}"
    for number, step in enumerate(recording["steps"], 1):
        whole = isinstance(step, dict) and isinstance(step.get("a"), str)
        if not whole or not isinstance(step.get("o"), dict):
            return f"an action (a) and an observation (o) in step {number}"
    return ""


def why_not(recording: Json, dataset: Dataset, tasks: Mapping[str, Task]) -> str:
    """Why a recording cannot be replayed on these data, or ''.

    What a search finds depends on the whole catalogue, so recordings made on other data than these
    are neither matches nor mismatches.
    """
    if (recording["data"] == FULL) != dataset.complete:
        return f"made on other data ({recording['data']})"
    if recording["query_id"] not in tasks:
        return "the data do not hold its query"
    return ""


def replay(recording: Json, task: Task) -> tuple[list[Difference], Outcome | None]:
    """The first difference of a recording from its replay, if any, and how the replay ended."""
    name = "/".join(str(recording.get(key, "")) for key in ("data", "setting", "agent", "query_id"))
    played = episode(task, {"condition": recording["setting"]}, random.Random(0))
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
                return [Difference(name, number, key, recorded, replayed)], None
        try:
            next(played)
        except StopIteration as end:
            outcome = end.value
            if number < len(steps):
                return [Difference(name, number, "end", "goes on", outcome.termination)], outcome
    if outcome is None:
        return [Difference(name, len(steps), "end", "ends", "goes on")], None
    return list(_differences_at_end(name, recording, outcome)), outcome


def _differences_at_end(name: str, recording: Json, outcome: Outcome) -> Iterator[Difference]:
    for part, own in (("result", "result"), ("eval", "evaluation")):
        for key, recorded in recording[part].items():
            replayed = outcome.payload[own].get(key)
            if recorded != replayed:
                where = f"{part}.{key}"
                yield Difference(name, len(recording["steps"]), where, recorded, replayed)


def _same(recorded: Any, replayed: Any, key: str) -> bool:
    """Whether two values agree; tool names may be recorded by the start of their hash."""
    if key != "tools":
        return bool(recorded == replayed)
    if not isinstance(replayed, list) or len(recorded) != len(replayed):
        return False
    return all(one == two or one == _hash(two) for one, two in zip(recorded, replayed, strict=True))


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _short(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else text[:_LONGEST] + "…"
