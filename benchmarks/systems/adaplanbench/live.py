"""How people take part in AdaPlanBench."""

from benchmarks.core.live import Mode, Place

_JUDGES = ("world_judge", "user_judge")

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
    ),
    Mode(
        "judge",
        "Judge",
        "The person judges each plan: what it violates, and how good it is.",
        (Place("Judge", (*_JUDGES, "rubric_judge")),),
        suggests=_JUDGES,
    ),
    Mode(
        "two_people",
        "Two people",
        "One person plans, another one is the user.",
        (Place("Agent", ("agent",)), Place("User", ("simulator",))),
    ),
)
