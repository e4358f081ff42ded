"""The state-dependency graph, and what a planner believes of the house.

The graph joins skills and state variables: a skill needs states to have values, and sets states to
values (section 4.2 of the paper). It is written with places for things and grounded when a step is
looked at. Whatever works on it knows the planner's belief alone, never the house.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from benchmarks.core.digests import digest
from benchmarks.core.types import Json
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.sda_planner.house.affordances import CONTAINERS, accepts, type_words
from benchmarks.systems.sda_planner.steps import FIND, Step

POS, HOLD, LOC = "agent.pos", "agent.hold", "item.loc"
IS_OPEN, IS_ON, IS_SLICED = "item.open", "item.on", "item.sliced"
BASE_STATES = (POS, HOLD, LOC, IS_OPEN, IS_ON, IS_SLICED)
NONE, HAND, FLOOR = "none", "hand", "Floor"
OBJECT, RECEPTACLE, CONTAINER = "$o", "$r", "$c"

# A grounded state variable: its name, and the thing it is of ("" for states of the agent).
Key = tuple[str, str]
Value = str | bool | None


class Things(Protocol):
    """The types of things by their ids."""

    def type_of(self, id: str) -> str: ...


class Need(NamedTuple):
    """An edge from a state to a skill: the skill needs the state to have a value.

    ``types``: a thing of one of these types, in place of ``value``. ``only``: holds for things of
    these types alone, for all where it is empty.
    """

    state: str
    of: str = ""
    value: Value = None
    types: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()


class Effect(NamedTuple):
    """An edge from a skill to a state: carrying the skill out sets the state to a value."""

    state: str
    of: str = ""
    value: Value = None


class GroundedNeed(NamedTuple):
    """A grounded need: which variable must have which value, and what it has."""

    key: Key
    value: Value
    actual: Value
    types: frozenset[str] = frozenset()

    def fits(self, value: Value, things: Things) -> bool:
        """Tell whether a value would do."""
        if self.types:
            return isinstance(value, str) and things.type_of(value) in self.types
        return value == self.value

    @property
    def needed(self) -> str:
        """The needed state, in words that pages show."""
        return " or ".join(sorted(self.types)) if self.types else show_value(self.value)


def show_value(value: Value) -> str:
    """Return a value of a state as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "unknown" if value is None else value


@dataclass(frozen=True)
class Graph:
    """Needs in checking order and effects, by skill."""

    version: str
    needs: Mapping[str, tuple[Need, ...]]
    effects: Mapping[str, tuple[Effect, ...]]

    @cached_property
    def states(self) -> tuple[str, ...]:
        """All state variables: those that every graph has, then the others by name."""
        named = {need.state for needs in self.needs.values() for need in needs}
        named |= {effect.state for effects in self.effects.values() for effect in effects}
        return (*(s for s in BASE_STATES if s in named), *sorted(named - set(BASE_STATES)))

    @cached_property
    def preparations(self) -> frozenset[str]:
        """The state preparation actions: they set one state of the agent and need nothing."""
        return frozenset(
            skill
            for skill, effects in self.effects.items()
            if len(effects) == 1 and effects[0].state.startswith("agent.") and not self.needs[skill]
        )

    def setters(self, state: str) -> frozenset[str]:
        """Return the skills that set a state."""
        return frozenset(
            skill for skill, effects in self.effects.items()
            if any(effect.state == state for effect in effects)
        )  # fmt: skip

    def prepared_by(self, state: str) -> str:
        """Return the preparation action that alone sets a state, or ''."""
        setters = self.setters(state)
        return next(iter(setters)) if len(setters) == 1 and setters <= self.preparations else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "skills": {
                skill: {
                    "needs": [_edge_json(edge) for edge in self.needs[skill]],
                    "sets": [_edge_json(edge) for edge in self.effects[skill]],
                }
                for skill in self.needs
            },
        }

    @classmethod
    def of(cls, value: Json) -> "Graph":
        """Return the graph that checked JSON stands for."""
        skills = value["skills"]
        return cls(
            value["version"],
            {skill: tuple(_need(one) for one in edges["needs"]) for skill, edges in skills.items()},
            {
                skill: tuple(Effect(e["state"], e.get("of", ""), e["value"]) for e in edges["sets"])
                for skill, edges in skills.items()
            },
        )

    @cached_property
    def digest(self) -> str:
        return digest(self.to_json())


def _need(edge: Json) -> Need:
    return Need(
        edge["state"], edge.get("of", ""), edge.get("value"), frozenset(edge.get("type", ())),
        frozenset(edge.get("for", ())),
    )  # fmt: skip


def _edge_json(edge: Need | Effect) -> dict[str, Any]:
    written: dict[str, Any] = {"state": edge.state}
    if edge.of:
        written["of"] = edge.of
    if isinstance(edge, Need) and edge.types:
        written["type"] = sorted(edge.types)
    else:
        written["value"] = edge.value
    if isinstance(edge, Need) and edge.only:
        written["for"] = sorted(edge.only)
    return written


@cache
def builtin_graph() -> Graph:
    """Return the graph that the product ships."""
    return Graph.of(read_yaml_file(Path(__file__).with_name("graph.yaml")))


class Belief:
    """The state that a planner takes for true: values of grounded states, copied cheaply.

    ``base`` is shared between copies and never changed; ``own`` holds what differs from it. A state
    of which nothing is known has the value that things have at the start: shut, off, whole.
    """

    __slots__ = ("base", "own", "things")

    def __init__(
        self, things: Things, base: Mapping[Key, Value], own: Mapping[Key, Value] | None = None
    ) -> None:
        self.things, self.base = things, base
        self.own: dict[Key, Value] = dict(own or {})

    def copy(self) -> "Belief":
        return Belief(self.things, self.base, self.own)

    def get(self, key: Key) -> Value:
        own = self.own
        if key in own:
            return own[key]
        base = self.base
        if key in base:
            return base[key]
        if key[0] in (POS, LOC):
            return None
        return NONE if key[0].startswith("agent.") else False

    def set(self, key: Key, value: Value) -> None:
        self.own[key] = value

    @property
    def pos(self) -> Value:
        return self.get((POS, ""))

    @property
    def hold(self) -> str:
        return str(self.get((HOLD, "")))

    def chain(self, id: str) -> list[str]:
        """Return what is believed to be around a thing, from the inside out."""
        chain: list[str] = []
        at = self.get((LOC, id))
        while isinstance(at, str) and at not in (HAND, FLOOR) and len(chain) < 10:
            chain.append(at)
            at = self.get((LOC, at))
        return chain

    # --- grounding a step -------------------------------------------------------------------------

    def ground(self, step: Step, known: Iterable[str] = ()) -> Step:
        """Return a step with the thing that it means, as far as is known.

        A type means what is held, then what the agent is at, then the first of ``known``.
        """
        if step.id:
            return step
        if step.type == self.things.type_of(self.hold):
            return Step(step.skill, step.type, self.hold)
        pos = self.pos
        if isinstance(pos, str) and self.things.type_of(pos) == step.type:
            return Step(step.skill, step.type, pos)
        id_of_type = next((id for id in known if self.things.type_of(id) == step.type), "")
        return Step(step.skill, step.type, id_of_type or step.type)

    # --- needs and effects ------------------------------------------------------------------------

    def wanted(self, graph: Graph, step: Step) -> Iterator[GroundedNeed]:
        """Yield the unmet needs of a grounded step, in checking order."""
        id, type = step.item, step.type
        for need in graph.needs.get(step.skill, ()):
            if need.only and type not in need.only:
                continue
            if need.state == POS:
                yield from self._wanted_pos(need, id, type)
            elif need.of == CONTAINER:
                for one in self.chain(id):
                    if self.things.type_of(one) in CONTAINERS:
                        yield from self._wanted((need.state, one), need, id)
            elif need.of == RECEPTACLE:
                pos = self.pos
                if isinstance(pos, str) and self.things.type_of(pos) in CONTAINERS:
                    yield from self._wanted((need.state, pos), need, id)
            else:
                yield from self._wanted((need.state, id if need.of else ""), need, id)

    def _wanted(self, key: Key, need: Need, id: str) -> Iterator[GroundedNeed]:
        value = id if need.value == OBJECT else self.pos if need.value == RECEPTACLE else need.value
        actual = self.get(key)
        wanted = GroundedNeed(key, value, actual, need.types)
        if not wanted.fits(actual, self.things):
            yield wanted

    def _wanted_pos(self, need: Need, id: str, type: str) -> Iterator[GroundedNeed]:
        pos = self.pos
        if need.value == RECEPTACLE:
            fits = isinstance(pos, str) and pos != id and accepts(self.things.type_of(pos), type)
            if not fits:
                yield GroundedNeed((POS, ""), None, pos)
        elif pos != id and not (isinstance(pos, str) and id in self.chain(pos)):
            yield GroundedNeed((POS, ""), id, pos)

    def meets(self, graph: Graph, step: Step) -> bool:
        """Tell whether all needs of a grounded step are met."""
        return next(self.wanted(graph, step), None) is None

    def effects(self, graph: Graph, step: Step) -> list[tuple[Key, Value]]:
        """Return what a grounded step sets here."""
        effects: list[tuple[Key, Value]] = []
        for effect in graph.effects.get(step.skill, ()):
            subject = step.item if effect.of == OBJECT else str(self.pos) if effect.of else ""
            value = effect.value
            if value == OBJECT:
                value = step.item
            elif value == RECEPTACLE:
                value = self.pos
            effects.append(((effect.state, subject), value))
        return effects

    def apply(self, graph: Graph, step: Step) -> None:
        """Take the effects of a grounded step for true."""
        for key, value in self.effects(graph, step):
            self.own[key] = value

    def conflicts(self, graph: Graph, steps: Sequence[Step]) -> list[tuple[int, GroundedNeed]]:
        """Return unmet needs other than positions when steps are carried out in thought.

        Each comes with the number of its step, from 0; effects are taken for true all the same.
        """
        belief, conflicts = self.copy(), []
        for number, step in enumerate(steps):
            grounded = belief.ground(step)
            conflicts += [
                (number, one) for one in belief.wanted(graph, grounded) if one.key[0] != POS
            ]  # fmt: skip
            belief.apply(graph, grounded)
        return conflicts


def state_words(key: Key, things: Things) -> str:
    """Return a grounded state in words."""
    state, subject = key
    if state == POS:
        return "where the agent is"
    if state == HOLD:
        return "what is held"
    name = type_words(things.type_of(subject) or subject)
    return {
        LOC: f"where the {name} is", IS_OPEN: f"whether the {name} is open",
        IS_ON: f"whether the {name} is on", IS_SLICED: f"whether the {name} is sliced",
    }.get(state, f"{state.partition('.')[2]} of the {name}")  # fmt: skip


def last_place(steps: Sequence[Step], held_type: str) -> Step | None:
    """Return the last find of something that accepts a type: where a plan meant to put it."""
    finds = (s for s in reversed(steps) if s.skill == FIND and accepts(s.type, held_type))
    return next(finds, None)
