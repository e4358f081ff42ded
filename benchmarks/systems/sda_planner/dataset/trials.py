"""Trials as they are stored: rows of ``tasks.jsonl`` and ``scenes.jsonl``, checked.

A row says where every object starts, what the task asks for, and how it was demonstrated. Ids of
doors shift by a few centimetres between trials of one floor plan; those of a demonstration are
replaced by the id that the scene has.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.problems import Problems, Unquoted, text_fault
from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.house.affordances import (
    FIXED_RECEPTACLES,
    PICKUPABLE,
    TOGGLEABLE,
    TYPES,
)
from benchmarks.systems.sda_planner.house.goals import LIGHT, STACK, TASK_TYPES, Goal, score
from benchmarks.systems.sda_planner.house.world import FLOOR, House, piece_id
from benchmarks.systems.sda_planner.steps import MAX_STEPS_OF_PLAN, SKILLS, Step

LONGEST_ID, LONGEST_TEXT = 120, 4_000
MOST_OBJECTS, MOST_PLACES, MOST_ANNOTATIONS = 400, 400, 50
SAME_PLACE = 0.3  # metres within which two ids of one type mean the same door
_COORDINATES = re.compile(r"^[A-Za-z]+((?:\|[+-]?\d+\.?\d*){3})(?:\||$)")
_BASINS = {"Sink": "SinkBasin", "Bathtub": "BathtubBasin"}
_PARAMETERS = ("object_target", "parent_target", "mrecep_target", "toggle_target")

Place = tuple[float, float, float]


@dataclass
class Trials:
    """The contents of files: rows by task, scenes by floor plan, and notes on what was odd."""

    rows: dict[str, Json] = field(default_factory=dict)
    scenes: dict[str, Json] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def type_of(id: str) -> str:
    """Return the type that an id names: ``Sink|…|SinkBasin`` is a SinkBasin, a piece is whole."""
    parts = id.split("|")
    if len(parts) > 4 and "Sliced" not in parts[-1]:
        return parts[-1]
    return _BASINS.get(parts[0], parts[0])


def place_of(id: str) -> Place | None:
    """Return the position that an id holds, or None."""
    found = _COORDINATES.match(id)
    if not found:
        return None
    x, y, z = (float(one) for one in found[1].split("|")[1:])
    return (x, y, z)


# --- scenes ---------------------------------------------------------------------------------------


def check_scene(where: str, row: Any, problems: Problems) -> Json | None:
    """Return a scene as it is stored, or None with its faults noted.

    ``uses`` counts, by receptacle, how often demonstrations picked something up there; ``points``
    are kept for placing objects of other trials and are not stored.
    """
    before = problems.total
    check = _Checker(where, row, problems)
    name = check.text("floor_plan", LONGEST_ID)
    places = check.list("receptacles", MOST_PLACES)
    switches = check.list("toggleables", MOST_PLACES)
    receptacles = [_fixed(check, "receptacles", n, one) for n, one in enumerate(places)]
    toggleables = [_fixed(check, "toggleables", n, one) for n, one in enumerate(switches)]
    points = check.row.get("points") or []
    if not isinstance(points, list) or not all(_is_point(p, len(receptacles)) for p in points):
        check.fault("points", "a list of [x, y, z, number of a receptacle]", points)
        points = []
    ids = [one["id"] for one in receptacles if one]
    for id in sorted({id for id in ids if ids.count(id) > 1}):
        check.fault("receptacles", "each id once", Unquoted(f"{id} twice"))
    if problems.total > before:
        return None
    uses = [0] * len(receptacles)
    for point in points:
        uses[point[3]] += 1
    return {
        "floor_plan": name, "receptacles": receptacles, "toggleables": toggleables, "uses": uses,
        "points": points,
    }  # fmt: skip


def _fixed(check: "_Checker", field: str, number: int, row: Any) -> Json:
    known = FIXED_RECEPTACLES if field == "receptacles" else TOGGLEABLE
    place = f"{field}[{number}]"
    if not isinstance(row, dict):
        check.fault(place, "an object", row)
        return {}
    if fault := text_fault(row.get("id"), LONGEST_ID):
        check.fault(f"{place}.id", fault, row.get("id"))
    if row.get("type") not in known:
        check.fault(f"{place}.type", "a type of ALFRED that stands still", row.get("type"))
    if not _is_place(row.get("pos")):
        check.fault(f"{place}.pos", "three numbers", row.get("pos"))
    found: dict[str, Any] = {"id": row.get("id"), "type": row.get("type"), "pos": row.get("pos")}
    nav = row.get("nav")
    if nav is not None:
        if not (isinstance(nav, list) and len(nav) >= 2 and all(map(_is_number, nav))):
            check.fault(f"{place}.nav", "numbers that begin with x and z", nav)
        else:
            found["nav"] = nav[:2]
    return found


def stored_scene(scene: Json) -> Json:
    """Return a scene without what is only needed while it is read."""
    return {key: value for key, value in scene.items() if key != "points"}


# --- tasks ----------------------------------------------------------------------------------------


def check_task(where: str, row: Any, scenes: Mapping[str, Json], problems: Problems) -> Json | None:
    """Return a trial as it is stored, or None with its faults noted."""
    before = problems.total
    check = _Checker(where, row, problems)
    id = check.text("task_id", LONGEST_ID)
    if id:
        check.where = f"{where} ({id})"
    task_type = check.row.get("task_type")
    if task_type not in TASK_TYPES:
        check.fault("task_type", "one of " + ", ".join(TASK_TYPES), task_type)
    parameters = _parameters(check, task_type)
    scene, place = _scene(check, scenes)
    objects = _objects(check, place)
    annotations = _annotations(check)
    gold = _gold(check)
    if problems.total > before or place is None:
        return None
    return {
        "task_id": id,
        "split": str(check.row.get("split") or "unknown")[:40],
        "task_type": task_type,
        "pddl_params": parameters,
        "scene": scene,
        "objects": objects,
        "anns": annotations,
        "gold": same_places(gold, [*place["receptacles"], *place["toggleables"]]),
    }


def _parameters(check: "_Checker", task_type: Any) -> dict[str, Any]:
    given = check.row.get("pddl_params")
    if not isinstance(given, dict):
        check.fault("pddl_params", "an object", given)
        return {}
    found: dict[str, Any] = {}
    for name in _PARAMETERS:
        value = given.get(name) or ""
        value = _BASINS.get(value, value) if isinstance(value, str) else value
        needed = {
            "object_target": True,
            "parent_target": task_type != LIGHT,
            "mrecep_target": task_type == STACK,
            "toggle_target": task_type == LIGHT,
        }[name]
        if value not in TYPES and (value != "" or needed):
            check.fault(f"pddl_params.{name}", "a type of object of ALFRED", value)
        found[name] = value
    found["object_sliced"] = bool(given.get("object_sliced"))
    return found


def _scene(check: "_Checker", scenes: Mapping[str, Json]) -> tuple[dict[str, Any], Json | None]:
    given = check.row.get("scene")
    if not isinstance(given, dict):
        check.fault("scene", "an object", given)
        return {}, None
    name, init = given.get("floor_plan"), given.get("init_action")
    place = scenes.get(name) if isinstance(name, str) else None
    if place is None:
        check.fault("scene.floor_plan", "a floor plan whose scene is given", name)
    if not isinstance(init, dict) or not all(_is_number(init.get(axis)) for axis in "xz"):
        check.fault("scene.init_action", "the numbers x and z", init)
        return {}, place
    return {
        "floor_plan": name,
        "init_action": {"x": init["x"], "z": init["z"]},
        "dirty_and_empty": bool(given.get("dirty_and_empty")),
    }, place


def _objects(check: "_Checker", place: Json | None) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, one in enumerate(check.list("objects", MOST_OBJECTS)):
        where = f"objects[{number}]"
        if not isinstance(one, dict):
            check.fault(where, "an object", one)
            continue
        if fault := text_fault(one.get("id"), LONGEST_ID):
            check.fault(f"{where}.id", fault, one.get("id"))
            continue
        if one.get("type") not in PICKUPABLE:
            check.fault(f"{where}.type", "a type of ALFRED that can be carried", one.get("type"))
        if not _is_place(one.get("pos")):
            check.fault(f"{where}.pos", "three numbers", one.get("pos"))
        if not isinstance(one.get("parent"), str):
            check.fault(f"{where}.parent", "the id of what it is in, or Floor", one.get("parent"))
            continue
        if one["id"] in found:
            check.fault(f"{where}.id", "each object in one place", Unquoted(f"{one['id']} twice"))
            continue
        keys = ("id", "type", "pos", "parent", "parent_src")
        found[one["id"]] = {key: one[key] for key in keys if key in one}
    if place is not None:
        _check_parents(check, found, {one["id"] for one in place["receptacles"]})
    return list(found.values())


def _check_parents(check: "_Checker", objects: Mapping[str, Json], places: set[str]) -> None:
    for id, one in objects.items():
        if one["parent"] not in places and one["parent"] not in objects and one["parent"] != FLOOR:
            expected = "a receptacle of the scene, an object of the trial, or Floor"
            check.fault(f"object {id[:60]}, parent", expected, one["parent"])
        seen, at = {id}, one["parent"]
        while at in objects:
            if at in seen:
                check.fault(f"object {id[:60]}, parent", "no circle of objects", Unquoted("one"))
                break
            seen.add(at)
            at = objects[at]["parent"]


def _annotations(check: "_Checker") -> list[dict[str, Any]]:
    found = []
    for number, one in enumerate(check.list("anns", MOST_ANNOTATIONS)):
        text = one.get("task_desc") if isinstance(one, dict) else None
        if fault := text_fault(text, LONGEST_TEXT):
            check.fault(f"anns[{number}].task_desc", fault, text)
        else:
            found.append({"task_desc": " ".join(str(text).split())})
    if not found:
        check.fault("anns", "at least one annotation", Unquoted("none"))
    return found


def _gold(check: "_Checker") -> list[Step]:
    found = []
    for number, one in enumerate(check.list("gold_skills", MAX_STEPS_OF_PLAN)):
        sound = isinstance(one, list) and len(one) == 3 and all(isinstance(x, str) for x in one)
        place = f"gold_skills[{number}]"
        if not sound:
            check.fault(place, "a list of three texts: skill, type, id", one)
            continue
        if one[0] not in SKILLS:
            check.fault(f"{place}[0]", f"a skill among {', '.join(SKILLS)}", one[0])
            continue
        if one[1] not in TYPES:
            check.fault(f"{place}[1]", "a type of ALFRED", one[1])
            continue
        if len(one[2]) > LONGEST_ID:
            check.fault(f"{place}[2]", f"an id of at most {LONGEST_ID} characters", one[2])
            continue
        found.append(Step(one[0], _BASINS.get(one[1], one[1]), one[2]))
    return found


def same_places(steps: Iterable[Step], places: Sequence[Json]) -> list[list[str]]:
    """Return steps with ids that the house has: those of the scene, and of a whole's pieces."""
    known = {one["id"] for one in places}
    found = []
    for step in steps:
        id = piece_id(step.id)
        if id and id not in known and (at := place_of(id)) is not None:
            near = sorted(
                (math.dist(at, one["pos"]), one["id"])
                for one in places if one["type"] == type_of(id)
            )  # fmt: skip
            if near and near[0][0] <= SAME_PLACE:
                id = near[0][1]
        found.append([step.skill, step.type, id])
    return found


def replay_demonstration(trial: Json, scene: Json) -> str:
    """Return why a trial's demonstration does not reach its goal in the house, or ''."""
    house, goal = House.of(trial, scene), Goal.of(trial)
    state = house.begin()
    met, all = score(goal.conditions(state))
    if met == all:
        return "its goal holds at the start"
    failed = ""
    for number, step in enumerate(trial["gold"], 1):
        result = state.execute(Step.of(step))
        if not result.ok and not failed:
            failed = f"step {number}, {Step.of(step).text}: {result.message}"
    conditions = goal.conditions(state)
    met, all = score(conditions)
    if met == all:
        return ""
    missing = "; ".join(one.words for one in conditions if not one.met)
    return f"{met} of {all} goal conditions are met, not: {missing}" + (
        f" (first failure at {failed})" if failed else ""
    )


# --- checks ---------------------------------------------------------------------------------------


class _Checker:
    """A row whose faults are noted with its place."""

    def __init__(self, where: str, row: Any, problems: Problems) -> None:
        self.where, self.problems = where, problems
        self.row: Mapping[str, Any] = row if isinstance(row, dict) else {}
        if not isinstance(row, dict):
            self.problems.add(where, "an object", row)

    def fault(self, field: str, expected: str, found: Any) -> None:
        self.problems.add(f"{self.where}, {field}", expected, found)

    def text(self, field: str, longest: int) -> str:
        value = self.row.get(field)
        if self.row and (fault := text_fault(value, longest)):
            self.fault(field, fault, value)
        return value if isinstance(value, str) else ""

    def list(self, field: str, most: int) -> Sequence[Any]:
        value = self.row.get(field)
        if not isinstance(value, list):
            if self.row:
                self.fault(field, "a list", value)
            return []
        if len(value) > most:
            self.fault(field, f"a list of at most {most}", value)
            return []
        return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6


def _is_place(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_is_number, value))


def _is_point(value: Any, places: int) -> bool:
    if not (isinstance(value, list) and len(value) == 4 and all(map(_is_number, value))):
        return False
    return isinstance(value[3], int) and 0 <= value[3] < places
