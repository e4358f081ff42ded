"""Faults in trajectories of ADAPT, and whether agents keep the preferences that they were told."""

from collections.abc import Iterable, Iterator, Sequence

from benchmarks.core.ports.disclosures import Disclosure, Disclosures, TurnRecord
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

_BROKEN_BEFORE = "violated already when it was told"


def _disclosed(turns: Sequence[TurnRecord]) -> Iterator[Disclosure]:
    """Return the preferences that answers told, and the first later action that violates each."""
    told: dict[str, Disclosure] = {}
    verdicts: dict[str, str] = {}
    for turn in turns:
        changed = turn.parts["prefs"] or {}
        verdicts |= changed
        for key, verdict in changed.items():
            known = told.get(key)
            if verdict == "violated" and known is not None and known.broken is None:
                told[key] = known._replace(broken=turn.number)
        for key in turn.parts["disclosed"] or ():
            reason = _BROKEN_BEFORE if verdicts.get(key) == "violated" else ""
            told.setdefault(key, Disclosure(key, "", turn.number, left_out=reason))
    yield from told.values()


DISCLOSURES = Disclosures(
    noun="preference",
    verb="told",
    broken="violated",
    turn="action",
    read=_disclosed,
    turn_parts=("disclosed", "prefs"),
)
