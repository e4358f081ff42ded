"""Shares over whole numbers, such as the number of trials or the length of a path."""

from collections.abc import Mapping, Sequence

from analysis.figures.elements import Trace, interval_lines, label, points, share_axis
from analysis.figures.theme import Figure, Style, make_figure, styles_for
from analysis.stats.results import Estimate


def number_lines(
    curves: Mapping[str, Sequence[tuple[int, Estimate]]],
    across: str,
    up: str,
    *,
    styles: Mapping[str, Style] | None = None,
    about: str = "",
    urls: Mapping[str, str] | None = None,
) -> Figure:
    """Draw one line per agent over whole numbers, with intervals beside each other.

    ``about`` stands before the number in the hover text; ``urls`` are addresses by agent.
    """
    looks = styles_for(list(curves), styles)
    everything = [number for pairs in curves.values() for number, _ in pairs] or [1]
    traces: list[Trace] = []
    for place, (agent, pairs) in enumerate(curves.items()):
        # Side by side, so that intervals do not cover each other.
        shift = 0.06 * (place - (len(curves) - 1) / 2) if len(curves) > 1 else 0.0
        at = [number + round(shift, 3) for number, _ in pairs]
        estimates = [estimate for _, estimate in pairs]
        look = looks[agent]
        group = {"legendgroup": label(agent)}
        url = (urls or {}).get(agent)
        traces += [
            interval_lines(at, estimates, "y", line={"color": look.colour, "width": 1}, **group),
            points(
                at,
                estimates,
                "y",
                unit="share",
                about=[f"{agent}, {about}{number}" for number, _ in pairs],
                urls=[url] * len(pairs) if url else None,
                mode="lines+markers",
                connectgaps=False,
                name=label(agent),
                showlegend=len(curves) > 1,
                line={"color": look.colour, "dash": look.dash, "width": 2},
                marker={
                    "color": look.colour,
                    "symbol": [
                        look.symbol if estimate.interval else look.open_symbol
                        for estimate in estimates
                    ],
                    "size": 8,
                },
                **group,
            ),
        ]
    layout = {
        "xaxis": {
            "title": {"text": across},
            "dtick": 1,
            "range": [min(everything) - 0.3, max(everything) + 0.3],
            "showgrid": False,
        },
        "yaxis": {**share_axis(up), "range": [0, 1]},
        "height": 340,
    }
    return make_figure(traces, layout)
