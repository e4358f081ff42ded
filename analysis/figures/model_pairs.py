"""Pairs of models: their differences with intervals, and all of them as a matrix."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    Trace,
    Unit,
    categories,
    cells_height,
    describe,
    difference_axis,
    interval_lines,
    label,
    points,
    row_label,
    rows_height,
    undefined_marks,
)
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure, make_figure
from analysis.stats.results import Estimate

# Below nothing the one hue, above it the other: safe for colour-blind readers, both modes.
DIVERGING = ((0, "var(--heat-opposite)"), (0.5, "var(--page)"), (1, "var(--heat)"))


class PairMark(NamedTuple):
    """A difference, first minus second. ``clear`` is the verdict of its family, None if untested;
    ``text`` is the difference in words, ``about`` what is said on hovering beside the estimate.
    """

    first: str
    second: str
    difference: Estimate
    clear: bool | None
    text: str
    about: str = ""
    url: str = ""

    @property
    def name(self) -> str:
        return f"{self.first} − {self.second}"


def pair_forest(marks: Sequence[PairMark], *, unit: Unit, title: str) -> Figure:
    """Draw a row per pair with its interval and a line at 0; filled where the verdict is clear."""
    names = _row_names([mark.name for mark in marks])
    traces: list[Trace] = []
    kinds = (
        ("clear in its family", True, ACCENT, "circle"),
        ("not clear", False, NEUTRAL, "circle-open"),
    )
    for name, clear, colour, symbol in kinds:
        mine = [(n, m) for n, m in zip(names, marks, strict=True) if bool(m.clear) is clear]
        if not mine:
            continue
        rows = [n for n, _ in mine]
        values = [mark.difference for _, mark in mine]
        traces += [
            interval_lines(rows, values, "x", line={"color": colour}, legendgroup=name),
            points(
                rows,
                values,
                "x",
                unit=unit,
                about=[mark.name for _, mark in mine],
                urls=[mark.url for _, mark in mine],
                name=name,
                legendgroup=name,
                marker={"color": colour, "symbol": symbol, "size": 9, "line": {"width": 2}},
            )
            | {"hovertext": [_hover(mark, unit) for _, mark in mine]},
        ]
    differences = [mark.difference for mark in marks]
    ends = [
        end for one in differences if one.interval for end in (one.interval.low, one.interval.high)
    ]
    ends += [0.0, *(one.value for one in differences if one.value is not None)]
    room = 0.04 * ((max(ends) - min(ends)) or 1.0)
    axis: dict[str, Any] = {
        "title": {"text": title},
        "showgrid": True,
        "zeroline": True,
        "range": [min(ends) - room, max(ends) + room],
    }
    layout = {
        "xaxis": axis | (difference_axis(*axis["range"]) if unit == "share" else {}),
        "yaxis": categories(names, downwards=True),
        "annotations": undefined_marks(names, differences, 0, "x", xanchor="left"),
        "height": AROUND_ROWS + rows_height(names),
    }
    return make_figure(traces, layout)


def pair_matrix(models: Sequence[str], marks: Sequence[PairMark], *, unit: Unit) -> Figure:
    """Draw row minus column for every two models, a star where the verdict is clear.

    Every pair is in ``marks`` twice, once from each side.
    """
    by_pair: Mapping[tuple[str, str], PairMark] = {(m.first, m.second): m for m in marks}
    rows = [label(model) for model in models]
    lines = [[by_pair.get((one, other)) for other in models] for one in models]
    widest = max((abs(m.difference.value or 0) for m in marks), default=0) or 1
    trace: Trace = {
        "type": "heatmap",
        "x": rows,
        "y": rows,
        "z": [[mark.difference.value if mark else None for mark in line] for line in lines],
        "text": [
            [f"{mark.text}{' *' if mark.clear else ''}" if mark else "" for mark in line]
            for line in lines
        ],
        "texttemplate": "%{text}",
        "hovertext": [[_hover(mark, unit) if mark else "" for mark in line] for line in lines],
        "hoverinfo": "text",
        "customdata": [[mark.url if mark else "" for mark in line] for line in lines],
        "zmin": -widest,
        "zmax": widest,
        "colorscale": [list(step) for step in DIVERGING],
        "showscale": False,
        "xgap": 1,
        "ygap": 1,
    }
    layout = {
        "xaxis": {**categories(rows), "side": "top"},
        "yaxis": categories(rows, downwards=True),
        "height": AROUND_ROWS + cells_height(rows),
    }
    return make_figure([trace], layout)


def _hover(mark: PairMark, unit: Unit) -> str:
    """Return the pair with its difference in words; for what is undefined, why."""
    if mark.difference.value is None:
        return describe(mark.name, mark.difference, unit)
    return "<br>".join(
        [label(mark.name), label(mark.text), *map(label, filter(None, [mark.about]))]
    )


def _row_names(names: Sequence[str]) -> list[str]:
    """Shorten names to fit; equal ones are kept apart by an invisible space."""
    names_of_rows: list[str] = []
    for name in names:
        row = row_label(name)
        while row in names_of_rows:
            row += "\u200b"
        names_of_rows.append(row)
    return names_of_rows
