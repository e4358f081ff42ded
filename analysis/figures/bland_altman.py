"""Bland and Altman's plot: the difference of two measurements over their mean."""

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

from analysis.figures.layout.elements import Panels, Trace, label, number
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure, make_figure
from analysis.stats.rater_agreement.bland_altman import LimitsOfAgreement, MeasurementPairs
from analysis.stats.results import Estimate

SMALLEST, LARGEST = 4.0, 22.0
# Heights of a panel and of what stands between two, in pixels.
PANEL, GAP = 165, 76


class DifferencePanel(NamedTuple):
    """One panel: who is compared, the limits, and the pairs behind them."""

    name: str
    limits: LimitsOfAgreement
    pairs: MeasurementPairs


def bland_altman_plot(
    compared: Sequence[DifferencePanel], *, scale: tuple[float, float], columns: int = 2
) -> Figure:
    """Draw a panel for each comparison: pairs as circles whose area is their number, the mean
    difference as a line, the limits as dashed lines, and their intervals as bands.
    """
    titles = [f"{one.name} (n\u00a0=\u00a0{one.limits.bias.n:,})" for one in compared]
    rows = max(1, -(-len(compared) // max(1, columns)))
    height = rows * PANEL + (rows - 1) * GAP
    panels = Panels(len(compared), columns, titles, gap_y=GAP / height)
    traces: list[Trace] = []
    shapes: list[dict[str, Any]] = []
    widest = max(
        [1.0]
        + [abs(d) for one in compared for d in one.pairs.differences]
        + [abs(end) for one in compared for e in (one.limits.lower, one.limits.upper)
           for end in _ends(e)]
    )  # fmt: skip
    most = max((count for one in compared for count in one.pairs.counts), default=1)
    for i, one in enumerate(compared):
        panel = panels.axes(
            i,
            {
                "range": [scale[0] - 0.2, scale[1] + 0.2],
                "showgrid": False,
                "title": {"text": "mean of both, points", "standoff": 6},
            },
            {
                "range": [-1.1 * widest, 1.1 * widest],
                "showgrid": True,
                "zeroline": True,
                "title": {"text": "difference, points"},
            },
        )
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "x": list(one.pairs.means),
                "y": list(one.pairs.differences),
                "marker": {
                    "color": ACCENT,
                    "opacity": 0.55,
                    "size": [
                        round(max(SMALLEST, LARGEST * sqrt(count / most)), 1)
                        for count in one.pairs.counts
                    ],
                },
                "hovertext": [
                    f"{label(one.name)}<br>mean {number(mean, 'points')}, difference "
                    f"{number(difference, 'points')}<br>{count:,} of {one.limits.bias.n:,}"
                    for mean, difference, count in zip(
                        one.pairs.means, one.pairs.differences, one.pairs.counts, strict=True
                    )
                ],
                "hoverinfo": "text",
                "showlegend": False,
                "xaxis": panel.x,
                "yaxis": panel.y,
            }
        )
        for estimate, dash in (
            (one.limits.lower, "dash"),
            (one.limits.bias, "solid"),
            (one.limits.upper, "dash"),
        ):
            shapes += _line(estimate, dash, panel.x, panel.y)
    layout = {**panels.layout, "shapes": shapes, "height": height + 90}
    return make_figure(traces, layout)


def _ends(estimate: Estimate) -> tuple[float, ...]:
    if estimate.interval is not None:
        return estimate.interval.low, estimate.interval.high
    return () if estimate.value is None else (estimate.value,)


def _line(estimate: Estimate, dash: str, x: str, y: str) -> list[dict[str, Any]]:
    if estimate.value is None:
        return []
    across = {"xref": f"{x} domain", "yref": y, "x0": 0, "x1": 1}
    line = {
        **across, "type": "line", "y0": estimate.value, "y1": estimate.value,
        "line": {"color": NEUTRAL, "width": 1.5, "dash": dash},
    }  # fmt: skip
    if estimate.interval is None:
        return [line]
    band = {
        **across, "type": "rect", "y0": estimate.interval.low, "y1": estimate.interval.high,
        "fillcolor": NEUTRAL, "opacity": 0.15, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip
    return [band, line]
