"""The part of people in a trajectory: who answered in which turns, and what was suggested."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.asks.suggestion_selectors import suggestions_of
from benchmarks.calls.whole_log import whole_log
from benchmarks.models import Exchange, Trajectory
from benchmarks.models.role_assignments import all_assignments
from benchmarks.trajectories.exchanges import turn_steps


@dataclass(frozen=True)
class AnsweredSpan:
    """An answerer of a seat from turn ``first`` to turn ``last``.

    ``by`` names a script or endpoint; people are numbered in the order in which they came.
    """

    role: str
    seat: str
    kind: str
    by: str
    version: str
    first: int
    last: int


@dataclass(frozen=True)
class GivenSuggestion:
    """A suggestion of a script or model, with ``given``, the person's own answer.

    ``value`` is null if there was no readable suggestion; ``reason`` says why.
    """

    turn: int
    role: str
    seat: str
    kind: str
    by: str
    version: str
    value: Any
    given: Any
    reason: str


@dataclass(frozen=True)
class PeoplePart:
    """The answerers by role and seat in the order of turns, and all suggestions."""

    answered: list[AnsweredSpan]
    suggested: list[GivenSuggestion]


def people_part(trajectory: Trajectory) -> PeoplePart | None:
    """Return the part of people in a trajectory; None, without a query, if they had none."""
    assignments = all_assignments(trajectory.run.roles)
    if not trajectory.role_changes and not any(
        assignment["kind"] == "human" for assignment in assignments
    ):
        return None
    return PeoplePart(list(_answered(trajectory)), list(_suggested(trajectory)))


def _answered(trajectory: Trajectory) -> Iterator[AnsweredSpan]:
    starts = [steps.first for steps in turn_steps(trajectory)]
    rows = whole_log(trajectory).filter(state=Exchange.State.ANSWERED)
    people: dict[str, str] = {}
    seats: dict[tuple[str, str], list[AnsweredSpan]] = {}
    for row in (
        rows.select_related("answerer")
        .order_by("step", "slot", "attempt")
        .only("step", "role", "seat", "answerer__kind", "answerer__name", "answerer__version")
    ):
        who = row.answerer
        human = who.kind == "human"
        by = people.setdefault(who.name, f"person {len(people) + 1}") if human else who.name
        version = "" if human else who.version
        turn = max(1, sum(first <= row.step for first in starts))
        spans = seats.setdefault((row.role, row.seat), [])
        same = bool(spans) and (spans[-1].kind, spans[-1].by) == (who.kind, by)
        first = spans.pop().first if same else turn
        spans.append(AnsweredSpan(row.role, row.seat, who.kind, by, version, first, turn))
    for spans in seats.values():
        yield from spans


def _suggested(trajectory: Trajectory) -> Iterator[GivenSuggestion]:
    for view in suggestions_of(trajectory):
        row, who = view.row, view.row.answerer
        yield GivenSuggestion(
            view.turn, row.role, row.seat, who.kind, who.name, who.version, view.value, view.given,
            view.why_not,
        )  # fmt: skip
