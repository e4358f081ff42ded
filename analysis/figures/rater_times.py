"""How long annotators take: one line each."""

from collections.abc import Sequence

from analysis.figures.elements import Trace, categories
from analysis.figures.labels import label
from analysis.figures.theme import NEUTRAL, PEOPLE_SYMBOL, Figure, make_figure
from analysis.stats.descriptive.spread import Middle


def time_lines(names: Sequence[str], times: Sequence[Middle]) -> Figure:
    """Median and quartiles of the active minutes per item, by annotator."""
    rows = [label(name) for name in names]
    known = [
        (row, t.low / 60, t.median / 60, t.high / 60, t.n)
        for row, t in zip(rows, times, strict=True)
        if t.low is not None and t.median is not None and t.high is not None
    ]
    lines: Trace = {
        "type": "scatter",
        "mode": "lines",
        "x": [end for _, low, _, high, _ in known for end in (low, high, None)],
        "y": [place for row, *_ in known for place in (row, row, None)],
        "line": {"width": 1.5, "color": NEUTRAL},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    medians: Trace = {
        "type": "scatter",
        "mode": "markers",
        "cliponaxis": False,
        "x": [median for _, _, median, _, _ in known],
        "y": [row for row, *_ in known],
        "hovertext": [
            f"{row}<br>median {median:.1f} min, middle half {low:.1f} to {high:.1f} (n = {n})"
            for row, low, median, high, n in known
        ],
        "hoverinfo": "text",
        "showlegend": False,
        "marker": {"color": NEUTRAL, "symbol": PEOPLE_SYMBOL, "size": 11},
    }
    return make_figure(
        [lines, medians],
        {
            "xaxis": {"rangemode": "tozero", "showgrid": True, "title": {"text": "minutes"}},
            "yaxis": categories(rows, downwards=True),
            "height": 130 + 30 * len(rows),
        },
    )
