"""Faults in trajectories of SDA-Planner: why steps failed, and goal conditions not met."""

from collections.abc import Iterable

from benchmarks.core.ports.faults import Fault, Faults
from benchmarks.core.types import Json


def _in_turn(parts: Json) -> Iterable[str]:
    """Return what the failed step of a turn needed and did not find."""
    error = parts["error"]
    if not error:
        return
    if error.get("injected"):
        yield "injected"
        return
    state = str(error.get("failed") or "")
    yield {"agent.pos": "place", "agent.hold": "hand"}.get(
        state, "thing" if state.startswith("item.") else "other"
    )


def _at_end(parts: Json) -> Iterable[str]:
    """Return whether a plan that could be carried out misses a goal condition."""
    if parts["failure_category"] == "incomplete_plan":
        yield "incomplete"


FAULTS = Faults(
    kinds={
        "place": Fault("Step at the wrong place", "fail at a step at the wrong place"),
        "hand": Fault(
            "Step with the wrong thing in hand", "fail at a step with the wrong thing in hand"
        ),
        "thing": Fault(
            "Step on a thing in the wrong state",
            "fail at a step on a thing in the wrong state",
            "Such as one that is closed, switched off or not cut.",
        ),
        "other": Fault("Other failed step", "fail at another step"),
        "injected": Fault("Injected error", "meet an injected error"),
        "incomplete": Fault(
            "Goal missed without a failed step", "miss the goal without a failed step"
        ),
    },
    turn_parts=("error",),
    in_turn=_in_turn,
    outcome_parts=("failure_category",),
    at_end=_at_end,
)
