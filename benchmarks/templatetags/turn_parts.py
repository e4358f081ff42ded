"""What stands on a page hundreds of times, written without a template's lookups for each cell.

A page of forty turns has thousands of scores; a template takes some 20 µs for each value.
"""

from collections.abc import Iterable
from functools import lru_cache
from html import escape

from django import template
from django.template.defaultfilters import floatformat
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from benchmarks.diffs import Line, Segment
from benchmarks.selectors.turns import DimensionScores, GivenScore

register = template.Library()
SAID = {
    "added": '<span class="sr-only">added: </span>',
    "removed": '<span class="sr-only">removed: </span>',
}
MARKED = {"insert": "ins", "delete": "del"}


@register.simple_tag
def score_rows(dimensions: Iterable[DimensionScores]) -> SafeString:
    """A row for each dimension: its mean, and what each judge gave, with the reason as a tip."""
    rows = []
    for dimension in dimensions:
        mean = dimension.mean
        shown = undefined("no judge gave a score") if mean is None else f"{mean:.2f}"
        cells = "".join(f'<td class="num">{_given(given)}</td>' for given in dimension.given)
        title = escape(dimension.title)
        rows.append(f'<tr><th scope="row">{title}</th><td class="num">{shown}</td>{cells}</tr>')
    return mark_safe("\n".join(rows))


@register.simple_tag
def score_reasons(dimensions: Iterable[DimensionScores]) -> SafeString:
    """What each judge wrote, by dimension, as the entries of a list of definitions."""
    pieces = []
    for dimension in dimensions:
        pieces.append(f"<dt>{escape(dimension.title)}</dt>")
        for given in dimension.given:
            if given.value is None:
                value, said = "", f"unscored, because {given.reason or 'no reason was given'}"
            else:
                value, said = f", {short(given.value)}", given.reason or "no reason given"
            name = escape(given.judge)
            pieces.append(f"<dd><strong>{name}{value}:</strong> {escape(said)}</dd>")
    return mark_safe("".join(pieces))


@register.simple_tag
def diff_items(lines: Iterable[Line]) -> SafeString:
    """The steps of a plan against another one, as the items of a list."""
    return mark_safe("\n  ".join(_diff_item(line) for line in lines))


def _diff_item(line: Line) -> str:
    parts = "".join(_diff_part(part) for part in line.parts)
    said = SAID.get(line.op, "")
    number = line.number or ""
    return f'<li class="{line.op}"><span class="n">{number}</span><span>{said}{parts}</span></li>'


def _diff_part(part: Segment) -> str:
    tag = MARKED.get(part.op)
    text = escape(part.text)
    return f"<{tag}>{text}</{tag}>" if tag else text


def _given(given: GivenScore) -> str:
    if given.value is None:
        return undefined(f"unscored, because {given.reason or 'no reason given'}")
    value = short(given.value)
    if not given.reason:
        return value
    return f'<span tabindex="0" data-tip="{escape(given.reason)}">{value}</span>'


@lru_cache(maxsize=256)
def short(value: float) -> str:
    """At most one decimal, as the templates write it."""
    return floatformat(value, "-1")


def undefined(reason: str) -> str:
    """A dash, and why there is no number."""
    return render_to_string("includes/_undefined.html", {"reason": reason})
