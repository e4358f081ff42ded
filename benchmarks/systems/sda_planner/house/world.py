"""The symbolic house: what stands where, what state it is in, and what skills do to it.

A ``House`` never changes; a ``State`` is a copyable record of everything that does. Positions are
in metres, as ALFRED has them (x, height, z). Messages are those of LoTA-Bench.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.house.affordances import (
    CONTAINERS,
    DISHES,
    HOLDS_ONE,
    KNIVES,
    OPENABLE,
    SLICEABLE,
    TOGGLEABLE,
    accepts,
    type_words,
)
from benchmarks.systems.sda_planner.steps import (
    CLOSE,
    FIND,
    OFF,
    ON,
    OPEN,
    PICK,
    PUT,
    SLICE,
    Step,
)

HAND, FLOOR = "hand", "Floor"
REACH = 1.5  # metres: ALFRED's visibility distance
SLICES = 4
_FAR, _OCCUPIED, _CLOSED, _SLICED = 1_000.0, 10_000.0, 100_000.0, -100.0
_PIECE = re.compile(r"^(.*\|[A-Za-z]+Sliced_)(\d+)$")

Position = tuple[float, float, float]


class Entity(NamedTuple):
    """A thing of the house. ``stand`` is (x, z) of the place from which a fixed one is used."""

    id: str
    type: str
    pos: Position
    fixed: bool = False
    stand: tuple[float, float] | None = None

    @property
    def openable(self) -> bool:
        return self.type in OPENABLE

    @property
    def container(self) -> bool:
        """Return whether it hides what is inside while it is closed."""
        return self.type in CONTAINERS

    @property
    def toggleable(self) -> bool:
        return self.type in TOGGLEABLE


@dataclass(frozen=True)
class House:
    """A floor plan with its objects, and where everything is at the start.

    ``open`` are the containers that start open.
    """

    entities: Mapping[str, Entity]
    parents: Mapping[str, str]
    start: tuple[float, float]
    dirty: frozenset[str] = frozenset()
    open: frozenset[str] = frozenset()

    @classmethod
    def of(cls, trial: Json, scene: Json) -> "House":
        """Build the house of a trial in its scene, both in the form that is stored."""
        entities: dict[str, Entity] = {}
        for row in scene["receptacles"]:
            nav = row.get("nav")
            stand = (nav[0], nav[1]) if nav else None
            entities[row["id"]] = Entity(row["id"], row["type"], _pos(row["pos"]), True, stand)
        for row in scene["toggleables"]:
            entities.setdefault(row["id"], Entity(row["id"], row["type"], _pos(row["pos"]), True))
        parents = {}
        for row in trial["objects"]:
            entities[row["id"]] = Entity(row["id"], row["type"], _pos(row["pos"]))
            parents[row["id"]] = row["parent"]
        init = trial["scene"]["init_action"]
        dirty = frozenset(
            id
            for id in parents
            if trial["scene"]["dirty_and_empty"] and entities[id].type in DISHES
        )
        is_open = frozenset(trial.get("open", ()))
        return cls(entities, parents, (init["x"], init["z"]), dirty, is_open)

    def begin(self) -> "State":
        """Return the state at the start: off, whole, closed but for ``open``, the hand empty."""
        state = State(self, dict(self.parents), self.start, open=set(self.open))
        state.dirty.update(self.dirty)
        return state


def _pos(row: Sequence[float]) -> Position:
    return (float(row[0]), float(row[1]), float(row[2]))


def distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the horizontal distance in metres."""
    return math.hypot(one[0] - other[0], one[1] - other[1])


def piece_id(id: str) -> str:
    """Return the id of a piece as the house counts pieces: 1 to ``SLICES``; others as they are."""
    match = _PIECE.match(id)
    return f"{match[1]}{(int(match[2][-6:]) - 1) % SLICES + 1}" if match else id


@dataclass(frozen=True)
class Result:
    """The result of a step. ``failed`` names the violated condition, for tests and pages alone."""

    ok: bool
    message: str
    target: str = ""
    failed: str = ""


@dataclass
class State:
    """Everything that changes. ``put_at`` has positions of objects that were moved."""

    house: House
    parent: dict[str, str]
    pos: tuple[float, float]
    open: set[str] = field(default_factory=set)
    on: set[str] = field(default_factory=set)
    sliced: set[str] = field(default_factory=set)
    hot: set[str] = field(default_factory=set)
    cold: set[str] = field(default_factory=set)
    clean: set[str] = field(default_factory=set)
    dirty: set[str] = field(default_factory=set)
    hold: str | None = None
    at: str | None = None
    cur: str | None = None
    made: dict[str, Entity] = field(default_factory=dict)
    put_at: dict[str, tuple[float, float]] = field(default_factory=dict)

    def copy(self) -> "State":
        """Return a state that shares nothing that changes."""
        return State(
            self.house, dict(self.parent), self.pos, set(self.open), set(self.on),
            set(self.sliced), set(self.hot), set(self.cold), set(self.clean), set(self.dirty),
            self.hold, self.at, self.cur, dict(self.made), dict(self.put_at),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON: equal states have equal values."""
        sets = ("open", "on", "sliced", "hot", "cold", "clean", "dirty")
        return {
            "parent": dict(sorted(self.parent.items())),
            **{name: sorted(getattr(self, name)) for name in sets},
            "hold": self.hold, "at": self.at, "cur": self.cur, "pos": list(self.pos),
        }  # fmt: skip

    # --- looking ----------------------------------------------------------------------------------

    def entity(self, id: str) -> Entity:
        return self.made.get(id) or self.house.entities[id]

    def known(self, id: str) -> str:
        """Return the id under which something exists, or ''."""
        id = piece_id(id)
        return id if id in self.house.entities or id in self.made else ""

    def all_of(self, type: str) -> Iterator[Entity]:
        for entity in self.house.entities.values():
            if entity.type == type:
                yield entity
        for entity in self.made.values():
            if entity.type == type:
                yield entity

    def objects(self) -> Iterable[str]:
        """Return everything that can be carried, in a fixed order."""
        return self.parent

    def chain(self, id: str) -> list[str]:
        """Return what holds a thing, from the inside out, up to a fixed receptacle."""
        chain: list[str] = []
        while (id := self.parent.get(id, FLOOR)) not in (HAND, FLOOR):
            chain.append(id)
        return chain

    def within(self, id: str) -> list[str]:
        """Return what is inside or on top of a thing, at any depth."""
        return [one for one in self.parent if id in self.chain(one)]

    def closed_in(self, id: str) -> str:
        """Return the closed container that hides a thing, or ''."""
        for holder in self.chain(id):
            if self.entity(holder).container and holder not in self.open:
                return holder
        return ""

    def held(self, id: str) -> bool:
        """Tell whether a thing is in the hand, or inside what is."""
        return self.hold is not None and (id == self.hold or self.hold in self.chain(id))

    def pos_of(self, id: str) -> tuple[float, float]:
        """Return the horizontal position (x, z) of a thing."""
        if self.held(id):
            return self.pos
        chain = [one for one in self.chain(id) if not self.entity(one).fixed]
        for one in (*reversed(chain), id):  # the outermost that was moved decides
            if one in self.put_at:
                return self.put_at[one]
        pos = self.entity(id).pos
        return pos[0], pos[2]

    def near(self, id: str) -> bool:
        """Tell whether the agent can reach a thing from where it stands."""
        if self.held(id):
            return True
        if self.at is not None:
            if self.at == id:
                return True
            mine, its = self.chain(self.at), self.chain(id)
            if id in mine or self.at in its or set(mine) & set(its):
                return True
        return distance(self.pos, self.pos_of(id)) < REACH

    def visible(self, id: str) -> bool:
        return self.near(id) and not self.closed_in(id)

    def sights(self) -> list[list[str]]:
        """Return the objects in sight, each with what it is in: [id, parent]."""
        return [[id, holder] for id, holder in self.parent.items() if self.visible(id)]

    def resolve(self, type: str, without: Collection[str] = ()) -> str:
        """Return the instance that a type means, or '' where there is none.

        The nearest one counts; what is closed away, on an occupied place or out of reach comes
        later, and a piece comes first once anything was sliced. ``without`` are left out.
        """
        best, nearest = math.inf, ""
        for entity in self.all_of(type):
            if entity.id in without:
                continue
            cost = distance(self.pos, self.pos_of(entity.id))
            cost += _CLOSED if self.closed_in(entity.id) else 0.0
            cost += _OCCUPIED if type == "StoveBurner" and self._occupied(entity.id) else 0.0
            cost += 0.0 if self.near(entity.id) else _FAR
            cost += _SLICED if self.sliced and entity.id in self.sliced else 0.0
            if cost < best:
                best, nearest = cost, entity.id
        return nearest

    def _occupied(self, id: str) -> bool:
        return id in self.parent.values()

    def can_put(self, id: str, into: str) -> bool:
        """Tell whether a thing fits into another one, whether or not it is open."""
        target = self.entity(into)
        if into == id or id in self.chain(into) or not accepts(target.type, self.entity(id).type):
            return False
        return not (target.type in HOLDS_ONE and self._occupied(into))

    # --- acting -----------------------------------------------------------------------------------

    def execute(self, step: Step, quirks: bool = True) -> Result:
        """Carry a step out. ``quirks``: put down and its target behave as in LoTA-Bench."""
        skill = _SKILLS.get(step.skill)
        if skill is None:
            return Result(False, "instruction not supported", failed="skill")
        if step.skill == PUT:
            return self._put(quirks)
        id = self.known(step.id) if step.id else self.resolve(step.type)
        result: Result = skill(self, id, type_words(step.type))
        if quirks and result.ok and step.skill not in (FIND, OPEN):
            self.cur = None
        return result

    def _find(self, id: str, name: str) -> Result:
        if not id:
            return Result(False, f"Cannot find {name}", failed="exists")
        if not self.held(id):
            self.pos = self.stand_of(id)
        self.at = self.cur = id
        return Result(True, f"Found {name}", id)

    def stand_of(self, id: str) -> tuple[float, float]:
        """Return where the agent stands to use a thing."""
        for one in (id, *self.chain(id)):
            entity = self.entity(one)
            if entity.fixed and entity.stand is not None:
                return entity.stand
        return self.pos_of(id)

    def _pick(self, id: str, name: str) -> Result:
        if not id or not self.near(id):
            return Result(False, f"Cannot find {name} to pick up", id, "agent.pos")
        if self.hold is not None:
            held = type_words(self.entity(self.hold).type)
            return Result(False, f"Robot is currently holding {held}", id, "agent.hold")
        if holder := self.closed_in(id):
            inside = type_words(self.entity(holder).type)
            words = f"{name} is not visible because it is in {inside}"
            return Result(False, words, id, "item.open")
        if id not in self.parent:
            return Result(False, f"Cannot pick up {name}", id, "pickupable")
        self.parent[id] = HAND
        self.hold = id
        self.put_at.pop(id, None)
        return Result(True, f"Picked up {name}", id)

    def _put(self, quirks: bool) -> Result:
        held = self.hold
        if held is None:
            return Result(False, "Robot is not holding any object", failed="agent.hold")
        name = type_words(self.entity(held).type)
        target = self.cur if quirks or self.cur is not None else self.at
        if target is None:
            if quirks:
                self.drop()
            return Result(False, "put down failed", held, "agent.pos")
        where = type_words(self.entity(target).type)
        into = next((one for one in self._targets(target) if self._takes(held, one)), "")
        if not into:
            why = "item.open" if self._shut(target) else "agent.pos"
            if quirks:
                self.drop()
                self.cur = None
            return Result(False, f"Putting the object on {where} failed", held, why)
        self.parent[held] = into
        self.put_at[held] = self.pos_of(into)
        self.hold = None
        if quirks:
            self.cur = into
        return Result(True, f"Put down {name} on {where}", held)

    def _targets(self, target: str) -> list[str]:
        """Return where a thing may be put: what was found last, then the next of its type."""
        type = self.entity(target).type
        others = sorted(
            (distance(self.pos, self.pos_of(one.id)), one.id)
            for one in self.all_of(type) if one.id != target
        )  # fmt: skip
        return [target, *(id for _, id in others[:1])]

    def _takes(self, id: str, into: str) -> bool:
        return self.near(into) and not self._shut(into) and self.can_put(id, into)

    def _shut(self, id: str) -> bool:
        closed = self.entity(id).container and id not in self.open
        return closed or bool(self.closed_in(id))

    def drop(self) -> None:
        """Let what is held fall to the floor."""
        if self.hold is not None:
            self.parent[self.hold] = FLOOR
            self.put_at[self.hold] = self.pos
            self.hold = None

    def _open(self, id: str, name: str) -> Result:
        if not id or not self.near(id):
            return Result(False, f"Cannot find {name} to open", id, "agent.pos")
        if id in self.on:
            return Result(False, "Open action failed", id, "item.on")
        if not self.entity(id).openable or id in self.open:
            return Result(False, "Open action failed", id, "item.open")
        self.open.add(id)
        return Result(True, f"Opened {name}", id)

    def _close(self, id: str, name: str) -> Result:
        if not id or not self.near(id):
            return Result(False, "Close action failed", id, "agent.pos")
        if id not in self.open:
            return Result(False, "Close action failed", id, "item.open")
        self.open.remove(id)
        if self.entity(id).type == "Fridge":
            self.cold.update(self.within(id))
        return Result(True, f"Closed {name}", id)

    def _turn_on(self, id: str, name: str) -> Result:
        if not id or not self.near(id):
            return Result(False, f"Cannot find {name} to turn on", id, "agent.pos")
        if not self.entity(id).toggleable or id in self.on:
            return Result(False, "Turn on action failed", id, "item.on")
        if self.entity(id).type == "Microwave" and id in self.open:
            return Result(False, "Turn on action failed", id, "item.open")
        self.on.add(id)
        if self.entity(id).type == "Microwave":
            self.hot.update(self.within(id))
        if self.entity(id).type == "Faucet" and (basin := self._basin_of(id)):
            washed = self.within(basin)
            self.clean.update(washed)
            self.dirty.difference_update(washed)
        return Result(True, f"Turned on {name}", id)

    def _basin_of(self, faucet: str) -> str:
        """Return the sink that a faucet fills: the nearest."""
        here = self.pos_of(faucet)
        basins = [(distance(here, self.pos_of(b.id)), b.id) for b in self.all_of("SinkBasin")]
        return min(basins)[1] if basins else ""

    def _turn_off(self, id: str, name: str) -> Result:
        if not id or not self.near(id):
            return Result(False, "Turn off action failed", id, "agent.pos")
        if id not in self.on:
            return Result(False, "Turn off action failed", id, "item.on")
        self.on.remove(id)
        return Result(True, f"Turned off {name}", id)

    def _slice(self, id: str, name: str) -> Result:
        if not id or not self.near(id) or self.closed_in(id):
            return Result(False, "Slice action failed", id, "agent.pos")
        if self.hold is None or self.entity(self.hold).type not in KNIVES:
            return Result(False, "Slice action failed", id, "agent.hold")
        if self.entity(id).type not in SLICEABLE or id in self.sliced:
            return Result(False, "Slice action failed", id, "item.sliced")
        whole = self.entity(id)
        self.sliced.add(id)
        for number in range(1, SLICES + 1):
            piece = f"{id}|{whole.type}Sliced_{number}"
            self.made[piece] = Entity(piece, whole.type, whole.pos)
            self.parent[piece] = self.parent[id]
            self.sliced.add(piece)
            for kind in (self.hot, self.cold, self.clean):
                if id in kind:
                    kind.add(piece)
            if id in self.put_at:
                self.put_at[piece] = self.put_at[id]
        return Result(True, f"Sliced {name}", id)


_SKILLS: Mapping[str, Any] = {
    FIND: State._find, PICK: State._pick, PUT: State._put, OPEN: State._open,
    CLOSE: State._close, ON: State._turn_on, OFF: State._turn_off, SLICE: State._slice,
}  # fmt: skip
