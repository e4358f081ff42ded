"""The household at the end of an episode as pages show it: what was touched, in its place."""

from collections.abc import Mapping
from typing import Any

from benchmarks.systems.adapt.household.nodes import Node
from benchmarks.systems.adapt.household.world import World


def kitchen_tree(world: World, changed: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return rooms with their furniture; things that changed have the step of their last change.

    What nobody touched is listed by name alone. ``changed`` is by name of a node.
    """
    rooms = []
    for room in world.inventory.rooms:
        pieces = [
            _branch(world, world.nodes[name], changed) for name in world.nodes[room.id].children
        ]
        touched = sum(piece["touched"] for piece in pieces)
        rooms.append({"name": room.description, "furniture": pieces, "touched": touched})
    return rooms


def _branch(world: World, node: Node, changed: Mapping[str, int]) -> dict[str, Any]:
    """Return a node with what is in it; ``rest`` are the names of what was left alone."""
    branches, rest = [], []
    for name in node.children:
        child = world.nodes[name]
        branch = _branch(world, child, changed)
        if branch["touched"]:
            branches.append(branch)
        else:
            rest.append(child.name)
    step = changed.get(node.name)
    about = node.thing.description if node.id == node.thing.id else ""
    return {
        "name": node.name,
        "about": about,
        "states": sorted(node.states),
        "step": step,
        "inside": branches,
        "rest": rest,
        "touched": (step is not None) + sum(branch["touched"] for branch in branches),
    }
