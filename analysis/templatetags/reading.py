"""Drawings of a trajectory's turns, made by the server: scores by dimension, and violations."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from django import template
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from analysis.browser.list_views import list_query
from analysis.browser.reading import Multiples, Panel, PeopleSpread
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
    "new": format_html('<path class="{}" d="{}"/>', "new", "M-4-4 4 4M4-4-4 4"),
    "repeated": format_html('<path class="{}" d="{}"/>', "repeated", "M0-5 5 4H-5Z"),
    "withheld": format_html('<circle class="{}" r="4"/>', "withheld"),
}


def _x(place: int, count: int) -> float:
    return round(EDGE + (WIDTH - 2 * EDGE) * (place / (count - 1) if count > 1 else 0.5), 1)


def _y(value: float) -> float:
    share = (value - LOWEST) / (HIGHEST - LOWEST)
    return round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * share, 1)


@register.inclusion_tag("analysis/_multiple.html")
def small_multiple(panel: Panel, shown: Sequence[int]) -> dict[str, Any]:
    """Return one dimension turn by turn on the scale of 1 to 5; turns without a score are a gap."""
    points: list[SafeString] = []
    lines: list[list[str]] = [[]]
    for place, point in enumerate(panel.points):
        x = _x(place, len(panel.points))
        judges, drawn = point.judges, SafeString("")
        if judges is None or judges.mean is None or judges.low is None or judges.high is None:
            lines.append([])
        else:
            y = _y(judges.mean)
            lines[-1].append(f"{x},{y}")
            drawn = format_html(
                '<line class="spread" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>'
                '<circle class="judges" cx="{0}" cy="{3}" r="2"/>',
                x,
                _y(judges.low),
                _y(judges.high),
                y,
            )
        if point.people is not None:
            y = _y(point.people.mean)
            drawn += format_html('<circle class="people" cx="{}" cy="{}" r="4"/>', x, y)
        if drawn:
            first = point.bin.first
            points.append(_link(first, point.words, drawn, here=first in shown))
    return {
        "panel": panel,
        "points": format_html_join("", "{}", ((point,) for point in points)),
        "lines": [" ".join(line) for line in lines if len(line) > 1],
        "width": f"{WIDTH:.0f}",
        "height": f"{HEIGHT:.0f}",
        "ticks": [_y(LOWEST), _y((LOWEST + HIGHEST) / 2), _y(HIGHEST)],
    }


def _link(turn: int, words: str, drawn: SafeString, *, here: bool, at: str = "") -> SafeString:
    """Return what was drawn of a turn as a link to it; a page holds hundreds of them."""
    return format_html(
        '<a href="{}#turn-{}" data-turn-link="{}" tabindex="-1"{}><title>{}</title>{}</a>',
        "" if here else f"?turn={turn}",
        turn,
        turn,
        format_html(' transform="{}"', at) if at else "",
        words,
        drawn,
    )


@register.inclusion_tag("analysis/_violation_strip.html")
def violation_strip(multiples: Multiples, shown: Sequence[int]) -> dict[str, Any]:
    """Return the violations turn by turn: a row for new, repeated and withheld ones, bars where
    many.
    """
    bins: Sequence[TurnBin] = multiples.bins
    most = max((n for one in bins for n in one.marks.values()), default=1)
    bars = len(bins) > MARKS
    marks = []
    for place, one in enumerate(bins):
        for kind, y in ROWS.items():
            if count := one.marks.get(kind):
                drawn = _bar(kind, count / most) if bars else _sign(kind, count)
                at = f"translate({_x(place, len(bins))} {y})"
                words = f"{one.words}: {count} {kind}"
                marks.append(_link(one.first, words, drawn, here=one.first in shown, at=at))
    totals = {kind: sum(one.marks.get(kind, 0) for one in bins) for kind in ROWS}
    words = ", ".join(f"{n} {kind}" for kind, n in totals.items())
    return {
        "marks": format_html_join("", "{}", ((mark,) for mark in marks)),
        "rows": list(ROWS.values()),
        "words": f"Violations turn by turn: {words} in all",
        "width": f"{WIDTH:.0f}",
        "height": f"{HEIGHT:.0f}",
    }


def _bar(kind: str, share: float) -> SafeString:
    tall = round(TALLEST * share, 1)
    up = TALLEST / 2 - tall
    return format_html('<rect class="bar {}" x="-2" width="4" y="{}" height="{}"/>', kind, up, tall)


def _sign(kind: str, count: int) -> SafeString:
    if count == 1:
        return SIGNS[kind]
    return SIGNS[kind] + format_html('<text x="6" y="-3">{}</text>', count)


@register.simple_tag
def score_cells(cells: Sequence[tuple[ScoreSpread | None, PeopleSpread | None]]) -> SafeString:
    """Return a turn's cells: judges' mean, lowest, highest, how many are missing; people's mean."""
    return format_html_join("", '<td class="num">{}{}</td>', (_cell(*cell) for cell in cells))


def _cell(judges: ScoreSpread | None, people: PeopleSpread | None) -> tuple[str, str]:
    """Return what judges gave, and what people gave where they did."""
    if judges is None or judges.mean is None or judges.low is None or judges.high is None:
        given = undefined("no judge gave a score")
    else:
        missing = f", {judges.missing} missing" if judges.missing else ""
        spread = f"{short(judges.low)}–{short(judges.high)}{missing}"
        given = format_html('{} <span class="sub">{}</span>', f"{judges.mean:.2f}", spread)
    if people is None:
        return given, ""
    by_people = f"P {people.mean:.2f}, n = {people.count}"
    return given, format_html('<span class="sub">{}</span>', by_people)


@register.filter
def list_choice(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the choice of the list that the reader comes from, as (name, value) for hidden
    fields.
    """
    return parse_qsl(list_query(request.GET))
