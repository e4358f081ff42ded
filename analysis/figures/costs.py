"""A result beside what it took: a panel for the result and for each cost, in common rows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analysis.figures.layout.elements import Unit, extent_of, row_label
from analysis.figures.layout.theme import Figure, Style
from analysis.figures.tool_use import PointRow, Span, panel_dots
from analysis.stats.results import Estimate

# Longer names take two lines, so that they stand beside their rows in a column of a paper, too.
NAME_LETTERS = 24


class CostRow(NamedTuple):
    """A row: its agent and condition, what both together are called, its estimates in the order of
    the panels, and its address.
    """

    agent: str
    condition: str
    name: str
    values: Sequence[Estimate]
    url: str | None = None


class CostPanel(NamedTuple):
    """A measure by its title; ``most`` is its largest value, if there is one."""

    title: str
    unit: Unit = "points"
    most: float | None = None


def cost_dots(
    panels: Sequence[CostPanel],
    rows: Sequence[CostRow],
    *,
    styles: Mapping[str, Style] | None = None,
) -> Figure:
    """Draw a point with its interval for each row in each panel; rows stay in their order.

    With several conditions rows stand below the name of their agent, in the order in which agents
    first occur; an agent with a single row has both names in it.
    """
    several = len({row.condition for row in rows}) > 1
    single = len({row.agent for row in rows}) == 1
    agents = list(dict.fromkeys(row.agent for row in rows))
    names: list[str] = []
    ordered: list[tuple[str, CostRow]] = []
    for agent in agents:
        mine = [row for row in rows if row.agent == agent]
        headed = several and not single and len(mine) > 1
        if headed:
            names.append(_unlike(f"<b>{row_label(agent, NAME_LETTERS)}</b>", names))
        for row in mine:
            text = row.condition if headed or single and several else row.name
            names.append(_unlike(row_label(text, NAME_LETTERS), names))
            ordered.append((names[-1], row))
    spans = [
        _span([row.values[i] for row in rows]) if panel.most is None else (0.0, panel.most)
        for i, panel in enumerate(panels)
    ]
    return panel_dots(
        {
            panel.title: [
                PointRow(
                    row.condition if several else panel.title,
                    row.values[i],
                    row.agent,
                    row.url,
                    place,
                )
                for place, row in ordered
            ]
            for i, panel in enumerate(panels)
        },
        unit=[panel.unit for panel in panels],
        span=spans,
        columns=len(panels),
        places=names,
        styles=styles,
    )


def _span(estimates: Sequence[Estimate]) -> Span | None:
    """Return an axis that holds 0, all values and their intervals; None where all are 0."""
    low, high = extent_of(estimates)
    return (low, high) if low < high else None


def _unlike(name: str, names: Sequence[str]) -> str:
    """Return the name as one of its own: rows of one name differ by spaces that are not seen."""
    while name in names:
        name += "\u200b"
    return name
