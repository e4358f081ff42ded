"""Accuracy and valid plan rate per model, own and published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.figures.elements import (
    FigurePanel,
    Panels,
    Trace,
    categories,
    interval_lines,
    label,
    points,
    share_axis,
    undefined_marks,
)
from analysis.figures.theme import Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate


@dataclass(frozen=True)
class LeaderboardRow:
    """One row: shares as fractions, and the address that its points lead to.

    A published row gets an open mark and says so in its name.
    """

    model: str
    accuracy: Estimate
    valid_rate: Estimate | None = None
    published: bool = False
    url: str | None = None

    @property
    def name(self) -> str:
        """The name on the axis: a model may stand there twice, run here and published."""
        return f"{self.model} (published)" if self.published else self.model


def leaderboard_figure(
    rows: Sequence[LeaderboardRow], styles: Mapping[str, Style] | None = None
) -> Figure:
    """Points with intervals, one row per model in the given order: a panel for accuracy, and one
    for valid plans where rows know of such.
    """
    looks = styles_for([row.model for row in rows], styles)
    names = [label(row.name) for row in rows]
    shown = {"accuracy": "Accuracy", "valid_rate": "Valid plan rate"}
    if all(row.valid_rate is None for row in rows):
        del shown["valid_rate"]
    panels = Panels(len(shown), 2, list(shown.values()))
    both = len({row.published for row in rows}) > 1
    traces: list[Trace] = []
    for i, attribute in enumerate(shown):
        y = {**categories(names, downwards=True), "showticklabels": i == 0}
        panel = panels.axes(i, {**share_axis("share of trajectories"), "range": [0, 1.02]}, y)
        for published in (False, True):
            chosen = [row for row in rows if row.published is published]
            if chosen:
                traces += _marks(chosen, attribute, looks, panel, legend=both and i == 0)
        estimates = [getattr(row, attribute) for row in rows]
        panels.layout["annotations"] += undefined_marks(
            names, estimates, 0, "x", xanchor="left", xref=panel.x, yref=panel.y
        )
    panels.layout["margin"]["r"] = 24  # the last tick's label is not cut
    return make_figure(traces, {**panels.layout, "height": 140 + 26 * len(rows)})


def _marks(
    rows: Sequence[LeaderboardRow],
    attribute: str,
    looks: Mapping[str, Style],
    panel: FigurePanel,
    *,
    legend: bool,
) -> list[Trace]:
    """Intervals and points of rows that are all published, or all run here."""
    published = rows[0].published
    name = "published" if published else "run here"
    names = [label(row.name) for row in rows]
    colours = [looks[row.model].colour for row in rows]
    estimates: list[Estimate] = [getattr(row, attribute) for row in rows]
    shared = {"legendgroup": name, "xaxis": panel.x, "yaxis": panel.y}
    lines = [
        interval_lines(
            [place],
            [estimate],
            "x",
            line={"color": colour, "dash": "dot" if published else "solid"},
            **shared,
        )
        for place, estimate, colour in zip(names, estimates, colours, strict=True)
        if estimate.interval is not None
    ]
    marker = {
        "color": colours,
        "symbol": "circle-open" if published else "circle",
        "size": 9,
        "line": {"width": 2 if published else 0},
    }
    marks = points(
        names,
        estimates,
        "x",
        unit="share",
        about=[row.name for row in rows],
        urls=[row.url for row in rows],
        name=name,
        showlegend=legend,
        marker=marker,
        **shared,
    )
    return [*lines, marks]
