"""How agents ask a person: means with bands over a number, and one example step by step."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.figures.layout.elements import Trace, categories, label
from analysis.figures.layout.theme import INK, NEUTRAL, Figure, Style, make_figure, styles_for

# A mean with the ends of its band; without a band both are None.
BandPoint = tuple[float, float, float | None, float | None]
HEIGHT, ROW = 280, 32
TOLD, MET, VAIN = "told", "met", "asked, nothing told"
_SYMBOLS = {TOLD: "circle-open", MET: "diamond", VAIN: "x-thin-open"}


class ExampleMark(NamedTuple):
    """A preference in an example, or a question that told none.

    ``asked`` is the step at which it was told or asked, ``met`` the one that decided it; None where
    it was never told, or never met. ``vain``: the answer told nothing.
    """

    text: str
    asked: int | None
    met: int | None = None
    vain: bool = False


def banded_lines(
    curves: Mapping[str, Sequence[BandPoint]],
    across: str,
    up: str,
    *,
    marks: bool = False,
    styles: Mapping[str, Style] | None = None,
    urls: Mapping[str, str] | None = None,
) -> Figure:
    """Draw all curves in one panel, each with a band, or with ``marks`` and a line at each of them.

    ``urls`` are addresses by curve.
    """
    looks = styles_for(list(curves), styles)
    traces: list[Trace] = []
    for name, points in curves.items():
        look, url = looks[name], (urls or {}).get(name, "")
        axes = {"legendgroup": label(name)}
        band = [(x, low, high) for x, _, low, high in points if low is not None]
        if marks:
            # A filled band would bridge points that have none.
            ends = [(x, y) for x, low, high in band for y in (low, high, None)]
            look_of_band: Trace = {"opacity": 0.6, "line": {"width": 2, "color": look.colour}}
        else:
            ends = [*((x, high) for x, _, high in band), *((x, low) for x, low, _ in band[::-1])]
            look_of_band = {
                "fill": "toself", "fillcolor": look.colour, "opacity": 0.15,
                "line": {"width": 0, "color": look.colour},
            }  # fmt: skip
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [x for x, _ in ends],
                "y": [y for _, y in ends],
                "hoverinfo": "skip",
                "showlegend": False,
                **look_of_band,
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
    most = max((x for points in curves.values() for x, *_ in points), default=1)
    x = {"title": {"text": across}, "showgrid": False, "range": [0, 1.02 * most]}
    y = {"title": {"text": up}, "rangemode": "tozero"}
    return make_figure(traces, {"xaxis": x, "yaxis": y, "height": HEIGHT})


def example_steps(
    rows: Mapping[str, tuple[int, Sequence[ExampleMark], str]], styles: Mapping[str, Style]
) -> Figure:
    """Draw a row per curve: where it was told preferences, and where it met them.

    Each row has its number of steps, its preferences, and an address.
    """
    looks, names = styles_for(list(rows), styles), [label(name) for name in rows]
    points: dict[str, list[tuple[str, int, str, str, str]]] = {name: [] for name in _SYMBOLS}
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
                kind = VAIN if mark.vain else TOLD
                points[kind].append((row, mark.asked, mark.text, colour, url))
            if mark.met is not None:
                points[MET].append((row, mark.met, mark.text, colour, url))
    for title, symbol in _SYMBOLS.items():
        some = points[title]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": title,
                "legendgroup": title,
                "showlegend": False,
                "x": [step for _, step, *_ in some],
                "y": [row for row, *_ in some],
                "marker": {"symbol": symbol, "size": 9, "color": [p[3] for p in some]},
                "hovertext": [f"{row}, step {step}: {title}<br>{label(text)}"
                              for row, step, text, *_ in some],
                "hoverinfo": "text",
                "customdata": [url for *_, url in some],
            }
        )  # fmt: skip
        # The legend has no agent's colour.
        traces.append({"type": "scatter", "mode": "markers", "x": [None], "y": [None],
                       "name": title, "legendgroup": title, "hoverinfo": "skip",
                       "marker": {"symbol": symbol, "size": 9, "color": INK}})  # fmt: skip
    return make_figure(
        traces,
        {
            "xaxis": {"title": {"text": "step"}, "rangemode": "tozero"},
            "yaxis": categories(names, downwards=True),
            "height": 110 + ROW * len(rows),
        },
    )
