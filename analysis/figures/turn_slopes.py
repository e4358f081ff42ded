"""Change per turn by several fits side by side, and means by turn of the same trajectories."""

from collections.abc import Callable, Mapping, Sequence

from analysis.figures.elements import Panels, Trace, categories, interval_lines, label, points
from analysis.figures.elements import undefined_marks as undefined
from analysis.figures.theme import ACCENT, NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate
from analysis.stats.trends.matched_turns import MatchedCurve
from analysis.stats.trends.slopes import SlopeModels

# Name in the legend, the fit, its hue and its mark; the one that survivors pull stands apart.
FITS: tuple[tuple[str, Callable[[SlopeModels], Estimate], str, str], ...] = (
    ("mixed model", lambda one: one.mixed.slope, ACCENT, "circle"),
    ("GEE", lambda one: one.gee.slope, ACCENT, "square-open"),
    ("within trajectories", lambda one: one.within, ACCENT, "triangle-up-open"),
    ("one line through all scores", lambda one: one.pooled.slope, NEUTRAL, "diamond-open"),
)
ROW, GAP = 14, 60
# A space that is not seen: rows of a category axis must differ in name.
UNSEEN = "\u200b"


def slope_forest(models: Sequence[SlopeModels]) -> Figure:
    """A panel per dimension; in it every agent's slope by every fit, with a line at no change."""
    agents = list(dict.fromkeys(one.agent for one in models))
    dimensions = list(dict.fromkeys(one.dimension for one in models))
    found = {(one.agent, one.dimension): one for one in models}
    # Of every agent an empty row, one with its name, and one for each further fit.
    step = 1 + len(FITS)
    rows = [
        label(agents[place // step]) if place % step == 1 else UNSEEN * (1 + place)
        for place in range(step * len(agents))
    ]
    lines = -(-len(dimensions) // 2)
    height = 90 + lines * (GAP + ROW * len(rows))
    panels = Panels(len(dimensions), 2, dimensions, gap_x=0.04, gap_y=GAP / height)
    traces: list[Trace] = []
    for i, dimension in enumerate(dimensions):
        axis = {
            **categories(rows, downwards=True),
            "tickmode": "array",
            "tickvals": rows[1::step],
            "showticklabels": i % 2 == 0,
        }
        panel = panels.axes(i, {"showgrid": True, "zeroline": True}, axis)
        if i:
            # One scale for all panels, so that falls can be compared.
            panels.layout[panel.x_layout]["matches"] = "x"
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        here = [agent for agent in agents if (agent, dimension) in found]
        for k, (fit, read, colour, symbol) in enumerate(FITS):
            places = [rows[agents.index(agent) * step + 1 + k] for agent in here]
            estimates = [read(found[agent, dimension]) for agent in here]
            traces += [
                interval_lines(places, estimates, "x", line={"color": colour}, **axes),
                points(
                    places,
                    estimates,
                    "x",
                    unit="points",
                    about=[f"{agent}, {dimension}: {fit}" for agent in here],
                    name=fit,
                    legendgroup=fit,
                    showlegend=i == 0,
                    marker={"color": colour, "symbol": symbol, "size": 8},
                    **axes,
                ),
            ]
            panels.layout["annotations"] += undefined(
                places, estimates, 0, "x", xref=panel.x, yref=panel.y
            )
    return make_figure(traces, {**panels.layout, "height": height})


def matched_figure(
    curves: Sequence[MatchedCurve],
    scale: tuple[float, float] = (1, 5),
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """A panel per dimension: means of the same trajectories at every turn.

    An open mark at turn 1 is the mean there of those that ended before the last turn compared.
    """
    drawn = [curve for curve in curves if curve.points]
    agents = list(dict.fromkeys(curve.agent for curve in drawn))
    dimensions = list(dict.fromkeys(curve.dimension for curve in drawn))
    looks = styles_for(agents, styles)
    panels = Panels(len(dimensions), 2, dimensions)
    traces: list[Trace] = []
    for i, dimension in enumerate(dimensions):
        x: dict[str, object] = {"dtick": 1}
        if i + 2 >= len(dimensions):
            x["title"] = {"text": "turn"}
        panel = panels.axes(i, x, {"range": list(scale)})
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        for curve in drawn:
            if curve.dimension == dimension:
                traces += _matched(curve, looks[curve.agent], axes, legend=i == 0)
    return make_figure(traces, {**panels.layout, "height": 90 + 240 * -(-len(dimensions) // 2)})


def _matched(
    curve: MatchedCurve, look: Style, axes: Mapping[str, str], *, legend: bool
) -> list[Trace]:
    turns = list(range(1, len(curve.points) + 1))
    group = {"legendgroup": label(curve.agent), **axes}
    what = f"{curve.agent}, {curve.dimension}"
    line = {"color": look.colour, "width": 1}
    traces = [
        interval_lines(turns, curve.points, "y", line=line, opacity=0.3, **group),
        points(
            turns,
            curve.points,
            "y",
            unit="points",
            about=[f"{what}, turn {turn}: reach turn {curve.horizon}" for turn in turns],
            mode="lines+markers",
            name=label(curve.agent),
            showlegend=legend,
            line={"color": look.colour, "dash": look.dash, "width": 2},
            marker={"color": look.colour, "symbol": look.symbol, "size": 7},
            **group,
        ),
    ]
    if curve.left.value is not None:
        traces.append(
            points(
                [1],
                [curve.left],
                "y",
                unit="points",
                about=[f"{what}, turn 1: ended before turn {curve.horizon}"],
                name=label(curve.agent),
                showlegend=False,
                marker={"color": look.colour, "symbol": look.open_symbol, "size": 9},
                **group,
            )
        )
    return traces
