"""How agents ask a person: means with bands over a number, and one example step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.figures.layout.elements import Trace, categories, label
from analysis.figures.layout.theme import INK, NEUTRAL, Figure, Style, make_figure, styles_for

# A mean with the ends of its band; without a band both are None.
BandPoint = tuple[float, float, float | None, float | None]
HEIGHT, ROW = 420, 46


@dataclass(frozen=True)
class ExampleMark:
    """A preference in an example: the step at which it was told, and the one that decided it.

    ``asked`` and ``met`` are None where it was never told, and never met.
    """

    text: str
    asked: int | None
    met: int | None


def banded_lines(
    curves: Mapping[str, Sequence[BandPoint]],
    across: str,
    up: str,
    *,
    marks: bool = False,
    styles: Mapping[str, Style] | None = None,
    urls: Mapping[str, str] | None = None,
) -> Figure:
    """Draw all curves in one panel, each with a band; ``urls`` are addresses by curve."""
    looks = styles_for(list(curves), styles)
    traces: list[Trace] = []
    for name, points in curves.items():
        look, url = looks[name], (urls or {}).get(name, "")
        axes = {"legendgroup": label(name)}
        band = [(x, low, high) for x, _, low, high in points if low is not None]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [*(x for x, _, _ in band), *(x for x, _, _ in reversed(band))],
                "y": [*(high for _, _, high in band), *(low for _, low, _ in reversed(band))],
                "fill": "toself",
                "fillcolor": look.colour,
                "opacity": 0.15,
                "line": {"width": 0, "color": look.colour},
                "hoverinfo": "skip",
                "showlegend": False,
                **axes,
            }
        )
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if marks else "lines",
                "name": label(name),
                "x": [x for x, *_ in points],
                "y": [mean for _, mean, *_ in points],
                "line": {"color": look.colour, "dash": look.dash, "width": 2},
                "marker": {"color": look.colour, "symbol": look.symbol, "size": 7},
                "hovertext": [f"{label(name)}, {x:g}<br>{mean:.1f}" for x, mean, *_ in points],
                "hoverinfo": "text",
                "customdata": [url] * len(points),
                **axes,
            }
        )
    x = {"title": {"text": across}, "showgrid": False}
    y = {"title": {"text": up}, "rangemode": "tozero"}
    return make_figure(traces, {"xaxis": x, "yaxis": y, "height": HEIGHT})


def example_steps(
    rows: Mapping[str, tuple[int, Sequence[ExampleMark], str]], styles: Mapping[str, Style]
) -> Figure:
    """Draw a row per curve: where it was told preferences, and where it met them.

    Each row has its number of steps, its preferences, and an address.
    """
    looks, names = styles_for(list(rows), styles), [label(name) for name in rows]
    told: list[tuple[str, int, str, str, str]] = []
    met: list[tuple[str, int, str, str, str]] = []
    traces: list[Trace] = []
    for name, (steps, marks, url) in rows.items():
        row, colour = label(name), looks[name].colour
        line = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
        traces.append({**line, "x": [1, steps], "y": [row, row],
                       "line": {"color": NEUTRAL, "width": 1}})  # fmt: skip
        for mark in marks:
            if mark.asked is not None and mark.met is not None:
                traces.append({**line, "x": [mark.asked, mark.met], "y": [row, row],
                               "line": {"color": colour, "width": 3}})  # fmt: skip
            if mark.asked is not None:
                told.append((row, mark.asked, mark.text, colour, url))
            if mark.met is not None:
                met.append((row, mark.met, mark.text, colour, url))
    for title, symbol, points in (("told", "circle-open", told), ("met", "diamond", met)):
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": title,
                "x": [step for _, step, *_ in points],
                "y": [row for row, *_ in points],
                "marker": {"symbol": symbol, "size": 9, "color": [p[3] for p in points] or INK},
                "hovertext": [f"{row}, step {step}: {title}<br>{label(text)}"
                              for row, step, text, *_ in points],
                "hoverinfo": "text",
                "customdata": [url for *_, url in points],
            }
        )  # fmt: skip
    return make_figure(
        traces,
        {
            "xaxis": {"title": {"text": "step"}, "rangemode": "tozero"},
            "yaxis": categories(names, downwards=True),
            "height": 110 + ROW * len(rows),
        },
    )
