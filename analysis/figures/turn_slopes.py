"""Change per turn by several fits side by side, and means by turn of the same trajectories."""

from collections.abc import Callable, Collection, Mapping, Sequence

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    Panels,
    Trace,
    categories,
    interval_lines,
    label,
    points,
    room_for,
    rows_height,
)
from analysis.figures.layout.elements import undefined_marks as undefined
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure, Style, make_figure, styles_for
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
TOGETHER, GAP, MATCHED = 10, 66, 120
# A space that is not seen: rows of a category axis must differ in name.
UNSEEN = "\u200b"


Links = Mapping[tuple[str, str], str]


def slope_forest(
    models: Sequence[SlopeModels],
    links: Links | None = None,
    *,
    clear: Callable[[SlopeModels], bool] | None = None,
) -> Figure:
    """Draw a panel per dimension; in it every agent's slope by every fit, with a line at no change.

    ``links`` are addresses by (agent, dimension). With ``clear``, the mixed model is drawn alone,
    filled where its change is clear.
    """
    fits = FITS if clear is None else FITS[:1]
    agents = list(dict.fromkeys(one.agent for one in models))
    dimensions = list(dict.fromkeys(one.dimension for one in models))
    by_pair = {(one.agent, one.dimension): one for one in models}
    # Of every agent an empty row, one with its name, and one for each further fit.
    step = 1 + len(fits) if len(fits) > 1 else 1
    first = step - len(fits)
    rows = [
        label(agents[place // step]) if place % step == first else UNSEEN * (1 + place)
        for place in range(step * len(agents))
    ]
    columns = 2 if len(fits) > 1 else 4
    lines = -(-len(dimensions) // columns)
    height = 90 + lines * (GAP + (TOGETHER * len(rows) if len(fits) > 1 else rows_height(rows)))
    panels = Panels(len(dimensions), columns, dimensions, gap_x=0.04, gap_y=GAP / height)
    # One scale for all panels, so that falls can be compared.
    span = room_for([read(one) for one in models for _, read, _, _ in fits])
    traces: list[Trace] = []
    for i, dimension in enumerate(dimensions):
        axis = {
            **categories(rows, downwards=True),
            "tickmode": "array",
            "tickvals": rows[first::step],
            "showticklabels": i % columns == 0,
        }
        across = {"range": span, "showgrid": True, "zeroline": True}
        panel = panels.axes(i, {**across, "title": {"text": "points per turn"}}, axis)
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        here = [agent for agent in agents if (agent, dimension) in by_pair]
        for k, (fit, read, colour, symbol) in enumerate(fits):
            places = [rows[agents.index(agent) * step + first + k] for agent in here]
            marks: str | list[str] = symbol
            if clear is not None:
                shown = [clear(by_pair[agent, dimension]) for agent in here]
                marks = [symbol if one else f"{symbol}-open" for one in shown]
            estimates = [read(by_pair[agent, dimension]) for agent in here]
            traces += [
                interval_lines(places, estimates, "x", line={"color": colour}, **axes),
                points(
                    places,
                    estimates,
                    "x",
                    unit="points",
                    about=[f"{agent}, {dimension}: {fit}" for agent in here],
                    urls=[(links or {}).get((agent, dimension)) for agent in here],
                    name=fit,
                    legendgroup=fit,
                    showlegend=i == 0 and len(fits) > 1,
                    marker={"color": colour, "symbol": marks, "size": 8, "line": {"width": 2}},
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
    links: Links | None = None,
) -> Figure:
    """Draw a panel per dimension: means of the same trajectories at every turn.

    An open mark at turn 1 is the mean there of those that ended before the last turn compared.
    ``links`` are addresses by (agent, dimension).
    """
    drawn = [curve for curve in curves if curve.points]
    agents = list(dict.fromkeys(curve.agent for curve in drawn))
    dimensions = list(dict.fromkeys(curve.dimension for curve in drawn))
    looks = styles_for(agents, styles)
    lines = max(1, -(-len(dimensions) // 2))
    height = lines * MATCHED + (lines - 1) * GAP
    panels = Panels(len(dimensions), 2, dimensions, gap_y=GAP / height)
    traces: list[Trace] = []
    for i, dimension in enumerate(dimensions):
        x: dict[str, object] = {"dtick": 1, "title": {"text": "turn", "standoff": 6}}
        y = {"range": [scale[0] - 0.1, scale[1] + 0.1], "dtick": 1}
        panel = panels.axes(i, x, {**y, "title": {"text": "mean score"}})
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        for curve in drawn:
            if curve.dimension == dimension:
                traces += _matched(curve, looks[curve.agent], axes, links or {}, legend=i == 0)
    return make_figure(traces, {**panels.layout, "height": height + 90})


def _matched(
    curve: MatchedCurve, look: Style, axes: Mapping[str, str], links: Links, *, legend: bool
) -> list[Trace]:
    turns = list(range(1, len(curve.points) + 1))
    group = {"legendgroup": label(curve.agent), **axes}
    what = f"{curve.agent}, {curve.dimension}"
    url = links.get((curve.agent, curve.dimension))
    line = {"color": look.colour, "width": 1}
    traces = [
        interval_lines(turns, curve.points, "y", line=line, opacity=0.3, **group),
        points(
            turns,
            curve.points,
            "y",
            unit="points",
            about=[f"{what}, turn {turn}: reach turn {curve.horizon}" for turn in turns],
            urls=[url] * len(turns),
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


def two_sides(
    rows: Mapping[str, Sequence[Estimate]],
    looks: Mapping[str, Style],
    links: Mapping[str, str] | None = None,
    *,
    clear: Collection[str] | None = None,
) -> Figure:
    """Change per turn of a few sides, such as people and judges, one below the other by dimension.

    ``rows`` has an estimate for each of ``looks``; ``links`` are addresses by dimension. With
    ``clear``, marks of the first side are filled in these rows alone.
    """
    step = len(looks) + (len(looks) > 1)
    names = [
        label(title) if k == 0 else UNSEEN * (1 + place * step + k)
        for place, title in enumerate(rows)
        for k in range(step)
    ]
    traces: list[Trace] = []
    notes = []
    for k, (side, look) in enumerate(looks.items()):
        places = [names[place * step + k] for place in range(len(rows))]
        estimates = [pair[k] for pair in rows.values()]
        marks: str | list[str] = look.symbol
        if clear is not None and k == 0:
            marks = [look.symbol if title in clear else look.open_symbol for title in rows]
        traces += [
            interval_lines(places, estimates, "x", line={"color": look.colour}),
            points(
                places,
                estimates,
                "x",
                unit="points",
                about=[f"{side}, {title}" for title in rows],
                urls=[(links or {}).get(title) for title in rows],
                name=label(side),
                showlegend=len(looks) > 1,
                marker={
                    "color": look.colour,
                    "symbol": marks,
                    "size": 9,
                    "line": {"width": 2, "color": look.colour},
                },
            ),
        ]
        notes += undefined(places, estimates, 0, "x")
    layout = {
        "xaxis": {
            "range": room_for([one for pair in rows.values() for one in pair]),
            "showgrid": True,
            "zeroline": True,
            "title": {"text": "points per turn"},
        },
        "yaxis": {
            **categories(names, downwards=True),
            "tickmode": "array",
            "tickvals": names[::step],
        },
        "annotations": notes,
        "height": AROUND_ROWS + (TOGETHER * len(names) if step > 1 else rows_height(names)),
    }
    return make_figure(traces, layout)
