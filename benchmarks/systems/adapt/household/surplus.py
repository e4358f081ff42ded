"""What an agent used although nobody asked for it: food beyond the task that no preference wants.

A dish needs the food that defines it, water, for cereal one milk, and for eggs one fat. A
preference wants as many things of its selectors as it takes to satisfy it, in the dishes of the
meal and in those that should come with them. Whatever else the agent moved or made is surplus.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from benchmarks.systems.adapt.household.dishes import CEREAL, EGGS, Dish
from benchmarks.systems.adapt.household.rules import Judge, Rule

# One of these belongs to the recipe of a dish, whoever eats it.
_RECIPE = {CEREAL: ("milk",), EGGS: ("butter", "oil")}


class Surplus(NamedTuple):
    """Movable objects that nobody asked for, and the steps that handled nothing else."""

    things: tuple[str, ...]
    steps: tuple[int, ...]


def find_surplus(judge: Judge, rules: Sequence[Rule]) -> Surplus:
    """Return what was used beyond the task and the preferences, after ``judge`` has judged."""
    world = judge.world
    food = [node for node in world.nodes.values() if node.edible and node.base]
    moved = [node for node in food if node.moved or node.id in world.touched]
    used = dict.fromkeys(base for node in moved for base in node.base)
    simple = [one for rule in rules for one in _simple(rule)]
    expected = set(judge.goal.expects)
    beside = {r.args["dish"] for r in simple if r.form == "serve_with" and expected & set(r.of)}
    dishes = [dish for kind, dish in judge.dishes.items() if kind in expected | beside]
    wanted = set(_needed(judge, dishes))
    # What few things can satisfy comes first, so that one thing serves as many wishes as it can.
    claims = [claim for dish in dishes for rule in simple for claim in _claims(judge, rule, dish)]
    for matches, many in sorted(claims, key=lambda claim: len(claim[0])):
        missing = many - sum(base in wanted for base in matches)
        wanted.update([base for base in matches if base not in wanted][: max(0, missing)])
    surplus = tuple(base for base in used if base not in wanted)
    handled: dict[int, set[str]] = {}
    for node in moved:
        for entry in node.entries:
            handled.setdefault(entry.t, set()).add(entry.base)
        for t in (node.moved, *(event.t for event in node.events)):
            handled.setdefault(t, set()).update(node.base)
    steps = (t for t, bases in sorted(handled.items()) if t and bases <= set(surplus))
    return Surplus(surplus, tuple(steps))


def _simple(rule: Rule) -> Iterator[Rule]:
    if rule.inner:
        for inner in rule.inner:
            yield from _simple(inner)
    else:
        yield rule


def _needed(judge: Judge, dishes: Iterable[Dish]) -> Iterator[str]:
    """Yield the objects that the recipes of dishes need."""
    water = judge.inventory.pick("water")
    for dish in dishes:
        yield from dish.base
        yield from (base for base in dish.added if base in water)
        of_recipe = judge.inventory.pick_any(_RECIPE.get(dish.kind, ()))
        yield from [base for base in dish.added if base in of_recipe][:1]


def _claims(judge: Judge, rule: Rule, dish: Dish) -> Iterator[tuple[list[str], int]]:
    """Yield (objects in a dish, how many of them a rule wants)."""
    if dish.kind not in rule.of:
        return
    args, parts = rule.args, dish.together

    def matching(selectors: tuple[str, ...]) -> list[str]:
        picked = judge.inventory.pick_any(selectors)
        return [base for base in parts if base in picked]

    match rule.form:
        case "include":
            yield matching(args["sel"]), args["min"]
        case "prefer":
            yield matching(args["chain"]), 1
        case "together":
            yield from ((matching((selector,)), 1) for selector in args["sel"])
        case "only" if args["absent"] == "violated":
            yield matching(args["allow"]), 1
        case "temp" if args["is"] == "iced":
            yield matching(("ice",)), 1
