"""Scripted stand-ins for every role: they need no key, and their replies are labelled as scripted.

The agents differ in temperament (what they remember of what they were told, how much they care for
quality, how far they wander) and choose from the task's pool of plans. Judges decide from what a
pool plan really uses and how good it really is.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.seeds import derive_seed
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adaplanbench.plans import PoolPlan, pool_of, split_steps
from benchmarks.systems.adaplanbench.rubric import DIMENSIONS

VERSION = "1"


@dataclass(frozen=True)
class Temperament:
    """How a scripted agent chooses. Shares are probabilities per turn or per remembered remark.

    ``memory``: remarks of all turns, of the last turn, or none. ``forgets``: chance to have lost a
    remark of an earlier turn. ``repeats``: chance to insist on the last plan. ``deaf_to``: kind of
    constraint that it overhears with chance ``deafness``. ``overlooks``: chance to miss that a plan
    clashes with a remark that it does remember. ``quality``: weight of a plan's true
    quality, negative for a liking of shortcuts. ``wanders``: weight of being unlike earlier plans.
    ``convention``: weight of what comes to mind first (pools list the usual ways first).
    """

    memory: str = "all"
    forgets: float = 0.0
    repeats: float = 0.0
    deaf_to: str = ""
    deafness: float = 0.0
    overlooks: float = 0.06
    quality: float = 0.5
    wanders: float = 0.0
    whim: float = 1.0
    convention: float = 4.5


TEMPERAMENTS: Mapping[str, tuple[str, Temperament]] = {
    "careful-tracker": ("Careful tracker", Temperament(quality=1.0, overlooks=0.0)),
    "explorer": ("Explorer", Temperament(quality=0.5, wanders=3.0)),
    "perfectionist": ("Perfectionist", Temperament(quality=2.5, forgets=0.2)),
    "last-word": ("Last word", Temperament(memory="last")),
    "forgetful": ("Forgetful", Temperament(forgets=0.3)),
    "creature-of-habit": ("Creature of habit", Temperament(repeats=0.35)),
    "world-minded": ("World-minded", Temperament(deaf_to="user", deafness=0.5)),
    "people-pleaser": ("People pleaser", Temperament(deaf_to="world", deafness=0.35, quality=1.0)),
    "shortcut-taker": ("Shortcut taker", Temperament(quality=-0.8)),
    "coin-flipper": ("Coin flipper", Temperament(memory="none", quality=0.0, whim=3.0)),
}


def _normal(text: str) -> str:
    return "\n".join(" ".join(step.lower().split()) for step in split_steps(text))


def _by_text(pool: Sequence[PoolPlan]) -> dict[str, PoolPlan]:
    return {_normal(plan.text): plan for plan in pool}


def _remembered(
    told: Sequence[Sequence[Mapping[str, str]]], mood: Temperament, rng: random.Random
) -> set[str]:
    """The ``about`` of every constraint that the agent still has in mind."""
    if mood.memory == "none" or not told:
        return set()
    turns = told if mood.memory == "all" else told[-1:]
    kept = set()
    for age, remarks in enumerate(reversed(turns)):
        for remark in remarks:
            lost = age > 0 and rng.random() < mood.forgets
            deaf = remark["kind"] == mood.deaf_to and rng.random() < mood.deafness
            if not (lost or deaf):
                kept.add(remark["about"])
    return kept


def _plans_before(pool: Sequence[PoolPlan], ask: Ask) -> list[PoolPlan]:
    known = _by_text(pool)
    return [known[key] for text in ask.context["plans"] if (key := _normal(text)) in known]


def _choose(
    pool: Sequence[PoolPlan], ask: Ask, seed: int, mood: Temperament, likings: Mapping[str, float]
) -> PoolPlan:
    rng = random.Random(seed)
    before = _plans_before(pool, ask)
    if before and rng.random() < mood.repeats:
        return before[-1]
    ranks = appeals(pool, ask, rng, mood, likings)
    return pool[max(range(len(pool)), key=ranks.__getitem__)]


def appeals(
    pool: Sequence[PoolPlan],
    ask: Ask,
    rng: random.Random,
    mood: Temperament,
    likings: Mapping[str, float],
) -> list[tuple[int, float]]:
    """For every plan minus the number of remarks that it clashes with, and how it is liked else."""
    before = _plans_before(pool, ask)
    avoid = _remembered(ask.context["told"], mood, rng)
    if ask.context.get("tracking"):
        avoid |= {remark["about"] for turn in ask.context["told"] for remark in turn}
    used = {tool for plan in before for tool in plan.tools}

    def appeal(place: int, plan: PoolPlan) -> tuple[int, float]:
        clashes = sum(
            plan.uses(about) and rng.random() >= mood.overlooks for about in sorted(avoid)
        )
        quality = sum(plan.quality.values()) / len(plan.quality) if plan.quality else 3.0
        shared = len(used.intersection(plan.tools)) / len(plan.tools) if plan.tools else 0.0
        taste = mood.quality * quality - mood.wanders * shared + mood.whim * likings[plan.key]
        return -clashes, taste - mood.convention * (place / len(pool))

    return [appeal(place, plan) for place, plan in enumerate(pool)]


def likings_of(name: str, task: Task, pool: Sequence[PoolPlan]) -> dict[str, float]:
    """What somebody of this name likes for no reason, the same whenever they see the task."""
    taste = random.Random(derive_seed("taste", name, task.id))
    return {plan.key: taste.gauss(0, 1) for plan in pool}


def _agent(name: str, mood: Temperament) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        pool = pool_of(task)
        likings = likings_of(name, task, pool)

        def rule(ask: Ask, seed: int) -> Answer:
            if not pool:
                return Answer("", declined="pool_exhausted: the task has no pool of plans")
            return Answer(_choose(pool, ask, seed, mood, likings).text)

        return Scripted(name, VERSION, rule, asdict(mood))

    return build


def mentions_name(text: str, name: str) -> bool:
    """Whether a lower-case text has ``name`` as words of its own, singular or plural."""
    words = r"\s+".join(map(re.escape, name.lower().split()))
    return bool(words) and re.search(rf"\b{words}(?:s|es)?\b", text) is not None


def _constraint_judge(kind: str) -> Callable[[Task, Json], Answerer]:
    """Decides from the tools and attributes of a pool plan; other texts by the words they use."""

    def build(task: Task, parameters: Json) -> Answerer:
        known = _by_text(pool_of(task))

        def rule(ask: Ask, seed: int) -> Answer:
            text = _normal(ask.context["plan"])
            plan = known.get(text)
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


def _rubric_judge(name: str, character: Severity) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        known = _by_text(pool_of(task))

        def rule(ask: Ask, seed: int) -> Answer:
            plan = known.get(_normal(ask.context["plan"]))
            rng = random.Random(seed)
            scores: dict[str, int | None] = {}
            reasons: dict[str, str] = {}
            for dimension in DIMENSIONS:
                if plan is None or dimension.key not in plan.quality:
                    scores[dimension.key] = None
                    reasons[dimension.key] = "the scripted judge knows nothing of this plan"
                    continue
                level = plan.quality[dimension.key] + character.bias
                level -= 0.3 * (dimension.key in character.harsh_on)
                score = min(5, max(1, round(level + rng.gauss(0, character.spread))))
                scores[dimension.key] = score
                reasons[dimension.key] = dimension.anchors[min(5, score + 1 - score % 2)]
            return Answer(canonical_json({"scores": scores, "reasons": reasons}))

        return Scripted(name, VERSION, rule, asdict(character))

    return build


_NEW = (
    "I should have said: {}",
    "That does not work for me. {}",
    "One thing that rules this out: {}",
    "Sorry, there is a problem. {}",
)
_AGAIN = ("As I have already mentioned: {}", "I told you this before: {}")


def feedback_on(context: Json, seed: int) -> str:
    """Feedback in set phrases around the constraints' own words."""
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


POLICIES: Mapping[str, ScriptedPolicy] = {
    policy.name: policy
    for policy in (
        *(
            ScriptedPolicy(name, "agent", title, VERSION, _agent(name, mood))
            for name, (title, mood) in TEMPERAMENTS.items()
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
            "plain-words", "simulator", "Scripted user simulator", VERSION, _simulator
        ),
    )
}  # fmt: skip
