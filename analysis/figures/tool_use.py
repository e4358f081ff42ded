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
    cells_height,
    difference_axis,
    interval_lines,
    label,
    number,
    points,
    rows_height,
    share_axis,
    undefined_marks,
)
from analysis.figures.layout.theme import NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate

# Between rows of panels: ticks, the title of an axis, and that of the next panel.
GAP = 78
END_ROOM = 0.02
LINES = ("dash", "dot", "dashdot", "longdash")

Span = tuple[float, float]


@dataclass(frozen=True)
class PointRow:
    """A row of a panel: name, value, the agent whose style it has, and the link of its point.

    ``place`` is its name on the axis as Plotly reads it, where that is not the name itself.
    """

    name: str
    value: Estimate
    agent: str
    url: str | None = None
    place: str = ""

    @property
    def on_axis(self) -> str:
        return self.place or label(self.name)


def panel_dots(
    panels: Mapping[str, Sequence[PointRow]],
    *,
    unit: Unit | Sequence[Unit],
    title: str | Sequence[str] = "",
    columns: int = 2,
    span: Span | list[Span | None] | None = None,
    lines: Mapping[str, float] | None = None,
    places: Sequence[str] = (),
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """Draw a panel of points with intervals per title; the rows of all panels have the same names.

    ``unit``, ``title`` and ``span`` are those of every panel's axis, or a list with one for each
    (without a span an axis begins at 0). ``lines`` are values to see them against, by name.
    ``places`` are all rows in their order, where some have no point.
    """
    titles = [title] * len(panels) if isinstance(title, str) else list(title)
    units = [unit] * len(panels) if isinstance(unit, str) else list(unit)
    spans = span if isinstance(span, list) else [span] * len(panels)
    everything = [mark for marks in panels.values() for mark in marks]
    looks = styles_for(list(dict.fromkeys(mark.agent for mark in everything)), styles)
    names = list(places or dict.fromkeys(mark.on_axis for mark in everything))
    rows = -(-len(panels) // columns)
    height = rows_height(names) + 18
    total = rows * height + (rows - 1) * GAP
    grid = Panels(len(panels), columns, list(panels), gap_x=0.09, gap_y=GAP / max(total, 1))
    traces: list[Trace] = []
    for i, marks in enumerate(panels.values()):
        ends = spans[i]
        x = share_axis() if units[i] == "share" else {"showgrid": True, "rangemode": "tozero"}
        if ends is not None and units[i] == "share" and ends[0] < 0:
            x = difference_axis(*ends, steps=MOST_STEPS if columns < 3 else FEW_STEPS)
        elif ends is not None:
            # Room for a mark at the very end.
            room = END_ROOM * (ends[1] - ends[0])
            x |= {"range": [ends[0], ends[1] + room], "zeroline": ends[0] < 0 < ends[1]}
        x["title"] = {"text": titles[i], "standoff": 8}
        y = {**categories(names, downwards=True), "showticklabels": i % columns == 0}
        panel = grid.axes(i, x, y)
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        for n, (name, value) in enumerate((lines or {}).items()):
            dash = LINES[n % len(LINES)]
            traces.append(_line(name, value, names, dash, legend=i == 0, axes=axes))
        at = [mark.on_axis for mark in marks]
        values = [mark.value for mark in marks]
        for mark, place in zip(marks, at, strict=True):
            if mark.value.interval is not None:
                colour = {"color": looks[mark.agent].colour}
                traces.append(interval_lines([place], [mark.value], "x", line=colour, **axes))
        traces.append(
            points(
                at,
                values,
                "x",
                unit=units[i],
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
            at, values, 0, "x", xanchor="left", xref=panel.x, yref=panel.y
        )
    room = (86 if any(titles) else 70) + (24 * -(-len(lines) // 2) if lines else 0)
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
        "xaxis": {**categories(columns), "side": "top"},
        "yaxis": categories(names, downwards=True),
        "margin": {"b": 12},
        "height": 56 + cells_height(names),
    }
    return make_figure([trace], layout)


def cells_width(rows: Mapping[str, Sequence[SharePart]]) -> int:
    """Return the width under which the cells of such a figure are too narrow for their words."""
    return 180 + 80 * max((len(parts) for parts in rows.values()), default=0)
