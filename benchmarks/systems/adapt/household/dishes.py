"""Dishes: what the food in a vessel amounts to, and the role of each ingredient in it.

A vessel holds a dish, and so does food that lies on furniture without one. Roles overlap on
purpose: cheese that lies beside eggs on their plate is a topping and a side.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from benchmarks.systems.adapt.household.inventory import EDIBLE
from benchmarks.systems.adapt.household.nodes import Node, is_vessel
from benchmarks.systems.adapt.household.world import World

EGGS, TOAST, CEREAL, YOGHURT, OATMEAL = "eggs", "toast", "cereal", "yoghurt", "oatmeal"
PANCAKES, FRENCH_TOAST, WAFFLES = "pancakes", "french_toast", "waffles"
COFFEE, TEA = "coffee", "tea"
KINDS = (
    EGGS, TOAST, CEREAL, YOGHURT, OATMEAL, PANCAKES, FRENCH_TOAST, WAFFLES, COFFEE, TEA,
)  # fmt: skip
# Names that stand for several kinds.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "sweet": (CEREAL, YOGHURT, OATMEAL, PANCAKES, FRENCH_TOAST, WAFFLES),
    "savory": (EGGS,),
    "beverage": (COFFEE, TEA),
    "food": KINDS[:8],
    "dish": KINDS,
}
# The category of food that makes a dish what it is.
BASES: Mapping[str, str] = {
    EGGS: "egg", TOAST: "bread", CEREAL: "cereal", YOGHURT: "yoghurt", OATMEAL: "oats",
    PANCAKES: "baking", FRENCH_TOAST: "bread", WAFFLES: "baking", COFFEE: "coffee", TEA: "tea",
}  # fmt: skip
DRINKS = (COFFEE, TEA)
# Whatever else is in their vessel is part of them.
LOOSE = (COFFEE, TEA, CEREAL, YOGHURT)

# Styles of eggs: the names and verbs that stand for them.
STYLES: Mapping[str, tuple[re.Pattern[str], frozenset[str]]] = {
    "scrambled": (re.compile("scramble"), frozenset({"scramble"})),
    "omelette": (re.compile("omelet"), frozenset()),
    "poached": (re.compile("poach"), frozenset({"poach"})),
    "over_easy": (re.compile("fried|fry|sunny|over_easy"), frozenset({"fry"})),
    "boiled": (re.compile("boil"), frozenset({"boil"})),
}
_EGG_NAMES = re.compile("scramble|omelet|poach|fried|sunny|over_easy|boil|frittata|quiche")
_NAMED = {PANCAKES: re.compile("pancake"), WAFFLES: re.compile("waffle")}
_FRENCH = re.compile("french_toast")


class DishPart(NamedTuple):
    """A movable object in a dish; ``t`` is the step at which it came in, ``node`` what it is in."""

    base: str
    t: int
    node: Node


@dataclass(frozen=True)
class Dish:
    """A dish of one kind. ``vessel`` is the food itself where it lies on furniture.

    ``foods`` is all food in the vessel, ``defining`` those of it that make the dish what it is.
    ``done`` is the step at which it became that dish, ``served`` that at which it came to the
    furniture where it is, or was completed there.
    """

    kind: str
    world: World
    vessel: Node
    foods: tuple[Node, ...]
    defining: tuple[Node, ...]
    done: int

    @cached_property
    def furniture(self) -> Node:
        return self.world.furniture_of(self.vessel)

    @cached_property
    def served(self) -> int:
        return max(self.world.arrived(self.vessel), self.done)

    @cached_property
    def entered(self) -> Mapping[str, tuple[int, int]]:
        """The steps by movable object: of its entry into the vessel, and of its first into any."""
        entered: dict[str, tuple[int, int]] = {}
        for food in self.foods:
            first: dict[str, int] = {}
            here: dict[str, int] = {}
            for entry in food.entries:
                first.setdefault(entry.base, entry.t)
                if entry.vessel == self.vessel.id:
                    here.setdefault(entry.base, entry.t)
            for base in food.base:
                start = first.get(base, food.moved)
                at = (here.get(base, food.moved), start)
                entered[base] = min(entered.get(base, at), at)
        return entered

    def _parts(self, bases: Iterable[str], nodes: Sequence[Node]) -> dict[str, DishPart]:
        holder = {base: node for node in reversed(nodes) for base in node.base}
        return {base: DishPart(base, self.entered[base][0], holder[base]) for base in bases}

    @cached_property
    def base(self) -> Mapping[str, DishPart]:
        """The objects of the category that defines the dish."""
        things = self.world.inventory.things
        category = BASES[self.kind]
        bases = [b for node in self.defining for b in node.base if things[b].category == category]
        return self._parts(dict.fromkeys(bases), self.defining)

    @cached_property
    def _all(self) -> tuple[str, ...]:
        every = dict.fromkeys(b for node in self.foods for b in node.base)
        return tuple(b for b in every if b not in self.base)

    @cached_property
    def mixed(self) -> Mapping[str, DishPart]:
        """The things in the lineage of the base, or in the vessel of drinks, cereal and yoghurt."""
        if self.kind in LOOSE:
            return self._parts(self._all, self.foods)
        lineage = {b for node in self.defining for b in node.base}
        return self._parts([b for b in self._all if b in lineage], self.foods)

    @cached_property
    def topping(self) -> Mapping[str, DishPart]:
        """The things in the vessel that were not in the base when that was last cooked or mixed."""
        if self.kind in LOOSE:
            return self.mixed
        core = frozenset().union(*(node.core for node in self.defining))
        return self._parts([b for b in self._all if b not in core], self.foods)

    @cached_property
    def added(self) -> Mapping[str, DishPart]:
        return {**self.topping, **self.mixed}

    @cached_property
    def side(self) -> Mapping[str, DishPart]:
        """Food that was brought to the same furniture, or lies on the same plate unmixed."""
        parts: dict[str, DishPart] = {}
        if self.vessel.thing.category == "plate":
            lineage = {b for node in self.defining for b in node.base}
            loose = [b for b in self._all if b not in lineage]
            parts.update(self._parts(loose, self.foods))
        for node, brought in _brought(self.world, self.furniture, False, skip=self.vessel.id):
            if node.thing.type == EDIBLE:
                for base in node.base:
                    parts.setdefault(base, DishPart(base, brought, node))
        return parts

    @cached_property
    def together(self) -> Mapping[str, DishPart]:
        """The things that are added or beside it: the role ``with``."""
        return {**self.side, **self.added}

    def role(self, name: str) -> Mapping[str, DishPart]:
        """Return the parts in a role of the rules."""
        parts: Mapping[str, DishPart] = getattr(self, "together" if name == "with" else name)
        return parts

    def part_heated(self, part: DishPart) -> bool:
        """Return whether a part was heated when, or after, it was added."""
        since = min([part.t, *(e.t for e in part.node.entries if e.base == part.base)])
        return any(event.heat and event.t >= since for event in part.node.events)

    @cached_property
    def style(self) -> str:
        """The style of eggs by their newest telling name or verb; '' if none tells."""
        for node in self.defining:
            for style, (names, _) in STYLES.items():
                if names.search(node.name):
                    return style
            for event in reversed(node.events):
                for style, (names, verbs) in STYLES.items():
                    if names.search(event.result) or event.verb in verbs:
                        return style
        return ""

    @cached_property
    def hot(self) -> bool:
        return any(node.heated for node in self.foods)

    @cached_property
    def iced(self) -> str:
        """The ice in the vessel; '' without any."""
        things = self.world.inventory.things
        return next((b for b in self._all if things[b].category == "ice"), "")

    @cached_property
    def used(self) -> Mapping[str, int]:
        """Vessels, tools and appliances by the step at which the dish last used them."""
        used: dict[str, int] = {}
        for node in self.foods:
            for entry in node.entries:
                used[entry.vessel] = entry.t
            for event in node.events:
                for name in (event.container, event.tool, event.appliance):
                    if name:
                        used[name] = event.t
        return used

    @cached_property
    def tools(self) -> Mapping[str, int]:
        """The tools that a ``tool`` rule looks at: things that cooked or mixed it, hold it, or
        lie in it.
        """
        tools: dict[str, int] = {}
        for node in self.foods:
            for event in node.events:
                for name in (event.container, event.tool, event.appliance):
                    if name:
                        tools[name] = event.t
        if self.vessel.thing.type != EDIBLE:
            tools[self.vessel.id] = self.done
            for name in self.vessel.children:
                node = self.world.nodes[name]
                if node.thing.type != EDIBLE:
                    tools[name] = node.moved
        return tools


def _brought(world: World, node: Node, moved: bool, skip: str) -> Iterable[tuple[Node, int]]:
    """Yield what the agent brought to furniture, with the step; all in a vessel came with it."""
    for name in node.children:
        if name == skip:
            continue
        child = world.nodes[name]
        if moved or child.moved:
            yield child, max(child.moved, node.moved if moved else 0)
        yield from _brought(world, child, moved or bool(child.moved), skip)


def find_dishes(world: World) -> dict[str, Dish]:
    """Return the dishes that were made, by kind.

    Of several vessels the one that was last moved to a dining surface counts, else the latest.
    """
    groups: dict[str, list[Node]] = {}
    for name in world.touched:
        node = world.nodes[name]
        held = world.nodes[node.parent]
        groups.setdefault(held.id if is_vessel(held) else node.id, []).append(node)
    best: dict[str, tuple[tuple[int, int], Dish]] = {}
    for name, foods in groups.items():
        vessel = world.nodes[name]
        for kind, defining in _kinds(world, foods):
            dish = Dish(kind, world, vessel, tuple(foods), tuple(defining), _done(kind, defining))
            dining = "dining" in dish.furniture.thing.attributes
            rank = (world.arrived(vessel) if dining else -1, dish.done)
            if kind not in best or rank >= best[kind][0]:
                best[kind] = (rank, dish)
    return {kind: best[kind][1] for kind in KINDS if kind in best}


def _done(kind: str, defining: Sequence[Node]) -> int:
    """Return the step at which food became the dish: its last move, or the heat that made it."""
    heat = [e.t for node in defining for e in node.events if e.heat] if kind == TOAST else []
    return max([*(node.moved for node in defining), *heat[:1]])


def _kinds(world: World, foods: Sequence[Node]) -> Iterable[tuple[str, list[Node]]]:
    """Yield each kind of dish that food amounts to, with what makes it that."""
    things = world.inventory.things
    by_category: dict[str, list[Node]] = {}
    for node in foods:
        for category in {things[base].category for base in node.base}:
            by_category.setdefault(category, []).append(node)
    french = [
        node
        for node in by_category.get("bread", ())
        if node in by_category.get("egg", ()) and _named(node, _FRENCH)
    ]
    if french:
        yield FRENCH_TOAST, french
    cakes = []
    for kind, names in _NAMED.items():
        made = [node for node in foods if node.events and _named(node, names)]
        cakes += made
        if made:
            yield kind, made
    other = [node for node in foods if node not in french and node not in cakes]
    eggs = [
        node
        for node in by_category.get("egg", ())
        if node in other and (node.heated or _named(node, _EGG_NAMES))
    ]
    if eggs:
        yield EGGS, eggs
    if toast := [n for n in by_category.get("bread", ()) if n in other and n.heated]:
        yield TOAST, toast
    if cereal := by_category.get("cereal"):
        yield CEREAL, cereal
    if yoghurt := [
        n for n in by_category.get("yoghurt", ()) if n not in by_category.get("egg", ())
    ]:
        yield YOGHURT, yoghurt
    wet = by_category.get("water", []) + by_category.get("milk", [])
    oats = [node for node in by_category.get("oats", ()) if node.heated]
    if oats and wet:
        yield OATMEAL, oats
    water = by_category.get("water", [])
    if coffee := by_category.get("coffee"):
        espresso = world.inventory.pick("coffee_gear+espresso")
        pressed = any(entry.vessel in espresso for node in coffee for entry in node.entries)
        if water or pressed:
            yield COFFEE, list({id(n): n for n in (*coffee, *water)}.values())
    if water and (tea := by_category.get("tea")):
        yield TEA, list({id(n): n for n in (*tea, *water)}.values())


def _named(node: Node, names: re.Pattern[str]) -> bool:
    """Return whether a name that food has or had matches."""
    return bool(names.search(node.name)) or any(names.search(e.result) for e in node.events)
