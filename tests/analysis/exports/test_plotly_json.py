"""A figure as JSON that Plotly draws without our stylesheet."""

import json

from analysis.exports.plotly_json import light_colours, plotly_figure
from analysis.reports.content import FigureSpec


def test_named_colours_become_those_of_the_light_theme() -> None:
    drawn = {
        "data": [{"type": "bar", "x": [1], "marker": {"color": "var(--series-2)"},
                  "customdata": ["/trajectories/"]}],
        "layout": {"shapes": [{"line": {"color": "var(--ink-3)"}}]},
    }  # fmt: skip
    figure = plotly_figure(FigureSpec("f", "Title", "", json.dumps(drawn), 300))
    assert figure["data"] == [{"type": "bar", "x": [1], "marker": {"color": "#983600"}}]
    assert figure["layout"]["shapes"][0]["line"]["color"] == light_colours()["--ink-3"]
    assert figure["layout"]["title"]["text"] == "Title"


def test_a_title_has_room_of_its_own_and_grids_are_drawn() -> None:
    drawn = {"data": [], "layout": {"margin": {"t": 40, "l": 9}, "height": 300}}
    layout = plotly_figure(FigureSpec("f", "Title", "", json.dumps(drawn), 300))["layout"]
    assert (layout["margin"], layout["height"]) == ({"t": 72, "l": 9}, 332)
    assert layout["template"]["layout"]["yaxis"]["gridcolor"] == light_colours()["--line"]
