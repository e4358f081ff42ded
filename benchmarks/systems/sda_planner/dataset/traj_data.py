"""Original ``traj_data.json`` files of ALFRED as rows of the form that is stored.

The files give the position of everything that can be carried, and the fixed things that plan and
demonstration touch. Where no ``scenes.jsonl`` is at hand, the fixed things of a floor plan are
those that the trials loaded and the layouts name, and placement is less sure. Where it is at hand,
they are added to what it lacks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.core.schemas import MISSING, RowSchema, list_of, must, read_row, text
from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.dataset.placement import (
    SAME_ID,
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
    id_at,
    is_number,
    place_of,
    same_thing,
    type_of,
    whole_id,
)
from benchmarks.systems.sda_planner.house.affordances import (
    CONTAINERS,
    FIXED_RECEPTACLES,
    PICKUPABLE,
    TOGGLEABLE,
)
from benchmarks.systems.sda_planner.house.world import FLOOR
from benchmarks.systems.sda_planner.steps import CLOSE, FIND, OFF, ON, OPEN, PICK, PUT, SLICE

# Metres: a scene that is given lacks a thing named where nothing of its type is as near as this.
SAME_PLACE = 0.3
TRIAL, LAYOUT = "traj_data.json", "-openable.json"
MOST_ACTIONS = 2_000
_TOUCHES = {
    "OpenObject": OPEN, "CloseObject": CLOSE, "ToggleObjectOn": ON, "ToggleObjectOff": OFF,
    "SliceObject": SLICE,
}  # fmt: skip
_SPLITS = ("train", "valid_seen", "valid_unseen", "tests_seen", "tests_unseen")


@dataclass
class Original:
    """One original trial, as far as it can be read without the others of its floor plan.

    ``shown`` has by object the receptacle that the demonstration first takes it from; ``in_reach``
    are the things that it first uses while nothing is open.
    """

    name: str
    row: dict[str, Any]
    poses: list[tuple[str, Place]]
    gold: list[list[str]]
    fixed: list[dict[str, Any]]
    shown: dict[str, str] = field(default_factory=dict)
    in_reach: frozenset[str] = frozenset()


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

    plan: Annotated[TrialPlanRow, must("a demonstrated plan", _is_object)] = MISSING
    scene: Annotated[OriginalScene, must("an object", _is_object)] = MISSING
    turk_annotations: Annotated[TurkRow, must("an object", _is_object)] = MISSING


def split_of(name: str) -> str:
    """Return the split that a file's path names."""
    return next((part for part in PurePosixPath(name).parts if part in _SPLITS), "unknown")


def is_demonstrated(data: Any) -> bool:
    """Return whether a file has a demonstration; those of the test splits have none."""
    if not isinstance(data, dict):
        return True  # a fault, which reading it names
    plan = data.get("plan")
    return isinstance(plan, dict) and bool(plan.get("low_actions"))


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
    row = {
        "task_id": data.get("task_id"),
        "split": split_of(name),
        "task_type": data.get("task_type"),
        "pddl_params": data.get("pddl_params"),
        "scene": data["scene"],
        "anns": read.turk_annotations.anns,
    }
    gold = demonstrated(actions)
    sources = _planned_sources(plan.high_pddl)
    named = [*_touched(actions), *_planned(plan.high_pddl), *sources.values()]
    fixed = [
        {"id": id, "type": type_of(id), "pos": list(at)}
        for id in dict.fromkeys(named)
        if (at := place_of(id)) is not None
        and (type_of(id) in FIXED_RECEPTACLES or type_of(id) in TOGGLEABLE)
    ]
    return Original(name, row, poses, gold, fixed, *_first_uses(actions, sources))


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


def _planner_actions(high: Any) -> Iterator[Mapping[str, Any]]:
    for one in high if isinstance(high, list) else ():
        action = one.get("planner_action") if isinstance(one, dict) else None
        if isinstance(action, dict):
            yield action


def _planned(high: Any) -> Iterator[str]:
    """Yield the ids of the high-level plan's steps."""
    for action in _planner_actions(high):
        for key in ("objectId", "receptacleObjectId"):
            if isinstance(action.get(key), str):
                yield action[key]


def _planned_sources(high: Any) -> dict[str, str]:
    """Return, by object, the id of the receptacle that the plan first takes it from.

    The plan names the type and 4 times the bounds of x, z and height, which are one point.
    """
    sources: dict[str, str] = {}
    for action in _planner_actions(high):
        id, where = action.get("objectId"), action.get("coordinateReceptacleObjectId")
        if action.get("action") != "PickupObject" or not isinstance(id, str):
            continue
        type, at = where if isinstance(where, list) and len(where) == 2 else ("", ())
        if (
            isinstance(type, str)
            and isinstance(at, list)
            and len(at) == 6
            and all(map(_number, at))
        ):
            point = ((at[0] + at[1]) / 8, (at[4] + at[5]) / 8, (at[2] + at[3]) / 8)
            sources.setdefault(whole_id(id), id_at(type, point))
    return sources


def _first_uses(
    actions: Iterable[tuple[str, str, str]], planned: Mapping[str, str]
) -> tuple[dict[str, str], frozenset[str]]:
    """Return what each object is first taken from, and what is first used while nothing is open.

    It is taken from the container that was opened right before, else from where the plan says,
    unless that would have to be opened.
    """
    shown: dict[str, str] = {}
    in_reach, used = set(), set()
    opened = ""
    for action, id, into in actions:
        if action in ("OpenObject", "CloseObject"):
            opened = id if action == "OpenObject" else ""
        thing = whole_id(into if action == "PutObject" else id)
        if thing in used:
            continue
        used.add(thing)
        if opened in ("", thing):
            in_reach.add(thing)
        source = opened if action == "PickupObject" and opened else planned.get(thing, "")
        if source and (opened or type_of(source) not in CONTAINERS):
            shown[thing] = source
    return shown, frozenset(in_reach)


def read_layout(name: str, data: Any, problems: Problems) -> dict[str, tuple[float, float]]:
    """Return, by id, where one stands to use each openable thing of a floor plan."""
    viewpoints = {}
    for id, nav in data.items() if isinstance(data, dict) else ():
        if isinstance(nav, list) and len(nav) >= 2 and _number(nav[0]) and _number(nav[1]):
            viewpoints[str(id)] = (float(nav[0]), float(nav[1]))
        else:
            problems.add(f"{name}, {str(id)[:60]}", "[x, z, rotation, horizon]", nav)
    if not isinstance(data, dict):
        problems.add(name, "an object", data)
    return viewpoints


def complete_scenes(
    trials: Iterable[Original],
    layouts: Mapping[str, Mapping[str, tuple[float, float]]],
    given: Mapping[str, Json],
) -> dict[str, Json]:
    """Return the scenes of the trials: those given, with what layouts and trials add to them.

    Added are fixed things that a scene lacks, and the positions of objects that demonstrations
    take.
    """
    fixed: dict[str, list[dict[str, Any]]] = {}
    labelled: dict[str, dict[Place, str]] = {}
    for trial in trials:
        plan = trial.row["scene"]["floor_plan"]
        fixed.setdefault(plan, []).extend(trial.fixed)
        for id, source in trial.shown.items():
            if (at := place_of(id)) is not None:
                labelled.setdefault(plan, {})[at] = source
    return {
        plan: learn_points(
            _with_places(plan, [*_openables(layouts.get(plan, {})), *named], given.get(plan)),
            labelled.get(plan, {}),
        )
        for plan, named in fixed.items()
    }


def _openables(layout: Mapping[str, tuple[float, float]]) -> Iterator[dict[str, Any]]:
    """Yield the fixed receptacles of a layout, with where one stands to use them."""
    for id, nav in layout.items():
        if (at := place_of(id)) is not None and type_of(id) in FIXED_RECEPTACLES:
            yield {"id": id, "type": type_of(id), "pos": list(at), "nav": list(nav)}


def _with_places(plan: str, named: Sequence[Json], scene: Json | None) -> dict[str, Any]:
    """Return a scene with the fixed things that files name and it lacks."""
    known: Json = scene or {"receptacles": (), "toggleables": ()}
    reach = SAME_ID if scene is None else SAME_PLACE

    def merged(key: str, holds: Callable[[str], bool]) -> list[dict[str, Any]]:
        return merge_places([one for one in named if holds(one["type"])], known[key], reach)

    return {
        **known,
        "floor_plan": plan,
        "receptacles": merged("receptacles", FIXED_RECEPTACLES.__contains__),
        "toggleables": merged("toggleables", (TOGGLEABLE - FIXED_RECEPTACLES).__contains__),
    }


def as_row(trial: Original, scene: Json) -> tuple[dict[str, Any], list[str]]:
    """Return a trial in the form of ``tasks.jsonl``, and what was odd about it."""
    places: dict[str, tuple[str, Place]] = {}
    odd = []
    for type, at in trial.poses:
        id = id_at(type, at)
        if id in places:
            odd.append(f"{trial.name}: {id} stands there twice; one was kept")
        else:
            places[id] = type, at
    things = [{"id": id, "type": type, "pos": at} for id, (type, at) in places.items()]
    shown = {same_thing(id, things): source for id, source in trial.shown.items()}
    in_reach = {same_thing(id, things) for id in trial.in_reach}
    objects = []
    for id, (type, at) in places.items():
        source = shown.get(id, "")
        parent, how = find_parent(
            type, at, scene, opened=id not in in_reach,
            shown=nearest_of(type_of(source), place_of(source) or at, scene["receptacles"]),
        )  # fmt: skip
        objects.append({"id": id, "type": type, "pos": [round(one, 3) for one in at],
                        "parent": parent or FLOOR, "parent_src": how})  # fmt: skip
    return {**trial.row, "objects": objects, "gold_skills": trial.gold}, odd


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
