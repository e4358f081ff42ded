"""How people take part in AdaPlanBench, and what was said as each role knows it."""

from collections.abc import Mapping

from benchmarks.core.live import Dialogue, Line, Mode, Place
from benchmarks.core.types import Json

_JUDGES = ("world_judge", "user_judge")
_OWN_WORDS = (
    "Of a plan in a person’s own words a scripted judge finds only what is named there as the "
    "condition names it, and it scores nothing. Let a language model judge."
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
        "One person plans, another one is the user.",
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


DIALOGUES: Mapping[str, Dialogue] = {
    "plan": _played,
    "feedback": _with_newest,
    "violations": _with_newest,
    "scores": _with_newest,
}
