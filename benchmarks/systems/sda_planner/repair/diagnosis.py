"""Error backtrack and diagnosis (section 4.3 of the paper): what a failed step needed, and since
when it was missing. Steps count from 1, as in the paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.systems.sda_planner.repair.graph import (
    HOLD,
    POS,
    Belief,
    Graph,
    GroundedNeed,
    Key,
    Value,
    last_place,
    show_value,
)
from benchmarks.systems.sda_planner.steps import PUT, Step

ENVIRONMENT, PRECONDITION = "environment", "precondition"


@dataclass(frozen=True)
class Diagnosis:
    """The reason why a step failed, and the window of the plan that is to be made anew.

    ``kind`` is ``environment`` where all that the graph asks for is believed to hold. ``breaks``
    are the steps after which the needed value was lost (the paper's set Λ); ``items`` are those
    that the error concerns (O). ``insert`` is the preparation that repairs it without a search.
    """

    kind: str
    t_error: int
    wanted: GroundedNeed | None = None
    breaks: tuple[int, ...] = ()
    t_source: int = 0
    t_start: int = 0
    t_end: int = 0
    items: frozenset[str] = frozenset()
    insert: Step | None = None

    @property
    def needs_place(self) -> bool:
        """Return whether something must be put somewhere, and nothing says where."""
        return self.t_start == self.t_error == self.t_end and self.insert is None and bool(
            self.wanted and self.wanted.key[0] == POS
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis as it is stored."""
        wanted = self.wanted
        return {
            "kind": self.kind, "t_error": self.t_error, "t_source": self.t_source,
            "t_start": self.t_start, "t_end": self.t_end, "breaks": list(self.breaks),
            "items": sorted(self.items), "insert": self.insert.to_json() if self.insert else None,
            "state": list(wanted.key) if wanted else None,
            "needed": wanted.needed if wanted else "",
            "actual": show_value(wanted.actual) if wanted else "",
        }  # fmt: skip


def diagnose(
    graph: Graph, plan: Sequence[Step], t_error: int, beliefs: Sequence[Belief]
) -> Diagnosis:
    """Return why step ``t_error`` of a grounded plan failed.

    ``beliefs[t]`` is the belief after step t, ``beliefs[0]`` the one before the plan;
    ``t_error`` of them at least are given.
    """
    failed, belief = plan[t_error - 1], beliefs[t_error - 1]
    wanted = next(belief.wanted(graph, failed), None)
    if wanted is None:
        return Diagnosis(ENVIRONMENT, t_error)
    skill = graph.prepared_by(wanted.key[0])
    if skill:
        insert = _preparation(skill, plan, t_error, wanted, belief)
        return Diagnosis(
            PRECONDITION, t_error, wanted, (), t_error, t_error, t_error,
            frozenset({failed.item}), insert,
        )  # fmt: skip
    held = [beliefs[t].get(wanted.key) for t in range(t_error)]
    fits = [wanted.fits(value, belief.things) for value in held]
    breaks = tuple(t for t in range(1, t_error) if fits[t - 1] and not fits[t])
    t_source = max(breaks, default=1)
    t_start = t_source
    while t_start > 1 and plan[t_start - 2].skill in graph.preparations:
        t_start -= 1
    items = frozenset({failed.item} | concerned(wanted, belief))
    t_end = t_error
    while t_end < len(plan) and plan[t_end].item in items:
        t_end += 1
    return Diagnosis(PRECONDITION, t_error, wanted, breaks, t_source, t_start, t_end, items)


def _preparation(
    skill: str, plan: Sequence[Step], t_error: int, wanted: GroundedNeed, belief: Belief
) -> Step | None:
    """Return the preparation that a step lacks; a put-down goes where the plan meant it to."""
    failed = plan[t_error - 1]
    if wanted.value is None and failed.skill == PUT:
        place = last_place(plan[: t_error - 1], failed.type)
        return Step(skill, place.type, place.id) if place else None
    value = str(wanted.value)
    return Step(skill, belief.things.type_of(value) or failed.type, value)


def concerned(wanted: GroundedNeed, belief: Belief) -> set[str]:
    """Return the things that an unmet state names: its subject, and its values that are things."""
    state, subject = wanted.key
    ids = {subject} if subject else set()
    values: tuple[Value, ...] = (wanted.value, wanted.actual) if state == HOLD else ()
    ids |= {v for v in values if isinstance(v, str) and belief.things.type_of(v)}
    return ids


def timeline(key: Key, beliefs: Sequence[Belief]) -> list[str]:
    """Return the value of a state before the plan and after each of its steps, for pages."""
    return [show_value(belief.get(key)) for belief in beliefs]
