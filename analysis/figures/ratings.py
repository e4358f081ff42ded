"""Ratings of people: means by question, how often each score was given, and time per item."""

from collections.abc import Sequence

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    Trace,
    categories,
    interval_lines,
    label,
    number,
    points,
    rows_height,
    share_axis,
    undefined_marks,
)
from analysis.figures.layout.theme import ACCENT, NEUTRAL, PEOPLE_SYMBOL, Figure, make_figure
from analysis.stats.descriptive.spread import Quartiles
from analysis.stats.results import Distribution, Estimate


def question_dots(
    questions: Sequence[str], means: Sequence[Estimate], scale: tuple[float, float] = (1, 5)
) -> Figure:
    """Draw the mean answer to each question with its interval, in the order of the
    questionnaire.
    """
    names = [label(question) for question in questions]
    traces = [
        interval_lines(names, means, "x", line={"color": NEUTRAL}),
        points(
            names,
            means,
            "x",
            unit="points",
            about=questions,
            showlegend=False,
            marker={"color": NEUTRAL, "symbol": PEOPLE_SYMBOL, "size": 11},
        ),
    ]
    layout = {
        "xaxis": {
            # Room for a mark at the very end.
            "range": [scale[0], scale[1] + 0.04],
            "showgrid": True,
            "dtick": 1,
            "title": {"text": f"Mean answer, {scale[0]:g} to {scale[1]:g}"},
        },
        "yaxis": categories(names, downwards=True),
        "annotations": undefined_marks(names, means, scale[0], "x", xanchor="left"),
        "height": AROUND_ROWS + rows_height(names),
    }
    return make_figure(traces, layout)


# Apart by hatching, not by hue alone.
LOOKS = ((NEUTRAL, "/"), (ACCENT, ""))


def score_bars(groups: Sequence[tuple[str, Distribution]]) -> Figure:
    """Draw bars of the share of each score, one look for each group of raters."""
    traces: list[Trace] = []
    for (name, given), (colour, pattern) in zip(groups, LOOKS, strict=False):
        traces.append(
            {
                "type": "bar",
                "name": f"{label(name)} (n = {given.n:,})",
                "x": [bin.label for bin in given.bins],
                "y": [bin.share for bin in given.bins],
                "marker": {"color": colour, "pattern": {"shape": pattern}},
                "hovertext": [
                    f"{label(name)}, score {bin.label}<br>{bin.count:,} of {given.n:,} "
                    f"({number(bin.share, 'share')})"
                    for bin in given.bins
                ],
                "hoverinfo": "text",
            }
        )
    scores = list(dict.fromkeys(bin.label for _, given in groups for bin in given.bins))
    layout = {
        "xaxis": {**categories(scores), "title": {"text": "score"}},
        "yaxis": share_axis("share of scores"),
        "barmode": "group",
        "height": 280,
    }
    return make_figure(traces, layout)


def time_lines(names: Sequence[str], times: Sequence[Quartiles]) -> Figure:
    """Draw median and quartiles of the active minutes per item, by annotator."""
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
            "xaxis": {
                "rangemode": "tozero",
                "showgrid": True,
                "title": {"text": "Minutes per item"},
            },
            "yaxis": categories(rows, downwards=True),
            "height": AROUND_ROWS + rows_height(rows),
        },
    )
