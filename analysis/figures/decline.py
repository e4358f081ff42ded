"""Mean scores over the turns, as small multiples, with how many trajectories still run."""

from collections.abc import Mapping, Sequence

from analysis.figures.layout.elements import Panels, Trace, interval_lines, label, points
from analysis.figures.layout.theme import NEUTRAL, Figure, Style, make_figure, styles_for
from analysis.stats.trends.decline import Curve

Links = Mapping[tuple[str, int], str]

MOST_TICKS = 20
# Beyond the ends of the scale, so that marks there are drawn whole.
ROOM = 0.1
# Of small panels: so many numbers under each, and heights in pixels.
MOST_NUMBERS, PANEL, BELOW = 6, 130, 92
# Of panels with several lines, and what stands between two.
LINES, GAP = 155, 76
# Title of the shared axis, and of the panel that counts trajectories.
TITLES = {
    "turn": ("turn", "Trajectories still running"),
    "from_end": ("turns relative to the last", "Trajectories that long"),
}


def decline_figure(
    curves: Sequence[Curve],
    dimensions: Sequence[str] | None = None,
    scale: tuple[float, float] = (1, 5),
    styles: Mapping[str, Style] | None = None,
    links: Links | None = None,
    position: str = "",
) -> Figure:
    """Draw one panel of lines per dimension, and under them the trajectories still running.

    ``dimensions`` chooses and orders the panels (all, where it is not given). All curves must be
    aligned alike. A point without an interval has an open mark. ``links`` gives the address behind
    an (agent, position); ``position`` names the shared axis otherwise.
    """
    shown = list(dimensions or dict.fromkeys(curve.dimension for curve in curves))
    align = {curve.align for curve in curves} or {"turn"}
    if len(align) > 1:
        raise ValueError("curves by turn and from the end do not share an axis")
    across, running = TITLES[align.pop()]
    longest = max((len(curve.points) for curve in curves), default=0)
    # Turns are whole numbers; every one has its tick as long as they have room.
    steps: dict[str, object] = {"dtick": max(1, -(-longest // MOST_TICKS)), "tickformat": "d"}
    agents = list(dict.fromkeys(curve.agent for curve in curves))
    looks = styles_for(agents, styles)
    rows = -(-len(shown) // 2) + 1
    height = rows * LINES + (rows - 1) * GAP
    panels = Panels(len(shown) + 1, 2, [*shown, running], wide_last=True, gap_y=GAP / height)
    steps["title"] = {"text": position or across, "standoff": 6}
    traces: list[Trace] = []
    for i, dimension in enumerate(shown):
        y = {"range": [scale[0] - ROOM, scale[1] + ROOM], "dtick": 1}
        panel = panels.axes(i, dict(steps), {**y, "title": {"text": "mean score"}})
        for curve in curves:
            if curve.dimension == dimension:
                traces += _lines(curve, looks[curve.agent], panel.x, panel.y, i == 0, links)
    last = panels.axes(
        len(shown),
        dict(steps),
        {"rangemode": "tozero", "title": {"text": "trajectories"}},
    )
    seen: set[str] = set()
    for curve in curves:
        if curve.agent not in seen:
            seen.add(curve.agent)
            traces.append(_running(curve, looks[curve.agent], last.x, last.y, links))
    return make_figure(traces, {**panels.layout, "height": height + 100})


def _lines(
    curve: Curve, look: Style, x: str, y: str, legend: bool, links: Links | None
) -> list[Trace]:
    places = [point.position for point in curve.points]
    means = [point.mean for point in curve.points]
    axes = {"xaxis": x, "yaxis": y, "legendgroup": label(curve.agent)}
    line = {"color": look.colour, "width": 1}
    return [
        interval_lines(places, means, "y", line=line, opacity=0.6, **axes),
        points(
            places,
            means,
            "y",
            unit="points",
            about=[
                f"{curve.agent}, {curve.dimension}, {point.position} "
                f"({point.running} of {curve.started} running)"
                for point in curve.points
            ],
            urls=None if links is None else [links.get((curve.agent, place)) for place in places],
            mode="lines+markers",
            name=label(curve.agent),
            showlegend=legend,
            connectgaps=False,
            line={"color": look.colour, "dash": look.dash, "width": 2},
            marker={
                "color": look.colour,
                "symbol": [look.symbol if mean.interval else look.open_symbol for mean in means],
                "size": 7,
            },
            **axes,
        ),
    ]


def _running(curve: Curve, look: Style, x: str, y: str, links: Links | None) -> Trace:
    trace: Trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "cliponaxis": False,
        "name": label(curve.agent),
        "legendgroup": label(curve.agent),
        "showlegend": False,
        "x": [point.position for point in curve.points],
        "y": [point.running for point in curve.points],
        "line": {"color": look.colour, "dash": look.dash, "width": 2},
        "marker": {"color": look.colour, "symbol": look.symbol, "size": 6},
        "hovertext": [
            f"{label(curve.agent)}, {point.position}<br>{point.running} of {curve.started} running"
            for point in curve.points
        ],
        "hoverinfo": "text",
        "xaxis": x,
        "yaxis": y,
    }
    if links is not None:
        trace["customdata"] = [links.get((curve.agent, point.position)) for point in curve.points]
    return trace


def agent_multiples(
    curves: Sequence[Curve],
    scale: tuple[float, float] = (1, 5),
    styles: Mapping[str, Style] | None = None,
    links: Links | None = None,
    columns: int = 4,
) -> Figure:
    """Draw a panel per agent for one dimension: its mean by turn, the other agents' in grey behind
    it.

    Under every turn stands how many of the agent's trajectories have it. ``links`` gives the
    address behind an (agent, position).
    """
    agents = [curve.agent for curve in curves]
    looks = styles_for(agents, styles)
    align = curves[0].align if curves else "turn"
    longest = max((len(curve.points) for curve in curves), default=0)
    every = max(1, -(-longest // MOST_NUMBERS))
    across = max(1, min(columns, len(curves)))
    lines = max(1, -(-len(curves) // across))
    height = 40 + lines * PANEL + lines * BELOW
    panels = Panels(
        len(curves), across, agents, gap_x=0.035, gap_y=BELOW / max(height - 40 - BELOW, 1)
    )
    traces: list[Trace] = []
    for i, curve in enumerate(curves):
        shown = curve.points[::every]
        x = {
            "tickmode": "array",
            "tickvals": [point.position for point in shown],
            # The number at risk stands under its turn.
            "ticktext": [
                f"{point.position:d}<br>{point.running:,}".replace("-", "−") for point in shown
            ],
            "tickangle": 0,
            "title": {"text": f"{TITLES[align][0]}, and trajectories", "standoff": 4},
        }
        y = {"range": [scale[0] - ROOM, scale[1] + ROOM], "dtick": 1, "showgrid": True}
        y |= {"showticklabels": i % across == 0}
        y |= {"title": {"text": "mean score"}} if i % across == 0 else {}
        panel = panels.axes(i, x, y)
        if i:
            panels.layout[panel.x_layout]["matches"] = "x"
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        traces += [_behind(other, axes) for other in curves if other is not curve]
        traces += _lines(curve, looks[curve.agent], panel.x, panel.y, False, links)
    return make_figure(traces, {**panels.layout, "height": height, "showlegend": False})


def _behind(curve: Curve, axes: Mapping[str, str]) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [point.position for point in curve.points],
        "y": [point.mean.value for point in curve.points],
        "line": {"color": NEUTRAL, "width": 1},
        "opacity": 0.3,
        "hoverinfo": "skip",
        "showlegend": False,
        **axes,
    }
