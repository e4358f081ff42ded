"""Faults in trajectories of ADAPT: missed preferences by type, dishes, and failed actions."""

from collections.abc import Iterable

from benchmarks.core.ports.faults import Fault, Faults
from benchmarks.core.types import Json
from benchmarks.systems.adapt.preferences import TYPES


def _in_turn(parts: Json) -> Iterable[str]:
    """Return whether an action failed."""
    if parts["ok"] is False:
        yield "action"


def _at_end(parts: Json) -> Iterable[str]:
    """Return the types of the preferences that are not met, and whether a dish is missing."""
    for preference in parts["preferences"] or ():
        if preference["value"] == "violated":
            yield preference["type"]
    if any(not dish["completed"] for dish in (parts["dishes"] or {}).values()):
        yield "dish"


FAULTS = Faults(
    kinds={
        **{
            key: Fault(
                f"{title} preference missed", f"miss a preference of the type {title.lower()}"
            )
            for key, title in TYPES.items()
        },
        "dish": Fault("Dish not made", "leave a dish unmade"),
        "action": Fault("Failed action", "try an action that fails"),
    },
    turn_parts=("ok",),
    in_turn=_in_turn,
    outcome_parts=("preferences", "dishes"),
    at_end=_at_end,
    answer="action",
)
