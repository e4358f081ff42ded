"""How much work a validator may do before it gives up."""

from dataclasses import dataclass

# However large the problem, a search looks at this many states, unless ``nodes`` is smaller.
LEAST_STATES = 200


@dataclass(frozen=True)
class Limits:
    """Bounds that are counted, so that a verdict does not depend on the machine.

    ``nodes`` bounds the states of one search, and ``work`` the product of its states and actions,
    so that a large problem is not searched for hours. ``operators`` bounds the ground actions of a
    problem, ``steps`` the work of grounding it. An external planner, which is asked only where the
    search gave up, has ``planner_seconds`` of CPU and ``planner_megabytes`` of memory.
    """

    nodes: int = 200_000
    work: int = 40_000_000
    operators: int = 30_000
    steps: int = 3_000_000
    planner_seconds: int = 30
    planner_megabytes: int = 2_048

    def states(self, operators: int) -> int:
        """Return how many states a search with so many actions may look at."""
        return min(self.nodes, max(LEAST_STATES, self.work // max(1, operators)))


DEFAULTS = Limits()
