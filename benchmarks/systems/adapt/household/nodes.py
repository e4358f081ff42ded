"""The nodes of a household, the history of food, and what an action came to."""

from dataclasses import dataclass, field
from typing import NamedTuple

from benchmarks.systems.adapt.household.inventory import CONTAINER, EDIBLE, InventoryThing


class HouseholdEvent(NamedTuple):
    """An event: something that was done to food at step ``t``; ``result`` is the new name, if
    any.
    """

    t: int
    verb: str
    heat: bool
    container: str = ""
    tool: str = ""
    appliance: str = ""
    result: str = ""


@dataclass(frozen=True)
class Entry:
    """A record that at step ``t`` the movable object ``base`` came into a vessel, as food."""

    t: int
    vessel: str
    base: str


@dataclass(eq=False)
class Node:
    """A thing in its place. ``moved`` is the step of its last move, 0 for none.

    ``core`` are the bases that were in it at its last cooking or mixing.
    """

    id: str
    name: str
    thing: InventoryThing
    parent: str
    states: set[str] = field(default_factory=set)
    children: list[str] = field(default_factory=list)
    moved: int = 0
    base: tuple[str, ...] = ()
    core: frozenset[str] = frozenset()
    events: tuple[HouseholdEvent, ...] = ()
    entries: tuple[Entry, ...] = ()
    # Whether it holds an endless amount of itself; portions of it do not.
    package: bool = False

    @property
    def edible(self) -> bool:
        return self.thing.type == EDIBLE

    @property
    def heated(self) -> bool:
        return any(event.heat for event in self.events)


@dataclass(frozen=True)
class Change:
    """One field of one node that an action changed."""

    node: str
    field: str
    before: str
    after: str


class ActionResult(NamedTuple):
    """The result of an action; ``seen`` are the nodes that it showed to the agent."""

    ok: bool
    message: str
    changes: tuple[Change, ...] = ()


def is_vessel(node: Node) -> bool:
    """Return whether food in or on a node makes a dish there: containers, and appliances that hold
    it.
    """
    if node.thing.type == CONTAINER:
        return True
    return node.thing.appliance and "container" in node.thing.attributes
