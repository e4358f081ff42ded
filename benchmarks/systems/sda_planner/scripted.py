"""Scripted agents: they know a task's demonstration, and make mistakes at stated rates.

A plan is the demonstration with up to ``max_errors`` mistakes, each made with the chance ``rate``
and of a kind drawn at random. Later replies of an episode are drawn anew at half the rate, and set
the failure that they are told of right with the chance ``fix``. Everything follows from the seed of
the call. Of the house they know what stands where at the start; nobody tells them of injected
errors.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.sda_planner import asks
from benchmarks.systems.sda_planner.dataset.trials import type_of
from benchmarks.systems.sda_planner.house.affordances import (
    CONFUSABLE,
    CONTAINERS,
    HOLDS_ONE,
    KNIVES,
    accepts,
)
from benchmarks.systems.sda_planner.house.world import Entity, House, distance
from benchmarks.systems.sda_planner.repair.graph import HOLD, POS, builtin_graph
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
    write_plan,
)

VERSION = "1"
FIX, MAX_ERRORS = 0.7, 2
LOOKED_INTO = 3  # receptacles that a repair looks into for a thing that is not in its place

Plan = list[Step]


class Memory:
    """The knowledge of a scripted agent about a task: its demonstration, and the house at the
    start.
    """

    def __init__(self, task: Task) -> None:
        trial: Json = task.payload
        scene = task.shared["scenes"][trial["scene"]["floor_plan"]]
        self.house = House.of(trial, scene)
        self.gold = [Step.of(step) for step in trial["gold"]]
        self.goal_place = trial["pddl_params"].get("parent_target", "")
        ids = [one["id"] for one in scene["receptacles"]]
        self.uses = dict(zip(ids, scene.get("uses") or [0] * len(ids), strict=False))

    def entity(self, id: str) -> Entity | None:
        return self.house.entities.get(id)

    def places_for(self, type: str, near: str = "") -> list[Entity]:
        """Return receptacles for a type: those used most often first, then the nearest."""
        at = self.entity(near)
        here = (at.pos[0], at.pos[2]) if at else self.house.start
        found = [e for e in self.house.entities.values() if e.fixed and accepts(e.type, type)]
        return sorted(
            found,
            key=lambda e: (-self.uses.get(e.id, 0), distance(here, (e.pos[0], e.pos[2])), e.id),
        )

    def spare_place(self, type: str, near: str) -> list[Step]:
        """Return steps to a place where a thing can be put out of the way."""
        places = [e for e in self.places_for(type, near) if e.type not in HOLDS_ONE]
        free = [e for e in places if e.type not in CONTAINERS and e.type != self.goal_place]
        for one in (*free, *places):
            find = Step(FIND, one.type, one.id)
            return [find, Step(OPEN, one.type, one.id)] if one.type in CONTAINERS else [find]
        return []


# --- mistakes -------------------------------------------------------------------------------------

Mistake = Callable[[Memory, Plan, random.Random], Plan | None]


def _without(skill: str) -> Mistake:
    def drop(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
        found = [n for n, step in enumerate(plan) if step.skill == skill]
        if not found:
            return None
        at = rng.choice(found)
        return plan[:at] + plan[at + 1 :]

    return drop


def drop_close(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Leave out the close before something is turned on."""
    found = [
        n for n in range(len(plan) - 1) if plan[n].skill == CLOSE and plan[n + 1].skill == ON
    ]  # fmt: skip
    at = rng.choice(found) if found else -1
    return plan[:at] + plan[at + 1 :] if found else None


def pick_early(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Take another thing that the plan needs before the first one."""
    picks = [n for n, step in enumerate(plan) if step.skill == PICK]
    later = [plan[n] for n in picks[1:] if plan[n].id != plan[picks[0]].id]
    others = later or [
        Step(PICK, e.type, e.id) for e in memory.house.entities.values()
        if not e.fixed and picks and e.id != plan[picks[0]].id
    ]  # fmt: skip
    if not picks or not others:
        return None
    early = rng.choice(others)
    start = next((n for n in range(picks[0], -1, -1) if plan[n].skill == FIND), picks[0])
    return [*plan[:start], Step(FIND, early.type, early.id), early, *plan[start:]]


def put_early(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Put a thing down somewhere on the way."""
    picks = [n for n, step in enumerate(plan) if step.skill == PICK and n + 1 < len(plan)]
    if not picks:
        return None
    at = rng.choice(picks)
    held = plan[at]
    places = [
        e for e in memory.places_for(held.type, held.id)
        if e.type not in CONTAINERS and e.type not in HOLDS_ONE and e.type != memory.goal_place
    ]  # fmt: skip
    if not places:
        return None
    place = rng.choice(places)
    wrong = [Step(FIND, place.type, place.id), Step(PUT, held.type, held.id)]
    return [*plan[: at + 1], *wrong, *plan[at + 1 :]]


def swap(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Exchange two neighbouring runs of steps about one thing each."""
    starts = [n for n in range(len(plan)) if n == 0 or plan[n].item != plan[n - 1].item]
    if len(starts) < 2:
        return None
    k = rng.randrange(len(starts) - 1)
    a, b = starts[k], starts[k + 1]
    c = starts[k + 2] if k + 2 < len(starts) else len(plan)
    return [*plan[:a], *plan[b:c], *plan[a:b], *plan[c:]]


def confuse(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Take one kind of thing for a similar one throughout."""
    kinds = sorted({step.type for step in plan if step.type in CONFUSABLE})
    if not kinds:
        return None
    wrong = rng.choice(kinds)
    return [
        Step(s.skill, CONFUSABLE[wrong]) if s.type == wrong else s for s in plan
    ]  # fmt: skip


def drop_knife(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Forget to take the knife."""
    found = [n for n, step in enumerate(plan) if step.skill == PICK and step.type in KNIVES]
    return plan[: found[0]] + plan[found[0] + 1 :] if found else None


def cut_tail(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Stop too early."""
    if len(plan) < 4:
        return None
    return plan[: -rng.randint(1, max(1, len(plan) // 4))]


MISTAKES: Mapping[str, tuple[str, Mistake]] = {
    "drop_find": ("leaves out a find", _without(FIND)),
    "drop_open": ("leaves out an open", _without(OPEN)),
    "drop_close": ("leaves out the close before turning on", drop_close),
    "drop_put": ("leaves out a put down", _without(PUT)),
    "pick_early": ("takes another thing first", pick_early),
    "put_early": ("puts a thing down on the way", put_early),
    "swap": ("exchanges two neighbouring parts", swap),
    "confuse": ("takes one kind of thing for another", confuse),
    "drop_knife": ("does not take the knife", drop_knife),
    "cut_tail": ("stops too early", cut_tail),
}


def perturb(memory: Memory, plan: Plan, rate: float, rng: random.Random, parameters: Json) -> Plan:
    """Return a plan with mistakes; a kind that does not fit the plan is drawn again."""
    only = parameters.get("mistake", "")
    for _ in range(int(parameters.get("max_errors", MAX_ERRORS))):
        if rng.random() >= rate:
            continue
        kinds = [only] if only in MISTAKES else rng.sample(sorted(MISTAKES), len(MISTAKES))
        for kind in kinds:
            found = MISTAKES[kind][1](memory, plan, rng)
            if found:
                plan = found
                break
    return plan


# --- repairs --------------------------------------------------------------------------------------


def gold_left(memory: Memory, executed: Sequence[Step]) -> Plan:
    """Return what is left of the demonstration: steps carried out in its order count as done."""
    at, gold = 0, memory.gold
    for step in executed:
        ahead = at
        while ahead < len(gold) and gold[ahead].skill == FIND and gold[ahead] != step:
            ahead += 1
        if ahead < len(gold) and (gold[ahead].skill, gold[ahead].item) == (step.skill, step.item):
            at = ahead + 1
    left = gold[at:]
    # Whoever goes on must stand where the next step happens.
    before = [step for step in gold[:at] if step.skill == FIND]
    if left and left[0].skill != FIND and before:
        left = [before[-1], *left]
    return left


def fix(memory: Memory, context: Json) -> Plan:
    """Return steps that set right what a failure's message says."""
    failure = context["failure"]
    message, step = failure["message"], Step.of(failure["step"])
    held = context["held"]
    target = failure["target"] or step.id
    item = Step(FIND, step.type, target if "|" in target else step.id)
    if "is currently holding" in message and held:
        type = type_of(held)
        return [*memory.spare_place(type, held), Step(PUT, type, held), item]
    if "because it is in " in message:
        inside = _around(memory, target, context)
        where = memory.entity(inside)
        if where is not None:
            return [Step(FIND, where.type, inside), Step(OPEN, where.type, inside), item]
        return [item]
    if "because it is behind" in message:
        other = next(
            (e for e in memory.house.entities.values() if e.fixed and e.id != target), None
        )
        return [Step(FIND, other.type, other.id), item] if other else [item]
    if message.startswith("Cannot find") and not message.endswith(("pick up", "open", "on")):
        return _look_for(memory, step, context)
    if "not holding any object" in message:
        return [item, Step(PICK, step.type, item.id), *_place_before(memory, context)]
    if "failed: it fell down" in message or message.startswith(("Putting", "put down failed")):
        fallen = [item, Step(PICK, step.type, item.id)]
        return fallen if "fell" in message else [*fallen, *_place_before(memory, context)]
    if step.skill == SLICE:
        knife = next((s for s in memory.gold if s.skill == PICK and s.type in KNIVES), None)
        if knife is None or held:
            return [item]
        return [Step(FIND, knife.type, knife.id), knife, item]
    if step.skill == ON and step.type == "Microwave":
        return [item, Step(CLOSE, step.type, item.id)]
    return [item]


def _around(memory: Memory, id: str, context: Json) -> str:
    """Return what a thing is in, as far as the agent was told."""
    known = dict(context["known"])
    where = str(known.get(id, memory.house.parents.get(id, "")))
    while where in known and type_of(where) not in CONTAINERS:
        where = str(known[where])
    return where


def _place_before(memory: Memory, context: Json) -> Plan:
    """Return the steps that lead to where the failed put-down was meant to go."""
    t = int(context["failure"]["t"])
    plan = [Step.of(step) for step in context["plan"]][: t - 1]
    step = Step.of(context["failure"]["step"])
    find = next((s for s in reversed(plan) if s.skill == FIND and accepts(s.type, step.type)), None)
    if find is None:
        return []
    done = [Step.of(one) for one in context["executed"]]
    opened = any(s.skill == OPEN and s.type == find.type for s in done)
    opens = find.type in CONTAINERS and not opened
    return [find, Step(OPEN, find.type, find.id)] if opens else [find]


def _look_for(memory: Memory, step: Step, context: Json) -> Plan:
    """Look into the receptacles that may hold a thing, most used first, then go to it."""
    tried = {one[2] for one in context["executed"] if one[0] == FIND}
    tried |= {where for id, where in context["known"] if id == step.id}
    held = context["held"]
    found: Plan = []
    places = [e for e in memory.places_for(step.type) if e.id not in tried]
    if not places:
        places = memory.places_for(step.type)
    for one in places[:LOOKED_INTO]:
        found.append(Step(FIND, one.type, one.id))
        if one.type in CONTAINERS and not held:
            found.append(Step(OPEN, one.type, one.id))
    return [*found, step]


def correct(context: Json) -> Plan:
    """Return the corrective steps for an unmet need, as the graph's diagnosis names it."""
    diagnosis, failure = context["diagnosis"], context["failure"]
    state, subject = diagnosis["state"]
    step = Step.of(failure["step"])
    if state == HOLD:
        if diagnosis["value"] == "none" and diagnosis["held"]:
            return [Step(PUT, type_of(diagnosis["held"]), diagnosis["held"])]
        if diagnosis["types"]:
            return [Step(FIND, diagnosis["types"][0]), Step(PICK, diagnosis["types"][0])]
        wanted = str(diagnosis["value"])
        type = type_of(wanted)
        return [Step(FIND, type, wanted), Step(PICK, type, wanted)]
    if state == POS:
        return [Step(FIND, step.type, step.id)]
    type = type_of(subject)
    skills = {("item.open", True): OPEN, ("item.open", False): CLOSE,
              ("item.on", True): ON, ("item.on", False): OFF}  # fmt: skip
    skill = skills.get((state, diagnosis["value"]))
    return [Step(FIND, type, subject), Step(skill, type, subject)] if skill else []


# --- the agent ------------------------------------------------------------------------------------


def reply(memory: Memory, ask: Ask, seed: int, parameters: Json) -> str:
    """Return the text of a reply."""
    rng = random.Random(seed)
    context, rate = ask.context, float(parameters["rate"])
    purpose = context["purpose"]
    if purpose == asks.GRAPH:
        edges = builtin_graph().to_json()["skills"][context["skill"]]
        return canonical_json(edges[context["kind"]])
    if purpose == asks.CHOICE:
        return "1"
    if purpose == asks.WHOLE:
        return write_plan(perturb(memory, memory.gold, rate, rng, parameters))
    fixes = rng.random() < float(parameters.get("fix", FIX))
    if purpose == asks.CORRECTIVE:
        return write_plan(correct(context)) if fixes else "none"
    if purpose == asks.RESTART:
        return write_plan(perturb(memory, memory.gold, rate / 2, rng, parameters))
    if purpose == asks.WINDOW:
        window, at = [Step.of(step) for step in context["window"]], context["failed_at"]
        return write_plan([*window[:at], *(correct(context) if fixes else []), *window[at:]])
    repair = fix(memory, context) if fixes else []
    left = gold_left(memory, [Step.of(step) for step in context["executed"]])
    left = perturb(memory, left, rate / 2, rng, parameters) if left else left
    return write_plan(_joined(repair, left))


def _joined(repair: Plan, rest: Plan) -> Plan:
    """Return both one after the other, without doing twice in a row what is done already."""
    while repair and rest and (repair[-1].skill, repair[-1].item) == (rest[0].skill, rest[0].item):
        rest = rest[1:]
    return [*repair, *rest]


def _agent(name: str, defaults: Json) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        memory = Memory(task)
        mine = {**defaults, **parameters}

        def rule(ask: Ask, seed: int) -> Answer:
            return Answer(reply(memory, ask, seed, mine))

        return Scripted(name, VERSION, rule, mine)

    return build


def _policy(name: str, title: str, rate: float, **more: Any) -> ScriptedPolicy:
    parameters = {"rate": rate, "fix": FIX, "max_errors": MAX_ERRORS, **more}
    return ScriptedPolicy(name, "agent", title, VERSION, _agent(name, parameters), parameters)


POLICIES: Mapping[str, ScriptedPolicy] = {
    policy.name: policy
    for policy in (
        _policy("errors-60", "Demonstration with mistakes, rate 0.6", 0.6),
        _policy("demonstration", "Demonstration", 0.0),
        _policy("errors-30", "Demonstration with mistakes, rate 0.3", 0.3),
        _policy("errors-100", "Demonstration with mistakes, rate 1", 1.0),
    )
}
