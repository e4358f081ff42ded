"""Logs of quests as JSON lines: ``{"quest": …, "log": [{"who": …, "says": …}], "won": true}``."""

from collections.abc import Iterator
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot, read_line
from benchmarks.formats.trajectory import (
    ImportedMessage,
    ImportedTask,
    ImportedTrajectory,
    task_key,
)

INTERFACE = 1
TITLE = "Quest log"
ABOUT = "JSON lines with quest, log and won, as the quest game writes them."
SPEAKERS = {"hero": "assistant", "master": "user"}


def recognises(shape: Shape) -> bool:
    return shape.kind == "lines" and shape.first_has("quest", "log")


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    for number, line in source.lines():
        before = problems.total
        quest = read_line(source.name, number, line, problems)
        spot = Spot(problems, f"{source.name}, line {number}")
        if problems.total > before:
            continue
        if not isinstance(quest, dict) or not isinstance(quest.get("quest"), str):
            spot.at("quest").fault("an object with the quest in words", quest)
            continue
        messages = list(_messages(spot.at("log"), quest.get("log")))
        if not isinstance(quest.get("won"), bool):
            spot.at("won").fault("true or false", quest.get("won"))
        if problems.total == before:
            yield ImportedTrajectory(
                task=ImportedTask(task_key(quest["quest"]), quest["quest"]),
                messages=tuple(messages),
                agent=str(quest.get("hero", "")),
                scores={"reward": float(quest["won"])},
                termination="won" if quest["won"] else "lost",
            )


def _messages(spot: Spot, log: Any) -> Iterator[ImportedMessage]:
    if not isinstance(log, list) or not log:
        spot.fault("a list with at least one entry", log)
        return
    for index, entry in enumerate(log):
        who = entry.get("who") if isinstance(entry, dict) else None
        if who not in SPEAKERS or not isinstance(entry.get("says"), str):
            spot.at(index).fault("who (hero or master) and says", entry)
        else:
            yield ImportedMessage(SPEAKERS[who], entry["says"])
