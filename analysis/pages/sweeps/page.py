"""The threshold page shows how the order of agents changes with the rubric threshold."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from analysis.figures.layout.theme import Figure
from analysis.figures.thresholds import stability_figure, threshold_figure
from analysis.filters.runs import is_judged
from analysis.filters.selection import ChosenRun, Selection
from analysis.kit.links import Link
from analysis.pages.declaration import (
    ColumnOf,
    DeclaredPage,
    DeferredPart,
    FigureOf,
    NothingToShow,
    TableOf,
    UrlOf,
    agent_of,
    count_of,
    estimate_of,
    text_of,
)
from analysis.pages.empty import why_no_runs
from analysis.pages.sweeps.rows import (
    AgentInSets,
    StabilityResult,
    SweepsData,
    SweepsResult,
    compute,
    compute_stability,
    read_plans,
)
from analysis.reports import addresses, figure_specs, run_marks
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
    """Return the trajectories behind a cell: those that passed, where the run had this
    threshold.
    """
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
                "Swapped", "reversed pairs", f"Pairs ordered oppositely to τ = {reference:g}"
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


def load(selection: Selection) -> SweepsData | NothingToShow:
    """Load the last plans with the scores of their judges."""
    if not selection.runs or not is_judged(selection.system):
        return why_no_runs(selection)
    return read_plans(selection)


def draw_sweep(result: SweepsResult, url: UrlOf) -> Figure:
    """Draw the accuracy of each agent at every threshold."""
    curves = result.here.curves
    urls = {one.model: url(Link(runs=(result.runs[one.model].pk,))) for one in curves}
    return threshold_figure(result.here, figure_specs.styles([one.model for one in curves]), urls)


def draw_published(result: SweepsResult, _: UrlOf) -> Figure | None:
    """Draw the published accuracies at every threshold."""
    if result.published is None:
        return None
    looks = figure_specs.styles([curve.model for curve in result.published.curves])
    return threshold_figure(result.published, looks, published=True)


def draw_stability(result: StabilityResult, url: UrlOf) -> Figure:
    """Draw how each order agrees with the one at the reference."""
    points = [(point.threshold, point.kendall) for point in result.found.points]
    return stability_figure(points, result.found.reference, url(Link()))


CONTENT = DeclaredPage(
    load=load,
    compute=compute,
    answers=lambda result: bool(result.ordered),
    figure=FigureOf(
        "sweep", "Accuracy by threshold, an agent in each panel", draw_sweep, table="accuracy"
    ),
    table=TableOf(
        "accuracy",
        "Accuracy by threshold",
        rows=lambda result: result.here.curves,
        columns=accuracy_columns,
    ),
    folded=(
        TableOf(
            "orders",
            "The order at each threshold",
            rows=lambda result: result.here.orders,
            columns=lambda result: order_columns(result.here),
        ),
        TableOf(
            "sets",
            "Which dimensions count",
            rows=lambda result: result.both_sets,
            columns=set_columns,
            link=lambda row: Link(runs=(row.run.pk,)),
        ),
        FigureOf("published", "Published: accuracy by threshold", draw_published),
        TableOf(
            "published",
            "Published: accuracy by threshold",
            rows=lambda result: result.published.curves if result.published is not None else (),
            columns=published_columns,
            link=lambda _: None,
        ),
        TableOf(
            "published-orders",
            "Published: the order at each threshold",
            rows=lambda result: result.published.orders if result.published is not None else (),
            columns=lambda result: order_columns(result.published or result.here),
            link=lambda _: None,
        ),
    ),
    deferred=DeferredPart(
        compute_stability,
        (
            FigureOf(
                "stability",
                lambda result: (
                    f"Agreement of each order with that at τ = {result.found.reference:g}"
                ),
                draw_stability,
                table="agreement",
            ),
            TableOf(
                "ranks",
                "Ranks by threshold",
                rows=lambda result: result.models,
                columns=rank_columns,
            ),
            TableOf(
                "agreement",
                "Agreement of orders",
                rows=lambda result: result.found.points,
                columns=agreement_columns,
            ),
        ),
    ),
)
