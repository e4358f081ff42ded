"""Trajectories side by side in the HTTP API: the plans of each turn, with what differs."""

from typing import Any, Literal

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from analysis.browser.comparison.address import MOST, ComparisonAddress
from analysis.browser.comparison.alignment import AlignedCell, portion
from analysis.browser.comparison.candidates import choose
from benchmarks.access import VIEW, allow, visibility
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import Id
from benchmarks.trajectories.diffs import DiffLine

router = Router(tags=["Trajectories"])


class ComparisonQuery(Schema):
    """The trajectories, and how their turns are aligned."""

    t: list[Id] = Field([], max_length=MOST, description="Ids of at least two trajectories.")
    base: Id | None = Field(
        None, description="The others are compared with it; the first if left out."
    )
    align: Literal["start", "end"] = Field("start", description="Which turns stand side by side.")
    first: int = Field(1, ge=1, lt=100_000, description="The position to begin at.")


class StepOut(Schema):
    """A step of one of two plans: what became of it."""

    op: Literal["same", "changed", "added", "removed"]
    number: int = Field(description="In its plan; of a removed step in the base's.")
    text: str
    before: str | None = Field(description="The base's words, where they changed.")


class CellOut(Schema):
    """A trajectory at one position; ``turn`` is null where it has none."""

    trajectory: int
    turn: int | None
    text: str = Field(description="The plan or message of the agent.")
    words: str = Field(description="What differs from the base, such as `2 steps kept, 3 new`.")
    steps: list[StepOut] | None = Field(description="Null for the base, and where it has no turn.")


class ComparisonOut(Schema):
    """Turns side by side; ``next`` is the position at which further ones begin."""

    base: int
    labels: dict[int, str] = Field(description="What tells the trajectories apart, by id.")
    same_task: bool
    positions: list[list[CellOut]]
    next: int | None


@router.get("/comparisons", response={200: ComparisonOut, **refusals(404)})
def compare_trajectories(request: HttpRequest, query: Query[ComparisonQuery]) -> dict[str, Any]:
    """Return trajectories turn by turn, with the steps in which plans differ from the base's."""
    allow(request, VIEW)
    if len(set(query.t)) < 2:
        raise ApiError(422, "Name two trajectories or more: t=1&t=2.", "t")
    address = ComparisonAddress(
        ids=tuple(dict.fromkeys(query.t)), base=query.base, align=query.align, first=query.first
    )
    chosen = choose(address, visibility(request))
    if chosen.missing or chosen.base is None:
        raise Http404
    shown = portion(chosen)
    return {
        "base": chosen.base.pk,
        "labels": {column.pk: column.label for column in chosen.columns},
        "same_task": chosen.same_task,
        "positions": [[_cell(cell) for cell in row.cells] for row in shown.rows],
        "next": shown.next,
    }


def _cell(cell: AlignedCell) -> dict[str, Any]:
    change = cell.against.change if cell.against is not None else None
    return {
        "trajectory": cell.column.pk,
        "turn": cell.turn.row.index if cell.turn is not None else None,
        "text": cell.turn.row.text if cell.turn is not None else "",
        "words": change.words if change is not None else "",
        "steps": [_step(line) for line in change.lines] if change is not None else None,
    }


def _step(line: DiffLine) -> dict[str, Any]:
    before, after = (
        "".join(part.text for part in line.parts if part.kind != other)
        for other in ("added", "removed")
    )
    gone = line.op == "removed"
    return {
        "op": line.op,
        "number": line.number,
        "text": before if gone else after,
        "before": before if line.op == "changed" else None,
    }
