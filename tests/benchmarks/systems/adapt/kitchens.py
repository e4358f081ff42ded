"""Households with all objects, acted on by texts, and what the rules of personas make of it."""

from collections.abc import Sequence
from functools import cache

from benchmarks.core.types import Json
from benchmarks.systems.adapt.dataset import load_personas
from benchmarks.systems.adapt.household.actions import parse_action
from benchmarks.systems.adapt.household.inventory import Inventory, inventory_of
from benchmarks.systems.adapt.household.nodes import ActionResult
from benchmarks.systems.adapt.household.rules import GoalVerdict, HouseholdGoal, Judge
from benchmarks.systems.adapt.household.world import World
from benchmarks.systems.adapt.preferences import (
    Preference,
    RuleNames,
    preferences_of,
    read_preferences,
)


@cache
def shared() -> Json:
    found = load_personas().shared
    assert found is not None
    return found


@cache
def inventory() -> Inventory:
    return inventory_of(shared()["household"])


def whole_world(without: Sequence[str] = (), require_seen: bool = False) -> World:
    present = [thing.id for thing in inventory().movable if thing.id not in without]
    return World(inventory(), present, require_seen)


def act(world: World, *texts: str) -> list[ActionResult]:
    return [world.act(parse_action(text)) for text in texts]


def preferences(persona: int) -> tuple[Preference, ...]:
    return preferences_of(shared(), inventory(), f"persona_{persona:02}")


def goal(task: str) -> HouseholdGoal:
    row = shared()["tasks"][task]
    return HouseholdGoal(task, tuple(row["expects"]), row.get("style", ""))


def verdicts(world: World, persona: int, task: str) -> dict[int, GoalVerdict]:
    """The verdicts on a persona's preferences, by number."""
    held = preferences(persona)
    found = Judge(world, goal(task)).judge([p.rule for p in held])
    return {p.n: verdict for p, verdict in zip(held, found, strict=True)}


def split(found: dict[int, GoalVerdict]) -> tuple[list[int], list[int]]:
    """Numbers of satisfied and of violated preferences."""
    return (
        [n for n, verdict in found.items() if verdict.value == "satisfied"],
        [n for n, verdict in found.items() if verdict.value == "violated"],
    )


def value(rule: Json, task: str, world: World) -> GoalVerdict:
    """The verdict on a single rule."""
    words = RuleNames(inventory(), tuple(shared()["tasks"]))
    (held,) = read_preferences(words, [{"n": 1, "dim": "addition", "text": "x", "rule": rule}])
    return Judge(world, goal(task)).judge([held.rule])[0]
