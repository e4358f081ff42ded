"""How much work a validator may do before it gives up."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds that are counted, so that a verdict does not depend on the machine.

    ``nodes`` bounds the states of one search, ``operators`` the ground actions of a problem,
    ``steps`` the work of grounding it. An external planner, which is asked only where the search
    gave up, has ``planner_seconds`` of CPU and ``planner_megabytes`` of memory.
    """

    nodes: int = 50_000
    operators: int = 30_000
    steps: int = 3_000_000
    planner_seconds: int = 30
    planner_megabytes: int = 2_048


DEFAULTS = Limits()
