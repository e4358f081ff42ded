"""Points with intervals in panels, and cells with shares that add up to a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.figures.layout.elements import (
    FEW_STEPS,
    MOST_STEPS,
    Panels,
    Trace,
    Unit,
    categories,
    difference_axis,
    interval_lines,
    label,
    number,
    points,
    share_axis,
    undefined_marks,
)
from analysis.figures.layout.theme import NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate

# Between rows of panels: ticks, the title of an axis, and that of the next panel.
GAP = 78
END_ROOM = 0.02
LINES = ("dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class PointRow:
    """A row of a panel: name, value, the agent whose style it has, and the link of its point."""

    name: str
    value: Estimate
    agent: str
    url: str | None = None


def panel_dots(
    panels: Mapping[str, Sequence[PointRow]],
    *,
    unit: Unit,
    title: str | Sequence[str] = "",
    columns: int = 2,
    span: tuple[float, float] | None = None,
    lines: Mapping[str, float] | None = None,
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """Draw a panel of points with intervals per title; the rows of all panels have the same names.

    ``title`` is that of every panel's axis, or one for each. ``span`` is the axis of all panels
    (each its own from 0, where it is not given); ``lines`` are values to see them against, by name.
    """
    titles = [title] * len(panels) if isinstance(title, str) else list(title)
    everything = [mark for marks in panels.values() for mark in marks]
    looks = styles_for(list(dict.fromkeys(mark.agent for mark in everything)), styles)
    names = list(dict.fromkeys(label(mark.name) for mark in everything))
    rows = -(-len(panels) // columns)
    height = 26 * len(names) + 18
    total = rows * height + (rows - 1) * GAP
    grid = Panels(len(panels), columns, list(panels), gap_x=0.07, gap_y=GAP / max(total, 1))
    traces: list[Trace] = []
    for i, marks in enumerate(panels.values()):
        x = share_axis() if unit == "share" else {"showgrid": True, "rangemode": "tozero"}
        if span is not None and unit == "share" and span[0] < 0:
            x = difference_axis(*span, steps=MOST_STEPS if columns < 3 else FEW_STEPS)
        elif span is not None:
            # Room for a mark at the very end.
            room = END_ROOM * (span[1] - span[0])
            x |= {"range": [span[0], span[1] + room], "zeroline": span[0] < 0 < span[1]}
        x["title"] = {"text": titles[i], "standoff": 8}
        y = {**categories(names, downwards=True), "showticklabels": i % columns == 0}
        panel = grid.axes(i, x, y)
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        for n, (name, value) in enumerate((lines or {}).items()):
            dash = LINES[n % len(LINES)]
            traces.append(_line(name, value, names, dash, legend=i == 0, axes=axes))
        places = [label(mark.name) for mark in marks]
        values = [mark.value for mark in marks]
        for mark, place in zip(marks, places, strict=True):
            if mark.value.interval is not None:
                colour = {"color": looks[mark.agent].colour}
                traces.append(interval_lines([place], [mark.value], "x", line=colour, **axes))
        traces.append(
            points(
                places,
                values,
                "x",
                unit=unit,
                about=[f"{mark.agent}, {mark.name}" for mark in marks],
                urls=[mark.url for mark in marks],
                showlegend=False,
                marker={
                    "color": [looks[mark.agent].colour for mark in marks],
                    "symbol": [
                        looks[mark.agent].symbol
                        if mark.value.interval
                        else looks[mark.agent].open_symbol
                        for mark in marks
                    ],
                    "size": 8,
                },
                **axes,
            )
        )
        grid.layout["annotations"] += undefined_marks(
            places, values, 0, "x", xanchor="left", xref=panel.x, yref=panel.y
        )
    room = 130 + (24 * -(-len(lines) // 2) if lines else 0)
    return make_figure(traces, {**grid.layout, "height": total + room})


def _line(
    name: str, value: float, names: Sequence[str], dash: str, *, legend: bool, axes: dict[str, str]
) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(name),
        "legendgroup": label(name),
        "showlegend": legend,
        "x": [value] * len(names),
        "y": list(names),
        "line": {"color": NEUTRAL, "dash": dash, "width": 1.5},
        "hovertext": [label(name)] * len(names),
        "hoverinfo": "text",
        **axes,
    }


@dataclass(frozen=True)
class SharePart:
    """A part of a row: count, share of the row, and link."""

    count: int
    share: float | None
    url: str = ""


def share_cells(rows: Mapping[str, Sequence[SharePart]], titles: Sequence[str]) -> Figure:
    """Draw a cell for each part of each row: its count, shaded by its share of the row.

    Parts that no row has are left out. Cells and not stacked bars: hues belong to agents.
    """
    kept = [i for i in range(len(titles)) if any(parts[i].count for parts in rows.values())]
    names, columns = [label(name) for name in rows], [label(titles[i]) for i in kept]
    cells = [[parts[i] for i in kept] for parts in rows.values()]
    trace: Trace = {
        "type": "heatmap",
        "x": columns,
        "y": names,
        "z": [[part.share for part in line] for line in cells],
        "text": [[f"{part.count:,}" if part.count else "" for part in line] for line in cells],
        "texttemplate": "%{text}",
        "hovertext": [
            [
                f"{name}<br>{column}<br>{part.count:,} ({number(part.share, 'share')})"
                for column, part in zip(columns, line, strict=True)
            ]
            for name, line in zip(names, cells, strict=True)
        ],
        "hoverinfo": "text",
        "customdata": [[part.url for part in line] for line in cells],
        "zmin": 0,
        "zmax": 1,
        "autocolorscale": True,
        "xgap": 1,
        "ygap": 1,
        "showscale": False,
    }
    layout = {
        "xaxis": {**categories(columns), "side": "top", "dtick": 1},
        "yaxis": {**categories(names, downwards=True), "dtick": 1},
        "margin": {"b": 12},
        "height": 64 + 32 * len(names),
    }
    return make_figure([trace], layout)


def cells_width(rows: Mapping[str, Sequence[SharePart]]) -> int:
    """Return the width under which the cells of such a figure are too narrow for their words."""
    return 180 + 80 * max((len(parts) for parts in rows.values()), default=0)
