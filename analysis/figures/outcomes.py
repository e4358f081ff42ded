"""Rewards of trajectories made elsewhere: means, how they are spread, and several trials."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    Trace,
    Unit,
    categories,
    cells_height,
    interval_lines,
    label,
    points,
    rows_height,
    share_axis,
    undefined_marks,
)
from analysis.figures.layout.theme import INK, Figure, Style, make_figure, styles_for
from analysis.figures.lines import number_lines
from analysis.stats.descriptive.spread import Histogram
from analysis.stats.results import Estimate


class RewardRow(NamedTuple):
    """One agent: its mean reward, and the address that its point leads to."""

    agent: str
    reward: Estimate
    url: str | None = None


def reward_dots(
    rows: Sequence[RewardRow], *, unit: Unit, styles: Mapping[str, Style] | None = None
) -> Figure:
    """Draw one line per agent, in the given order: the mean reward with its interval."""
    looks = styles_for([row.agent for row in rows], styles)
    names = [label(row.agent) for row in rows]
    estimates = [row.reward for row in rows]
    traces: list[Trace] = [
        interval_lines([name], [row.reward], "x", line={"color": looks[row.agent].colour})
        for name, row in zip(names, rows, strict=True)
        if row.reward.interval is not None
    ]
    traces.append(
        points(
            names,
            estimates,
            "x",
            unit=unit,
            about=[row.agent for row in rows],
            urls=[row.url for row in rows],
            showlegend=False,
            marker={
                "color": [looks[row.agent].colour for row in rows],
                "symbol": [
                    look.symbol if row.reward.interval else look.open_symbol
                    for row, look in ((row, looks[row.agent]) for row in rows)
                ],
                "size": 10,
            },
        )
    )
    if unit == "share":
        axis = {**share_axis("share with a reward of 1"), "range": [0, 1.03]}
    else:
        axis = {"showgrid": True, "title": {"text": "mean reward"}}
    layout = {
        "xaxis": axis,
        "yaxis": categories(names, downwards=True),
        "annotations": undefined_marks(names, estimates, 0, "x", xanchor="left"),
        "height": AROUND_ROWS + rows_height(names),
    }
    return make_figure(traces, layout)


def pass_lines(
    curves: Mapping[str, Sequence[Estimate]],
    styles: Mapping[str, Style] | None = None,
    urls: Mapping[str, str] | None = None,
) -> Figure:
    """Draw pass^k over k = 1, 2, …, one line per agent, with intervals beside each other.

    ``urls`` are the addresses that the marks of an agent lead to.
    """
    numbered = {agent: list(enumerate(estimates, 1)) for agent, estimates in curves.items()}
    return number_lines(
        numbered,
        "k, trials that must all succeed",
        "pass^k",
        styles=styles,
        about="pass^",
        urls=urls,
    )


def reward_spread(spread: Histogram, urls: Mapping[str, str] | None = None) -> Figure:
    """Draw the share of each agent's trajectories in each cell of rewards, with their number.

    ``urls`` are the addresses that the cells of an agent lead to.
    """
    rows = [label(name) for name in spread.counts]
    columns = [label(cell.label) for cell in spread.cells]
    totals = {name: sum(counts) for name, counts in spread.counts.items()}
    trace: Trace = {
        "type": "heatmap",
        "x": columns,
        "y": rows,
        "z": [list(spread.shares(name)) for name in spread.counts],
        "text": [[f"{count:,}" for count in counts] for counts in spread.counts.values()],
        "texttemplate": "%{text}",
        "textfont": {"color": INK},
        "hovertext": [
            [
                f"{label(name)}<br>reward {label(cell.label)}<br>{count:,} of {totals[name]:,}"
                for cell, count in zip(spread.cells, counts, strict=True)
            ]
            for name, counts in spread.counts.items()
        ],
        "hoverinfo": "text",
        "zmin": 0,
        "zmax": 1,
        "autocolorscale": True,
        "xgap": 1,
        "ygap": 1,
        "colorbar": {"title": {"text": "share"}, "thickness": 12, "tickformat": ".0%"},
    }
    if urls is not None:
        trace["customdata"] = [[urls.get(name)] * len(columns) for name in spread.counts]
    layout = {
        "xaxis": {**categories(columns), "side": "top", "title": {"text": "reward"}},
        "yaxis": categories(rows, downwards=True),
        "height": AROUND_ROWS + cells_height(rows),
    }
    return make_figure([trace], layout)
