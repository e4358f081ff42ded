"""Drawings of a trajectory's turns, made by the server: scores by dimension, and violations."""

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import parse_qsl

from django import template
from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe

from analysis.reading import Multiples, Panel, People, Point
from analysis.views.browse import list_query
from benchmarks.selectors.timeline import Bin, Spread
from benchmarks.templatetags.turn_parts import short, undefined

register = template.Library()
WIDTH, HEIGHT, EDGE = 200.0, 80.0, 7.0
LOWEST, HIGHEST = 1.0, 5.0
# Violations of more turns than this are bars, whose height tells how many they are.
MARKS, TALLEST = 16, 20.0
# Rows of the drawing of violations, from the top.
ROWS = {"new": 16.0, "repeated": 42.0, "withheld": 68.0}


def _x(place: int, count: int) -> float:
    return round(EDGE + (WIDTH - 2 * EDGE) * (place / (count - 1) if count > 1 else 0.5), 1)


def _y(value: float) -> float:
    share = (value - LOWEST) / (HIGHEST - LOWEST)
    return round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share, 1)


@register.inclusion_tag("analysis/_multiple.html")
def small_multiple(panel: Panel, shown: Sequence[int]) -> dict[str, Any]:
    """One dimension turn by turn on the scale of 1 to 5; turns without a score are a gap."""
    points: list[str] = []
    lines: list[list[str]] = [[]]
    for place, point in enumerate(panel.points):
        x = _x(place, len(panel.points))
        judges, drawn = point.judges, ""
        if judges is None or judges.mean is None or judges.low is None or judges.high is None:
            lines.append([])
        else:
            y = _y(judges.mean)
            lines[-1].append(f"{x},{y}")
            drawn = f'<line class="spread" x1="{x}" x2="{x}" y1="{_y(judges.low)}" '
            drawn += f'y2="{_y(judges.high)}"/><circle class="judges" cx="{x}" cy="{y}" r="2"/>'
        if point.people is not None:
            y = _y(point.people.mean)
            drawn += f'<circle class="people" cx="{x}" cy="{y}" r="4"/>'
        if drawn:
            points.append(_linked(point, drawn, here=point.bin.first in shown))
    return {
        "panel": panel,
        "points": mark_safe("".join(points)),
        "lines": [" ".join(line) for line in lines if len(line) > 1],
        "width": f"{WIDTH:.0f}",
        "height": f"{HEIGHT:.0f}",
        "ticks": [_y(LOWEST), _y((LOWEST + HIGHEST) / 2), _y(HIGHEST)],
    }


def _linked(point: Point, drawn: str, *, here: bool) -> str:
    """What was drawn of a point, as a link to its turn; hundreds of them stand on a page."""
    at = point.bin.first
    address = f"#turn-{at}" if here else f"?turn={at}#turn-{at}"
    link = f'<a href="{address}" data-turn-link="{at}" tabindex="-1">'
    return f"{link}<title>{escape(point.words)}</title>{drawn}</a>"


@register.inclusion_tag("analysis/_violation_strip.html")
def violation_strip(multiples: Multiples, shown: Sequence[int]) -> dict[str, Any]:
    """Violations turn by turn: a row for new, repeated and withheld ones, bars where many."""
    bins: Sequence[Bin] = multiples.bins
    most = max((n for one in bins for n in one.marks.values()), default=1)
    marks = [
        {
            "kind": kind, "x": _x(place, len(bins)), "y": y, "count": one.marks[kind],
            "tall": (tall := round(TALLEST * one.marks[kind] / most, 1)), "up": TALLEST / 2 - tall,
            "first": one.first, "here": one.first in shown,
            "words": f"{one.words}: {one.marks[kind]} {kind}",
        }
        for place, one in enumerate(bins)
        for kind, y in ROWS.items()
        if one.marks.get(kind)
    ]  # fmt: skip
    totals = {kind: sum(one.marks.get(kind, 0) for one in bins) for kind in ROWS}
    words = ", ".join(f"{n} {kind}" for kind, n in totals.items())
    return {
        "marks": marks,
        "bars": len(bins) > MARKS,
        "rows": list(ROWS.values()),
        "words": f"Violations turn by turn: {words} in all",
        "width": f"{WIDTH:.0f}",
        "height": f"{HEIGHT:.0f}",
        "edge": EDGE,
        "end": WIDTH - EDGE,
    }


@register.simple_tag
def score_cells(cells: Sequence[tuple[Spread | None, People | None]]) -> SafeString:
    """A turn's cells: mean of the judges, lowest and highest, how many are missing; people's."""
    return mark_safe("".join(f'<td class="num">{_cell(*cell)}</td>' for cell in cells))


def _cell(judges: Spread | None, people: People | None) -> str:
    if judges is None or judges.mean is None or judges.low is None or judges.high is None:
        told = undefined("no judge gave a score")
    else:
        missing = f", {judges.missing} missing" if judges.missing else ""
        spread = f"{short(judges.low)}–{short(judges.high)}{missing}"
        told = f'{judges.mean:.2f} <span class="sub">{spread}</span>'
    if people is not None:
        told += f'<span class="sub">P {people.mean:.2f}, n = {people.count}</span>'
    return told


@register.filter
def list_choice(request: HttpRequest) -> list[tuple[str, str]]:
    """The choice of the list that the reader comes from, as (name, value) for hidden fields."""
    return parse_qsl(list_query(request.GET))
