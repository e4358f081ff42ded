"""Original ``traj_data.json`` files of ALFRED as rows of the form that is stored.

The files give the position of everything that can be carried, and ids of the fixed things that
plan and demonstration touch. Where no ``scenes.jsonl`` is at hand, the fixed things of a floor plan
are those that the trials loaded touch, and placement is less sure.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.core.schemas import MISSING, RowSchema, list_of, must, read_row, text
from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.dataset.placement import (
    find_parent,
    learn_points,
    merge_places,
    nearest_of,
)
from benchmarks.systems.sda_planner.dataset.trials import (
    LONGEST_ID,
    MOST_ANNOTATIONS,
    MOST_OBJECTS,
    Place,
    is_number,
    place_of,
    type_of,
)
from benchmarks.systems.sda_planner.house.affordances import (
    CONTAINERS,
    FIXED_RECEPTACLES,
    PICKUPABLE,
    TOGGLEABLE,
)
from benchmarks.systems.sda_planner.house.world import FLOOR
from benchmarks.systems.sda_planner.steps import CLOSE, FIND, OFF, ON, OPEN, PICK, PUT, SLICE

TRIAL, LAYOUT = "traj_data.json", "-openable.json"
MOST_ACTIONS = 2_000
_TOUCHES = {
    "OpenObject": OPEN, "CloseObject": CLOSE, "ToggleObjectOn": ON, "ToggleObjectOff": OFF,
    "SliceObject": SLICE,
}  # fmt: skip
_SPLITS = ("train", "valid_seen", "valid_unseen", "tests_seen", "tests_unseen")


@dataclass
class Original:
    """One original trial, as far as it can be read without the others of its floor plan."""

    name: str
    row: dict[str, Any]
    poses: list[tuple[str, Place]]
    gold: list[list[str]]
    fixed: list[dict[str, Any]]
    shown: dict[str, str] = field(default_factory=dict)


_NO_PLAN = "a demonstrated plan (trials of test splits have none)"
_NO_SCENE = "an object (trials of test splits have none)"


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_text(value: Any) -> bool:
    return isinstance(value, str | None)


def _is_pose_name(value: Any) -> bool:
    return isinstance(value, str) and value.split("_")[0] in PICKUPABLE


def _is_position(value: Any) -> bool:
    return isinstance(value, dict) and all(_number(value.get(axis)) for axis in "xyz")


class PoseRow(RowSchema):
    """The name and the position of an object that can be carried."""

    objectName: Annotated[Any, must("a type of ALFRED and a number", _is_pose_name)] = None
    position: Annotated[Any, must("the numbers x, y and z", _is_position)] = None


class ApiRow(RowSchema):
    """What a low-level action does, and to what."""

    action: Annotated[Any, must("an action", lambda value: isinstance(value, str))] = None
    objectId: Annotated[Any, must("a text", _is_text)] = None
    receptacleObjectId: Annotated[Any, must("a text", _is_text)] = None


class LowActionRow(RowSchema):
    api_action: Annotated[ApiRow, must("an action", _is_object)] = MISSING


class TrialPlanRow(RowSchema):
    low_actions: Annotated[list[LowActionRow], list_of(MOST_ACTIONS)] = MISSING
    high_pddl: Any = None


class OriginalScene(RowSchema):
    object_poses: Annotated[list[PoseRow], list_of(MOST_OBJECTS)] = MISSING
    floor_plan: Annotated[Any, text(LONGEST_ID)] = None


class TurkRow(RowSchema):
    anns: Annotated[list[Any], list_of(MOST_ANNOTATIONS)] = MISSING


class OriginalRow(RowSchema):
    """A ``traj_data.json``, as far as it is read here; the rest is checked as a `TrialRow`."""

    plan: Annotated[TrialPlanRow, must(_NO_PLAN, _is_object)] = MISSING
    scene: Annotated[OriginalScene, must(_NO_SCENE, _is_object)] = MISSING
    turk_annotations: Annotated[TurkRow, must("an object", _is_object)] = MISSING


def read_original(name: str, data: Any, problems: Problems) -> Original | None:
    """Read one file; None with its faults noted, where it is no trial that can be simulated."""
    read = read_row(OriginalRow, name, data, problems)
    if read is None:
        return None
    plan = read.plan
    poses = [
        (pose.objectName.split("_")[0], _at(pose.position)) for pose in read.scene.object_poses
    ]
    actions = [
        (api.action, api.objectId or "", api.receptacleObjectId or "")
        for api in (low.api_action for low in plan.low_actions)
        if api.action in ("PickupObject", "PutObject", *_TOUCHES)
    ]
    parts = PurePosixPath(name).parts
    split = next((part for part in parts if part in _SPLITS), "unknown")
    row = {
        "task_id": data.get("task_id"),
        "split": split,
        "task_type": data.get("task_type"),
        "pddl_params": data.get("pddl_params"),
        "scene": data["scene"],
        "anns": read.turk_annotations.anns,
    }
    gold = demonstrated(actions)
    fixed = [
        {"id": id, "type": type_of(id), "pos": list(at)}
        for id in dict.fromkeys([*_touched(actions), *_planned(plan.high_pddl)])
        if (at := place_of(id)) is not None
        and (type_of(id) in FIXED_RECEPTACLES or type_of(id) in TOGGLEABLE)
    ]
    return Original(name, row, poses, gold, fixed, _shown(actions, plan.high_pddl, fixed))


def _at(position: Mapping[str, Any]) -> Place:
    return (float(position["x"]), float(position["y"]), float(position["z"]))


def _number(value: Any) -> bool:
    return is_number(value) and abs(value) < 1e4


def demonstrated(actions: Iterable[tuple[str, str, str]]) -> list[list[str]]:
    """Return the low-level actions as skills; a find stands before what is not at hand.

    At hand is what was found last, and the container that was opened right before it. A put down
    needs its receptacle to be what was found last.
    """
    steps: list[list[str]] = []
    here: set[str] = set()
    opened = held = found_last = ""

    def find(id: str) -> None:
        nonlocal found_last
        steps.append([FIND, type_of(id), id])
        keep = {opened} & here
        here.clear()
        here.update({id} | keep)
        found_last = id

    for action, id, into in actions:
        if action == "PutObject":
            if found_last != into:
                find(into)
            steps.append([PUT, type_of(held or id), held or id])
            held = ""
            continue
        if id not in here:
            find(id)
        if action == "PickupObject":
            steps.append([PICK, type_of(id), id])
            held = id
            here.discard(id)
        else:
            steps.append([_TOUCHES[action], type_of(id), id])
            opened = id if action == "OpenObject" else ""
        if action != "OpenObject":
            found_last = ""
    return steps


def _touched(actions: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    for _, id, into in actions:
        yield from (one for one in (id, into) if one)


def _planned(high: Any) -> Iterator[str]:
    """Yield the ids of the high-level plan's steps."""
    for one in high if isinstance(high, list) else ():
        action = one.get("planner_action") if isinstance(one, dict) else None
        for key in ("objectId", "receptacleObjectId"):
            if isinstance(action, dict) and isinstance(action.get(key), str):
                yield action[key]


def _shown(
    actions: list[tuple[str, str, str]], high: Any, fixed: list[dict[str, Any]]
) -> dict[str, str]:
    """Return, by object, the receptacle that the demonstration first takes it from."""
    opens = any(action == "OpenObject" for action, _, _ in actions)
    planned: dict[str, str] = {}
    for one in high if isinstance(high, list) else ():
        action = one.get("planner_action") if isinstance(one, dict) else None
        if not isinstance(action, dict) or action.get("action") != "PickupObject":
            continue
        id, where = action.get("objectId"), action.get("coordinateReceptacleObjectId")
        if isinstance(id, str) and isinstance(where, list) and len(where) == 2:
            type, at = where
            bounds = isinstance(at, list) and len(at) == 6 and all(map(_number, at))
            if isinstance(type, str) and bounds:
                # Written as 4 times the lower and upper bounds of x, z and height.
                place = ((at[0] + at[1]) / 8, (at[4] + at[5]) / 8, (at[2] + at[3]) / 8)
                if opens or type not in CONTAINERS:
                    planned.setdefault(id, nearest_of(type, place, fixed))
    found: dict[str, str] = {}
    moved: set[str] = set()
    opened = ""
    for action, id, _ in actions:
        if action == "OpenObject":
            opened = id
        elif action == "CloseObject":
            opened = ""
        elif action == "PickupObject" and id not in moved:
            moved.add(id)
            if source := opened or planned.get(id, ""):
                found[id] = source
    return found


def read_layout(name: str, data: Any, problems: Problems) -> dict[str, tuple[float, float]]:
    """Return, by id, where one stands to use each openable thing of a floor plan."""
    found = {}
    for id, nav in data.items() if isinstance(data, dict) else ():
        if isinstance(nav, list) and len(nav) >= 2 and _number(nav[0]) and _number(nav[1]):
            found[str(id)] = (float(nav[0]), float(nav[1]))
        else:
            problems.add(f"{name}, {str(id)[:60]}", "[x, z, rotation, horizon]", nav)
    if not isinstance(data, dict):
        problems.add(name, "an object", data)
    return found


def derive_scenes(
    trials: Iterable[Original], layouts: Mapping[str, Mapping[str, tuple[float, float]]]
) -> dict[str, Json]:
    """Return the scenes that trials and layouts show, with positions learned from picks."""
    fixed: dict[str, list[dict[str, Any]]] = {}
    labelled: dict[str, dict[Place, str]] = {}
    for plan, places in sorted(layouts.items()):
        for id, nav in places.items():
            at = place_of(id)
            if at is not None and type_of(id) in FIXED_RECEPTACLES:
                one = {"id": id, "type": type_of(id), "pos": list(at), "nav": list(nav)}
                fixed.setdefault(plan, []).append(one)
    for trial in trials:
        plan = trial.row["scene"]["floor_plan"]
        fixed.setdefault(plan, []).extend(trial.fixed)
        for id, source in trial.shown.items():
            at = place_of(id)
            if at is not None:
                labelled.setdefault(plan, {})[at] = source
    scenes: dict[str, Json] = {}
    for plan, found in fixed.items():
        merged = merge_places(found)
        scene: Json = {
            "floor_plan": plan,
            "receptacles": [one for one in merged if one["type"] in FIXED_RECEPTACLES],
            "toggleables": [
                one for one in merged
                if one["type"] in TOGGLEABLE and one["type"] not in FIXED_RECEPTACLES
            ],
        }  # fmt: skip
        scenes[plan] = learn_points(scene, labelled.get(plan, {}))
    return scenes


def as_row(trial: Original, scene: Json | None) -> tuple[dict[str, Any], list[str]]:
    """Return a trial in the form of ``tasks.jsonl``, and what was odd about it."""
    objects: dict[str, dict[str, Any]] = {}
    odd = []
    opens = any(step[0] == OPEN for step in trial.gold)
    picked = {step[2] for step in trial.gold if step[0] == PICK}
    place = scene or {"receptacles": (), "points": ()}
    for type, at in trial.poses:
        id = "|".join((type, *(f"{one:+06.2f}" for one in at)))
        if id in objects:
            odd.append(f"{trial.name}: {id} stands there twice; one was kept")
            continue
        source = trial.shown.get(id, "")
        shown = nearest_of(type_of(source), place_of(source) or at, place["receptacles"])
        parent, how = find_parent(
            type, at, place, shown=shown, opened=opens or id not in picked
        )  # fmt: skip
        objects[id] = {"id": id, "type": type, "pos": [round(one, 3) for one in at],
                       "parent": parent or FLOOR, "parent_src": how}  # fmt: skip
    return {**trial.row, "objects": list(objects.values()), "gold_skills": trial.gold}, odd


def counted(trials: Iterable[Json]) -> Unquoted:
    """Return how many objects were placed how, in words."""
    counts: dict[str, int] = {}
    for trial in trials:
        for one in trial["objects"]:
            how = one.get("parent_src", "given")
            counts[how] = counts.get(how, 0) + 1
    total = sum(counts.values())
    parts = ", ".join(f"{n:,} {how}" for how, n in sorted(counts.items(), key=lambda p: -p[1]))
    return Unquoted(f"{total:,} objects placed: {parts}")
