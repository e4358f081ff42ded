"""Scripted stand-ins for every role: they need no key, and their replies are labelled as scripted.

The agents differ in temperament (what they remember of what they were told, whose remarks they
ignore, whether they repeat themselves or stop revising, how much they care for quality) and choose
from the task's pool of plans, or a way for each of its stages. Judges decide from what a
pool plan really uses and how good it really is.
"""

import math
import random
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json, derive_seed
from benchmarks.core.plans import (
    KnownPlans,
    PoolPlan,
    combine,
    normal_steps,
    stages_of,
)
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

VERSION = "1"
AGENT_VERSION = "4"


@dataclass(frozen=True)
class Temperament:
    """The way in which a scripted agent chooses.

    Each remark is lost by itself, so that the more an agent has heard, the more often it errs in a
    turn. The chances belong to the agent and are the same for every task, level and condition. They
    were set on seeds 101 to 108, which no preset and no demo run uses, so that agents spread and
    accuracy falls from low to mid, and were then checked on seeds 601 to 610
    (docs/experiments.md).

    ``forgets``: chance to lose a remark of an earlier turn. ``deaf_to``: kind of constraint of
    which it ignores each remark with chance ``deafness``. ``overlooks``: chance to miss in one
    stage what clashes with a remark that it does remember. ``hasty``: chance to settle one stage of
    a plan by whim alone, whatever its quality. ``repeats``: chance to insist on the last plan.
    ``stops``: chance, after each plan that was objected to, to stop revising and to hand in that
    plan from then on. ``quality``: weight of a plan's true quality. ``wanders``: weight of being
    unlike earlier plans. ``whim``: weight of what it likes for no reason. ``convention``: weight of
    what comes to mind first (tasks list the usual ways first).
    """

    forgets: float = 0.008
    deaf_to: str = ""
    deafness: float = 0.0
    overlooks: float = 0.02
    hasty: float = 0.8
    repeats: float = 0.0
    stops: float = 0.0
    quality: float = 6.0
    wanders: float = 0.0
    whim: float = 1.0
    convention: float = 4.5


TEMPERAMENTS: Mapping[str, tuple[str, Temperament]] = {
    "careful-tracker": (
        "Careful tracker",
        Temperament(forgets=0.005, overlooks=0.0, hasty=0.75),
    ),
    "explorer": ("Explorer", Temperament(wanders=0.5)),
    "perfectionist": ("Perfectionist", Temperament(quality=8.0, forgets=0.012, hasty=0.85)),
    "last-word": ("Last word", Temperament(forgets=0.02, hasty=0.7)),
    "forgetful": ("Forgetful", Temperament(forgets=0.015)),
    "creature-of-habit": ("Creature of habit", Temperament(repeats=0.12, hasty=0.7)),
    "world-minded": ("World-minded", Temperament(deaf_to="user", deafness=0.05)),
    "people-pleaser": ("People pleaser", Temperament(deaf_to="world", deafness=0.012, hasty=0.7)),
    "shortcut-taker": ("Shortcut taker", Temperament(stops=0.015, hasty=0.7)),
    "coin-flipper": (
        "Coin flipper",
        Temperament(quality=4.0, whim=2.0, forgets=0.01, hasty=0.6),
    ),
}


def remembered(ask: Ask, temperament: Temperament, rng: random.Random) -> set[str]:
    """Return the ``about`` of every constraint that the agent still has in mind.

    The block of constraint tracking, where there is one, brings all of them back.
    """
    revealed: Sequence[Sequence[Mapping[str, str]]] = ask.context["told"]
    remarks = [remark for turn in revealed for remark in turn]
    kept = {remark["about"] for remark in remarks}
    earlier = [remark["about"] for turn in revealed[:-1] for remark in turn]
    deaf = [remark["about"] for remark in remarks if remark["kind"] == temperament.deaf_to]
    lost = {
        about
        for chance, pool in ((temperament.forgets, earlier), (temperament.deafness, deaf))
        for about in pool
        if rng.random() < chance
    }
    return kept if ask.context.get("tracking") else kept - lost


def plans_before(known: KnownPlans, ask: Ask) -> list[PoolPlan]:
    """Return the known ones among the agent's plans so far, in their order."""
    plans = (known.find(text) for text in ask.context["plans"])
    return [plan for plan in plans if plan is not None]


def _choose(
    stages: Sequence[Sequence[PoolPlan]],
    before: Sequence[PoolPlan],
    ask: Ask,
    seed: int,
    temperament: Temperament,
    noise_of_way: Mapping[str, float],
) -> PoolPlan:
    rng = random.Random(seed)
    if before:
        stopped = len(before) > 1 and before[-1].text == before[-2].text
        if temperament.stops and (stopped or rng.random() < temperament.stops):
            return before[-1]
        if rng.random() < temperament.repeats:
            return before[-1]
    avoid = remembered(ask, temperament, rng)
    hasty = rng.randrange(len(stages)) if rng.random() < temperament.hasty else None
    chosen = []
    for place, ways in enumerate(stages):
        mood = replace(temperament, quality=0.0, convention=0.0) if place == hasty else temperament
        ranks = way_scores(ways, before, avoid, rng, mood, noise_of_way)
        chosen.append(ways[max(range(len(ways)), key=ranks.__getitem__)])
    return combine(chosen)


def way_scores(
    ways: Sequence[PoolPlan],
    before: Sequence[PoolPlan],
    avoid: Collection[str],
    rng: random.Random,
    temperament: Temperament,
    noise_of_way: Mapping[str, float],
) -> list[tuple[int, float]]:
    """Score every way: minus the number of remarks that it clashes with, and how it is liked
    else.
    """
    used = {tool for plan in before for tool in plan.tools}
    missed = rng.choice(sorted(avoid)) if avoid and rng.random() < temperament.overlooks else ""

    def appeal(place: int, way: PoolPlan) -> tuple[int, float]:
        clashes = sum(way.uses(about) for about in avoid if about != missed)
        quality = sum(way.quality.values()) / len(way.quality) if way.quality else 3.0
        shared = len(used.intersection(way.tools)) / len(way.tools) if way.tools else 0.0
        score = (
            temperament.quality * quality
            - temperament.wanders * shared
            + temperament.whim * noise_of_way[way.key]
        )
        return -clashes, score - temperament.convention * (place / len(ways))

    return [appeal(place, way) for place, way in enumerate(ways)]


def way_noise(name: str, task: Task, stages: Sequence[Sequence[PoolPlan]]) -> dict[str, float]:
    """Return what somebody of this name likes for no reason, the same whenever they see the
    task.
    """
    score = random.Random(derive_seed("taste", name, task.id))
    return {way.key: score.gauss(0, 1) for ways in stages for way in ways}


def _agent(name: str, temperament: Temperament) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        stages, known = stages_of(task), KnownPlans(task)
        noise_of_way = way_noise(name, task, stages)

        def rule(ask: Ask, seed: int) -> Answer:
            if not stages:
                return Answer("", declined="pool_exhausted: the task has no pool of plans")
            before = plans_before(known, ask)
            return Answer(_choose(stages, before, ask, seed, temperament, noise_of_way).text)

        return Scripted(name, AGENT_VERSION, rule, asdict(temperament))

    return build


def mentions_name(text: str, name: str) -> bool:
    """Return whether a lower-case text has ``name`` as words of its own, singular or plural."""
    words = r"\s+".join(map(re.escape, name.lower().split()))
    return bool(words) and re.search(rf"\b{words}(?:s|es)?\b", text) is not None


def _constraint_judge(kind: str) -> Callable[[Task, Json], Answerer]:
    """Decide from the tools and attributes of a pool plan; other texts by the words they use."""

    def build(task: Task, parameters: Json) -> Answerer:
        known = KnownPlans(task)

        def rule(ask: Ask, seed: int) -> Answer:
            plan = known.find(ask.context["plan"])
            text = "\n".join(normal_steps(ask.context["plan"]))
            violated, reasons = [], {}
            for constraint in ask.context["constraints"]:
                name = constraint["about"].partition(":")[2]
                if plan.uses(constraint["about"]) if plan else mentions_name(text, name):
                    violated.append(constraint["key"])
                    reasons[constraint["key"]] = f"the plan involves: {name}"
            return Answer(canonical_json({"violated": violated, "reasons": reasons}))

        return Scripted(f"scripted-{kind}-judge", VERSION, rule)

    return build


@dataclass(frozen=True)
class Severity:
    """A rubric judge's character: ``bias`` shifts, ``spread`` scatters, ``harsh_on`` lowers."""

    bias: float
    spread: float
    harsh_on: tuple[str, ...] = ()


SEVERITIES: Mapping[str, tuple[str, Severity]] = {
    "judge-even": ("Even-handed judge", Severity(0.0, 0.30)),
    "judge-strict": ("Strict judge", Severity(-0.35, 0.35, ("effectiveness", "safety"))),
    "judge-lenient": ("Lenient judge", Severity(0.35, 0.35)),
}


# A judge that shares an agent's taste, as models prefer texts of their own kind; by how many points
# at most a plan gains or loses.
PARTIAL, FAVOURITE, FAVOUR = "judge-partial", "creature-of-habit", 2.0


def _rubric_judge(
    name: str, character: Severity, favourite: str = ""
) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        known = KnownPlans(task)
        liked = way_noise(favourite, task, stages_of(task)) if favourite else {}

        def rule(ask: Ask, seed: int) -> Answer:
            plan = known.find(ask.context["plan"])
            rng = random.Random(seed)
            scores: dict[str, int | None] = {}
            favour = liked.get(plan.key, 0.0) if plan is not None else 0.0
            bias = character.bias + FAVOUR * math.tanh(favour)
            reasons: dict[str, str] = {}
            for dimension in DIMENSIONS:
                if plan is None or dimension.key not in plan.quality:
                    scores[dimension.key] = None
                    reasons[dimension.key] = "the scripted judge knows nothing of this plan"
                    continue
                level = plan.quality[dimension.key] + bias
                level -= 0.3 * (dimension.key in character.harsh_on)
                score = min(5, max(1, round(level + rng.gauss(0, character.spread))))
                scores[dimension.key] = score
                reasons[dimension.key] = dimension.anchors[min(5, score + 1 - score % 2)]
            return Answer(canonical_json({"scores": scores, "reasons": reasons}))

        shown = {**asdict(character), **({"favourite": favourite} if favourite else {})}
        return Scripted(name, VERSION, rule, shown)

    return build


_NEW = (
    "I should have said: {}",
    "That does not work for me. {}",
    "One thing that rules this out: {}",
    "Sorry, there is a problem. {}",
)
_AGAIN = ("As I have already mentioned: {}", "I told you this before: {}")


def feedback_on(context: Json, seed: int) -> str:
    """Write feedback in set phrases around the constraints' own words."""
    rng = random.Random(seed)
    points: Sequence[Mapping[str, Any]] = context["points"]
    if context["mode"] == "refinement":
        named = ", ".join(point["title"].lower() for point in points)
        return f"This would be allowed, but it should become better in: {named}."
    lines = [
        rng.choice(_AGAIN if point["repeated"] else _NEW).format(point["text"]) for point in points
    ]
    return "\n".join(lines)


def _simulator(task: Task, parameters: Json) -> Answerer:
    def rule(ask: Ask, seed: int) -> Answer:
        return Answer(feedback_on(ask.context, seed))

    return Scripted("scripted-simulator", VERSION, rule)


# --- An agent that draws its plan instead of taking the best one ----------------------------------

SAMPLING, SAMPLING_VERSION = "sampling-planner", "4"
# What a clash with a remark costs, in units of taste: a hot planner takes it now and then.
CLASH_COST = 8.0
# It cares for what the careful tracker does, and chance comes from the temperature alone.
_SAMPLING_TEMPERAMENT = Temperament(quality=2.0, forgets=0.0, overlooks=0.0, hasty=0.0)


def _sampling_planner(task: Task, parameters: Json) -> Answerer:
    """Draw way i of a stage with a chance in proportion to exp(u_i / T); T = 0 takes the best."""
    stages, known = stages_of(task), KnownPlans(task)
    noise_of_way = way_noise(SAMPLING, task, stages)
    temperature = float(parameters["temperature"])

    def rule(ask: Ask, seed: int) -> Answer:
        if not stages:
            return Answer("", declined="pool_exhausted: the task has no pool of plans")
        rng = random.Random(seed)
        before, avoid = plans_before(known, ask), remembered(ask, _SAMPLING_TEMPERAMENT, rng)
        chosen = []
        for ways in stages:
            ranks = way_scores(ways, before, avoid, rng, _SAMPLING_TEMPERAMENT, noise_of_way)
            worth = [CLASH_COST * clashes + score for clashes, score in ranks]
            best = max(worth)
            if temperature <= 0:
                chosen.append(ways[worth.index(best)])
            else:
                weights = [math.exp((one - best) / temperature) for one in worth]
                chosen += rng.choices(ways, weights)
        return Answer(combine(chosen).text)

    return Scripted(SAMPLING, SAMPLING_VERSION, rule, {"temperature": temperature})


# --- All of them
# -----------------------------------------------------------------------------------

POLICIES: Mapping[str, ScriptedPolicy] = {
    policy.name: policy
    for policy in (
        *(
            ScriptedPolicy(name, "agent", title, AGENT_VERSION, _agent(name, temperament))
            for name, (title, temperament) in TEMPERAMENTS.items()
        ),
        ScriptedPolicy(
            "world-facts", "world_judge", "Scripted world judge", VERSION,
            _constraint_judge("world"), pool_only=True,
        ),
        ScriptedPolicy(
            "user-facts", "user_judge", "Scripted user judge", VERSION, _constraint_judge("user"),
            pool_only=True,
        ),
        *(
            ScriptedPolicy(
                name, "rubric_judge", title, VERSION, _rubric_judge(name, character), pool_only=True
            )
            for name, (title, character) in SEVERITIES.items()
        ),
        ScriptedPolicy(
            PARTIAL, "rubric_judge", "Partial judge (favours the creature of habit)", VERSION,
            _rubric_judge(PARTIAL, Severity(0.0, 0.30), FAVOURITE), pool_only=True,
        ),
        ScriptedPolicy(
            "plain-words", "simulator", "Scripted user simulator", VERSION, _simulator
        ),
        ScriptedPolicy(
            SAMPLING, "agent", "Sampling planner", SAMPLING_VERSION, _sampling_planner,
            {"temperature": 0.5},
        ),
    )
}  # fmt: skip
