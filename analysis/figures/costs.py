"""A result against what it took: one panel per cost, a mark per agent and condition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.figures.elements import (
    Panels,
    Trace,
    Unit,
    describe,
    interval_lines,
    label,
    room_for,
    share_axis,
)
from analysis.figures.theme import Figure, make_figure, styles_for
from analysis.stats.results import Estimate


@dataclass(frozen=True)
class CostMark:
    """A mark: its name, what it took, what came of it, and the address that it leads to."""

    name: str
    cost: Estimate
    result: Estimate
    url: str | None = None


@dataclass(frozen=True)
class CostPanel:
    """A cost by its title, and the marks in their order; undefined ones are not drawn."""

    title: str
    marks: Sequence[CostMark]


def cost_panels(
    panels: Sequence[CostPanel], title: str, unit: Unit, *, most: float | None
) -> Figure:
    """Draw each result above its cost, with intervals both ways.

    ``title`` and ``unit`` are of the results, ``most`` is their largest value if there is one.
    """
    names = list(dict.fromkeys(mark.name for panel in panels for mark in panel.marks))
    looks = styles_for(names, None)
    grid = Panels(len(panels), 3, [""] * len(panels))
    up: dict[str, Any] = share_axis() if unit == "share" else {"showgrid": True}
    up |= {"range": [0, 1.02 * most]} if most is not None else {"rangemode": "tozero"}
    traces: list[Trace] = []
    for i, panel in enumerate(panels):
        costs = [mark.cost for mark in panel.marks]
        x = {"showgrid": True, "title": {"text": label(panel.title)}, "range": room_for(costs)}
        y = {**up, "showticklabels": i == 0, "title": {"text": label(title) if not i else ""}}
        drawn = grid.axes(i, x, y)
        for mark in panel.marks:
            if mark.cost.value is None or mark.result.value is None:
                continue
            look = looks[mark.name]
            shared: dict[str, Any] = {
                "xaxis": drawn.x, "yaxis": drawn.y, "legendgroup": label(mark.name),
            }  # fmt: skip
            line = {"color": look.colour, "width": 1}
            traces += [
                interval_lines([mark.result.value], [mark.cost], "x", line=dict(line), **shared),
                interval_lines([mark.cost.value], [mark.result], "y", line=dict(line), **shared),
                {
                    "type": "scatter",
                    "mode": "markers",
                    "x": [mark.cost.value],
                    "y": [mark.result.value],
                    "cliponaxis": False,
                    "hoverinfo": "text",
                    "hovertext": [
                        f"{describe(mark.name, mark.result, unit)}<br>"
                        f"{describe(panel.title, mark.cost, 'points')}"
                    ],
                    "customdata": [mark.url],
                    "name": label(mark.name),
                    "showlegend": i == _first(panels, mark.name),
                    "marker": {"color": look.colour, "symbol": look.symbol, "size": 10},
                    **shared,
                },
            ]
    lines = -(-len(names) // 2)
    return make_figure(traces, {**grid.layout, "height": 360 + 20 * lines})


def _first(panels: Sequence[CostPanel], name: str) -> int:
    """Return the first panel that draws a mark: it has its legend entry."""
    return next(
        i
        for i, panel in enumerate(panels)
        for mark in panel.marks
        if mark.name == name and mark.cost.value is not None and mark.result.value is not None
    )
