"""The columns of the page on thresholds."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.filters.selection import ChosenRun
from analysis.pages.declaration import ColumnOf, agent_of, count_of, estimate_of, text_of
from analysis.pages.links import Link
from analysis.pages.sweeps.rows import AgentInSets, StabilityResult, SweepsResult
from analysis.reports import addresses, run_marks
from analysis.reports.content import (
    Cell,
    Column,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.stats.comparison.thresholds import (
    RankOrder,
    StabilityPoint,
    ThresholdCurve,
    ThresholdPoint,
    ThresholdSweep,
)

NO_ORDER = "no two agents differ here or at the reference"


def accuracy_columns(result: SweepsResult) -> Sequence[ColumnOf[ThresholdCurve]]:
    """Give every agent its accuracy at every threshold."""
    sweep, runs = result.here, result.runs

    def cell(curve: ThresholdCurve, place: int) -> Cell:
        point = curve.points[place]
        shown = estimate_cell(point.accuracy, "share", show_n=place == 0)
        return replace(shown, url=_passing(runs[curve.model], sweep, point))

    return (agent_of(lambda curve: runs[curve.model]), *_by_threshold(sweep, cell))


def _passing(run: ChosenRun, sweep: ThresholdSweep, point: ThresholdPoint) -> str:
    """The trajectories behind a cell: those that passed, where the run had this threshold."""
    if run.settings.get("tau", sweep.reference) == point.threshold:
        return addresses.successes(run, point.accuracy)
    return addresses.trajectories_of(run)


def _by_threshold(
    sweep: ThresholdSweep, cell: Callable[[ThresholdCurve, int], Cell]
) -> list[ColumnOf[ThresholdCurve]]:
    return [
        ColumnOf(estimate_column(f"τ = {tau:g}"), lambda curve, place=place: cell(curve, place))  # type: ignore[misc]
        for place, tau in enumerate(sweep.thresholds)
    ]


def published_columns(result: SweepsResult) -> Sequence[ColumnOf[ThresholdCurve]]:
    """Give the paper's accuracy at every threshold."""
    assert result.published is not None
    badge = replace(run_marks.PUBLISHED_BADGE, why="Table 10; n inferred; level not stated")
    return (
        ColumnOf(text_column("Model"), lambda curve: text_cell(curve.model, badges=(badge,))),
        *_by_threshold(
            result.published,
            lambda curve, place: estimate_cell(
                curve.points[place].accuracy, "share", show_n=place == 0
            ),
        ),
    )


def order_columns(sweep: ThresholdSweep) -> Sequence[ColumnOf[RankOrder]]:
    """Give the order at each threshold, and how it agrees with that at the reference."""
    reference, itself = sweep.reference, "this is the reference"
    return (
        ColumnOf(
            text_column("Threshold"),
            lambda order: Cell(f"τ = {order.threshold:g}", (order.threshold,)),
        ),
        ColumnOf(
            words_column("Order, best first", "order"),
            lambda order: text_cell(", ".join(order.models) or "none"),
        ),
        ColumnOf(
            number_column(
                "Turned round", "reversed pairs", f"Pairs ordered oppositely to τ = {reference:g}"
            ),
            lambda order: (
                Cell(data=(None,), reason=itself)
                if order.threshold == reference
                else count_cell(order.reversed_pairs)
            ),
        ),
        count_of(
            "Pairs",
            lambda order: order.pairs,
            help="Pairs of agents that differ here and at the reference",
        ),
        ColumnOf(
            number_column(
                "Kendall’s tau-b", "kendall", "With the order at the reference, ties included"
            ),
            lambda order: (
                number_cell(None, "points", reason=itself)
                if order.threshold == reference
                else number_cell(order.kendall, "points", reason=NO_ORDER)
            ),
        ),
    )


def set_columns(_: SweepsResult) -> Sequence[ColumnOf[AgentInSets]]:
    """Give every agent its accuracy and rank by all dimensions, and by the main ones."""
    why = "accuracy is undefined"
    return (
        agent_of(lambda row: row.run),
        estimate_of(
            "All dimensions", lambda row: row.all.accuracy, "share", part="all", show_n=True
        ),
        ColumnOf(
            number_column("Rank", "rank all"), lambda row: count_cell(row.all.rank, reason=why)
        ),
        estimate_of(
            "Main dimensions", lambda row: row.main.accuracy, "share", part="main", show_n=True
        ),
        ColumnOf(
            number_column("Rank", "rank main"), lambda row: count_cell(row.main.rank, reason=why)
        ),
    )


def rank_columns(result: StabilityResult) -> Sequence[ColumnOf[str]]:
    """Give every agent its rank at every threshold, with its interval."""
    place = {model: number for number, model in enumerate(result.models)}
    runs = {run.label: run.pk for run in result.data.runs}

    def column(point: StabilityPoint) -> ColumnOf[str]:
        parts = tuple(f"τ = {point.threshold:g}{end}" for end in ("", " low", " high"))

        def cell(model: str) -> Cell:
            rank = point.ranks[place[model]]
            if rank.rank is None:
                return Cell(data=(None, None, None), reason=rank.undefined)
            spread = f"{rank.low} to {rank.high}" if rank.low is not None else ""
            data = (rank.rank, rank.low, rank.high)
            return Cell(str(rank.rank), data, sub=spread, tip=rank.undefined)

        return ColumnOf(
            Column(f"τ = {point.threshold:g}", parts),
            cell,
            lambda model: Link(runs=(runs[model],)),
        )

    return (
        text_of("Agent", lambda model: model),
        *(column(point) for point in result.found.points),
    )


def agreement_columns(_: StabilityResult) -> Sequence[ColumnOf[StabilityPoint]]:
    """Give the agreement of each order with the one at the reference."""
    return (
        ColumnOf(
            text_column("Threshold"),
            lambda point: Cell(f"τ = {point.threshold:g}", (point.threshold,)),
        ),
        estimate_of("Kendall’s tau-b", lambda point: point.kendall, "points", part="kendall"),
    )
