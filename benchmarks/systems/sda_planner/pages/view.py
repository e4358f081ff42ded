"""An episode prepared for pages: plans, failures, repairs, and the house after each step.

Everything is read from what is stored: the task, and the payloads of turns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import groupby
from typing import Any

from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.dataset.trials import type_of
from benchmarks.systems.sda_planner.house.affordances import TYPES, type_words
from benchmarks.systems.sda_planner.house.environment import facts_of
from benchmarks.systems.sda_planner.house.world import FLOOR, HAND, House
from benchmarks.systems.sda_planner.labels import REPAIRS
from benchmarks.systems.sda_planner.steps import FIND, Step

_STATES = ("open", "on", "sliced", "hot", "cold", "clean", "dirty")
_PHASES = {"plan": "", "reverse": "undoing", "fake": "done before"}
INJECTED = {
    "relocate": "moved before the start", "occlude": "hidden from here", "slip": "had no effect",
    "drop": "fell down",
}  # fmt: skip


def name_of(id: str) -> str:
    """Return a thing in words: its type alone; other values, such as "none", as they are."""
    kinds = (type_of(part) for part in id.split(" or "))
    return " or ".join(type_words(kind) if kind in TYPES else kind for kind in kinds)


@dataclass(frozen=True)
class CarriedOutStep:
    """A step that was carried out. ``number`` counts through the whole episode."""

    number: int
    turn: int
    t: int | None
    text: str
    phase: str
    ok: bool
    message: str
    injected: str
    goal: tuple[int, int]
    changes: tuple[str, ...]
    facts: Mapping[str, Any]
    skipped: bool = False


# Steps beside those that failed or changed, so that these are read in their place.
BESIDE = 1
LEAST_FOLDED = 3


@dataclass(frozen=True)
class PlanRow:
    """A step of a plan as a turn leaves it, or one that its repair brings in.

    ``t`` is None for a step of the repaired plan alone; ``change`` says that it is "new", or that
    the repair left a step out.
    """

    t: int | None
    text: str
    state: str = ""
    tone: str = ""
    marks: tuple[str, ...] = ()
    value: str = ""
    window: bool = False
    change: str = ""

    @property
    def matters(self) -> bool:
        """Return whether the failure or its repair concerns the step."""
        return bool(self.marks or self.window or self.change or self.tone == "bad")


@dataclass(frozen=True)
class PlanPart:
    """Steps of a plan that follow each other; ``folded`` says of them what there is to say."""

    rows: tuple[PlanRow, ...]
    folded: str = ""


@dataclass(frozen=True)
class TurnPage:
    """One version of the plan, what came of it, and how it was repaired."""

    index: int
    steps: tuple[Step, ...]
    plan: tuple[PlanRow, ...]
    parts: tuple[PlanPart, ...]
    did: tuple[CarriedOutStep, ...]
    error: Json | None
    diagnosis: Json | None
    message: str
    cause: str
    correction: Json | None
    repair: str
    lane: str
    undone: tuple[CarriedOutStep, ...]
    after: tuple[str, ...]
    conditions: Sequence[tuple[str, bool]]
    goal: tuple[int, int]

    first_failure: bool = False

    @property
    def failed(self) -> bool:
        return self.error is not None

    @property
    def folds(self) -> bool:
        """Return whether the table leaves steps to the list of the whole plan."""
        return any(part.folded for part in self.parts)

    @property
    def met(self) -> list[str]:
        """The goal conditions that are met."""
        return [words for words, met in self.conditions if met]


@dataclass(frozen=True)
class Thing:
    """A thing in its place, with its states; ``changed`` by the step looked at."""

    name: str
    states: tuple[str, ...]
    changed: bool
    inside: tuple["Thing", ...] = ()

    @property
    def any_changed(self) -> bool:
        return self.changed or any(thing.any_changed for thing in self.inside)


@dataclass(frozen=True)
class HouseView:
    """The places of everything after a step; empty places that did not change are left out."""

    places: tuple[Thing, ...]
    hand: tuple[Thing, ...]
    floor: tuple[Thing, ...]
    agent: str

    @property
    def changed(self) -> list[Thing]:
        """The places that a step changed, or whose content it changed."""
        return [place for place in self.places if place.any_changed]


@dataclass
class Walk:
    """An episode as pages read it."""

    house: House
    start: Mapping[str, Any]
    graph: Json | None = None
    turns: dict[int, TurnPage] = field(default_factory=dict)
    steps: list[CarriedOutStep] = field(default_factory=list)

    @cached_property
    def total(self) -> int:
        return len(self.steps)

    def house_after(self, number: int) -> HouseView:
        """Return the house after a step; 0 is the start."""
        facts = self.steps[number - 1].facts if number else self.start
        before = self.start
        if number > 1:
            before = self.steps[number - 2].facts
        return _house_view(self.house, facts, before if number else facts)


def read_walk(trial: Json, scene: Json, turns: Sequence[tuple[int, Json]]) -> Walk:
    """Return an episode from the payloads of its turns; the first says what was moved."""
    house = House.of(trial, scene)
    facts = dict(facts_of(house.begin()))
    first: Json = turns[0][1] if turns else {}
    for id, place in (first.get("moved") or {}).items():
        facts[f"in {id}"] = place
    walk = Walk(house, dict(facts), (first.get("graph") or {}).get("graph"))
    for index, payload in turns:
        did: list[CarriedOutStep] = []
        for record in payload.get("steps", ()):
            changed = dict(facts)
            for key, _, after in record["changes"]:
                if after is None:
                    changed.pop(key, None)
                else:
                    changed[key] = after
            facts = changed
            did.append(_did(len(walk.steps) + 1, index, record, facts))
            walk.steps.append(did[-1])
        page = _turn(index, payload, did)
        earlier = any(one.failed for one in walk.turns.values())
        walk.turns[index] = replace(page, first_failure=page.failed and not earlier)
        if (payload.get("correction") or {}).get("kind") == "restart":
            facts = dict(walk.start)
    return walk


def _did(number: int, turn: int, record: Json, facts: Mapping[str, Any]) -> CarriedOutStep:
    step = Step.of(record["step"])
    phase = _PHASES.get(str(record["phase"]), str(record["phase"]))
    if record.get("prep"):
        phase = "getting there"
    met, all = record["goal"]
    return CarriedOutStep(
        number, turn, record["t"], step.text, phase, record["ok"], record["message"],
        INJECTED.get(str(record["injected"]), str(record["injected"])), (met, all),
        tuple(_change_words(change) for change in record["changes"] if change[0] != "at"), facts,
        bool(record.get("skipped")),
    )  # fmt: skip


def _change_words(change: Sequence[Any]) -> str:
    key, _, after = change
    what, _, id = key.partition(" ")
    if what == "in":
        where = "in the hand" if after == HAND else "on the floor" if after == FLOOR else (
            f"in or on the {name_of(str(after))}")  # fmt: skip
        return f"{name_of(id)} {where}" if after is not None else f"{name_of(id)} gone"
    return f"{name_of(id)} {'' if after else 'no longer '}{what}"


def _turn(index: int, payload: Json, did: Sequence[CarriedOutStep]) -> TurnPage:
    error, correction = payload.get("error"), payload.get("correction")
    diagnosis = (error or {}).get("diagnosis")
    outcomes = {one.t: one for one in did if one.t is not None and one.phase == ""}
    faked = {one.t for one in did if one.phase == _PHASES["fake"]}
    steps = [Step.of(one) for one in payload["plan"]]
    first, failed = payload["first"], int(error["t"]) if error else 0
    rebuilt = (correction or {}).get("window")
    timeline = (diagnosis or {}).get("timeline") or ()
    rows = []
    for t, step in enumerate(steps, 1):
        one = outcomes.get(t)
        state, tone = "", ""
        if t in faked:
            state, tone = "done before", "info"
        elif one is not None and one.ok:
            state, tone = "done", "ok"
        elif one is not None:
            state, tone = ("skipped" if one.skipped else "failed"), "bad"
        elif t <= first:
            state, tone = "done earlier", "idle"
        undone = rebuilt is not None and rebuilt[0] <= t < failed and step.skill != FIND
        marks = []
        if diagnosis and diagnosis["t_source"] == t and diagnosis["t_source"] != failed:
            marks.append("source")
        if t in ((diagnosis or {}).get("breaks") or ()) and "source" not in marks:
            marks.append("lost here, too")
        if undone and state.startswith("done"):
            marks.append("undone")
        window = diagnosis is not None and diagnosis["t_start"] <= t <= diagnosis["t_end"]
        value = name_of(timeline[t]) if t < len(timeline) else ""
        rows.append(PlanRow(t, step.text, state, tone, tuple(marks), value, window and t > 0))
    after = tuple(Step.of(one).text for one in (correction or {}).get("plan_after") or ())
    return TurnPage(
        index,
        tuple(steps),
        tuple(rows),
        tuple(_parts([*_changed(rows, after)] if after else rows, failed=bool(error))),
        tuple(did), error, diagnosis, _diagnosis_sentence(error, diagnosis),
        _cause(error), correction, _repair(correction), _lane(diagnosis),
        tuple(one for one in did if one.phase in ("undoing", "getting there")),
        after,
        [(words, met) for words, met in payload["conditions"]], tuple(payload["goal"]),
    )  # fmt: skip


def _changed(rows: Sequence[PlanRow], after: Sequence[str]) -> Iterator[PlanRow]:
    """Return the steps of a plan, and among them the new ones of the repaired plan."""
    matcher = SequenceMatcher(None, [row.text for row in rows], after, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            yield from rows[a:b]
            continue
        yield from (replace(row, change="left out") for row in rows[a:b])
        yield from (PlanRow(None, text, change="new") for text in after[c:d])


def _parts(rows: Sequence[PlanRow], *, failed: bool) -> Iterator[PlanPart]:
    """Return what is shown of a plan, and what is folded: steps far from a failure.

    Without a failure only what earlier plans had done is folded.
    """
    matters = [i for i, row in enumerate(rows) if row.matters]

    def near(i: int) -> bool:
        if not failed:
            return rows[i].state != "done earlier"
        return any(abs(i - one) <= BESIDE for one in matters)

    for shown, group in groupby(range(len(rows)), near):
        part = tuple(rows[i] for i in group)
        if shown or len(part) < LEAST_FOLDED:
            yield PlanPart(part)
            continue
        for state, same in groupby(part, lambda row: row.state.removesuffix(" earlier")):
            inside = tuple(same)
            first, last = inside[0].t, inside[-1].t
            steps = f"Step {first}" if first == last else f"Steps {first} to {last}"
            yield PlanPart(inside, f"{steps}: {state or 'not reached'}")


def _lane(diagnosis: Json | None) -> str:
    """Return the title of the column with the value of the unmet state over the plan."""
    if not diagnosis or not diagnosis["state"] or not diagnosis.get("timeline"):
        return ""
    return _state_words(diagnosis["state"])


def _state_words(key: Sequence[str]) -> str:
    state, subject = key
    titles = {"agent.hold": "Held", "agent.pos": "At"}
    if state in titles:
        return titles[state]
    return f"{name_of(subject)} {state.partition('.')[2]}".capitalize()


def _diagnosis_sentence(error: Json | None, diagnosis: Json | None) -> str:
    """Return the diagnosis in a sentence."""
    if error is None or diagnosis is None:
        return ""
    if diagnosis["kind"] == "environment":
        return "All that the graph asks for is believed to hold, so the house is not as expected."
    needed, actual = name_of(diagnosis["needed"]), name_of(diagnosis["actual"])
    state = diagnosis["state"]
    if state[0] == "agent.hold":
        held = "nothing" if actual == "none" else f"the {actual}"
        wanted = "an empty hand" if needed == "none" else f"the {needed} in the hand"
        text = f"The step needs {wanted}, but the hand holds {held}"
    elif state[0] == "agent.pos":
        at = "somewhere unknown" if actual == "unknown" else f"at the {actual}"
        wanted = "a place for it" if needed == "unknown" else f"the {needed}"
        text = f"The step needs the robot at {wanted}, but it is {at}"
    else:
        what = state[0].partition(".")[2]
        word = {"true": what, "false": f"not {what}"}
        text = (
            f"The step needs the {name_of(state[1])} to be {word.get(needed, needed)}, "
            f"but it is {word.get(actual, actual)}"
        )
    if diagnosis["breaks"]:
        return f"{text} since step {diagnosis['t_source']}."
    return f"{text}, and no earlier step changed that." if not diagnosis["insert"] else f"{text}."


def _cause(error: Json | None) -> str:
    event = (error or {}).get("injected")
    return f"{name_of(event['object'])} {INJECTED.get(event['kind'], '')}" if event else ""


def _repair(correction: Json | None) -> str:
    if not correction:
        return ""
    words = REPAIRS.get(correction["kind"], correction["kind"])
    if correction["kind"] == "rebuild" and correction.get("soft"):
        words += " by the agent"
    return words


# --- the house ------------------------------------------------------------------------------------


def _house_view(house: House, facts: Mapping[str, Any], before: Mapping[str, Any]) -> HouseView:
    inside: dict[str, list[str]] = {}
    for key, where in facts.items():
        if key.startswith("in "):
            inside.setdefault(str(where), []).append(key[3:])
    changed = {
        key.partition(" ")[2] for key in {*facts, *before} if facts.get(key) != before.get(key)
    } - {""}

    def thing(id: str) -> Thing:
        states = tuple(name for name in _STATES if facts.get(f"{name} {id}"))
        entity = house.entities.get(id)
        if entity is not None and entity.container and "open" not in states:
            states = ("closed", *states)
        held = tuple(thing(one) for one in sorted(inside.get(id, ())))
        return Thing(name_of(id), states, id in changed, held)

    places = [
        thing(entity.id) for entity in house.entities.values()
        if entity.fixed and (entity.id in inside or entity.id in changed
                             or facts.get(f"on {entity.id}") or facts.get(f"open {entity.id}"))
    ]  # fmt: skip
    return HouseView(
        tuple(sorted(places, key=lambda one: (not one.changed, one.name))),
        tuple(thing(one) for one in sorted(inside.get(HAND, ()))),
        tuple(thing(one) for one in sorted(inside.get(FLOOR, ()))),
        name_of(str(facts.get("at") or "")),
    )
