"""Shares over whole numbers, such as the number of trials or the length of a path."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.figures.layout.elements import (
    Panels,
    Trace,
    interval_lines,
    label,
    points,
    share_axis,
)
from analysis.figures.layout.theme import NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate

# More lines than these cover each other: then each has a panel, with the others in grey.
MOST_LINES = 4
COLUMNS = 5
MOST_TICKS = 6
PANEL, BETWEEN = 96, 62


def number_lines(
    curves: Mapping[str, Sequence[tuple[int, Estimate]]],
    across: str,
    up: str,
    *,
    styles: Mapping[str, Style] | None = None,
    about: str = "",
    urls: Mapping[str, str] | None = None,
) -> Figure:
    """Draw one line per agent over whole numbers, with intervals beside each other.

    With more than `MOST_LINES` agents there is a panel for each, the others in grey behind it.
    ``about`` stands before the number in the hover text; ``urls`` are addresses by agent.
    """
    looks = styles_for(list(curves), styles)
    everything = [number for pairs in curves.values() for number, _ in pairs] or [1]
    x = {
        "title": {"text": across, "standoff": 4},
        "dtick": max(1, -(-(max(everything) - min(everything)) // MOST_TICKS)),
        "range": [min(everything) - 0.3, max(everything) + 0.3],
        "showgrid": False,
    }
    # Room for marks at either end of the scale.
    y = {**share_axis(up), "range": [-0.02, 1.02]}
    traces: list[Trace] = []
    if len(curves) > MOST_LINES:
        rows = -(-len(curves) // COLUMNS)
        inner = rows * PANEL + (rows - 1) * BETWEEN
        panels = Panels(len(curves), COLUMNS, list(curves), gap_x=0.03, gap_y=BETWEEN / inner)
        for i, (agent, pairs) in enumerate(curves.items()):
            first = i % COLUMNS == 0
            shown = {**y, "showticklabels": first, "title": {"text": up if first else ""}}
            panel = panels.axes(i, dict(x), shown)
            axes = {"xaxis": panel.x, "yaxis": panel.y}
            traces += [_behind(other, axes) for name, other in curves.items() if name != agent]
            at = [float(number) for number, _ in pairs]
            url = (urls or {}).get(agent)
            more = axes | {"showlegend": False}
            traces += _line(agent, at, pairs, looks[agent], about, url, more)
        return make_figure(traces, {**panels.layout, "height": inner + 80, "showlegend": False})
    for place, (agent, pairs) in enumerate(curves.items()):
        # Side by side, so that intervals do not cover each other.
        shift = 0.06 * (place - (len(curves) - 1) / 2) if len(curves) > 1 else 0.0
        at = [number + round(shift, 3) for number, _ in pairs]
        more = {"legendgroup": label(agent), "showlegend": len(curves) > 1}
        url = (urls or {}).get(agent)
        traces += _line(agent, at, pairs, looks[agent], about, url, more)
    return make_figure(traces, {"xaxis": {**x, "dtick": 1}, "yaxis": y, "height": 264})


def _line(
    agent: str,
    at: Sequence[float],
    pairs: Sequence[tuple[int, Estimate]],
    look: Style,
    about: str,
    url: str | None,
    more: Mapping[str, Any],
) -> list[Trace]:
    estimates = [estimate for _, estimate in pairs]
    hidden = {**more, "showlegend": False}
    return [
        interval_lines(at, estimates, "y", line={"color": look.colour, "width": 1}, **hidden),
        points(
            at,
            estimates,
            "y",
            unit="share",
            about=[f"{agent}, {about}{number}" for number, _ in pairs],
            urls=[url] * len(pairs) if url else None,
            mode="lines+markers",
            connectgaps=False,
            name=label(agent),
            line={"color": look.colour, "dash": look.dash, "width": 2},
            marker={
                "color": look.colour,
                "symbol": [
                    look.symbol if estimate.interval else look.open_symbol for estimate in estimates
                ],
                "size": 8,
            },
            **more,
        ),
    ]


def _behind(pairs: Sequence[tuple[int, Estimate]], axes: Mapping[str, str]) -> Trace:
    """Return another agent's line, without marks."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [number for number, _ in pairs],
        "y": [estimate.value for _, estimate in pairs],
        "line": {"color": NEUTRAL, "width": 1},
        "opacity": 0.3,
        "hoverinfo": "skip",
        "showlegend": False,
        **axes,
    }
