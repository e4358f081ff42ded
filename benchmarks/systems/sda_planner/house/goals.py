"""Goals of the seven task types, as conditions that hold or do not (ALFRED's, in our own code)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.house.affordances import type_words
from benchmarks.systems.sda_planner.house.world import State

SIMPLE = "pick_and_place_simple"
TWO = "pick_two_obj_and_place"
LIGHT = "look_at_obj_in_light"
HEAT = "pick_heat_then_place_in_recep"
COOL = "pick_cool_then_place_in_recep"
CLEAN = "pick_clean_then_place_in_recep"
STACK = "pick_and_place_with_movable_recep"
TASK_TYPES: Mapping[str, str] = {
    SIMPLE: "Pick and place",
    TWO: "Pick two and place",
    LIGHT: "Look at in light",
    HEAT: "Heat and place",
    COOL: "Cool and place",
    CLEAN: "Clean and place",
    STACK: "Stack and place",
}
_TREATED = {HEAT: "hot", COOL: "cold", CLEAN: "clean"}


@dataclass(frozen=True)
class Condition:
    """One goal condition in words, and whether it holds."""

    words: str
    met: bool

    def to_json(self) -> list[object]:
        return [self.words, self.met]


@dataclass(frozen=True)
class Goal:
    """The goal of a task: its type, and the types of objects that its parameters name."""

    task_type: str
    object: str
    parent: str = ""
    movable: str = ""
    toggle: str = ""
    sliced: bool = False

    @classmethod
    def of(cls, trial: Json) -> "Goal":
        """Return the goal of a trial in the form that is stored."""
        given = trial["pddl_params"]
        return cls(
            trial["task_type"],
            given["object_target"],
            given.get("parent_target", ""),
            given.get("mrecep_target", ""),
            given.get("toggle_target", ""),
            bool(given.get("object_sliced")),
        )

    def conditions(self, state: State) -> list[Condition]:
        """Return the conditions of the goal in a state; the task succeeds where all are met."""
        objects = [o for o in state.objects() if state.entity(o).type == self.object]
        if self.sliced:
            objects = [one for one in objects if one in state.sliced]
        conditions = _CHECKS[self.task_type](self, state, objects)
        if self.sliced:
            name = type_words(self.object)
            conditions.append(Condition(f"a {name} is sliced", bool(objects)))
            if self.task_type == TWO:
                conditions.append(Condition(f"two pieces of {name} exist", len(objects) > 1))
        return conditions


def score(conditions: list[Condition]) -> tuple[int, int]:
    """Return how many conditions are met, and how many there are."""
    return sum(one.met for one in conditions), len(conditions)


def _inside(state: State, id: str, type: str) -> bool:
    return any(state.entity(holder).type == type for holder in state.chain(id))


def _simple(goal: Goal, state: State, objects: list[str]) -> list[Condition]:
    placed = any(_inside(state, one, goal.parent) for one in objects)
    return [Condition(f"{_name(goal)} is in the {type_words(goal.parent)}", placed)]


def _two(goal: Goal, state: State, objects: list[str]) -> list[Condition]:
    places = [id for id, one in state.house.entities.items() if one.type == goal.parent]
    most = max((sum(p in state.chain(o) for o in objects) for p in places), default=0)
    where = f"in the {type_words(goal.parent)}"
    return [
        Condition(f"one {type_words(goal.object)} is {where}", most > 0),
        Condition(f"two are in the same {type_words(goal.parent)}", most > 1),
    ]


def _light(goal: Goal, state: State, objects: list[str]) -> list[Condition]:
    lit = any(one.id in state.on and state.near(one.id) for one in state.all_of(goal.toggle))
    return [
        Condition(f"{_name(goal)} is held", state.hold in objects),
        Condition(f"a {type_words(goal.toggle)} nearby is on", lit),
    ]


def _treated(goal: Goal, state: State, objects: list[str]) -> list[Condition]:
    how = _TREATED[goal.task_type]
    treated: set[str] = getattr(state, how)
    placed = [one for one in objects if _inside(state, one, goal.parent)]
    where = f"in the {type_words(goal.parent)}"
    return [
        Condition(f"{_name(goal)} is {where}", bool(placed)),
        Condition(f"{_name(goal)} is {how}", any(one in treated for one in objects)),
        Condition(f"the same one is {how} and {where}", any(one in treated for one in placed)),
    ]


def _stack(goal: Goal, state: State, objects: list[str]) -> list[Condition]:
    movables = {o for o in state.objects() if state.entity(o).type == goal.movable}
    stacked = [one for one in objects if state.parent[one] in movables]
    moved = {one for one in movables if _inside(state, one, goal.parent)}
    movable, where = type_words(goal.movable), f"in the {type_words(goal.parent)}"
    return [
        Condition(f"{_name(goal)} is in a {movable}", bool(stacked)),
        Condition(f"a {movable} is {where}", bool(moved)),
        Condition(
            f"the {movable} that holds it is {where}",
            any(state.parent[one] in moved for one in stacked),
        ),
    ]


def _name(goal: Goal) -> str:
    name = type_words(goal.object)
    return f"a piece of {name}" if goal.sliced else f"a {name}"


_CHECKS: Mapping[str, Callable[[Goal, State, list[str]], list[Condition]]] = {
    SIMPLE: _simple, TWO: _two, LIGHT: _light, HEAT: _treated, COOL: _treated, CLEAN: _treated,
    STACK: _stack,
}  # fmt: skip
