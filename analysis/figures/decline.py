"""Mean scores over the turns, as small multiples, with how many trajectories still run."""

from collections.abc import Mapping, Sequence

from analysis.figures.elements import Panels, Trace, interval_lines, label, points
from analysis.figures.theme import Figure, Style, make_figure, styles_for
from analysis.stats.trends.decline import Curve

Links = Mapping[tuple[str, int], str]

MOST_TICKS = 20
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
    """One panel of lines per dimension, and under them the trajectories still running.

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
    panels = Panels(len(shown) + 1, 2, [*shown, running], wide_last=True)
    traces: list[Trace] = []
    for i, dimension in enumerate(shown):
        panel = panels.axes(i, dict(steps), {"range": list(scale)})
        for curve in curves:
            if curve.dimension == dimension:
                traces += _lines(curve, looks[curve.agent], panel.x, panel.y, i == 0, links)
    last = panels.axes(
        len(shown), {**steps, "title": {"text": position or across}}, {"rangemode": "tozero"}
    )
    seen: set[str] = set()
    for curve in curves:
        if curve.agent not in seen:
            seen.add(curve.agent)
            traces.append(_running(curve, looks[curve.agent], last.x, last.y, links))
    rows = -(-len(shown) // 2) + 1
    return make_figure(traces, {**panels.layout, "height": 100 + 230 * rows})


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
