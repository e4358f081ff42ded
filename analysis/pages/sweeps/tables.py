"""The tables of the page on thresholds."""

from collections.abc import Mapping
from dataclasses import replace

from analysis.filters.selection import ChosenRun
from analysis.reports import common
from analysis.reports.content import (
    Cell,
    Column,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_cell,
    number_column,
    text_cell,
    text_column,
    words_column,
)
from analysis.stats.comparison.ranks import reversed_pairs
from analysis.stats.comparison.thresholds import ThresholdPoint, ThresholdStability, ThresholdSweep

NO_ORDER = "no two agents differ here or at the reference"


def accuracy_table(sweep: ThresholdSweep, runs: Mapping[str, ChosenRun]) -> Table:
    """Accuracy of every agent at every threshold."""
    rows = tuple(
        (
            common.agent_cell(runs[curve.model]),
            *(
                replace(
                    estimate_cell(point.accuracy, "share", show_n=place == 0),
                    url=_link(runs[curve.model], sweep, point),
                )
                for place, point in enumerate(curve.points)
            ),
        )
        for curve in sweep.curves
    )
    columns = (
        Column("Agent", ("agent", "kind", "run"), num=False),
        *(estimate_column(f"τ = {tau:g}") for tau in sweep.thresholds),
    )
    note = "Share of last plans that are valid and pass, with 95 % Wilson intervals."
    return Table("accuracy", "Accuracy by threshold", columns, rows, note)


def _link(run: ChosenRun, sweep: ThresholdSweep, point: ThresholdPoint) -> str:
    """The trajectories behind a cell: those that passed, where the run had this threshold."""
    if run.settings.get("tau", sweep.reference) == point.threshold:
        return common.successes(run, point.accuracy)
    return common.trajectories_of(run)


def published_tables(sweep: ThresholdSweep) -> list[Table]:
    """The same two tables of the paper."""
    badge = replace(common.PUBLISHED_BADGE, why="Table 10; n inferred; level not stated")
    rows = tuple(
        (
            text_cell(curve.model, badges=(badge,)),
            *(
                estimate_cell(point.accuracy, "share", show_n=place == 0)
                for place, point in enumerate(curve.points)
            ),
        )
        for curve in sweep.curves
    )
    columns = (
        text_column("Model"),
        *(estimate_column(f"τ = {tau:g}") for tau in sweep.thresholds),
    )
    note = "Table 10 of the paper, not from runs here; Wilson intervals of the inferred n."
    return [
        Table("published", "Published: accuracy by threshold", columns, rows, note),
        orders_table(sweep, "published-orders", "Published: the order at each threshold"),
    ]


def orders_table(sweep: ThresholdSweep, name: str, title: str) -> Table:
    """The order at each threshold, and how it agrees with that at the reference."""
    rows = []
    for order in sweep.orders:
        is_reference = order.threshold == sweep.reference
        why = "this is the reference" if is_reference else NO_ORDER
        kendall = None if is_reference else order.kendall
        rows.append(
            (
                Cell(f"τ = {order.threshold:g}", (order.threshold,)),
                text_cell(", ".join(order.models) or "none"),
                Cell(data=(None,), reason=why)
                if is_reference
                else count_cell(order.reversed_pairs),
                count_cell(order.pairs),
                number_cell(kendall, "points", reason=why),
            )
        )
    columns = (
        text_column("Threshold"),
        words_column("Order, best first", "order"),
        number_column(
            "Turned round", "reversed pairs", f"Pairs ordered oppositely to τ = {sweep.reference:g}"
        ),
        number_column("Pairs", help="Pairs of agents that differ here and at the reference"),
        number_column(
            "Kendall’s tau-b", "kendall", "With the order at the reference, ties included"
        ),
    )
    note = "Agents that are equal stand beside each other in the order in which they were run."
    return Table(name, title, columns, tuple(rows), note)


def sets_table(by_set: Mapping[str, ThresholdSweep], runs: Mapping[str, ChosenRun]) -> list[Table]:
    """Accuracy at the reference with all dimensions counted and with the main ones alone."""
    if len(by_set) < 2:
        return []
    both = [by_set[name] for name in ("all", "main")]
    at = both[0].thresholds.index(both[0].reference)
    points = [{curve.model: curve.points[at] for curve in sweep.curves} for sweep in both]
    rows = tuple(
        (
            common.agent_cell(runs[model]),
            estimate_cell(points[0][model].accuracy, "share", show_n=True),
            count_cell(points[0][model].rank, reason="accuracy is undefined"),
            estimate_cell(points[1][model].accuracy, "share", show_n=True),
            count_cell(points[1][model].rank, reason="accuracy is undefined"),
        )
        for model in points[0]
    )
    turned, pairs = reversed_pairs(
        [point.accuracy.value for point in points[0].values()],
        [points[1][model].accuracy.value for model in points[0]],
    )
    columns = (
        Column("Agent", ("agent", "kind", "run"), num=False),
        estimate_column("All dimensions", "all"),
        number_column("Rank", "rank all"),
        estimate_column("Main dimensions", "main"),
        number_column("Rank", "rank main"),
    )
    note = (
        f"Accuracy at τ = {both[0].reference:g}. {turned} of {pairs} pairs of agents stand the "
        "other way round when the main dimensions alone count."
    )
    return [Table("sets", "Which dimensions count", columns, rows, note)]


def rank_table(found: ThresholdStability) -> Table:
    """Rank of every agent at every threshold, with its interval."""
    models = [rank.model for rank in found.points[0].ranks] if found.points else []
    rows = []
    for place, model in enumerate(models):
        cells = [text_cell(model)]
        for point in found.points:
            rank = point.ranks[place]
            if rank.rank is None:
                cells.append(Cell(data=(None, None, None), reason=rank.undefined))
                continue
            spread = f"{rank.low} to {rank.high}" if rank.low is not None else ""
            cells.append(
                Cell(str(rank.rank), (rank.rank, rank.low, rank.high), sub=spread,
                     tip=rank.undefined)
            )  # fmt: skip
        rows.append(tuple(cells))
    columns = (
        text_column("Agent"),
        *(
            Column(
                f"τ = {point.threshold:g}",
                tuple(f"τ = {point.threshold:g}{end}" for end in ("", " low", " high")),
            )
            for point in found.points
        ),
    )
    note = "Rank, 1 for the highest accuracy, and its 95 % interval when tasks are drawn anew."
    return Table("ranks", "Ranks by threshold", columns, tuple(rows), note)


def agreement_table(found: ThresholdStability) -> Table:
    """Kendall's tau-b of each order with the one at the reference."""
    rows = tuple(
        (
            Cell(f"τ = {point.threshold:g}", (point.threshold,)),
            estimate_cell(point.kendall, "points"),
        )
        for point in found.points
    )
    columns = (text_column("Threshold"), estimate_column("Kendall’s tau-b", "kendall"))
    note = f"With the order at τ = {found.reference:g}; n counts agents."
    return Table("agreement", "Agreement of orders", columns, rows, note)
