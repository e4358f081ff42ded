"""Our own small house: three rooms and 24 tasks, as rows of the form in which trials are read.

Each task's demonstration follows from its type: a fixed way to fetch, treat and put things.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.core.ports.importer import TaskFile
from benchmarks.core.problems import Problems
from benchmarks.core.types import Json, Task
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.sda_planner.dataset.importer import make_task, task_file
from benchmarks.systems.sda_planner.dataset.trials import Trials, check_scene, check_task
from benchmarks.systems.sda_planner.house.affordances import CONTAINERS, KNIVES
from benchmarks.systems.sda_planner.house.goals import CLEAN, COOL, HEAT, LIGHT, STACK, TWO
from benchmarks.systems.sda_planner.steps import CLOSE, FIND, OFF, ON, OPEN, PICK, PUT, SLICE

UNSEEN = "Bathroom"
SOURCE = "Small house written for PlanJury: three rooms, 24 tasks"

Plan = list[list[str]]


@cache
def sample_rows() -> tuple[tuple[Json, ...], tuple[Json, ...]]:
    """Return the rows of ``scenes.jsonl`` and ``tasks.jsonl``."""
    given = read_yaml_file(Path(__file__).with_name("sample_house.yaml"))
    rooms = {name: _Room(name, room) for name, room in given["rooms"].items()}
    scenes = tuple(room.scene() for room in rooms.values())
    return scenes, tuple(_task(rooms[row[1]], row) for row in given["tasks"])


@cache
def sample_file() -> TaskFile:
    """Return the house as a checked dataset."""
    problems = Problems()
    trials = Trials()
    scenes, tasks = sample_rows()
    for row in scenes:
        if scene := check_scene(row["floor_plan"], row, problems):
            trials.scenes[row["floor_plan"]] = scene
    for row in tasks:
        if trial := check_task(row["task_id"], row, trials.scenes, problems):
            trials.rows[row["task_id"]] = trial
    problems.check()
    return task_file(trials, SOURCE, licence="Part of PlanJury")


def sample_tasks() -> list[Task]:
    """Return the tasks of the house."""
    file = sample_file()
    assert file.shared is not None
    return [make_task(task.payload, file.shared) for task, _ in file.tasks]


class _Room:
    """A room with ids made of types and positions, as ALFRED makes them."""

    def __init__(self, name: str, given: Json) -> None:
        self.name, self.start = f"Sample{name}", given["start"]
        self.places = {key: _fixed(row) for key, row in given["places"].items()}
        self.switches = [_fixed(row) for row in given["switches"].values()]
        self.objects: list[dict[str, Any]] = []
        counts: dict[str, int] = {}
        for type, key in given["things"]:
            place = self.places[key]
            number = counts[key] = counts.get(key, 0) + 1
            x, y, z = place["pos"]
            pos = [round(x + 0.06 * number, 3), round(y + 0.05, 3), z]
            self.objects.append(
                {"id": _id(type, pos), "type": type, "pos": pos, "parent": place["id"],
                 "parent_src": "given"}
            )  # fmt: skip

    def scene(self) -> dict[str, Any]:
        return {
            "floor_plan": self.name, "receptacles": list(self.places.values()),
            "toggleables": self.switches,
        }  # fmt: skip

    def all_of(self, type: str) -> list[dict[str, Any]]:
        every = (*self.places.values(), *self.switches, *self.objects)
        return [one for one in every if one["type"] == type]

    def one(self, type: str) -> dict[str, Any]:
        return self.all_of(type)[0]


def _fixed(row: Sequence[Any]) -> dict[str, Any]:
    type, *pos = row
    return {"id": _id(type, pos), "type": type, "pos": pos, "openable": type in CONTAINERS}


def _id(type: str, pos: Sequence[float]) -> str:
    base = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}.get(type, type)
    id = "|".join((base, *(f"{one:+06.2f}" for one in pos)))
    return id if base == type else f"{id}|{type}"


def _task(room: _Room, row: Sequence[Any]) -> dict[str, Any]:
    id, name, task_type, wanted, *texts = row
    return {
        "task_id": id,
        "split": "valid_unseen" if name == UNSEEN else "valid_seen",
        "task_type": task_type,
        "pddl_params": {
            "object_target": wanted["object"], "parent_target": wanted.get("parent", ""),
            "mrecep_target": wanted.get("movable", ""), "toggle_target": wanted.get("toggle", ""),
            "object_sliced": wanted.get("sliced", False),
        },
        "scene": {
            "floor_plan": room.name, "init_action": {"x": room.start[0], "z": room.start[1]},
            "dirty_and_empty": False,
        },
        "objects": room.objects,
        "anns": [{"task_desc": text} for text in texts],
        "gold_skills": _demonstrate(room, task_type, wanted),
    }  # fmt: skip


# --- demonstrations -------------------------------------------------------------------------------


def _demonstrate(room: _Room, task_type: str, wanted: Mapping[str, Any]) -> Plan:
    things = room.all_of(wanted["object"])
    if task_type == TWO:
        place = room.one(wanted["parent"])
        return [step for one in things[:2] for step in (*_fetch(room, one), *_put(one, place))]
    thing = things[0]
    plan: Plan = []
    if wanted.get("sliced"):
        cut, thing = _cut(room, thing)
        plan += cut
    plan += _fetch(room, thing)
    if task_type == LIGHT:
        lamp = room.one(wanted["toggle"])
        return [*plan, _step(FIND, lamp), _step(ON, lamp)]
    if task_type in (HEAT, COOL, CLEAN):
        plan += _TREATMENTS[task_type](room, thing)
    if task_type == STACK:
        movable = room.one(wanted["movable"])
        plan += [_step(FIND, movable), _step(PUT, thing), _step(PICK, movable)]
        thing = movable
    return [*plan, *_put(thing, room.one(wanted["parent"]))]


def _step(skill: str, one: Json) -> list[str]:
    return [skill, one["type"], one["id"]]


def _fetch(room: _Room, one: Json) -> Plan:
    holder = next((p for p in room.places.values() if p["id"] == one["parent"]), None)
    take = [_step(FIND, one), _step(PICK, one)]
    if holder is None or not holder["openable"]:
        return take
    return [_step(FIND, holder), _step(OPEN, holder), *take, _step(CLOSE, holder)]


def _put(one: Json, place: Json) -> Plan:
    if not place.get("openable"):
        return [_step(FIND, place), _step(PUT, one)]
    return [_step(FIND, place), _step(OPEN, place), _step(PUT, one), _step(CLOSE, place)]


def _cut(room: _Room, whole: Json) -> tuple[Plan, dict[str, Any]]:
    """Fetch a knife, slice the thing, and lay the knife aside; return a piece, too."""
    knife = next(one for one in room.objects if one["type"] in KNIVES)
    place = next(p for p in room.places.values() if p["id"] == knife["parent"])
    holder = next(p for p in room.places.values() if p["id"] == whole["parent"])
    opens = [_step(FIND, holder), _step(OPEN, holder)] if holder["openable"] else []
    shuts = [_step(FIND, holder), _step(CLOSE, holder)] if holder["openable"] else []
    plan = [*_fetch(room, knife), *opens, _step(FIND, whole), _step(SLICE, whole), *shuts]
    piece = {**whole, "id": f"{whole['id']}|{whole['type']}Sliced_1"}
    return [*plan, *_put(knife, place)], piece


def _heat(room: _Room, one: Json) -> Plan:
    oven = room.one("Microwave")
    skills = (OPEN, PUT, CLOSE, ON, OFF, OPEN)
    inside = [_step(skill, one if skill == PUT else oven) for skill in skills]
    return [_step(FIND, oven), *inside, _step(FIND, one), _step(PICK, one), _step(CLOSE, oven)]


def _cool(room: _Room, one: Json) -> Plan:
    fridge = room.one("Fridge")
    inside = [_step(skill, one if skill == PUT else fridge) for skill in (OPEN, PUT, CLOSE, OPEN)]
    return [_step(FIND, fridge), *inside, _step(FIND, one), _step(PICK, one), _step(CLOSE, fridge)]


def _wash(room: _Room, one: Json) -> Plan:
    tap = room.one("Faucet")
    washed = [_step(FIND, tap), _step(ON, tap), _step(OFF, tap), _step(FIND, one), _step(PICK, one)]
    return [*_put(one, room.one("SinkBasin")), *washed]


_TREATMENTS = {HEAT: _heat, COOL: _cool, CLEAN: _wash}
