"""The leaderboard figure: the ranking measure and a second one, for own and published rows."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    FigurePanel,
    Panels,
    Trace,
    Unit,
    categories,
    interval_lines,
    label,
    points,
    rows_height,
    share_axis,
    undefined_marks,
)
from analysis.figures.layout.theme import Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate

RowGroup = Literal["run here", "blind", "published"]
SYMBOLS: Mapping[RowGroup, str] = {
    "run here": "circle",
    "blind": "diamond-open",
    "published": "circle-open",
}


class LeaderboardRow(NamedTuple):
    """One row: one or two measures, and the address that its points lead to.

    Published rows and blind policies get marks of their own and say so in their names.
    """

    model: str
    first: Estimate
    second: Estimate | None = None
    group: RowGroup = "run here"
    url: str | None = None

    @property
    def name(self) -> str:
        """The name on the axis: a model may stand there twice, run here and published."""
        return self.model if self.group == "run here" else f"{self.model} ({self.group})"


class BoardAxis(NamedTuple):
    """A measure: the title of its panel, its unit, its largest value if it has one, and what it
    is a share of.
    """

    title: str
    unit: Unit = "share"
    most: float | None = 1.0
    of: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """The axis: the whole scale, or from 0 on where it has no end."""
        axis = {"rangemode": "tozero", "showgrid": True, "title": {"text": self.of}}
        axis = share_axis(self.of) if self.unit == "share" else axis
        return {**axis, "range": [0, 1.02 * self.most]} if self.most is not None else axis


def leaderboard_figure(
    rows: Sequence[LeaderboardRow],
    axes: Sequence[BoardAxis],
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """Draw points with intervals, one row per model in the given order and a panel per measure.

    A row's name says whether it was published or is blind, so there is no legend.
    """
    looks = styles_for([row.model for row in rows], styles)
    names = [label(row.name) for row in rows]
    panels = Panels(len(axes), 2, [axis.title for axis in axes])
    traces: list[Trace] = []
    for i, (axis, attribute) in enumerate(zip(axes, ("first", "second"), strict=False)):
        y = {**categories(names, downwards=True), "showticklabels": i == 0}
        panel = panels.axes(i, axis.settings, y)
        for group in SYMBOLS:
            chosen = [row for row in rows if row.group == group]
            if chosen:
                traces += _marks(chosen, attribute, axis.unit, looks, panel)
        estimates = _estimates(rows, attribute)
        panels.layout["annotations"] += undefined_marks(
            names, estimates, 0, "x", xanchor="left", xref=panel.x, yref=panel.y
        )
    panels.layout["margin"]["r"] = 24  # the last tick's label is not cut
    return make_figure(traces, {**panels.layout, "height": AROUND_ROWS + rows_height(names)})


def _estimates(rows: Sequence[LeaderboardRow], attribute: str) -> list[Estimate]:
    return [getattr(row, attribute) for row in rows]


def _marks(
    rows: Sequence[LeaderboardRow],
    attribute: str,
    unit: Unit,
    looks: Mapping[str, Style],
    panel: FigurePanel,
) -> list[Trace]:
    """Return intervals and points of rows of one group."""
    name = rows[0].group
    names = [label(row.name) for row in rows]
    colours = [looks[row.model].colour for row in rows]
    estimates = _estimates(rows, attribute)
    shared = {"legendgroup": name, "xaxis": panel.x, "yaxis": panel.y}
    lines = [
        interval_lines(
            [place],
            [estimate],
            "x",
            line={"color": colour, "dash": "solid" if name == "run here" else "dot"},
            **shared,
        )
        for place, estimate, colour in zip(names, estimates, colours, strict=True)
        if estimate.interval is not None
    ]
    marker = {
        "color": colours,
        "symbol": SYMBOLS[name],
        "size": 9,
        "line": {"width": 0 if name == "run here" else 2},
    }
    marks = points(
        names,
        estimates,
        "x",
        unit=unit,
        about=[row.name for row in rows],
        urls=[row.url for row in rows],
        name=name,
        showlegend=False,
        marker=marker,
        **shared,
    )
    return [*lines, marks]
