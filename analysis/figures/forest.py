"""A forest plot: estimates of several kinds in rows, each with its interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    ROW,
    Trace,
    Unit,
    categories,
    difference_axis,
    interval_lines,
    label,
    points,
    row_label,
    rows_height,
    undefined_marks,
)
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure, make_figure
from analysis.stats.results import Estimate

# Kinds of rows differ by mark: the other hues belong to agents.
LOOKS = (
    (NEUTRAL, "diamond"),
    (ACCENT, "circle"),
    (NEUTRAL, "square-open"),
    (ACCENT, "triangle-up-open"),
)


@dataclass(frozen=True)
class ForestRows:
    """Rows of one kind, under one name in the legend; ``urls`` are where their marks lead.

    ``look`` is their colour and symbol, where it is not that of their place among the kinds.
    """

    name: str
    rows: Sequence[tuple[str, Estimate]]
    urls: Sequence[str] | None = None
    look: tuple[str, str] | None = None


CLEAR_LOOK = (ACCENT, "circle")
UNCLEAR_LOOK = (NEUTRAL, "circle-open")


def forest(
    groups: Sequence[ForestRows],
    *,
    title: str,
    unit: Unit = "points",
    least: float = 0.0,
    most: float = 1.0,
    together: bool = False,
    differences: bool = False,
    threshold: float | None = None,
) -> Figure:
    """Draw one row per estimate, with a line at 0.

    The axis goes from ``least`` to ``most`` and further where an interval does; a dash with its
    reason stands at ``least`` where there is no value. The same name may stand in several groups:
    ``together`` puts its rows one under the other, named once. With ``differences`` shares are
    differences of shares, on an axis in points. ``threshold`` draws a dashed line.
    """
    shown = [group for group in groups if group.rows]
    traces: list[Trace] = []
    notes, names = [], []
    ends = [least, most]
    for place, group in enumerate(shown):
        colour, symbol = group.look or LOOKS[place % len(LOOKS)]
        # Two rows of a category axis must not have one name; a space that is not seen parts them.
        rows = [row_label(name) + "\u200b" * place for name, _ in group.rows]
        estimates = [estimate for _, estimate in group.rows]
        names += rows
        for estimate in estimates:
            if estimate.interval is not None:
                ends += [estimate.interval.low, estimate.interval.high]
            elif estimate.value is not None:
                ends.append(estimate.value)
        traces += [
            interval_lines(rows, estimates, "x", line={"color": colour}, legendgroup=group.name),
            points(
                rows,
                estimates,
                "x",
                unit=unit,
                about=[f"{group.name}: {name}" for name, _ in group.rows],
                urls=group.urls,
                name=label(group.name),
                legendgroup=group.name,
                showlegend=len(shown) > 1,
                marker={"color": colour, "symbol": symbol, "size": 9},
            ),
        ]
        notes += undefined_marks(rows, estimates, least, "x", xanchor="left")
    low, high = min(ends), max(ends)
    room = 0.03 * (high - low)
    span = low - room if low < least else low, high + room
    axis = difference_axis(*span) if differences else {"range": list(span), "showgrid": True}
    if unit == "share" and not differences:
        axis["tickformat"] = ".0%"
    layout = {
        "xaxis": {**axis, "title": {"text": title}},
        "yaxis": _axis(names, len(shown[0].rows) if shown and together else 0),
        "shapes": [
            _vertical(0, "solid"),
            *([_vertical(threshold, "dash")] if threshold is not None else []),
        ],
        "annotations": notes,
        "height": AROUND_ROWS + (ROW * len(names) if together else rows_height(names)),
    }
    return make_figure(traces, layout)


def _vertical(at: float, dash: str) -> dict[str, Any]:
    line = {"color": NEUTRAL, "width": 1, "dash": dash}
    return {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _axis(names: Sequence[str], together: int) -> dict[str, Any]:
    """Draw rows in their order, or with as many of each group, those of one name beside each
    other.
    """
    if not together:
        return categories(names, downwards=True)
    ordered = [name for place in range(together) for name in names[place::together]]
    first = {"tickmode": "array", "tickvals": list(names[:together])}
    return {**categories(ordered, downwards=True), **first}
