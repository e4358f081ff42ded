"""Differences between people and judges: exact distributions, and shares of small ones."""

from collections.abc import Mapping, Sequence

from analysis.figures.layout.elements import Panels, Trace, categories, label, number, share_axis
from analysis.figures.layout.theme import ACCENT, NEUTRAL, Figure, make_figure
from analysis.figures.shares import Shares, share_dots
from analysis.stats.rater_agreement.differences import Agreement

# Apart by hatching, not by hue alone.
EXACT, NEAR, FAR = "equal", "at most one point apart", "more than one point apart"
# Heights of a panel and of what stands between two, in pixels.
PANEL, GAP = 140, 76
LOOKS = {EXACT: (ACCENT, ""), NEAR: (ACCENT, "/"), FAR: (NEUTRAL, "x")}


def agreement_bars(
    results: Sequence[Agreement], links: Mapping[tuple[str, int], str] | None = None
) -> Figure:
    """Draw one panel per dimension: share of items at each exact difference 0, 1/k, 2/k, …

    ``links`` gives the address behind a dimension and a bin's numerator.
    """
    titles = [f"{result.dimension} (n\u00a0=\u00a0{result.n})" for result in results]
    rows = max(1, -(-len(results) // 2))
    height = rows * PANEL + (rows - 1) * GAP
    panels = Panels(len(results), 2, titles, gap_y=GAP / height)
    traces: list[Trace] = []
    for i, result in enumerate(results):
        bins = result.distribution.bins
        k = result.distribution.denominator
        whole = [b.label for b in bins if b.numerator % k == 0]
        title = {"text": "points apart", "standoff": 6}
        x = {**categories([b.label for b in bins]), "tickvals": whole, "title": title}
        panel = panels.axes(i, x, share_axis("share of items"))
        if i:
            panels.layout[panel.y_layout]["matches"] = "y"
        for name, chosen in (
            (EXACT, [b for b in bins if b.numerator == 0]),
            (NEAR, [b for b in bins if 0 < b.numerator <= k]),
            (FAR, [b for b in bins if b.numerator > k]),
        ):
            colour, pattern = LOOKS[name]
            bars: Trace = {
                "type": "bar",
                "name": name,
                "legendgroup": name,
                "showlegend": i == 0,
                "x": [b.label for b in chosen],
                "y": [b.share for b in chosen],
                "marker": {"color": colour, "pattern": {"shape": pattern}},
                "hovertext": [
                    f"{label(result.dimension)}, difference {b.label}<br>"
                    f"{b.count} of {result.n} ({number(b.share, 'share')})"
                    for b in chosen
                ],
                "hoverinfo": "text",
                "xaxis": panel.x,
                "yaxis": panel.y,
            }
            if links is not None:
                bars["customdata"] = [links.get((result.dimension, b.numerator)) for b in chosen]
            traces.append(bars)
    layout = {**panels.layout, "barmode": "overlay", "height": height + 100}
    return make_figure(traces, layout)


def agreement_shares(results: Sequence[Agreement]) -> Figure:
    """Draw for each dimension the share equal when rounded and that within one point.

    A single judge's whole scores are the same rounded.
    """
    looks = (
        ("rounded", "equal when rounded", "circle", ACCENT),
        ("within_one", "within one point", "diamond-open", NEUTRAL),
    )
    return share_dots(
        [result.dimension for result in results],
        [
            Shares(name, [getattr(result, attribute) for result in results], symbol, colour)
            for attribute, name, symbol, colour in looks
        ],
        title="share of items",
    )
