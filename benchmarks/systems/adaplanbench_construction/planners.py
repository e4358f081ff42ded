"""Scripted planners: they need no key, and their plans are made of tools that a lexicon knows.

What they propose is meant to bring tools up, not to be good advice. They keep to what they are
told: no tool that is missing, none with an attribute that is disliked. They think of nothing that
neither the problem nor a recorded answer brings up.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json, derive_seed
from benchmarks.core.plans import number_steps
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adaplanbench.macgyver.lexicon import named, uses
from benchmarks.systems.adaplanbench.macgyver.queries import read_problem
from benchmarks.systems.adaplanbench.macgyver.vocabulary import load_lexicon
from benchmarks.systems.adaplanbench.protocol import USER

VERSION = "2"
TOOLS_PER_PLAN = 2
# Ways of doing it that show an attribute by themselves, whatever the tools.
_DEEDS = (
    "Cut what is too long to size.",
    "Tie the ends together with a firm knot.",
    "Soak it for a while and rinse it.",
    "Let it stand overnight before you go on.",
    "Stack everything up until it is high enough.",
    "Bend it into shape.",
    "Scrub the place well.",
    "Tear it into strips.",
    "Poke a hole where it is needed.",
    "Heat it a little.",
    "Draw a line where it has to go.",
    "Sew the edges together.",
)
BY_HAND = ("Look closely at what there is to do.", "Do it by hand, a little at a time.")


class PlannerStyle(NamedTuple):
    """The way in which a planner finds plans: recorded answers first, and in which order it
    thinks of tools.

    ``offered``: those that the problem offers come first, else chance decides.
    """

    title: str
    recalls: bool = False
    offered: bool = True


MANNERS: Mapping[str, PlannerStyle] = {
    "recalling": PlannerStyle("Recalls answers", recalls=True),
    "handy": PlannerStyle("Takes what is at hand"),
    "roaming": PlannerStyle("Takes things in any order", offered=False),
}


def problem_number(task: Task) -> int | None:
    """Return the number that the text of a MacGyver problem may begin with."""
    return task.payload.get("riddle")


def offered_tools(task: Task) -> tuple[str, ...]:
    """Return the tools that the text of a problem offers."""
    return _offered(task.prompt, problem_number(task))


@lru_cache(maxsize=256)
def _offered(problem: str, number: int | None) -> tuple[str, ...]:
    return named(read_problem(problem, number).offers)


class ProblemScope(NamedTuple):
    """The subject of a problem and its recorded answers: no planner thinks of anything else."""

    tools: tuple[str, ...]
    attributes: frozenset[str]


def scope_of(task: Task) -> ProblemScope:
    """Return the tools that the problem offers or a recorded answer uses, and the attributes of
    both.
    """
    recorded = tuple(row["text"] for row in task.payload.get("plans", ()))
    return _concern(task.prompt, problem_number(task), recorded)


@lru_cache(maxsize=256)
def _concern(problem: str, number: int | None, recorded: tuple[str, ...]) -> ProblemScope:
    offered, known = _offered(problem, number), load_lexicon().tools
    used = [uses(text, offered) for text in (problem, *recorded)]
    tools = dict.fromkeys((*offered, *(name for plan in used[1:] for name in plan.tools)))
    shown = {name for plan in used for name in plan.attributes}
    shown |= {name for tool in tools for name in known[tool].attributes}
    return ProblemScope(tuple(tools), frozenset(shown))


class Restrictions(NamedTuple):
    """The tools and attributes that plans must not use, by the conditions told so far."""

    tools: frozenset[str]
    attributes: frozenset[str]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, str]]) -> "Restrictions":
        names: dict[str, set[str]] = {"tool": set(), "attribute": set()}
        for row in rows:
            kind, _, name = row["about"].partition(":")
            names.setdefault(kind, set()).add(name)
        return cls(frozenset(names["tool"]), frozenset(names["attribute"]))

    def allows_tool(self, name: str) -> bool:
        tool = load_lexicon().tools[name]
        missing = {name, tool.of} & self.tools
        return not missing and self.attributes.isdisjoint(tool.attributes)

    def allows(self, plan: str) -> bool:
        used = uses(plan)
        return self.tools.isdisjoint(used.tools) and self.attributes.isdisjoint(used.attributes)


def build_plan(tools: Sequence[str], deed: str) -> str:
    """Return a plan around some tools, in set phrases that a lexicon reads as using them."""
    if not tools:
        return number_steps((*BY_HAND, *([deed] if deed else []), "Check the result."))
    listed = " and ".join(f"the {name}" for name in tools)
    steps = [f"Fetch {listed}.", f"Do the main part of it with the {tools[0]}."]
    steps += [f"Use the {name} for what is left." for name in tools[1:]]
    return number_steps([*steps, *([deed] if deed else []), "Check the result."])


def _plans(task: Task, manner: PlannerStyle, order: Sequence[str], ask: Ask) -> list[str]:
    restrictions, count = Restrictions.of(ask.context["told"]), ask.context["count"]
    rng = random.Random(derive_seed(task.id, manner.title, ask.context["kind"]))
    plans: list[str] = []
    if manner.recalls:
        recorded = [row["text"] for row in task.payload.get("plans", ())]
        rng.shuffle(recorded)
        plans = [text for text in recorded if restrictions.allows(text)][:count]
    if ask.context["kind"] == USER:
        # What shows no attribute brings nothing up; the order among the others stays.
        order = sorted(order, key=lambda name: not load_lexicon().tools[name].attributes)
    tools = list(islice(filter(restrictions.allows_tool, order), count * TOOLS_PER_PLAN))
    shown = scope_of(task).attributes
    deeds = [
        deed
        for deed in rng.sample(_DEEDS, len(_DEEDS))
        if restrictions.allows(f"1. {deed}") and shown.issuperset(uses(f"1. {deed}").attributes)
    ]
    for place in range(count - len(plans)):
        mine = tools[place * TOOLS_PER_PLAN : (place + 1) * TOOLS_PER_PLAN]
        plans.append(build_plan(mine, deeds[place] if place < len(deeds) else ""))
    return plans


def _planner(name: str, manner: PlannerStyle) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        def rule(ask: Ask, seed: int) -> Answer:
            tools = list(scope_of(task).tools)
            if not manner.offered:
                random.Random(derive_seed("order", name, task.id)).shuffle(tools)
            plans = _plans(task, manner, tools, ask)
            share = round(1 / (len(plans) + 1), 2)
            rows = [{"plan": text, "probability": share} for text in plans]
            return Answer(canonical_json({"plans": rows}))

        return Scripted(name, VERSION, rule, {"manner": name})

    return build


PLANNERS: Mapping[str, ScriptedPolicy] = {
    policy.name: policy
    for name, manner in MANNERS.items()
    for policy in (
        ScriptedPolicy(f"{name}-first-planner", "agent", manner.title, VERSION,
                       _planner(name, manner), label="lexicon"),
        ScriptedPolicy(f"{name}-planner", "planner", manner.title, VERSION,
                       _planner(name, manner), label="lexicon"),
    )
}  # fmt: skip
