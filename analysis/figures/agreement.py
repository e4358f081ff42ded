"""Differences between people and judges: exact distributions, and shares of small ones."""

from collections.abc import Mapping, Sequence

from analysis.figures.elements import Panels, Trace, categories, label, number, share_axis
from analysis.figures.shares import Shares, share_dots
from analysis.figures.theme import ACCENT, NEUTRAL, Figure, make_figure
from analysis.stats.rater_agreement.differences import Agreement

# Apart by hatching, not by hue alone.
EXACT, NEAR, FAR = "equal", "at most one point apart", "more than one point apart"
LOOKS = {EXACT: (ACCENT, ""), NEAR: (ACCENT, "/"), FAR: (NEUTRAL, "x")}


def agreement_bars(
    results: Sequence[Agreement], links: Mapping[tuple[str, int], str] | None = None
) -> Figure:
    """Draw one panel per dimension: share of items at each exact difference 0, 1/k, 2/k, …

    ``links`` gives the address behind a dimension and a bin's numerator.
    """
    titles = [f"{result.dimension} (n = {result.n})" for result in results]
    panels = Panels(len(results), 2, titles)
    traces: list[Trace] = []
    for i, result in enumerate(results):
        bins = result.distribution.bins
        k = result.distribution.denominator
        whole = [b.label for b in bins if b.numerator % k == 0]
        x = {**categories([b.label for b in bins]), "tickvals": whole}
        panel = panels.axes(i, x, share_axis())
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
    rows = -(-len(results) // 2)
    layout = {**panels.layout, "barmode": "overlay", "height": 100 + 210 * rows}
    return make_figure(traces, layout)


def agreement_shares(results: Sequence[Agreement]) -> Figure:
    """Draw for each dimension the share equal and the share within one point, with intervals."""
    looks = (("exact", EXACT, "circle", ACCENT), ("within_one", NEAR, "diamond-open", NEUTRAL))
    return share_dots(
        [result.dimension for result in results],
        [
            Shares(
                name,
                [getattr(result, attribute) for result in results],
                symbol,
                colour,
                results[0].rules[attribute] if results else "",
            )
            for attribute, name, symbol, colour in looks
        ],
        title="share of items",
    )
