"""The figures of the effects page: changes around 0, and the measure under every value."""

from collections.abc import Mapping, Sequence
from math import ceil

from analysis.figures.layout.theme import NEUTRAL, Figure, Style
from analysis.figures.tool_use import PointRow, panel_dots
from analysis.pages.effects.rows import Varied
from analysis.reports import figure_specs, system_facts

OVERALL = "All agents"
NEARLY = 1e-9
Panels = Mapping[str, Sequence[PointRow]]


def change_figure(data: Varied, panels: Panels, agents: Sequence[str]) -> Figure:
    """Draw changes on one axis around 0, which for shares ends at a whole quarter."""
    is_rate = data.measure.in_percent
    widest = max(abs(end) for end in _ends(panels))
    widest = ceil(4 * widest - NEARLY) / 4 if is_rate else 1.05 * widest
    widest = widest or (0.25 if is_rate else 1.0)
    return panel_dots(
        panels,
        unit="share" if is_rate else "points",
        title="change (points)" if is_rate else f"change{_points(data)}",
        columns=min(3, len(panels)),
        span=(-widest, widest),
        styles={**figure_specs.styles(agents), OVERALL: Style(NEUTRAL, "diamond", "solid")},
    )


def value_figure(data: Varied, panels: Panels, agents: Sequence[str]) -> Figure:
    """Draw values on one axis: the whole scale, or from 0 on where it has no end."""
    span = 0.0, 1.0
    if data.scale == system_facts.RUBRIC_SCALE:
        span = system_facts.RUBRIC_SCALE
    elif not data.measure.in_percent:
        span = 0.0, 1.05 * max(_ends(panels)) or 1.0
    return panel_dots(
        panels,
        unit="share" if data.measure.in_percent else "points",
        title=f"{data.measure.title}{_points(data)}",
        columns=min(3, len(panels)),
        span=span,
        styles=figure_specs.styles(agents),
    )


def _points(data: Varied) -> str:
    is_rubric = data.scale == system_facts.RUBRIC_SCALE and not data.measure.in_percent
    return " (points)" * is_rubric


def _ends(panels: Panels) -> list[float]:
    """Return 0, and all values with the ends of their intervals."""
    reach = [0.0]
    for estimate in (mark.value for marks in panels.values() for mark in marks):
        reach += [] if estimate.value is None else [estimate.value]
        if estimate.interval is not None:
            reach += [estimate.interval.low, estimate.interval.high]
    return reach
