"""Figures ready to be served: one look per agent, addresses of marks, a narrow layout."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.figures.layout.column import column_layouts
from analysis.figures.layout.elements import label as escaped
from analysis.figures.layout.narrow import layout_changes, narrow_layout
from analysis.figures.layout.theme import Style, assign_styles, figure_json
from analysis.reports.content import FigureSpec
from benchmarks.models import Agent


def styles(labels: Sequence[str]) -> dict[str, Style]:
    """Return one look per agent: the same on all pages, because every agent is passed, oldest
    first.
    """
    known = Agent.objects.order_by("pk").values_list("title", flat=True)
    return assign_styles([*known, *labels])


def figure_spec(
    name: str,
    title: str,
    subtitle: str,
    figure: dict[str, Any],
    *,
    urls: Mapping[str, str] | None = None,
    least_width: int = 0,
    table: str = "",
) -> FigureSpec:
    """Return a figure ready to be served, with its layouts for narrow screens and for paper.

    Under ``least_width`` pixels it scrolls inside its frame instead. ``table`` names the table
    that holds its numbers, where that has another name than the figure.
    """
    figure = linked(figure, urls or {})
    layout = figure["layout"] | {"meta": {"minWidth": least_width}}
    names = {trace["name"] for trace in figure["data"] if trace.get("name")}
    legend = sum(1 + name.count("<br>") for name in names) if len(names) > 1 else 0
    legend *= layout.get("showlegend", True)
    narrow = narrow_layout(layout, names_inside=not least_width, legend=legend)
    drawn = {
        "data": figure["data"],
        "layout": layout,
        "narrow": layout_changes(layout, narrow),
    }
    if not least_width:
        parts = column_layouts(layout, legend=legend)
        drawn["column"] = [layout_changes(layout, part) for part in parts]
    return FigureSpec(name, title, subtitle, figure_json(drawn), layout["height"], table)


def linked(figure: dict[str, Any], urls: Mapping[str, str]) -> dict[str, Any]:
    """Give the points of a figure the addresses of what they count.

    A point belongs to the name on its vertical axis, or else to the name of its line.
    """
    urls = {escaped(name): url for name, url in urls.items() if url}
    for trace in figure["data"]:
        if trace.get("hoverinfo") == "skip" or not isinstance(trace.get("y"), list):
            continue
        fallback = urls.get(trace.get("name", ""), "")
        links = [urls.get(str(place), fallback) for place in trace["y"]]
        if any(links):
            trace["customdata"] = links
    return figure
