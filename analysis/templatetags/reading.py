"""Drawings of a trajectory's turns, made by the server: scores by dimension, and violations."""

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import parse_qsl

from django import template
from django.http import HttpRequest
from django.utils.safestring import SafeString, mark_safe

from analysis.browser.list_views import list_query
from analysis.browser.reading import Multiples, Panel, People
from benchmarks.templatetags.turn_parts import short, undefined
from benchmarks.trajectories.timeline import ScoreSpread, TurnBin

register = template.Library()
WIDTH, HEIGHT, EDGE = 200.0, 80.0, 7.0
LOWEST, HIGHEST = 1.0, 5.0
# Violations of more turns than this are bars, whose height tells how many they are.
MARKS, TALLEST = 16, 20.0
# Rows of the drawing of violations, from the top.
ROWS = {"new": 16.0, "repeated": 42.0, "withheld": 68.0}
SIGNS = {
    "new": '<path class="new" d="M-4-4 4 4M4-4-4 4"/>',
    "repeated": '<path class="repeated" d="M0-5 5 4H-5Z"/>',
    "withheld": '<circle class="withheld" r="4"/>',
}


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
            first = point.bin.first
            points.append(_link(first, point.words, drawn, here=first in shown))
    return {
        "panel": panel,
        "points": mark_safe("".join(points)),
        "lines": [" ".join(line) for line in lines if len(line) > 1],
        "width": f"{WIDTH:.0f}",
        "height": f"{HEIGHT:.0f}",
        "ticks": [_y(LOWEST), _y((LOWEST + HIGHEST) / 2), _y(HIGHEST)],
    }


def _link(turn: int, words: str, drawn: str, *, here: bool, at: str = "") -> str:
    """What was drawn of a place, as a link to its turn; hundreds of them stand on a page."""
    address = f"#turn-{turn}" if here else f"?turn={turn}#turn-{turn}"
    link = f'<a href="{address}" data-turn-link="{turn}" tabindex="-1"{at}>'
    return f"{link}<title>{escape(words)}</title>{drawn}</a>"


@register.inclusion_tag("analysis/_violation_strip.html")
def violation_strip(multiples: Multiples, shown: Sequence[int]) -> dict[str, Any]:
    """Violations turn by turn: a row for new, repeated and withheld ones, bars where many."""
    bins: Sequence[TurnBin] = multiples.bins
    most = max((n for one in bins for n in one.marks.values()), default=1)
    bars = len(bins) > MARKS
    marks = []
    for place, one in enumerate(bins):
        for kind, y in ROWS.items():
            if count := one.marks.get(kind):
                drawn = _bar(kind, count / most) if bars else _sign(kind, count)
                at = f' transform="translate({_x(place, len(bins))} {y})"'
                words = f"{one.words}: {count} {kind}"
                marks.append(_link(one.first, words, drawn, here=one.first in shown, at=at))
    totals = {kind: sum(one.marks.get(kind, 0) for one in bins) for kind in ROWS}
    words = ", ".join(f"{n} {kind}" for kind, n in totals.items())
    return {
        "marks": mark_safe("".join(marks)),
        "rows": list(ROWS.values()),
        "words": f"Violations turn by turn: {words} in all",
        "width": f"{WIDTH:.0f}",
        "height": f"{HEIGHT:.0f}",
    }


def _bar(kind: str, share: float) -> str:
    tall = round(TALLEST * share, 1)
    up = TALLEST / 2 - tall
    return f'<rect class="bar {kind}" x="-2" width="4" y="{up}" height="{tall}"/>'


def _sign(kind: str, count: int) -> str:
    number = f'<text x="6" y="-3">{count}</text>' if count > 1 else ""
    return SIGNS[kind] + number


@register.simple_tag
def score_cells(cells: Sequence[tuple[ScoreSpread | None, People | None]]) -> SafeString:
    """A turn's cells: mean of the judges, lowest and highest, how many are missing; people's."""
    return mark_safe("".join(f'<td class="num">{_cell(*cell)}</td>' for cell in cells))


def _cell(judges: ScoreSpread | None, people: People | None) -> str:
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
