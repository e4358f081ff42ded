"""The limits of a search, and its result."""

from dataclasses import dataclass
from typing import Literal

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.grounding import MOST_OPERATORS, MOST_STEPS

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
    operators: int = MOST_OPERATORS
    steps: int = MOST_STEPS
    planner_seconds: int = 30
    planner_megabytes: int = 2_048

    def states(self, operators: int) -> int:
        """Return how many states a search with so many actions may look at."""
        return min(self.nodes, max(LEAST_STATES, self.work // max(1, operators)))


DEFAULTS = Limits()

# How a question was settled, for display and measurement.
Proof = Literal["state", "plan", "relaxation", "pairs", "search", "bound", "planner", ""]


@dataclass(frozen=True)
class SearchResult:
    """``solved`` with a plan, ``unsolvable`` with a proof, or given up after ``nodes`` states.

    ``plan`` is None where none is known, though there may be one. An external planner may find that
    there is a plan of which only the length is known to be within a bound.
    """

    outcome: Literal["solved", "unsolvable", "gave_up", "timed_out"]
    plan: tuple[Atom, ...] | None = None
    proof: Proof = ""
    nodes: int = 0

    @property
    def solved(self) -> bool | None:
        """Return whether there is a plan; None where nobody knows."""
        return {"solved": True, "unsolvable": False}.get(self.outcome)
