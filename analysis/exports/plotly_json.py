"""A figure for those who restyle it: JSON that Plotly reads anywhere.

Pages draw figures with named colours, which their stylesheet holds for light and dark. Elsewhere
nothing knows these names, so they become the colours of the light theme, on white.
"""

import json
import re
from functools import cache
from typing import Any

from analysis.exports.embedding import static_text
from analysis.reports.content import FigureSpec

FONT = "Helvetica, Arial, sans-serif"
# Height of a title, in px.
TITLE_ROOM = 32
_NAMED = re.compile(r"var\((--[\w-]+)\)")


@cache
def light_colours() -> dict[str, str]:
    """Return the colours of the light theme by their names in the stylesheet."""
    declared = (
        line.partition(": light-dark(") for line in static_text("css/tokens.css").split(";")
    )
    return {
        before.split()[-1]: values.partition(",")[0]
        for before, found, values in declared
        if found and values.startswith("#")
    }


def plotly_figure(spec: FigureSpec) -> dict[str, Any]:
    """Return ``data`` and ``layout`` of a figure, without addresses of the server."""
    colours = light_colours()
    drawn = json.loads(_NAMED.sub(lambda name: colours[name[1]], spec.json))
    for trace in drawn["data"]:
        trace.pop("customdata", None)
    line = {"linecolor": colours["--line-strong"], "zerolinecolor": colours["--line-strong"]}
    axis = {"automargin": True, "gridcolor": colours["--line"], "ticks": "outside", **line}
    layout = drawn["layout"]
    # The title stands above headings of panels, which have their place within the margin.
    margin = {"t": 16} | layout.get("margin", {})
    margin["t"] += TITLE_ROOM
    look = {
        "paper_bgcolor": "#ffffff",
        "plot_bgcolor": "#ffffff",
        "colorway": [colours[f"--series-{n}"] for n in range(1, 9)],
        "font": {"family": FONT, "color": colours["--ink"]},
        "title": {
            "text": spec.title,
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "pad": {"t": 8},
        },
        "template": {"layout": {"xaxis": axis | {"showgrid": False}, "yaxis": axis}},
    }
    height = {"height": layout["height"] + TITLE_ROOM} if "height" in layout else {}
    return {"data": drawn["data"], "layout": look | layout | height | {"margin": margin}}
