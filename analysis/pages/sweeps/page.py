"""Whether the order of the agents depends on the rubric threshold, beside the paper's sweep."""

from analysis.figures.theme import Figure
from analysis.figures.thresholds import stability_figure, threshold_figure
from analysis.filters.runs import is_judged
from analysis.filters.selection import Selection
from analysis.pages.declaration import (
    DeclaredPage,
    FigureOf,
    LaterOf,
    NothingToShow,
    TableOf,
    UrlOf,
)
from analysis.pages.empty import why_no_runs
from analysis.pages.links import Link
from analysis.pages.sweeps.rows import (
    StabilityResult,
    SweepsData,
    SweepsResult,
    compute,
    compute_stability,
    read_plans,
)
from analysis.pages.sweeps.tables import (
    accuracy_columns,
    agreement_columns,
    order_columns,
    published_columns,
    rank_columns,
    set_columns,
)
from analysis.reports import figure_specs


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
    later=LaterOf(
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
