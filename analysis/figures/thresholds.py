"""Accuracy, and the order of the models, as the rubric threshold varies."""

from collections.abc import Mapping, Sequence

from analysis.figures.layout.elements import (
    Panels,
    Trace,
    interval_lines,
    points,
    share_axis,
    undefined_marks,
)
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.comparison.thresholds import ThresholdCurve, ThresholdSweep
from analysis.stats.results import Estimate

# Panels side by side; the height of one, and of all together as far as they are not too low.
COLUMNS = 5
LOWEST, LOW = 84, 180
GAP = 62


def threshold_figure(
    sweep: ThresholdSweep,
    styles: Mapping[str, Style] | None = None,
    urls: Mapping[str, str] | None = None,
    *,
    published: bool = False,
) -> Figure:
    """Draw accuracy by threshold with intervals, a model in each panel and the others behind it
    in grey.

    ``urls`` are the addresses that the points of a model lead to. ``published`` rows have open
    marks. A dashed line stands at the reference.
    """
    curves = sweep.curves
    looks = styles_for([curve.model for curve in curves], styles)
    columns = min(COLUMNS, len(curves))
    rows = max(1, -(-len(curves) // max(1, columns)))
    height = max(LOW, rows * LOWEST + (rows - 1) * GAP)
    panels = Panels(
        len(curves),
        columns,
        [curve.model for curve in curves],
        gap_x=0.025,
        gap_y=GAP / max(1, height),
    )
    traces: list[Trace] = []
    shapes = []
    for i, curve in enumerate(curves):
        x = {"title": {"text": "Threshold τ", "standoff": 6}, "dtick": 1, "range": [1.85, 5.15]}
        y = {**share_axis("Accuracy" if i % columns == 0 else ""), "range": [0, 1.02]}
        panel = panels.axes(i, x, {**y, "showticklabels": i % columns == 0})
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        traces += [_behind(other, axes) for other in curves if other is not curve]
        url = (urls or {}).get(curve.model, "")
        traces += _accuracy(curve, looks[curve.model], url, published, axes)
        shapes.append(
            {
                "type": "line",
                "xref": panel.x,
                "yref": f"{panel.y} domain",
                "x0": sweep.reference,
                "x1": sweep.reference,
                "y0": 0,
                "y1": 1,
                "line": {"color": NEUTRAL, "dash": "dash", "width": 1},
            }
        )
    return make_figure(traces, {**panels.layout, "shapes": shapes, "height": height + 90})


def _behind(curve: ThresholdCurve, axes: Mapping[str, str]) -> Trace:
    """Return a model that is not the panel's own."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [point.threshold for point in curve.points],
        "y": [point.accuracy.value for point in curve.points],
        "line": {"color": "var(--line-strong)", "width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
        **axes,
    }


def _accuracy(
    curve: ThresholdCurve, look: Style, url: str, published: bool, axes: Mapping[str, str]
) -> list[Trace]:
    places = [point.threshold for point in curve.points]
    estimates = [point.accuracy for point in curve.points]
    ranks = [
        f"{curve.model}, τ = {point.threshold:g}" + (f", rank {point.rank}" if point.rank else "")
        for point in curve.points
    ]
    return [
        interval_lines(places, estimates, "y", line={"color": look.colour, "width": 1}, **axes),
        points(
            places,
            estimates,
            "y",
            unit="share",
            about=ranks,
            urls=[url] * len(places) if url else None,
            mode="lines+markers",
            showlegend=False,
            line={"color": look.colour, "width": 2},
            marker={
                "color": look.colour,
                "symbol": look.open_symbol if published else look.symbol,
                "size": 7,
            },
            **axes,
        ),
    ]


def stability_figure(
    points_at: Sequence[tuple[float, Estimate]], reference: float, url: str = ""
) -> Figure:
    """Draw agreement of the order at each threshold with that at the reference, with intervals.

    Every point leads to ``url``, if that is given.
    """
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
            urls=[url] * len(places) if url else None,
            mode="lines+markers",
            showlegend=False,
            line={"color": ACCENT, "width": 2},
            marker={"color": ACCENT, "symbol": "circle", "size": 8},
        ),
    ]
    layout = {
        "xaxis": {"title": {"text": "Rubric threshold τ"}},
        "yaxis": {
            "title": {"text": f"Kendall’s tau-b with τ = {reference:g}"},
            "range": [-1.02, 1.02],
        },
        "annotations": undefined_marks(places, estimates, 0, "y"),
        "height": 280,
    }
    return make_figure(traces, layout)
