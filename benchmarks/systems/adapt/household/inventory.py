"""The things of a household, the selectors by which rules pick them, and scenes made of them.

A selector is ``category[+attribute]...[-attribute]...``, such as ``milk+dairy-full_fat``; ``*`` is
any category (furniture included) and ``*edible`` is anything edible.
"""

import random
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock

from benchmarks.core.digests import digest
from benchmarks.core.types import Json
from benchmarks.core.yaml_files import read_yaml_file

FILE = Path(__file__).with_name("inventory.yaml")
EDIBLE, CONTAINER, FURNITURE, ROOM = "edible", "container", "furniture", "room"
TYPES = (EDIBLE, CONTAINER, "tool", "other")
# Categories and vessels of which a scene has at least one object where it is to be feasible.
NEEDED = ("egg", "cereal", "yoghurt", "bread", "coffee", "tea", "bowl", "plate", "mug")
# An edible whose description begins with one of these is a package with endless content.
_FIRST_WORDS = """
    carton tub cup can bottle jar box bag block pack tin canister loaf bunch punnet stick wedge tray
    bowl
"""
_PACKAGES = frozenset(_FIRST_WORDS.split())
_SELECTOR = re.compile(r"(\*edible|\*|[a-z_]+)((?:[+-][a-z_]+)*)")
_INDEX = re.compile(r"_\d+$")
# Households that a process keeps indexed at the same time.
KEPT = 4


@dataclass(frozen=True)
class InventoryThing:
    """A room, a piece of furniture or a movable object as the inventory lists it.

    ``attributes`` are the tags of furniture. ``place`` is where it stands by default.
    """

    id: str
    description: str
    category: str
    type: str
    attributes: frozenset[str]
    place: str = ""

    @cached_property
    def base_name(self) -> str:
        """The id without its number."""
        return _INDEX.sub("", self.id)

    @cached_property
    def plain_description(self) -> str:
        """The description as agents may write it: lower case, with underscores."""
        return re.sub(r"[^a-z0-9]+", "_", self.description.lower()).strip("_")

    @cached_property
    def package(self) -> bool:
        """Return whether it holds an endless amount of what it is named after."""
        first = self.description.split()[0].lower() if self.description else ""
        return self.type == EDIBLE and (first in _PACKAGES or "shaker" in self.description)

    @cached_property
    def appliance(self) -> bool:
        """Return whether it heats what is on or in it."""
        return {"appliance", "cooking"} <= self.attributes


@dataclass
class Inventory:
    """All things by id, in the order of the file; ``odds`` is the share of optional objects."""

    things: Mapping[str, InventoryThing]
    mandatory: frozenset[str]
    odds: float
    _picked: dict[str | tuple[str, ...], frozenset[str]] = field(default_factory=dict)

    @cached_property
    def movable(self) -> tuple[InventoryThing, ...]:
        return tuple(t for t in self.things.values() if t.type in TYPES)

    @cached_property
    def furniture(self) -> tuple[InventoryThing, ...]:
        return tuple(t for t in self.things.values() if t.type == FURNITURE)

    @cached_property
    def rooms(self) -> tuple[InventoryThing, ...]:
        return tuple(t for t in self.things.values() if t.type == ROOM)

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The place of each id in the file."""
        return {name: number for number, name in enumerate(self.things)}

    def pick(self, selector: str) -> frozenset[str]:
        """Return the ids that a selector matches; ``ValueError`` if it is none."""
        picked = self._picked.get(selector)
        if picked is None:
            picked = self._picked[selector] = frozenset(self._matches(selector))
        return picked

    def pick_any(self, selectors: tuple[str, ...]) -> frozenset[str]:
        """Return the ids that at least one of several selectors matches."""
        picked = self._picked.get(selectors)
        if picked is None:
            picked = self._picked[selectors] = frozenset().union(*map(self.pick, selectors))
        return picked

    def _matches(self, selector: str) -> Iterable[str]:
        read = _SELECTOR.fullmatch(selector)
        if read is None:
            raise ValueError(selector)
        category, marks = read[1], re.findall(r"[+-][a-z_]+", read[2])
        wanted = {mark[1:] for mark in marks if mark[0] == "+"}
        banned = {mark[1:] for mark in marks if mark[0] == "-"}
        for thing in self.things.values():
            if thing.type == ROOM or (category == "*edible" and thing.type != EDIBLE):
                continue
            named = category in ("*", "*edible") or thing.category == category
            if named and wanted <= thing.attributes and not banned & thing.attributes:
                yield thing.id


def load_content() -> Json:
    """Return the shipped household as JSON, as datasets carry it."""
    content: Json = read_yaml_file(FILE)
    return content


_kept: OrderedDict[str, Inventory] = OrderedDict()
_lock = Lock()


def inventory_of(content: Json) -> Inventory:
    """Return the inventory of a household's JSON; it is indexed once per process."""
    key = content.get("checksum") or digest(content)
    with _lock:
        if key not in _kept:
            _kept[key] = _build(content)
            if len(_kept) > KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(key)
        return _kept[key]


def _build(content: Json) -> Inventory:
    # Databases may give the fields of an object in another order, so the order is stored apart.
    order = content.get("order") or {name: list(content[name]) for name in _GROUPS}
    things: dict[str, InventoryThing] = {}
    for name in order["rooms"]:
        things[name] = InventoryThing(name, content["rooms"][name]["name"], ROOM, ROOM, frozenset())
    for name in order["static"]:
        row = content["static"][name]
        tags = frozenset(row["tags"])
        things[name] = InventoryThing(
            name, row["description"], _INDEX.sub("", name), FURNITURE, tags, row["room"]
        )
    for name in order["movable"]:
        description, category, type_, attributes, place = content["movable"][name]
        things[name] = InventoryThing(
            name, description, category, type_, frozenset(attributes), place
        )
    return Inventory(
        things, frozenset(content["mandatory"]), float(content["inclusion_probability"])
    )


_GROUPS = ("rooms", "static", "movable")


def as_shared(content: Json) -> Json:
    """Return a household's JSON with the order of its things, and a checksum to know it by."""
    ordered = {**content, "order": {name: list(content[name]) for name in _GROUPS}}
    return {**ordered, "checksum": digest(ordered)}


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
        same = [thing.id for thing in inventory.movable if thing.category == category]
        if same and present.isdisjoint(same):
            added.append(same[0])
    present.update(added)
    return [thing.id for thing in inventory.movable if thing.id in present], added
