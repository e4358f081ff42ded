"""Scripted planners: they need no key, and their plans are made of tools that a lexicon knows.

What they propose is meant to bring tools up, not to be good advice. They keep to what they are
told: no tool that is missing, none with an attribute that is disliked.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.seeds import derive_seed
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adaplanbench.macgyver.lexicon import named, uses
from benchmarks.systems.adaplanbench.macgyver.queries import read_problem
from benchmarks.systems.adaplanbench.macgyver.vocabulary import load_lexicon
from benchmarks.systems.adaplanbench.plans import number_steps
from benchmarks.systems.adaplanbench.protocol import USER

VERSION = "1"
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


@dataclass(frozen=True)
class Manner:
    """How a planner finds plans: recorded answers first, and which tools it thinks of.

    ``offered``: those that the problem offers come first, else any that a home may have.
    """

    title: str
    recalls: bool = False
    offered: bool = True


MANNERS: Mapping[str, Manner] = {
    "recalling": Manner("Recalls answers", recalls=True),
    "handy": Manner("Takes what is at hand"),
    "roaming": Manner("Roams the house", offered=False),
}


def problem_number(task: Task) -> int | None:
    """The number that the text of a MacGyver problem may begin with."""
    return task.payload.get("riddle")


def offered_tools(task: Task) -> tuple[str, ...]:
    """The tools that the text of a problem offers."""
    return _offered(task.prompt, problem_number(task))


@lru_cache(maxsize=256)
def _offered(problem: str, number: int | None) -> tuple[str, ...]:
    return named(read_problem(problem, number).offers)


@cache
def _household() -> tuple[str, ...]:
    """Tools that a home may have, by name: no general words, nothing that lies about outdoors."""
    lexicon = load_lexicon()
    outdoors = lexicon.attributes["outdoor"].name
    return tuple(
        sorted(
            name
            for name, tool in lexicon.tools.items()
            if name not in lexicon.general and outdoors not in tool.attributes
        )
    )


@lru_cache(maxsize=256)
def _shuffled(name: str, task: str) -> tuple[str, ...]:
    """The household's tools in the order in which a planner thinks of them."""
    house = list(_household())
    random.Random(derive_seed("house", name, task)).shuffle(house)
    return tuple(house)


@dataclass(frozen=True)
class Told:
    """What a planner has to keep to."""

    tools: frozenset[str]
    attributes: frozenset[str]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, str]]) -> "Told":
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
        found = uses(plan)
        return self.tools.isdisjoint(found.tools) and self.attributes.isdisjoint(found.attributes)


def build_plan(tools: Sequence[str], deed: str) -> str:
    """A plan around some tools, in set phrases that a lexicon reads as using them."""
    if not tools:
        return number_steps((*BY_HAND, *([deed] if deed else []), "Check the result."))
    listed = " and ".join(f"the {name}" for name in tools)
    steps = [f"Fetch {listed}.", f"Do the main part of it with the {tools[0]}."]
    steps += [f"Use the {name} for what is left." for name in tools[1:]]
    return number_steps([*steps, *([deed] if deed else []), "Check the result."])


def _plans(task: Task, manner: Manner, order: Sequence[str], ask: Ask) -> list[str]:
    told, count = Told.of(ask.context["told"]), ask.context["count"]
    rng = random.Random(derive_seed(task.id, manner.title, ask.context["kind"]))
    found: list[str] = []
    if manner.recalls:
        recorded = [row["text"] for row in task.payload.get("plans", ())]
        rng.shuffle(recorded)
        found = [text for text in recorded if told.allows(text)][:count]
    if ask.context["kind"] == USER:
        # What shows no attribute brings nothing up; the order among the others stays.
        order = sorted(order, key=lambda name: not load_lexicon().tools[name].attributes)
    tools = list(islice(filter(told.allows_tool, order), count * TOOLS_PER_PLAN))
    deeds = [deed for deed in rng.sample(_DEEDS, len(_DEEDS)) if told.allows(f"1. {deed}")]
    for place in range(count - len(found)):
        mine = tools[place * TOOLS_PER_PLAN : (place + 1) * TOOLS_PER_PLAN]
        found.append(build_plan(mine, deeds[place] if place < len(deeds) else ""))
    return found


def _planner(name: str, manner: Manner) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        def rule(ask: Ask, seed: int) -> Answer:
            offered = offered_tools(task) if manner.offered else ()
            order = list(dict.fromkeys((*offered, *_shuffled(name, task.id))))
            plans = _plans(task, manner, order, ask)
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
