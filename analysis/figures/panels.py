"""Each judge against the others and against people, dimension by dimension."""

from collections.abc import Mapping, Sequence

from analysis.figures.layout.elements import (
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
from analysis.figures.layout.theme import (
    ACCENT,
    NEUTRAL,
    PEOPLE_SYMBOL,
    SYMBOLS,
    Figure,
    make_figure,
)
from analysis.stats.judges.bias import Bias
from analysis.stats.judges.panels import PanelJudge, PanelReliability
from analysis.stats.results import Estimate

OTHERS, PEOPLE = "against the other judges", "against people"
UNSEEN = "\u200b"


def judge_offsets(
    panels: Mapping[str, PanelReliability], links: Mapping[str, str] | None = None
) -> Figure:
    """Draw a panel per judge: how much higher it scores than the other judges, and than people.

    ``links`` are addresses by dimension.
    """
    judges = list(dict.fromkeys(one.judge for panel in panels.values() for one in panel.judges))
    has_bias = any(one.bias.value is not None for panel in panels.values() for one in panel.judges)
    names = [label(title) for title in panels]
    urls = {label(title): url for title, url in (links or {}).items()}
    rows = _rows(names, 2 if has_bias else 1)
    columns = max(1, min(3, len(judges)))
    every = [one for panel in panels.values() for one in panel.judges]
    span = room_for([one.severity for one in every] + [one.bias for one in every])
    across = {"range": span, "zeroline": True, "showgrid": True}
    grid = Panels(len(judges), columns, judges)
    traces: list[Trace] = []
    for i, judge in enumerate(judges):
        y = {
            **categories(rows, downwards=True),
            "tickmode": "array",
            "tickvals": names,
            "showticklabels": i % columns == 0,
        }
        panel = grid.axes(i, {**across, "title": {"text": "points"}}, y)
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        mine = [
            (name, one)
            for name, of_agent in zip(names, panels.values(), strict=True)
            for one in of_agent.judges
            if one.judge == judge
        ]
        kinds = [
            (
                OTHERS,
                0,
                [one.severity for _, one in mine],
                "circle",
                ACCENT,
            )
        ]
        if has_bias:
            biases = [one.bias for _, one in mine]
            kinds.append((PEOPLE, 1, biases, PEOPLE_SYMBOL + "-open", NEUTRAL))
        for kind, below, estimates, symbol, colour in kinds:
            places = [rows[rows.index(name) + below] for name, _ in mine]
            traces += [
                interval_lines(places, estimates, "x", line={"color": colour}, **axes),
                points(
                    places,
                    estimates,
                    "x",
                    unit="points",
                    about=[f"{judge} {kind}, {name}" for name, _ in mine],
                    urls=[urls.get(name) for name, _ in mine],
                    name=kind,
                    legendgroup=kind,
                    showlegend=has_bias and i == 0,
                    marker={"color": colour, "symbol": symbol, "size": 8},
                    **axes,
                ),
            ]
            grid.layout["annotations"] += undefined(
                places, estimates, 0, "x", xref=panel.x, yref=panel.y
            )
    lines = max(1, -(-len(judges) // columns))
    return make_figure(traces, {**grid.layout, "height": 60 + lines * (50 + rows_height(rows))})


def bias_panels(
    biases: Sequence[Bias], links: Mapping[str, str] | None = None, columns: int = 4
) -> Figure:
    """Draw a panel per judge: how far above people it scores on every dimension, with a line at 0.

    Filled marks are clear in the family of all pairs. ``links`` are addresses by dimension.
    """
    judges = list(dict.fromkeys(one.judge for one in biases))
    names = list(dict.fromkeys(label(one.dimension) for one in biases))
    ends = [
        abs(end)
        for one in biases
        if one.bias.interval is not None
        for end in (one.bias.interval.low, one.bias.interval.high)
    ] + [abs(one.bias.value) for one in biases if one.bias.value is not None]
    # One scale for all panels, with people in the middle and room for the marks.
    reach = max(0.5, 1.05 * max(ends, default=0.5))
    across = max(1, min(columns, len(judges)))
    lines = max(1, -(-len(judges) // across))
    body = rows_height(names)
    height = 80 + lines * body + (lines - 1) * 80
    grid = Panels(len(judges), across, judges, gap_x=0.03, gap_y=80 / max(height - 80, 1))
    traces: list[Trace] = []
    for i, judge in enumerate(judges):
        y = {**categories(names, downwards=True), "showticklabels": i % across == 0}
        title = {"text": "points above people"}
        x = {"range": [-reach, reach], "showgrid": True, "zeroline": True, "title": title}
        panel = grid.axes(i, x, y)
        axes = {"xaxis": panel.x, "yaxis": panel.y}
        mine = [one for one in biases if one.judge == judge]
        places = [label(one.dimension) for one in mine]
        estimates = [one.bias for one in mine]
        traces += [
            interval_lines(places, estimates, "x", line={"color": ACCENT}, **axes),
            points(
                places,
                estimates,
                "x",
                unit="points",
                about=[f"{judge}, {one.dimension}" for one in mine],
                urls=[(links or {}).get(one.dimension) for one in mine],
                name=label(judge),
                showlegend=False,
                marker={
                    "color": ACCENT,
                    "symbol": ["circle" if one.clear else "circle-open" for one in mine],
                    "size": 9,
                    "line": {"width": 2},
                },
                **axes,
            ),
        ]
        grid.layout["annotations"] += undefined(
            places, estimates, 0, "x", xref=panel.x, yref=panel.y
        )
    return make_figure(traces, {**grid.layout, "height": height})


def verdict_flips(
    panels: Mapping[str, PanelReliability], links: Mapping[str, str] | None = None
) -> Figure:
    """Draw the share of verdicts that turn without each judge, by dimension.

    Judges differ by mark: hues are of agents. ``links`` are addresses by dimension.
    """
    judges = list(dict.fromkeys(one.judge for panel in panels.values() for one in panel.judges))
    names = [label(title) for title in panels]
    urls = {label(title): url for title, url in (links or {}).items()}
    rows = _rows(names, len(judges) + 1)
    traces: list[Trace] = []
    for k, judge in enumerate(judges):
        mine = [
            (rows[rows.index(name) + k], flips, name)
            for name, of_agent in zip(names, panels.values(), strict=True)
            for one in of_agent.judges
            if one.judge == judge and (flips := flip_share(one)) is not None
        ]
        places = [place for place, _, _ in mine]
        estimates = [estimate for _, estimate, _ in mine]
        traces += [
            interval_lines(places, estimates, "x", line={"color": ACCENT}),
            points(
                places,
                estimates,
                "x",
                unit="share",
                about=[f"without {judge}, {name}" for _, _, name in mine],
                urls=[urls.get(name) for _, _, name in mine],
                name=f"without {label(judge)}",
                marker={"color": ACCENT, "symbol": SYMBOLS[k % len(SYMBOLS)], "size": 8},
            ),
        ]
    layout = {
        "xaxis": {"tickformat": ".0%", "rangemode": "tozero", "showgrid": True,
                  "title": {"text": "verdicts that turn"}},
        "yaxis": {**categories(rows, downwards=True), "tickmode": "array", "tickvals": names},
        "height": 120 + 13 * len(rows),
    }  # fmt: skip
    return make_figure(traces, layout)


def flip_share(one: PanelJudge) -> Estimate | None:
    """Return the share of verdicts that turn; where none does all drawings agree, so Wilson's
    then.
    """
    if one.flips is None:
        return None
    return one.flips.clustered if one.flips.clustered.interval else one.flips.wilson


def _rows(names: Sequence[str], each: int) -> list[str]:
    """Return several row labels for each name: the name once, then distinct blank labels."""
    return [
        name if k == 0 else UNSEEN * (1 + place * each + k)
        for place, name in enumerate(names)
        for k in range(each)
    ]
