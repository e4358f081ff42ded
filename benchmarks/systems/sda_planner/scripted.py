"""Scripted agents: they know a task's demonstration, and make mistakes at stated rates.

A first plan is the demonstration with up to ``max_errors`` mistakes, each made with the chance
``rate`` and of a kind drawn at random. Two scripts bracket what a model does when it is asked again
(`BRACKET`). The fresh one writes from the demonstration, with mistakes at half the rate. The
stubborn one keeps the plan that failed and repairs the failed step alone, alike each time, as a
model at temperature 0 does. Both repair a failure with the chance ``fix``, and every planner is
answered from the same knowledge: the demonstration, or the plan that failed. Of the house they know
what stands where at the start; nobody tells them of injected errors.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json, derive_seed
from benchmarks.core.ports.comparisons import Bracket, BracketSide
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
    MAX_CORRECTIVE,
    OFF,
    ON,
    OPEN,
    PICK,
    PUT,
    SLICE,
    Step,
    write_plan,
)

VERSION = "2"
FIX, MAX_ERRORS = 0.7, 2
LOOKED_INTO = 3  # receptacles that a repair looks into for a thing that is not in its place

Plan = list[Step]


class Memory:
    """The knowledge of a scripted agent about a task: its demonstration, and the house at the
    start.
    """

    def __init__(self, task: Task) -> None:
        trial: Json = task.payload
        self.task = task.id
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
        places = [e for e in self.house.entities.values() if e.fixed and accepts(e.type, type)]
        return sorted(
            places,
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
        places = [n for n, step in enumerate(plan) if step.skill == skill]
        if not places:
            return None
        at = rng.choice(places)
        return plan[:at] + plan[at + 1 :]

    return drop


def drop_close(memory: Memory, plan: Plan, rng: random.Random) -> Plan | None:
    """Leave out the close before something is turned on."""
    places = [
        n for n in range(len(plan) - 1) if plan[n].skill == CLOSE and plan[n + 1].skill == ON
    ]  # fmt: skip
    at = rng.choice(places) if places else -1
    return plan[:at] + plan[at + 1 :] if places else None


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
    places = [n for n, step in enumerate(plan) if step.skill == PICK and step.type in KNIVES]
    return plan[: places[0]] + plan[places[0] + 1 :] if places else None


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
            perturbed = MISTAKES[kind][1](memory, plan, rng)
            if perturbed:
                plan = perturbed
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
    opens = find.type in CONTAINERS and not opened and find.id not in memory.house.open
    return [find, Step(OPEN, find.type, find.id)] if opens else [find]


def _look_for(memory: Memory, step: Step, context: Json) -> Plan:
    """Look into the receptacles that may hold a thing, most used first, then go to it."""
    tried = {one[2] for one in context["executed"] if one[0] == FIND}
    tried |= {where for id, where in context["known"] if id == step.id}
    held = context["held"]
    search: Plan = []
    places = [e for e in memory.places_for(step.type) if e.id not in tried]
    if not places:
        places = memory.places_for(step.type)
    for one in places[:LOOKED_INTO]:
        search.append(Step(FIND, one.type, one.id))
        if one.type in CONTAINERS and not held:
            search.append(Step(OPEN, one.type, one.id))
    return [*search, step]


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
    context = ask.context
    purpose = context["purpose"]
    if purpose == asks.GRAPH:
        edges = builtin_graph().to_json()["skills"][context["skill"]]
        return canonical_json(edges[context["kind"]])
    rng = random.Random(seed)
    if purpose == asks.WHOLE:
        rate = float(parameters["rate"])
        return write_plan(perturb(memory, memory.gold, rate, rng, parameters))
    if parameters.get("stubborn"):
        return _keep_plan(memory, context, parameters)
    return _write_anew(memory, context, rng, parameters)


def _write_anew(memory: Memory, context: Json, rng: random.Random, parameters: Json) -> str:
    """Answer from the demonstration, with mistakes drawn anew at half the rate."""
    purpose, executed = context["purpose"], [Step.of(step) for step in context["executed"]]
    if purpose == asks.CHOICE:
        return _closest(context, gold_left(memory, executed[: context["start"] - 1]))

    def written(plan: Plan) -> Plan:
        rate = float(parameters["rate"]) / 2
        return perturb(memory, plan, rate, rng, parameters) if plan else plan

    fixes = rng.random() < float(parameters.get("fix", FIX))
    if purpose == asks.RESTART:
        return write_plan(written(memory.gold))
    if purpose == asks.REST:
        repair = fix(memory, context) if fixes else []
        return write_plan(_joined(repair, written(gold_left(memory, executed))))
    window = _gold_window(memory, context, executed)
    if purpose == asks.WINDOW:
        keys = [step.item_key for step in window]
        failed = Step.of(context["failure"]["step"]).item_key
        place = keys.index(failed) if failed in keys else 0
        repair = correct(context) if fixes else []
        return write_plan(written([*window[:place], *repair, *window[place:]]))
    if not fixes:
        return "none"
    have = [Step.of(step).item_key for step in context["window"]]
    missing = [step for step in written(window) if step.item_key not in have]
    corrective = list(dict.fromkeys([*correct(context), *missing]))
    return write_plan(corrective[:MAX_CORRECTIVE])


def _keep_plan(memory: Memory, context: Json, parameters: Json) -> str:
    """Answer from the plan that failed; the same failure is answered alike each time."""
    purpose, failure = context["purpose"], context["failure"]
    plan, at = [Step.of(step) for step in context["plan"]], int(failure["t"]) - 1
    if purpose == asks.CHOICE:
        return _closest(context, plan[context["start"] - 1 :])
    told = canonical_json([failure["step"], failure["message"]])
    chance = random.Random(derive_seed(0, memory.task, told)).random()
    fixes = chance < float(parameters.get("fix", FIX))
    if purpose == asks.CORRECTIVE:
        return write_plan(correct(context)) if fixes else "none"
    if purpose == asks.WINDOW:
        window, place = [Step.of(step) for step in context["window"]], context["failed_at"]
        return write_plan([*window[:place], *(correct(context) if fixes else []), *window[place:]])
    if purpose == asks.RESTART:
        repair = fix(memory, _before_failure(context, plan[:at])) if fixes else []
        return write_plan([*plan[:at], *_joined(repair, plan[at:])])
    return write_plan(_joined(fix(memory, context) if fixes else [], plan[at:]))


def _closest(context: Json, wanted: Sequence[Step]) -> str:
    """Return the number of the option that is most like the steps wanted; the earlier of equals."""
    rest = [Step.of(step) for step in context["rest"]]
    keys = [step.item_key for step in wanted]

    def likeness(option: Json) -> float:
        plan = [*(Step.of(step) for step in option["steps"]), *rest]
        return SequenceMatcher(None, [step.item_key for step in plan], keys, False).ratio()

    options = context["options"]
    return str(1 + max(range(len(options)), key=lambda number: likeness(options[number])))


def _gold_window(memory: Memory, context: Json, executed: Sequence[Step]) -> Plan:
    """Return what the demonstration has in place of the window: up to where the rest goes on."""
    window = context["window"]
    left = gold_left(memory, executed[: context["start"] - 1])
    rest = [Step.of(step) for step in context["plan"]][context["start"] - 1 + len(window) :]
    while left and rest and left[-1].item_key == rest[-1].item_key:
        left, rest = left[:-1], rest[:-1]
    return left


def _before_failure(context: Json, done: Plan) -> dict[str, Any]:
    """Return the context of a failure in a house that is put back and played up to it.

    Nothing has fallen there, and what the plan takes and does not put down is in the hand.
    """
    held = ""
    for step in done:
        held = step.id if step.skill == PICK else "" if step.skill == PUT else held
    return {**context, "executed": [step.to_json() for step in done], "held": held}


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
        _policy("errors-60", "Fresh, mistakes at rate 0.6", 0.6),
        _policy("stubborn-60", "Stubborn, mistakes at rate 0.6", 0.6, stubborn=True),
        _policy("demonstration", "Demonstration", 0.0),
        _policy("errors-30", "Fresh, mistakes at rate 0.3", 0.3),
        _policy("stubborn-30", "Stubborn, mistakes at rate 0.3", 0.3, stubborn=True),
        _policy("errors-100", "Fresh, mistakes at rate 1", 1.0),
        _policy("stubborn-100", "Stubborn, mistakes at rate 1", 1.0, stubborn=True),
    )
}

BRACKET = Bracket(
    factors=("planner", "adaptation", "search_tree"),
    sides=(
        BracketSide(
            "fresh", "Fresh",
            "Asked again, the script writes anew from the demonstration, at half its error rate.",
            ("errors-30", "errors-60", "errors-100"),
        ),
        BracketSide(
            "stubborn", "Stubborn",
            "Asked again, the script keeps its plan and repairs the failed step, alike each time.",
            ("stubborn-30", "stubborn-60", "stubborn-100"),
        ),
    ),
)  # fmt: skip
