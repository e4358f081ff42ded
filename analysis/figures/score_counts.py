"""How often each score was given, by whom."""

from collections.abc import Sequence

from analysis.figures.elements import Trace, categories, share_axis
from analysis.figures.labels import label, number
from analysis.figures.theme import ACCENT, NEUTRAL, Figure, make_figure
from analysis.stats.results import Distribution

# Apart by hatching, not by hue alone.
LOOKS = ((NEUTRAL, "/"), (ACCENT, ""))


def score_bars(groups: Sequence[tuple[str, Distribution]]) -> Figure:
    """Bars of the share of each score, one look for each group of raters."""
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
        "height": 320,
    }
    return make_figure(traces, layout)
