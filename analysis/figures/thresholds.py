"""Accuracy, and the order of the models, as the rubric threshold varies."""

from collections.abc import Mapping, Sequence

from analysis.figures.elements import (
    Panels,
    Trace,
    interval_lines,
    label,
    points,
    share_axis,
    undefined_marks,
)
from analysis.figures.theme import ACCENT, NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.comparison.thresholds import ThresholdCurve, ThresholdSweep
from analysis.stats.results import Estimate


def threshold_figure(
    sweep: ThresholdSweep,
    published: ThresholdSweep | None = None,
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """Accuracy by threshold with intervals, and the rank at each threshold, 1 on top.

    ``published`` curves are drawn with open marks and thin lines; ranks are those among the runs
    here, or among the published rows where there are no others.
    """
    curves = [(curve, False) for curve in sweep.curves]
    curves += [(curve, True) for curve in published.curves] if published else []
    looks = styles_for([curve.model for curve, _ in curves], styles)
    panels = Panels(2, 2, ["Accuracy", "Rank"])
    title = {"title": {"text": "rubric threshold τ"}}
    left = panels.axes(0, title, {**share_axis(), "range": [0, 1]})
    right = panels.axes(1, title, {"autorange": "reversed", "dtick": 1})
    traces: list[Trace] = []
    for curve, old in curves:
        traces += _accuracy(curve, looks[curve.model], old, left.x, left.y)
    ranked = sweep.curves or (published.curves if published else ())
    traces += [_rank(curve, looks[curve.model], right.x, right.y) for curve in ranked]
    reference = sweep.reference
    shapes = [
        {
            "type": "line",
            "xref": panel.x,
            "yref": f"{panel.y} domain",
            "x0": reference,
            "x1": reference,
            "y0": 0,
            "y1": 1,
            "line": {"color": NEUTRAL, "dash": "dash", "width": 1},
        }
        for panel in (left, right)
    ]
    return make_figure(traces, {**panels.layout, "shapes": shapes, "height": 460})


def _accuracy(curve: ThresholdCurve, look: Style, old: bool, x: str, y: str) -> list[Trace]:
    name = f"{curve.model} (published)" if old else curve.model
    places = [point.threshold for point in curve.points]
    estimates = [point.accuracy for point in curve.points]
    axes = {"xaxis": x, "yaxis": y, "legendgroup": label(name)}
    line = {"color": look.colour, "width": 1}
    return [
        interval_lines(places, estimates, "y", line=line, opacity=0.6, **axes),
        points(
            places,
            estimates,
            "y",
            unit="share",
            about=[f"{name}, τ = {place:g}" for place in places],
            mode="lines+markers",
            name=label(name),
            line={"color": look.colour, "dash": look.dash, "width": 1 if old else 2},
            marker={
                "color": look.colour,
                "symbol": look.open_symbol if old else look.symbol,
                "size": 8,
            },
            **axes,
        ),
    ]


def _rank(curve: ThresholdCurve, look: Style, x: str, y: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "cliponaxis": False,
        "name": label(curve.model),
        "legendgroup": label(curve.model),
        "showlegend": False,
        "x": [point.threshold for point in curve.points],
        "y": [point.rank for point in curve.points],
        "line": {"color": look.colour, "dash": look.dash, "width": 2},
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 8},
        "hovertext": [
            f"{label(curve.model)}, τ = {point.threshold:g}<br>rank {point.rank}"
            for point in curve.points
        ],
        "hoverinfo": "text",
        "xaxis": x,
        "yaxis": y,
    }


def stability_figure(points_at: Sequence[tuple[float, Estimate]], reference: float) -> Figure:
    """Agreement of the order at each threshold with that at the reference, with intervals."""
    places = [place for place, _ in points_at]
    estimates = [estimate for _, estimate in points_at]
    traces = [
        interval_lines(places, estimates, "y", line={"color": ACCENT, "width": 1.5}),
        points(
            places,
            estimates,
            "y",
            unit="points",
            about=[f"τ = {place:g}" for place in places],
            mode="lines+markers",
            showlegend=False,
            line={"color": ACCENT, "width": 2},
            marker={"color": ACCENT, "symbol": "circle", "size": 8},
        ),
    ]
    layout = {
        "xaxis": {"title": {"text": "rubric threshold τ"}},
        "yaxis": {
            "title": {"text": f"Kendall’s tau-b with τ = {reference:g}"},
            "range": [-1.02, 1.02],
        },
        "annotations": undefined_marks(places, estimates, 0, "y"),
        "height": 320,
    }
    return make_figure(traces, layout)
