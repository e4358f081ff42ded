"""One episode as it is played: the house, the planner's belief, and the record of every step."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.types import Json, Task, Turn
from benchmarks.systems.sda_planner.dataset.trials import type_of
from benchmarks.systems.sda_planner.house.affordances import TYPES, type_words
from benchmarks.systems.sda_planner.house.environment import Environment, Observation, draw_events
from benchmarks.systems.sda_planner.house.goals import Goal, score
from benchmarks.systems.sda_planner.house.world import House
from benchmarks.systems.sda_planner.repair.diagnosis import ENVIRONMENT, PRECONDITION
from benchmarks.systems.sda_planner.repair.graph import (
    HOLD,
    IS_OPEN,
    LOC,
    NONE,
    POS,
    Belief,
    Graph,
    Key,
    Value,
)
from benchmarks.systems.sda_planner.settings import FULL, NOTHING, RELOCATE, VISIBLE
from benchmarks.systems.sda_planner.steps import SLICE, Step, number_plan

PLANNED, REVERSED, FAKE = "plan", "reverse", "fake"
MOST_IN_SIGHT = 40


class HouseTypes:
    """The types of things by their ids."""

    def __init__(self, house: House) -> None:
        self.types = {id: entity.type for id, entity in house.entities.items()}

    def type_of(self, id: str) -> str:
        known = self.types.get(id)
        if known is None:
            # Pieces come into being, and a type stands for a thing that is not known.
            known = type_of(id) if "|" in id else id if id in TYPES else ""
        return known


class Play:
    """The state of an episode, and its record.

    ``plan`` is the present plan, ``at`` the number of its next step from 0, ``beliefs`` what the
    planner took for true before the plan and after each of its steps that was carried out.
    """

    def __init__(
        self, task: Task, settings: Mapping[str, Any], rng: random.Random, graph: Graph
    ) -> None:
        self.trial: Json = task.payload
        self.settings, self.graph = settings, graph
        self.house = House.of(self.trial, task.shared["scenes"][self.trial["scene"]["floor_plan"]])
        self.goal = Goal.of(self.trial)
        self.things = HouseTypes(self.house)
        self.instruction = instruction_of(self.trial, settings["annotation"])
        seed = rng.getrandbits(63)
        events = draw_events(self.trial, self.house, settings, random.Random(seed))
        self.env = Environment(self.house, events, settings["lota_quirks"])
        self.plan: list[Step] = []
        self.at = 0
        self.beliefs: list[Belief] = [self.first_belief()]
        self.executed: list[Step] = []
        self.irreversible: set[tuple[str, str]] = set()
        self.about_graph: Json = {}
        self.counts = dict.fromkeys(
            ("steps", "calls", "corrections", "resets", "reversed", "fake", "skipped",
             ENVIRONMENT, PRECONDITION, "tree_empty", "tree_limited"), 0
        )  # fmt: skip
        self.turns = 0
        self.last_cause = ""
        self.records: list[dict[str, Any]] = []
        self.last: Observation | None = None

    # --- belief -----------------------------------------------------------------------------------

    def first_belief(self) -> Belief:
        """Return what the planner knows at the start, by the setting ``knowledge``."""
        base: dict[Key, Value] = {(HOLD, ""): NONE}
        state = self.house.begin()
        level = self.settings["knowledge"]
        for id, where in self.house.parents.items():
            if level == FULL or (level == VISIBLE and not state.closed_in(id)):
                base[LOC, id] = where
        if level != NOTHING:
            base.update(((IS_OPEN, id), True) for id in self.house.open)
        return Belief(self.things, base)

    @property
    def belief(self) -> Belief:
        return self.beliefs[-1]

    def known_places(self) -> list[list[str]]:
        """Return where the planner believes things to be: [id, where]."""
        places = []
        for id in self.house.parents:
            where = self.belief.get((LOC, id))
            if isinstance(where, str):
                places.append([id, where])
        return places

    def ground(self, steps: Sequence[Step], belief: Belief) -> list[Step]:
        """Return steps with the things that they mean, as far as the planner can tell."""
        seen = [id for id, _ in (self.last.visible if self.last else ())]
        known = [
            *seen,
            *self.house.parents,
            *(e.id for e in self.house.entities.values() if e.fixed),
        ]
        belief, grounded_steps = belief.copy(), []
        for step in steps:
            grounded = belief.ground(step, known)
            belief.apply(self.graph, grounded)
            grounded_steps.append(grounded)
        return grounded_steps

    def observe(self, belief: Belief, seen: Observation) -> None:
        """Take what is seen for true."""
        for id, where in seen.visible:
            belief.set((LOC, id), where)
        if seen.held:
            belief.set((LOC, seen.held), "hand")
        belief.set((HOLD, ""), seen.held or NONE)
        belief.set((POS, ""), seen.at or None)

    # --- acting -----------------------------------------------------------------------------------

    @property
    def out_of_steps(self) -> bool:
        return self.counts["steps"] >= int(self.settings["max_steps"])

    def act(self, step: Step, phase: str = PLANNED, prep: bool = False) -> Observation:
        """Carry a step out in the house and record it."""
        seen = self.env.act(step)
        self.last = seen
        self.counts["steps"] += 1
        cause = seen.cause
        self.records.append({
            "t": self.at + 1 if phase == PLANNED else None, "step": step.to_json(),
            "phase": phase, "prep": prep, "ok": seen.ok, "message": seen.message,
            "target": seen.target, "held": seen.held, "changes": seen.changes,
            "injected": cause.kind if cause else "", "goal": list(self.score()),
        })  # fmt: skip
        return seen

    def advance(self) -> Observation | None:
        """Carry out the next step of the plan; None where it is skipped as done before."""
        step = self.plan[self.at]
        belief = self.belief.copy()
        grounded = self.ground([step], belief)[0]
        if (grounded.skill, grounded.item) in self.irreversible:
            belief.apply(self.graph, grounded)
            self._went(grounded, belief)
            self.counts["fake"] += 1
            self.records.append({
                "t": self.at, "step": step.to_json(), "phase": FAKE, "prep": False, "ok": True,
                "message": "done before; cannot be undone", "target": grounded.id,
                "held": self.env.state.hold or "", "changes": [], "injected": "",
                "goal": list(self.score()),
            })  # fmt: skip
            return None
        seen = self.act(step)
        if seen.ok:
            done = Step(step.skill, self.things.type_of(seen.target) or step.type, seen.target)
            belief.apply(self.graph, done)
            self.observe(belief, seen)
            if done.skill == SLICE:
                self.irreversible.add((done.skill, done.item))
            self._went(done, belief)
        return seen

    def _went(self, done: Step, belief: Belief) -> None:
        self.executed.append(done)
        self.beliefs.append(belief)
        self.at += 1

    def count_error(self, seen: Observation) -> None:
        """Count a failed step by its true cause: an injected error, or the plan."""
        self.last_cause = ENVIRONMENT if seen.cause else PRECONDITION
        self.counts[self.last_cause] += 1

    def back_to(self, start: int, belief: Belief) -> None:
        """Forget the steps of the plan from number ``start`` (from 0) on; ``belief`` holds now."""
        del self.executed[start:]
        self.beliefs[start:] = [belief]
        self.at = start

    def skip(self) -> None:
        """Leave the failed step out and go on."""
        self.executed.append(self.ground([self.plan[self.at]], self.belief)[0])
        self.beliefs.append(self.seen_belief())
        self.at += 1
        self.counts["skipped"] += 1

    def seen_belief(self) -> Belief:
        """Return the present belief with what was seen last."""
        belief = self.belief.copy()
        if self.last is not None:
            self.observe(belief, self.last)
        return belief

    def restart(self) -> None:
        """Put the house and the belief back to the start."""
        self.env.reset()
        self.counts["resets"] += 1
        self.irreversible.clear()
        self.last = None
        self.executed, self.at = [], 0
        self.beliefs = [self.first_belief()]

    # --- record -----------------------------------------------------------------------------------

    def score(self) -> tuple[int, int]:
        return score(self.goal.conditions(self.env.state))

    def turn(
        self, plan: Sequence[Step], first: int, error: Json | None, correction: Json | None
    ) -> Turn:
        """Return what was done since the last turn: a plan, its steps, and what became of it."""
        self.turns += 1
        conditions = self.goal.conditions(self.env.state)
        payload = {
            "plan": [step.to_json() for step in plan],
            "first": first,
            "steps": self.records,
            "error": dict(error) if error else None,
            "correction": dict(correction) if correction else None,
            "conditions": [one.to_json() for one in conditions],
            "goal": list(score(conditions)),
            "held": self.env.state.hold or "",
            "planner": self.settings["planner"],
        }
        if self.turns == 1:
            moved = [event for event in self.env.events if event.kind == RELOCATE]
            payload["moved"] = {event.object: event.place for event in moved}
            payload["graph"] = dict(self.about_graph)
        self.records = []
        feedback = "The plan was carried out."
        if error:
            feedback = f"Step {error['t']}, {error['text']}, failed: {error['message']}."
        return Turn(self.turns, number_plan(plan), feedback, payload)


def instruction_of(trial: Json, number: int) -> str:
    """Return an annotation of a trial; the last where there are not so many."""
    annotations = trial["anns"]
    text: str = annotations[min(number, len(annotations) - 1)]["task_desc"]
    return text


def error_of(step: Step, t: int, seen: Observation) -> dict[str, Any]:
    """Return a failed step as it is stored; the planner adds its kind."""
    return {
        "t": t, "step": step.to_json(), "text": step.text, "message": seen.message,
        "failed": seen.failed, "target": seen.target, "kind": "",
        "injected": seen.cause.to_json() if seen.cause else None,
    }  # fmt: skip


def in_sight(seen: Observation | None) -> list[list[str]]:
    """Return what is in sight, as asks tell it."""
    return [list(row) for row in (seen.visible[:MOST_IN_SIGHT] if seen else ())]


def sight_words(rows: Sequence[Sequence[str]], things: HouseTypes) -> str:
    """Return what is in sight in words: "mug on the counter top, spoon in the drawer"."""
    if not rows:
        return "nothing that can be carried"
    words = []
    for id, where in rows:
        name = type_words(things.type_of(id))
        if where == "hand":
            words.append(f"{name} in the hand")
        elif where == "Floor":
            words.append(f"{name} on the floor")
        else:
            words.append(f"{name} at the {type_words(things.type_of(where))}")
    counted = [f"{words.count(w)} × {w}" if words.count(w) > 1 else w for w in dict.fromkeys(words)]
    return ", ".join(counted)
