"""Spread between judges per dimension, and each judge's severity."""

from collections.abc import Mapping
from typing import Any

from analysis.figures.elements import (
    Panels,
    Trace,
    categories,
    describe,
    interval_lines,
    label,
    number,
    points,
    undefined_marks,
)
from analysis.figures.theme import NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.judges.dispersion import Dispersion


def dispersion_bars(
    result: Dispersion,
    reference: float | None = None,
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """A bar per dimension (mean over models) with its interval, and every model's own value on it.

    ``reference`` draws a line, such as the 0.30 under which all published bars stay.
    """
    names = [label(spread.dimension) for spread in result.dimensions]
    looks = styles_for(result.models, styles)
    means = [spread.mean_sd for spread in result.dimensions]
    traces: list[Trace] = [
        {
            "type": "bar",
            "name": "mean over models",
            "orientation": "h",
            "x": [mean.value for mean in means],
            "y": names,
            "marker": {"color": NEUTRAL, "opacity": 0.5},
            "hovertext": [
                describe(spread.dimension, spread.mean_sd, "points") for spread in result.dimensions
            ],
            "hoverinfo": "text",
        },
        interval_lines(names, means, "x", line={"color": NEUTRAL}),
    ]
    for i, model in enumerate(result.models):
        spreads = [spread.models[i].sd for spread in result.dimensions]
        look = looks[model]
        traces.append(
            points(
                names,
                spreads,
                "x",
                unit="points",
                about=[f"{model}, {spread.dimension}" for spread in result.dimensions],
                name=label(model),
                marker={"color": look.colour, "symbol": look.symbol, "size": 7},
            )
        )
    layout: dict[str, Any] = {
        "xaxis": {
            "rangemode": "tozero",
            "showgrid": True,
            "title": {"text": "SD between judges (points)"},
        },
        "yaxis": categories(names, downwards=True),
        "annotations": undefined_marks(names, means, 0, "x", xanchor="left"),
        "height": 180 + 34 * len(names),
    }
    if reference is not None:
        layout["shapes"] = [_line(reference)]
        layout["annotations"] += [_note(reference)]
    return make_figure(traces, layout)


def severity_dots(result: Dispersion, styles: Mapping[str, Style] | None = None) -> Figure:
    """One panel per judge: how much higher it scores than all judges together, per dimension."""
    dimensions = list(dict.fromkeys(row.dimension for row in result.severity))
    names = [label(dimension) for dimension in dimensions]
    looks = styles_for(result.judges, styles)
    panels = Panels(len(result.judges), 4, result.judges)
    traces: list[Trace] = []
    for i, judge in enumerate(result.judges):
        y = {**categories(names, downwards=True), "showticklabels": i % 4 == 0}
        panel = panels.axes(i, {"zeroline": True, "showgrid": True}, y)
        if i:
            panels.layout[panel.x_layout]["matches"] = "x"
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        look = looks[judge]
        biases = [row.bias for row in result.severity if row.judge == judge]
        traces += [
            interval_lines(names, biases, "x", line={"color": look.colour}, **axes),
            points(
                names,
                biases,
                "x",
                unit="points",
                about=[f"{judge}, {dimension}" for dimension in dimensions],
                name=label(judge),
                showlegend=False,
                marker={"color": look.colour, "symbol": look.symbol, "size": 8},
                **axes,
            ),
        ]
        panels.layout["annotations"] += undefined_marks(
            names, biases, 0, "x", xref=panel.x, yref=panel.y
        )
    rows = max(1, -(-len(result.judges) // 4))
    return make_figure(traces, {**panels.layout, "height": rows * (110 + 26 * len(names))})


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


def _note(value: float) -> dict[str, object]:
    return {
        "text": f"published: below {number(value, 'points')}",
        "yref": "paper",
        "x": value,
        "y": 1,
        "xanchor": "right",
        "yanchor": "top",
        "showarrow": False,
    }
