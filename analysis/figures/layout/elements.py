"""Elements of figures: labels, intervals, marks for undefined values, and grids of panels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor
from textwrap import wrap
from typing import Any, Literal, NamedTuple

from analysis.figures.layout.theme import NEUTRAL
from analysis.stats.results import Estimate

Unit = Literal["share", "points"]
DASH = "–"
LINE_LETTERS = 40


def label(text: str) -> str:
    """Return a name as Plotly shows it: its texts know tags, so these must not reach it as such."""
    return escape(text, quote=False)


def row_label(text: str, letters: int = LINE_LETTERS) -> str:
    """Return the same for a row: in at most two lines, cut where these do not hold it."""
    lines = wrap(text, letters, max_lines=2, placeholder=" …", break_on_hyphens=False)
    return "<br>".join(map(label, lines))


# Of a figure with rows: what stands above and below them (an axis with its title; above it a line
# of a legend or titles of panels), and the height of one. Few rows are set wider, as far as they
# stay this low together.
AROUND_ROWS = 92
ROW, ROW_OF_TWO_LINES, WIDE_ROW, LOW = 16, 29, 26, 152
CELLS, CELLS_OF_TWO_LINES, WIDE_CELLS = 18, 30, 28


def rows_height(names: Sequence[str]) -> int:
    """Return the pixels of rows with these names, all of one height: low, so that a page shows the
    table beside its figure without scrolling.
    """
    low = ROW_OF_TWO_LINES if any("<br>" in name for name in names) else ROW
    return _height(len(names), low, WIDE_ROW)


def cells_height(names: Sequence[str]) -> int:
    """Return the same for rows of cells, in which numbers stand."""
    low = CELLS_OF_TWO_LINES if any("<br>" in name for name in names) else CELLS
    return _height(len(names), low, WIDE_CELLS)


def _height(rows: int, low: int, wide: int) -> int:
    return max(low * rows, min(wide * rows, LOW))


def number(value: float | None, unit: Unit) -> str:
    """Return a share as a percentage with one decimal, points with two, nothing as a dash."""
    if value is None:
        return DASH
    return f"{100 * value:.1f} %" if unit == "share" else f"{value:.2f}"


def describe(name: str, estimate: Estimate, unit: Unit) -> str:
    """Return one hover text: the name, the value, its interval or why there is none, and n."""
    lines = [label(name)]
    if estimate.value is None:
        lines.append(f"{DASH} {label(estimate.undefined)}")
    else:
        lines.append(f"{number(estimate.value, unit)} (n = {estimate.n})")
    interval = estimate.interval
    if interval is not None:
        ends = f"{number(interval.low, unit)} to {number(interval.high, unit)}"
        lines.append(f"{100 * interval.level:g} % interval {ends} ({label(interval.method)})")
    elif estimate.no_interval:
        lines.append(label(estimate.no_interval))
    lines += [f"left out: {count} ({label(why)})" for why, count in estimate.excluded.items()]
    lines += [label(warning) for warning in estimate.warnings]
    return "<br>".join(lines)


Trace = dict[str, Any]
Along = Literal["x", "y"]


def interval_lines(
    places: Sequence[Any], estimates: Sequence[Estimate], along: Along, **trace: Any
) -> Trace:
    """Return intervals as thin lines along one axis, one per estimate that has one.

    Drawn from end to end, not as error bars: those would draw a cap where there is no interval.
    """
    ends: list[float | None] = []
    where: list[Any] = []
    for place, estimate in zip(places, estimates, strict=True):
        if estimate.interval is not None:
            ends += [estimate.interval.low, estimate.interval.high, None]
            where += [place, place, None]
    across = "y" if along == "x" else "x"
    line = {"width": 1.5, **trace.pop("line", {})}
    return {
        "type": "scatter",
        "mode": "lines",
        along: ends,
        across: where,
        "line": line,
        "hoverinfo": "skip",
        "showlegend": False,
        **trace,
    }


def points(
    places: Sequence[Any],
    estimates: Sequence[Estimate],
    along: Along,
    *,
    unit: Unit,
    about: Sequence[str],
    urls: Sequence[Any] | None = None,
    **trace: Any,
) -> Trace:
    """Return values along one axis as points, a gap where there is none.

    ``about`` names each point in its hover text; ``urls`` are the addresses that the points lead
    to (the page follows ``customdata``).
    """
    across = "y" if along == "x" else "x"
    drawn: Trace = {
        "type": "scatter",
        "mode": "markers",
        # A point at the very end of a scale is drawn whole.
        "cliponaxis": False,
        along: [estimate.value for estimate in estimates],
        across: list(places),
        "hovertext": [
            describe(name, estimate, unit) for name, estimate in zip(about, estimates, strict=True)
        ],
        "hoverinfo": "text",
        **trace,
    }
    return drawn if urls is None else {**drawn, "customdata": list(urls)}


def undefined_marks(
    places: Sequence[Any], estimates: Sequence[Estimate], at: Any, along: Along, **refs: Any
) -> list[dict[str, Any]]:
    """Return a dash for every undefined estimate, with its reason on hovering, as annotations."""
    across = "y" if along == "x" else "x"
    return [
        {
            along: at,
            across: place,
            "text": DASH,
            "hovertext": label(estimate.undefined),
            "showarrow": False,
            "font": {"color": NEUTRAL, "size": 16},
            **refs,
        }
        for place, estimate in zip(places, estimates, strict=True)
        if estimate.value is None
    ]


def extent_of(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return the smallest and the largest of 0, all values and the ends of their intervals."""
    ends = [0.0]
    for one in estimates:
        if one.interval is not None:
            ends += [one.interval.low, one.interval.high]
        elif one.value is not None:
            ends.append(one.value)
    return min(ends), max(ends)


def room_for(estimates: Sequence[Estimate], least: float = 0.05) -> list[float]:
    """Return an axis that holds 0, all values and their intervals, with room beside the last."""
    low, high = extent_of(estimates)
    room = 0.06 * max(high - low, least)
    return [round(low - room, 4), round(high + room, 4)]


class FigurePanel(NamedTuple):
    """A panel: its axis ids in traces ("x2", "y2") and in the layout ("xaxis2", "yaxis2")."""

    x: str
    y: str
    x_layout: str
    y_layout: str


@dataclass
class Panels:
    """A grid of panels, filled row by row, each with a title over it; ``layout`` collects axes.

    ``heights`` are the rows' shares of the figure; ``wide_last`` makes one more row of a single
    panel as wide as the figure.
    """

    count: int
    columns: int
    titles: Sequence[str]
    wide_last: bool = False
    gap_x: float = 0.06
    gap_y: float = 0.11
    layout: dict[str, Any] = field(default_factory=dict)
    panels: list[FigurePanel] = field(default_factory=list)

    def __post_init__(self) -> None:
        columns = max(1, min(self.columns, self.count))
        grid = [
            (i // columns, i % columns, columns) for i in range(self.count - int(self.wide_last))
        ]
        if self.wide_last:
            grid.append((grid[-1][0] + 1 if grid else 0, 0, 1))
        rows = grid[-1][0] + 1 if grid else 1
        height = (1 - self.gap_y * (rows - 1)) / rows
        self.layout["annotations"] = []
        # Titles stand over the panels, where the page's template puts the legend.
        self.layout["legend"] = {"yref": "container", "y": 0, "yanchor": "bottom"}
        self.layout["margin"] = {"t": 32}
        for i, (row, column, across) in enumerate(grid):
            width = (1 - self.gap_x * (across - 1)) / across
            left = column * (width + self.gap_x)
            top = 1 - row * (height + self.gap_y)
            suffix = str(i + 1) if i else ""
            panel = FigurePanel(f"x{suffix}", f"y{suffix}", f"xaxis{suffix}", f"yaxis{suffix}")
            self.panels.append(panel)
            self.layout[panel.x_layout] = {
                "domain": [round(left, 4), round(left + width, 4)],
                "anchor": panel.y,
            }
            self.layout[panel.y_layout] = {
                "domain": [round(max(0.0, top - height), 4), round(top, 4)],
                "anchor": panel.x,
            }
            self.layout["annotations"].append(
                {
                    "text": label(self.titles[i]),
                    "x": round(left, 4),
                    "y": round(top, 4),
                    "xref": "paper",
                    "yref": "paper",
                    "xanchor": "left",
                    "yanchor": "bottom",
                    "showarrow": False,
                }
            )

    def axes(self, index: int, x: dict[str, Any], y: dict[str, Any]) -> FigurePanel:
        """Add settings to the axes of one panel, and return it."""
        panel = self.panels[index]
        self.layout[panel.x_layout].update(x)
        self.layout[panel.y_layout].update(y)
        return panel


def categories(names: Sequence[str], *, downwards: bool = False) -> dict[str, Any]:
    """Return axis settings for names in the given order (never read as numbers or dates)."""
    axis: dict[str, Any] = {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(names),
        # Left to itself the library leaves out names where rows stand close.
        "dtick": 1,
    }
    # A range instead of "autorange": also rows without any value keep their place.
    ends = [-0.5, len(names) - 0.5]
    axis["range"] = ends[::-1] if downwards else ends
    return axis


# Between the ticks of an axis of differences, which has at most so many steps.
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
# Most steps of an axis, in a wide panel and in one of three or more beside each other.
MOST_STEPS, FEW_STEPS = 6, 3


def share_axis(title: str = "") -> dict[str, Any]:
    """Return axis settings for fractions shown in percent."""
    axis: dict[str, Any] = {"tickformat": ".0%", "rangemode": "tozero", "showgrid": True}
    return {**axis, "title": {"text": title}} if title else axis


def difference_axis(low: float, high: float, steps: int = MOST_STEPS) -> dict[str, Any]:
    """Return axis settings for differences of fractions, in percentage points from low to high.

    A narrow panel has room for the labels of fewer ``steps``.
    """
    step = next((step for step in STEPS if high - low <= steps * step), STEPS[-1])
    ticks = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    points = [round(100 * step * tick) for tick in ticks]
    return {
        "tickmode": "array",
        "tickvals": [point / 100 for point in points],
        "ticktext": [f"{point:+d} pt".replace("-", "−") if point else "0" for point in points],
        "range": [low, high],
        "showgrid": True,
        "zeroline": True,
    }
