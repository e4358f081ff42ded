"""How people take part in AdaPlanBench, and what was said as each role knows it."""

from collections.abc import Mapping, Sequence

from benchmarks.core.live import Dialogue, Line, Mode, Place, Story
from benchmarks.core.types import Json

_JUDGES = ("world_judge", "user_judge")
_OWN_WORDS = (
    "Scripted judges cannot read a plan in a person’s own words. Let a language model judge, or "
    "choose a mode in which a person does."
)

MODES = (
    Mode(
        "simulator",
        "User simulator",
        "Judges decide what a plan violates; the person puts it into words for the agent.",
        (Place("User", ("simulator",)),),
    ),
    Mode(
        "judge_and_simulator",
        "Judge and user simulator",
        "The person decides what a plan violates, and puts it into words for the agent.",
        (Place("User and judge", (*_JUDGES, "simulator")),),
        suggests=_JUDGES,
    ),
    Mode(
        "agent",
        "Agent",
        "The person plans, told what an agent is told.",
        (Place("Agent", ("agent",)),),
        advice=_OWN_WORDS,
    ),
    Mode(
        "judge",
        "Judge",
        "The person judges each plan: what it violates, and how good it is.",
        (Place("Judge", (*_JUDGES, "rubric_judge")),),
        suggests=_JUDGES,
        # One person has one opinion of a plan.
        settings={"rubric_judges": "1"},
    ),
    Mode(
        "two_people",
        "Two people",
        "One person plans, another one is the user and decides what a plan violates.",
        (Place("Agent", ("agent",)), Place("User", (*_JUDGES, "simulator"))),
        suggests=_JUDGES,
    ),
    Mode(
        "two_people_judged",
        "Two people, judged by a model",
        "One person plans, another one is the user; a language model decides what a plan violates.",
        (Place("Agent", ("agent",)), Place("User", ("simulator",))),
        advice=_OWN_WORDS,
    ),
)

_AGENT, _USER = "Agent", "User"


def _played(context: Json) -> list[Line]:
    """The query, and plan and feedback of every earlier turn."""
    lines = [Line(_USER, context["query"])]
    said = zip(context.get("plans", ()), context.get("feedback", ()), strict=False)
    for turn, (plan, feedback) in enumerate(said, 1):
        lines += [Line(_AGENT, plan, turn, plan=True), Line(_USER, feedback, turn)]
    return lines


def _with_newest(context: Json) -> list[Line]:
    """The same, with the plan that is talked of now. Judges know no earlier turn."""
    return [*_played(context), Line(_AGENT, context["plan"], context.get("turn", 1), plan=True)]


def _tell(query: str, turns: Sequence[tuple[str, str]], plan: str) -> list[Line]:
    """The query, plan and feedback of every turn, and the newest ``plan`` of a turn under way."""
    lines = [Line(_USER, query)]
    for turn, (proposed, feedback) in enumerate(turns, 1):
        lines.append(Line(_AGENT, proposed, turn, plan=True))
        if feedback:
            lines.append(Line(_USER, feedback, turn))
    if plan:
        lines.append(Line(_AGENT, plan, len(turns) + 1, plan=True))
    return lines


# Who plans and who is the user see all of it while they play; a judge knows the plan at hand alone.
STORY = Story(frozenset({"agent", "simulator"}), _tell)

DIALOGUES: Mapping[str, Dialogue] = {
    "plan": _played,
    "feedback": _with_newest,
    "violations": _with_newest,
    "scores": _with_newest,
}
