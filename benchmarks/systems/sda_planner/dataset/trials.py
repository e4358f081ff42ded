"""Trials as they are stored: rows of ``tasks.jsonl`` and ``scenes.jsonl``, checked.

A row says where every object starts, what the task asks for, and how it was demonstrated. Ids hold
positions, which shift a little between trials of one floor plan: an id of a demonstration that
nothing has stands for the nearest thing of its type.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from benchmarks.core.problems import Problems, Unquoted, text_fault
from benchmarks.core.schemas import MISSING, RowSchema, list_of, must, one_of, read_row, text
from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.house.affordances import (
    CONTAINERS,
    FIXED_RECEPTACLES,
    PICKUPABLE,
    TOGGLEABLE,
    TYPES,
)
from benchmarks.systems.sda_planner.house.goals import LIGHT, STACK, TASK_TYPES, Goal, score
from benchmarks.systems.sda_planner.house.world import FLOOR, House, piece_id
from benchmarks.systems.sda_planner.steps import (
    CLOSE,
    FIND,
    MAX_STEPS_OF_PLAN,
    OPEN,
    PUT,
    SKILLS,
    Step,
)

LONGEST_ID, LONGEST_TEXT = 120, 4_000
MOST_OBJECTS, MOST_PLACES, MOST_ANNOTATIONS = 400, 400, 50
_COORDINATES = re.compile(r"^[A-Za-z]+((?:\|[+-]?\d+\.?\d*){3})(?:\||$)")
_BASINS = {"Sink": "SinkBasin", "Bathtub": "BathtubBasin"}

Place = tuple[float, float, float]


@dataclass
class Trials:
    """The contents of files: rows by task, scenes by floor plan, and notes on what was odd.

    ``falling_short`` counts the rows whose demonstration does not reach its goal.
    """

    rows: dict[str, Json] = field(default_factory=dict)
    scenes: dict[str, Json] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    falling_short: int = 0


def type_of(id: str) -> str:
    """Return the type that an id names: ``Sink|…|SinkBasin`` is a SinkBasin, a piece is whole."""
    parts = id.split("|")
    if len(parts) > 4 and "Sliced" not in parts[-1]:
        return parts[-1]
    return _BASINS.get(parts[0], parts[0])


def place_of(id: str) -> Place | None:
    """Return the position that an id holds, or None."""
    match = _COORDINATES.match(id)
    if not match:
        return None
    x, y, z = (float(one) for one in match[1].split("|")[1:])
    return (x, y, z)


def id_at(type: str, at: Place) -> str:
    """Return the id that a thing of a type has at a position (x, height, z)."""
    return "|".join((type, *(f"{one:+06.2f}" for one in at)))


# --- what a row must be ---------------------------------------------------------------------------


def is_number(value: Any) -> bool:
    """Return whether a value is a number of a size that a house can have."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e6


def _numbers(value: Any, least: int, most: int) -> bool:
    return isinstance(value, list) and least <= len(value) <= most and all(map(is_number, value))


def _is_point(value: Any) -> bool:
    return _numbers(value, 4, 4) and isinstance(value[3], int) and value[3] >= 0


def _is_points(value: Any) -> bool:
    return not value or (isinstance(value, list) and all(map(_is_point, value)))


def _is_type(value: Any) -> bool:
    return isinstance(value, str | None) and (not value or value in TYPES or value in _BASINS)


def _is_start(value: Any) -> bool:
    return isinstance(value, dict) and all(is_number(value.get(axis)) for axis in "xz")


def _is_skill(value: Any) -> bool:
    texts = isinstance(value, list) and len(value) == 3
    return texts and all(isinstance(part, str) for part in value)


ANY_TYPE, STILL = "a type of object of ALFRED", "a type of ALFRED that stands still"
POINTS, NAV = "a list of [x, y, z, number of a receptacle]", "numbers that begin with x and z"
_id, _position = text(LONGEST_ID), must("three numbers", lambda value: _numbers(value, 3, 3))
_object = must("an object", lambda value: isinstance(value, dict))


class FixedRow(RowSchema):
    """Something that stands still in a scene."""

    id: Annotated[Any, _id] = None
    type: Any = None
    pos: Annotated[Any, _position] = None
    nav: Annotated[Any, must(NAV, lambda nav: nav is None or _numbers(nav, 2, MOST_PLACES))] = None

    def stored(self) -> dict[str, Any]:
        """Return it as it is stored."""
        row = {"id": self.id, "type": self.type, "pos": self.pos}
        return row if self.nav is None else {**row, "nav": self.nav[:2]}


class ReceptacleRow(FixedRow):
    type: Annotated[Any, one_of(STILL, FIXED_RECEPTACLES)] = None


class SwitchRow(FixedRow):
    type: Annotated[Any, one_of(STILL, TOGGLEABLE)] = None


class SceneRow(RowSchema):
    """A row of ``scenes.jsonl``."""

    floor_plan: Annotated[Any, _id] = None
    receptacles: Annotated[list[ReceptacleRow], list_of(MOST_PLACES)] = MISSING
    toggleables: Annotated[list[SwitchRow], list_of(MOST_PLACES)] = MISSING
    points: Annotated[Any, must(POINTS, _is_points)] = None


class ParametersRow(RowSchema):
    """The parameters of a task: types of objects, where its type has any."""

    object_target: Annotated[Any, must(ANY_TYPE, _is_type)] = None
    parent_target: Annotated[Any, must(ANY_TYPE, _is_type)] = None
    mrecep_target: Annotated[Any, must(ANY_TYPE, _is_type)] = None
    toggle_target: Annotated[Any, must(ANY_TYPE, _is_type)] = None
    object_sliced: Any = None


class PlaceRow(RowSchema):
    """The floor plan of a trial, and where the agent starts."""

    floor_plan: Annotated[Any, _id] = None
    init_action: Annotated[Any, must("the numbers x and z", _is_start)] = None
    dirty_and_empty: Any = None


class ObjectRow(RowSchema):
    """An object that can be carried, and what it starts in."""

    id: Annotated[Any, _id] = None
    type: Annotated[Any, one_of("a type of ALFRED that can be carried", PICKUPABLE)] = None
    pos: Annotated[Any, _position] = None
    parent: Annotated[
        Any, must("the id of what it is in, or Floor", lambda value: isinstance(value, str))
    ] = None
    parent_src: Annotated[Any, must("a text", lambda value: isinstance(value, str))] = "given"


class AnnotationRow(RowSchema):
    task_desc: Annotated[Any, text(LONGEST_TEXT)] = None


SkillRow = Annotated[
    tuple[
        Annotated[str, one_of(f"a skill among {', '.join(SKILLS)}", SKILLS)],
        Annotated[str, one_of("a type of ALFRED", TYPES)],
        Annotated[
            str, must(f"an id of at most {LONGEST_ID} characters", lambda id: len(id) <= LONGEST_ID)
        ],
    ],
    must("a list of three texts: skill, type, id", _is_skill),
]


class TrialRow(RowSchema):
    """A row of ``tasks.jsonl``."""

    task_id: Annotated[Any, _id] = None
    split: Any = None
    task_type: Annotated[Any, one_of("one of " + ", ".join(TASK_TYPES), TASK_TYPES)] = None
    pddl_params: Annotated[ParametersRow, _object] = MISSING
    scene: Annotated[PlaceRow, _object] = MISSING
    objects: Annotated[list[ObjectRow], list_of(MOST_OBJECTS)] = MISSING
    anns: Annotated[
        list[AnnotationRow],
        must("at least one annotation", lambda value: value != []),
        list_of(MOST_ANNOTATIONS),
    ] = MISSING
    gold_skills: Annotated[list[SkillRow], list_of(MAX_STEPS_OF_PLAN)] = MISSING


# --- scenes ---------------------------------------------------------------------------------------


def check_scene(where: str, row: Any, problems: Problems) -> Json | None:
    """Return a scene as it is stored, or None with its faults noted.

    ``uses`` counts, by receptacle, how often demonstrations picked something up there; ``points``
    are kept for placing objects of other trials and are not stored.
    """
    before = problems.total
    scene = read_row(SceneRow, where, row, problems)
    if scene is None:
        return None
    ids = [one.id for one in scene.receptacles]
    for id in sorted({id for id in ids if ids.count(id) > 1}):
        problems.add(f"{where}, receptacles", "each id once", Unquoted(f"{id} twice"))
    points = scene.points or []
    if not all(point[3] < len(ids) for point in points):
        problems.add(f"{where}, points", POINTS, points)
    if problems.total > before:
        return None
    uses = [0] * len(ids)
    for point in points:
        uses[point[3]] += 1
    return {
        "floor_plan": scene.floor_plan, "receptacles": [one.stored() for one in scene.receptacles],
        "toggleables": [one.stored() for one in scene.toggleables], "uses": uses, "points": points,
    }  # fmt: skip


def stored_scene(scene: Json) -> Json:
    """Return a scene without what is only needed while it is read."""
    return {key: value for key, value in scene.items() if key != "points"}


# --- tasks ----------------------------------------------------------------------------------------


def check_task(where: str, row: Any, scenes: Mapping[str, Json], problems: Problems) -> Json | None:
    """Return a trial as it is stored, or None with its faults noted."""
    before = problems.total
    id = row.get("task_id") if isinstance(row, dict) else None
    if not text_fault(id, LONGEST_ID):
        where = f"{where} ({id})"
    task = read_row(TrialRow, where, row, problems)
    if task is None:
        return None
    check = _Checker(where, problems)
    place = scenes.get(task.scene.floor_plan)
    if place is None:
        expected = "a floor plan whose scene is given"
        check.fault("scene.floor_plan", expected, task.scene.floor_plan)
    parameters = _parameters(check, task)
    objects = _objects(check, task, place)
    if problems.total > before or place is None:
        return None
    start = task.scene.init_action
    things = [*place["receptacles"], *place["toggleables"], *objects]
    gold = [
        [skill, _BASINS.get(type, type), same_thing(id, things)]
        for skill, type, id in task.gold_skills
    ]
    already_open = filled_unopened(gold)
    return {
        "task_id": id,
        "split": str(task.split or "unknown")[:40],
        "task_type": task.task_type,
        "pddl_params": parameters,
        "scene": {
            "floor_plan": task.scene.floor_plan,
            "init_action": {"x": start["x"], "z": start["z"]},
            "dirty_and_empty": bool(task.scene.dirty_and_empty),
        },
        "objects": objects,
        "anns": [{"task_desc": " ".join(one.task_desc.split())} for one in task.anns],
        "gold": gold,
        **({"open": already_open} if already_open else {}),
    }


def _parameters(check: "_Checker", task: "TrialRow") -> dict[str, Any]:
    needed = {
        "object_target": True,
        "parent_target": task.task_type != LIGHT,
        "mrecep_target": task.task_type == STACK,
        "toggle_target": task.task_type == LIGHT,
    }
    parameters: dict[str, Any] = {}
    for name, must_be in needed.items():
        value = getattr(task.pddl_params, name) or ""
        if must_be and not value:
            check.fault(f"pddl_params.{name}", ANY_TYPE, value)
        parameters[name] = _BASINS.get(value, value)
    parameters["object_sliced"] = bool(task.pddl_params.object_sliced)
    return parameters


def _objects(check: "_Checker", task: "TrialRow", place: Json | None) -> list[dict[str, Any]]:
    object_by_id: dict[str, dict[str, Any]] = {}
    for number, one in enumerate(task.objects):
        if one.id in object_by_id:
            twice = Unquoted(f"{one.id} twice")
            check.fault(f"objects[{number}].id", "each object in one place", twice)
        object_by_id[one.id] = one.model_dump(include=one.model_fields_set)
    if place is not None:
        _check_parents(check, object_by_id, {one["id"] for one in place["receptacles"]})
    return list(object_by_id.values())


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


def whole_id(id: str) -> str:
    """Return the id of the thing that a piece is cut from; other ids as they are."""
    return "|".join(id.split("|")[:4]) if "Sliced" in id else id


def same_thing(id: str, things: Sequence[Json]) -> str:
    """Return the id under which the house has what an id means.

    That is the id itself where something has it, else the nearest thing of its type.
    """
    whole, piece = whole_id(id), piece_id(id)
    at = place_of(whole)
    if at is None or any(one["id"] == whole for one in things):
        return piece
    type = type_of(whole)
    near = [(math.dist(at, one["pos"]), one["id"]) for one in things if one["type"] == type]
    return min(near)[1] + piece[len(whole) :] if near else piece


def filled_unopened(gold: Iterable[Sequence[str]]) -> list[str]:
    """Return the containers that a demonstration fills without opening: they start open."""
    used: set[str] = set()
    filled: list[str] = []
    target = ""
    for skill, type, id in gold:
        if skill == FIND:
            target = id if type in CONTAINERS else ""
        elif skill in (OPEN, CLOSE):
            used.add(id)
        elif skill == PUT and target and target not in used:
            used.add(target)
            filled.append(target)
    return filled


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


class _Checker:
    """A row whose faults are noted with its place."""

    def __init__(self, where: str, problems: Problems) -> None:
        self.where, self.problems = where, problems

    def fault(self, field: str, expected: str, found: Any) -> None:
        self.problems.add(f"{self.where}, {field}", expected, found)
