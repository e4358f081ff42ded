"""Answers of people: one line per question."""

from collections.abc import Sequence

from analysis.figures.elements import categories, interval_lines, points, undefined_marks
from analysis.figures.labels import label
from analysis.figures.theme import NEUTRAL, PEOPLE_SYMBOL, Figure, make_figure
from analysis.stats.results import Estimate


def question_dots(
    questions: Sequence[str], means: Sequence[Estimate], scale: tuple[float, float] = (1, 5)
) -> Figure:
    """The mean answer to each question with its interval, in the order of the questionnaire."""
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
        "xaxis": {"range": list(scale), "showgrid": True, "title": {"text": "mean answer"}},
        "yaxis": categories(names, downwards=True),
        "annotations": undefined_marks(names, means, scale[0], "x", xanchor="left"),
        "height": 130 + 30 * len(names),
    }
    return make_figure(traces, layout)
