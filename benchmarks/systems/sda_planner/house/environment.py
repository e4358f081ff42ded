"""The house as an episode plays in it: skills, injected errors, and what the agent sees.

Injected errors are drawn once, when the episode begins, from its seed and the task alone. They do
not depend on what a planner does, so every planner meets the same ones.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.house.affordances import HOLDS_ONE, accepts, type_words
from benchmarks.systems.sda_planner.house.world import FLOOR, HAND, House, Result, State
from benchmarks.systems.sda_planner.settings import DROP, MIXED, NO_ERROR, OCCLUDE, RELOCATE, SLIP
from benchmarks.systems.sda_planner.steps import FIND, OPEN, PICK, PUT, Step

OCCLUDED_FOR = 2
_KINDS = (RELOCATE, OCCLUDE, SLIP, DROP)


@dataclass
class Event:
    """One injected error. ``left`` counts how often it can still strike; ``struck`` that it did."""

    kind: str
    object: str
    place: str = ""
    skill: str = ""
    left: int = 1
    struck: int = 0

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "object": self.object, "place": self.place,
                "skill": self.skill, "struck": self.struck}  # fmt: skip


def draw_events(
    trial: Json, house: House, settings: Mapping[str, Any], rng: random.Random
) -> list[Event]:
    """Return the errors that will be injected into an episode."""
    kind = settings["env_error"]
    if kind == NO_ERROR:
        return []
    picked = [step[2] for step in trial["gold"] if step[0] == PICK and step[2] in house.parents]
    targets = list(dict.fromkeys(picked))
    events: list[Event] = []
    for _ in range(settings["env_max"]):
        strikes = rng.random() < settings["env_rate"]
        chosen = rng.choice(_KINDS) if kind == MIXED else kind
        free = [one for one in targets if one not in {event.object for event in events}]
        if strikes and free:
            event = _draw(chosen, rng.choice(free), trial, house, rng)
            events += [event] if event else []
    return events


def _draw(kind: str, object: str, trial: Json, house: House, rng: random.Random) -> Event | None:
    if kind == RELOCATE:
        goal = trial["pddl_params"].get("parent_target")
        taken = set(house.parents.values())
        places = [
            one.id for one in house.entities.values()
            if one.fixed and one.id != house.parents[object] and one.type != goal
            and accepts(one.type, house.entities[object].type)
            and not (one.type in HOLDS_ONE and one.id in taken)
        ]  # fmt: skip
        return Event(RELOCATE, object, rng.choice(places)) if places else None
    if kind == OCCLUDE:
        return Event(OCCLUDE, object, house.parents[object], PICK, OCCLUDED_FOR)
    if kind == SLIP:
        skills = sorted({s[0] for s in trial["gold"] if s[0] in (PICK, OPEN)})
        return Event(SLIP, object, "", rng.choice(skills) if skills else PICK)
    return Event(DROP, object, "", PICK)


@dataclass
class Observation:
    """The observation that the agent makes of a step. ``cause`` (an injected error) is for pages
    alone.
    """

    step: Step
    ok: bool
    message: str
    target: str
    visible: list[list[str]]
    held: str
    at: str
    failed: str = ""
    cause: Event | None = None
    changes: list[list[Any]] = field(default_factory=list)


class Environment:
    """A house that is acted in. A reset puts everything back, but moved objects stay moved."""

    def __init__(self, house: House, events: Sequence[Event], quirks: bool) -> None:
        self.house, self.events, self.quirks = house, list(events), quirks
        self.hidden: dict[str, str] = {}
        for event in events:
            if event.kind == RELOCATE:
                self.hidden[event.object] = house.parents[event.object]
        self.state = self._begin()

    def _begin(self) -> State:
        state = self.house.begin()
        for event in self.events:
            if event.kind == RELOCATE:
                state.parent[event.object] = event.place
                state.put_at[event.object] = state.pos_of(event.place)
        return state

    def reset(self) -> None:
        """Put the house back to its start, as the Global Planner of the paper has it."""
        self.state = self._begin()

    def believed(self) -> dict[str, str]:
        """Return where everything is thought to be at the start: moved objects at the old place."""
        return dict(self.house.parents)

    def act(self, step: Step) -> Observation:
        """Carry a step out and return what the agent sees of it."""
        before = facts_of(self.state)
        if not step.id and step.skill != PUT:
            step = Step(step.skill, step.type, self._meant(step.type))
        result, cause = self._injected(step)
        if result is None:
            result = self.state.execute(step, self.quirks)
        if step.skill == FIND and result.ok:
            self._new_viewpoint(result.target)
        sights = self.state.sights()
        for id, _ in sights:
            self.hidden.pop(id, None)
        return Observation(
            step, result.ok, result.message, result.target, sights, self.state.hold or "",
            self.state.at or "", result.failed, cause, _changes(before, facts_of(self.state)),
        )  # fmt: skip

    def _injected(self, step: Step) -> tuple[Result | None, Event | None]:
        """Return what happens in place of the step, where an injected error strikes."""
        target = self.state.known(step.id) if step.id else ""
        name = type_words(step.type)
        if step.skill == FIND and target in self.hidden:
            event = next(e for e in self.events if e.kind == RELOCATE and e.object == target)
            event.struck += 1
            self.state.execute(Step(FIND, "", self.hidden[target]), self.quirks)
            if self.hidden[target] in (FLOOR, HAND) or not self._is_here(target):
                return Result(False, f"Cannot find {name}", target, "moved"), event
            return None, None
        for event in self.events:
            if event.left < 1 or event.skill != step.skill or event.kind == RELOCATE:
                continue
            if step.skill != OPEN and event.object != target:
                continue
            if event.kind == OCCLUDE and self.state.visible(target) and not self.state.hold:
                return self._occlude(event, name), event
            if event.kind in (SLIP, DROP) and self._would_do(step):
                event.left -= 1
                event.struck += 1
                return self._slip(event, step), event
        return None, None

    def _meant(self, type: str) -> str:
        """Return the instance that a type means; one that was moved away is thought of last."""
        return self.state.resolve(type, self.hidden) or self.state.resolve(type)

    def _is_here(self, id: str) -> bool:
        return self.state.visible(id)

    def _occlude(self, event: Event, name: str) -> Result:
        event.left -= 1
        event.struck += 1
        inside = self.state.parent[event.object]
        where = "something" if inside == FLOOR else type_words(self.state.entity(inside).type)
        return Result(False, f"{name} is not visible because it is behind {where}", event.object,
                      "occluded")  # fmt: skip

    def _would_do(self, step: Step) -> bool:
        return self.state.copy().execute(step, self.quirks).ok

    def _slip(self, event: Event, step: Step) -> Result:
        words = step.skill.capitalize()
        if event.kind == DROP:
            self.state.execute(step, self.quirks)
            self.state.drop()
            return Result(False, f"{words} failed: it fell down", event.object, "dropped")
        return Result(False, f"{words} action failed", event.object, "slipped")

    def _new_viewpoint(self, found: str) -> None:
        """Lift what hides an object once the agent looked at something else."""
        for event in self.events:
            if event.kind == OCCLUDE and event.struck and found != event.object:
                event.left = 0


# --- what changed ---------------------------------------------------------------------------------


def facts_of(state: State) -> dict[str, Any]:
    """Return everything that a page shows of a state, by what it is about."""
    facts: dict[str, Any] = {f"in {id}": where for id, where in state.parent.items()}
    for name in ("open", "on", "sliced", "hot", "cold", "clean", "dirty"):
        for id in sorted(getattr(state, name)):
            facts[f"{name} {id}"] = True
    facts["at"] = state.at or ""
    return facts


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[list[Any]]:
    """Return [what, value before, value after] of everything that differs; None: not so."""
    keys = dict.fromkeys([*before, *after])
    return [
        [key, before.get(key), after.get(key)] for key in keys if before.get(key) != after.get(key)
    ]  # fmt: skip
