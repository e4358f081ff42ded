"""A result against what it took: one panel per cost, a mark per agent and condition."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from analysis.figures.layout.elements import (
    FigurePanel,
    Panels,
    Trace,
    Unit,
    describe,
    interval_lines,
    label,
    room_for,
    share_axis,
    wrapped_label,
)
from analysis.figures.layout.theme import NEUTRAL, SYMBOLS, Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate


@dataclass(frozen=True)
class CostMark:
    """A mark: agent and condition, what it took, what came of it, and its address."""

    agent: str
    condition: str
    cost: Estimate
    result: Estimate
    url: str | None = None

    @property
    def drawn(self) -> bool:
        return self.cost.value is not None and self.result.value is not None


@dataclass(frozen=True)
class CostPanel:
    """A cost by its title, and the marks in their order; undefined ones are not drawn."""

    title: str
    marks: Sequence[CostMark]


def cost_panels(
    panels: Sequence[CostPanel],
    title: str,
    unit: Unit,
    *,
    most: float | None,
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """Draw each result above its cost, with intervals both ways.

    A colour is an agent, a symbol a condition; with a single condition symbols are the agents',
    too. ``title`` and ``unit`` are of the results, ``most`` is their largest value if there is one.
    """
    every = [mark for panel in panels for mark in panel.marks if mark.drawn]
    agents = list(dict.fromkeys(mark.agent for mark in every))
    conditions = list(dict.fromkeys(mark.condition for mark in every))
    looks = styles_for(agents, styles)
    symbols = {name: SYMBOLS[i % len(SYMBOLS)] for i, name in enumerate(conditions)}
    several = len(conditions) > 1
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
            if mark.drawn:
                look = looks[mark.agent]
                symbol = symbols[mark.condition] if several else look.symbol
                name = f"{mark.agent}, {mark.condition}" if several else mark.agent
                about = (
                    f"{describe(name, mark.result, unit)}<br>"
                    f"{describe(panel.title, mark.cost, 'points')}"
                )
                traces += _mark(mark, drawn, look.colour, symbol, about)
    key = [
        _entry(agent, looks[agent].colour, "circle" if several else looks[agent].symbol)
        for agent in agents
        if several or len(agents) > 1
    ]
    if several:
        key += [_entry(name, NEUTRAL, symbols[name]) for name in conditions]
    # The key names colours and symbols apart, so no entry of it can hide what it stands for.
    grid.layout["legend"] |= {"itemclick": False, "itemdoubleclick": False}
    return make_figure([*traces, *key], {**grid.layout, "height": 360 + 20 * -(-len(key) // 2)})


def _mark(
    mark: CostMark, panel: FigurePanel, colour: str, symbol: str, about: str
) -> tuple[Trace, ...]:
    """Return both intervals and the mark itself."""
    shared = {"xaxis": panel.x, "yaxis": panel.y}
    line = {"color": colour, "width": 1}
    return (
        interval_lines([mark.result.value], [mark.cost], "x", line=dict(line), **shared),
        interval_lines([mark.cost.value], [mark.result], "y", line=dict(line), **shared),
        {
            "type": "scatter",
            "mode": "markers",
            "x": [mark.cost.value],
            "y": [mark.result.value],
            "cliponaxis": False,
            "hoverinfo": "text",
            "hovertext": [about],
            "customdata": [mark.url],
            "showlegend": False,
            "marker": {"color": colour, "symbol": symbol, "size": 10},
            **shared,
        },
    )


def _entry(name: str, colour: str, symbol: str) -> Trace:
    """Return an entry of the key: a colour, or a symbol, by its name."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [None],
        "y": [None],
        "name": wrapped_label(name),
        "hoverinfo": "skip",
        "showlegend": True,
        "marker": {"color": colour, "symbol": symbol, "size": 10},
    }
