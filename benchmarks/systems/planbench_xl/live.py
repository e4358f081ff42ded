"""How people take part in PlanBench-XL: in the agent's place, the only role that it has."""

from benchmarks.core.live import Mode, Place

MODES = (
    Mode(
        "agent",
        "Agent",
        "The person answers a question by searching for tools and calling them.",
        (Place("Agent", ("agent",)),),
    ),
)
