"""Spread between judges per dimension, and each judge's severity."""

from collections.abc import Mapping
from typing import Any

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    Panels,
    Trace,
    categories,
    describe,
    interval_lines,
    label,
    number,
    points,
    room_for,
    rows_height,
    undefined_marks,
)
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure, make_figure
from analysis.stats.judges.dispersion import Dispersion


def dispersion_bars(
    result: Dispersion,
    reference: float | None = None,
    links: Mapping[tuple[str, str], str] | None = None,
    wholes: Mapping[str, str] | None = None,
) -> Figure:
    """Draw a bar per dimension (mean over models) with its interval, and every model's own value on
    it.

    ``reference`` draws a line, such as the 0.30 under which all published bars stay. A diamond
    in a bar is what noise alone would show, where that is known. ``links`` are the addresses of
    models' marks by (model, dimension), ``wholes`` those of bars by dimension.
    """
    names = [label(spread.dimension) for spread in result.dimensions]
    means = [spread.mean_sd for spread in result.dimensions]
    # All models have one look: with many of them on a line hues would tell nobody apart.
    single = [
        (name, model, spread.dimension)
        for name, spread in zip(names, result.dimensions, strict=True)
        for model in spread.models
    ]
    traces: list[Trace] = [
        {
            "type": "bar",
            "name": "mean over agents",
            "orientation": "h",
            "x": [mean.value for mean in means],
            "y": names,
            "marker": {"color": NEUTRAL, "opacity": 0.4},
            "customdata": [(wholes or {}).get(one.dimension) for one in result.dimensions],
            "hovertext": [
                describe(spread.dimension, spread.mean_sd, "points") for spread in result.dimensions
            ],
            "hoverinfo": "text",
        },
        points(
            [name for name, _, _ in single],
            [model.sd for _, model, _ in single],
            "x",
            unit="points",
            about=[f"{model.model}, {title}" for _, model, title in single],
            urls=[(links or {}).get((model.model, title)) for _, model, title in single],
            name="single agents",
            marker={"color": NEUTRAL, "symbol": "line-ns-open", "size": 9, "opacity": 0.7},
        ),
        interval_lines(names, means, "x", line={"color": ACCENT, "width": 2.5}),
    ]
    if any(spread.floor.value is not None for spread in result.dimensions):
        traces.append(
            points(
                names,
                [spread.floor for spread in result.dimensions],
                "x",
                unit="points",
                about=[f"noise alone, {spread.dimension}" for spread in result.dimensions],
                name="noise alone",
                marker={"color": NEUTRAL, "symbol": "diamond", "size": 10},
            )
        )
    layout: dict[str, Any] = {
        "xaxis": {
            "rangemode": "tozero",
            "showgrid": True,
            "title": {"text": "standard deviation between judges (points)"},
        },
        "yaxis": categories(names, downwards=True),
        "bargap": 0.4,
        "annotations": undefined_marks(names, means, 0, "x", xanchor="left"),
        "height": AROUND_ROWS + rows_height(names),
    }
    if reference is not None:
        layout["shapes"] = [_line(reference)]
        traces.append(_line_in_legend(reference))
    return make_figure(traces, layout)


def severity_dots(result: Dispersion) -> Figure:
    """Draw one panel per judge: how much higher it scores than all judges together, per
    dimension.
    """
    dimensions = list(dict.fromkeys(row.dimension for row in result.severity))
    names = [label(dimension) for dimension in dimensions]
    panels = Panels(len(result.judges), 4, result.judges)
    span = room_for([row.bias for row in result.severity])
    across = {"range": span, "zeroline": True, "showgrid": True}
    traces: list[Trace] = []
    for i, judge in enumerate(result.judges):
        y = {**categories(names, downwards=True), "showticklabels": i % 4 == 0}
        panel = panels.axes(i, {**across, "title": {"text": "points"}}, y)
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        biases = [row.bias for row in result.severity if row.judge == judge]
        traces += [
            interval_lines(names, biases, "x", line={"color": ACCENT}, **axes),
            points(
                names,
                biases,
                "x",
                unit="points",
                about=[f"{judge}, {dimension}" for dimension in dimensions],
                name=label(judge),
                showlegend=False,
                marker={"color": ACCENT, "symbol": "circle", "size": 8},
                **axes,
            ),
        ]
        panels.layout["annotations"] += undefined_marks(
            names, biases, 0, "x", xref=panel.x, yref=panel.y
        )
    rows = max(1, -(-len(result.judges) // 4))
    return make_figure(
        traces, {**panels.layout, "height": rows * (AROUND_ROWS + rows_height(names))}
    )


def _line(value: float) -> dict[str, object]:
    return {
        "type": "line",
        "yref": "paper",
        "x0": value,
        "x1": value,
        "y0": 0,
        "y1": 1,
        "line": {"color": NEUTRAL, "dash": "dash", "width": 1},
    }


def _line_in_legend(value: float) -> Trace:
    """Return the legend's entry of the line; a note beside the line would meet the legend."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"published: below {number(value, 'points')}",
        "x": [None],
        "y": [None],
        "line": {"color": NEUTRAL, "dash": "dash", "width": 1},
        "hoverinfo": "skip",
    }
