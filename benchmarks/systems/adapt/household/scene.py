"""Scenes: which movable objects a household holds."""

import random

from benchmarks.systems.adapt.household.inventory import Inventory

# Categories and vessels of which a scene has at least one object where it is to be feasible.
NEEDED = ("egg", "cereal", "yoghurt", "bread", "coffee", "tea", "bowl", "plate", "mug")


def draw_scene(
    inventory: Inventory, seed: str, ensure_feasible: bool = True
) -> tuple[list[str], list[str]]:
    """Return the movable objects of a scene in order, and those added to make tasks feasible.

    Mandatory objects are always there, others with the inventory's odds (paper, section 4).
    """
    rng = random.Random(seed)
    present = {
        thing.id
        for thing in inventory.movable
        if thing.id in inventory.mandatory or rng.random() < inventory.odds
    }
    added = []
    for category in NEEDED if ensure_feasible else ():
        kin = [thing.id for thing in inventory.movable if thing.category == category]
        if kin and present.isdisjoint(kin):
            added.append(kin[0])
    present.update(added)
    return [thing.id for thing in inventory.movable if thing.id in present], added
