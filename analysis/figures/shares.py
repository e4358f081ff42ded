"""Several shares for each of a few names, with intervals and published values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from analysis.figures.layout.elements import (
    AROUND_ROWS,
    Trace,
    categories,
    interval_lines,
    label,
    points,
    row_label,
    rows_height,
    share_axis,
    undefined_marks,
)
from analysis.figures.layout.theme import NEUTRAL, Figure, make_figure
from analysis.stats.results import Estimate

# Letters of a line of a row's name.
ROW_LETTERS = 44


@dataclass(frozen=True)
class Shares:
    """One kind of share for every name, such as equal sets.

    ``urls`` are the addresses that its points lead to, one for every name.
    """

    name: str
    estimates: Sequence[Estimate]
    symbol: str
    colour: str
    urls: Sequence[str] | None = None


@dataclass(frozen=True)
class PublishedShares:
    """Published values by name, without intervals."""

    name: str = "published"
    values: Mapping[str, Estimate] = field(default_factory=dict)
    symbol: str = "x-thin-open"


def share_dots(
    names: Sequence[str],
    shares: Sequence[Shares],
    *,
    title: str,
    published: Sequence[PublishedShares] = (),
) -> Figure:
    """Draw one line per name with a point and an interval for each of the shares.

    The first of ``shares`` says where a value is undefined.
    """
    rows = [row_label(name, ROW_LETTERS) for name in names]
    traces: list[Trace] = []
    for one in shares:
        traces += [
            interval_lines(
                rows, one.estimates, "x", line={"color": one.colour}, legendgroup=one.name
            ),
            points(
                rows,
                one.estimates,
                "x",
                unit="share",
                about=[f"{name}, {one.name}" for name in names],
                urls=one.urls,
                name=label(one.name),
                legendgroup=one.name,
                marker={
                    "color": one.colour,
                    "symbol": one.symbol,
                    "size": 10,
                    "line": {"width": 2},
                },
            ),
        ]
    for other in published:
        known = [name for name in names if name in other.values]
        traces.append(
            points(
                [row_label(name, ROW_LETTERS) for name in known],
                [other.values[name] for name in known],
                "x",
                unit="share",
                about=[f"{name}, {other.name}" for name in known],
                name=label(other.name),
                marker={
                    "color": NEUTRAL,
                    "symbol": other.symbol,
                    "size": 11,
                    "line": {"width": 2},
                },
            )
        )
    first = shares[0].estimates if shares else []
    layout = {
        "xaxis": {**share_axis(title), "range": [0, 1.01]},
        "yaxis": categories(rows, downwards=True),
        "annotations": undefined_marks(rows, first, 0, "x", xanchor="left"),
        "height": AROUND_ROWS + rows_height(rows),
    }
    return make_figure(traces, layout)
