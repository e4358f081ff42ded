"""Place the objects of an original ALFRED trial: its file has positions, not receptacles.

Placement is deterministic, in this order: what the demonstration shows (gold), a place that holds
one thing (center), the nearest labelled position of the same floor plan (knn), the nearest
receptacle that takes the type (nearest), the floor.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.dataset.trials import Place, place_of, type_of
from benchmarks.systems.sda_planner.house.affordances import BASINS, CONTAINERS, HOLDS_ONE, accepts
from benchmarks.systems.sda_planner.house.world import FLOOR

CENTER, KNN = 0.12, 0.6  # metres
# Ids of one thing differ between trials by at most this many metres, those of these types by more.
SAME_ID = 0.12
_MERGE_BY_TYPE = {
    "SinkBasin": 1.3,
    "BathtubBasin": 1.3,
    "Toilet": 0.5,
    "Fridge": 0.5,
    "Microwave": 0.5,
}


def merge_places(
    found: Iterable[Json], known: Iterable[Json] = (), reach: float = SAME_ID
) -> list[dict[str, Any]]:
    """Return fixed things with those merged that are the same, the first id kept.

    Two are the same within ``reach`` metres, or what their type allows. ``known`` come first and
    are kept as they are.
    """
    merged = [dict(one) for one in known]
    for one in found:
        within = max(reach, _MERGE_BY_TYPE.get(one["type"], 0.0))
        same = next(
            (m for m in merged
             if m["type"] == one["type"] and math.dist(m["pos"], one["pos"]) <= within),
            None,
        )  # fmt: skip
        if same is None:
            merged.append(dict(one))
        elif "nav" in one:
            same.setdefault("nav", one["nav"])
    return merged


def find_parent(
    type: str, at: Place, scene: Json, *, shown: str = "", opened: bool = True
) -> tuple[str, str]:
    """Return what an object starts in, and how that is known.

    ``shown`` is the receptacle that the demonstration takes it from; where it first uses the object
    while nothing is open, ``opened`` is False, and nothing closed comes into question.
    """
    if shown:
        return shown, "gold"
    places = [
        one for one in scene["receptacles"]
        if accepts(one["type"], type) and (opened or one["type"] not in CONTAINERS)
    ]  # fmt: skip
    for one in places:
        if one["type"] in HOLDS_ONE and _flat(at, one["pos"]) <= CENTER:
            return one["id"], "center"
    by_id = {one["id"] for one in places}
    labelled = [
        (_lifted(at, point, 2.0), scene["receptacles"][point[3]]["id"])
        for point in scene.get("points", ())
        if scene["receptacles"][point[3]]["id"] in by_id
    ]
    if labelled and min(labelled)[0] < KNN:
        return min(labelled)[1], "knn"
    # What fills its place stands exactly there, which was looked at first.
    roomy = [one for one in places if one["type"] not in HOLDS_ONE]
    if roomy:
        return min((_lifted(at, one["pos"], 0.5), one["id"]) for one in roomy)[1], "nearest"
    return FLOOR, "floor"


def _flat(one: Sequence[float], other: Sequence[float]) -> float:
    return math.hypot(one[0] - other[0], one[2] - other[2])


def _lifted(one: Sequence[float], other: Sequence[float], weight: float) -> float:
    """Return the distance in which height counts ``weight`` times."""
    return math.hypot(one[0] - other[0], weight * (one[1] - other[1]), one[2] - other[2])


def nearest_of(type: str, at: Place, places: Iterable[Json]) -> str:
    """Return the id of the fixed thing of a type that a position means, or ''."""
    reach = _MERGE_BY_TYPE.get(type, 0.5)
    if type in BASINS:
        reach = 1.3
    near = [(math.dist(at, one["pos"]), one["id"]) for one in places if one["type"] == type]
    return min(near)[1] if near and min(near)[0] <= reach else ""


def learn_points(scene: Json, labelled: Mapping[Place, str]) -> Json:
    """Return a scene with positions whose receptacle the trials loaded show."""
    order = {one["id"]: number for number, one in enumerate(scene["receptacles"])}
    named = (
        (at, nearest_of(type_of(id), place_of(id) or at, scene["receptacles"]))
        for at, id in sorted(labelled.items())
    )
    points = [[*at, order[id]] for at, id in named if id]
    return {**scene, "points": [*scene.get("points", ()), *points]}
