"""What a search came to."""

from dataclasses import dataclass
from typing import Literal

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom

# How a question was settled, for display and measurement.
Proof = Literal["state", "plan", "relaxation", "pairs", "search", "bound", "planner", ""]


@dataclass(frozen=True)
class Result:
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
        """Whether there is a plan; None where nobody knows."""
        return {"solved": True, "unsolvable": False}.get(self.outcome)
