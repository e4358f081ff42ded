"""Numbers, durations, plans and addresses in templates."""

import re
from calendar import month_abbr
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import template
from django.http import QueryDict
from django.templatetags.static import static
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime

from benchmarks.core.plans import split_steps
from benchmarks.core.ports.labels import Measure
from benchmarks.mappers import run_condition
from benchmarks.markdown import draw_words
from benchmarks.models import Run
from benchmarks.trajectories.turns import PlanChange, plan_change

register = template.Library()
register.filter("draw_words", draw_words)

# Around the sign between a letter and its value.
SPACE_IN_NUMBER = re.compile(r"(?<=\b\w) (?=[=<] [\d−])|(?<=\b\w [=<]) (?=[\d−])|(?<=\d) (?=%)")


@register.simple_tag
def badge(text: Any, tone: str = "", *, live: bool = False, why: Any = "") -> SafeString:
    """Return a word that stands out; ``tone`` is ok, warn, bad, info, aside, idle or empty.

    ``why`` is shown on focus; ``live``: it stands for something under way. A list may have dozens,
    so that it is no template of its own.
    """
    return format_html(
        '\n<span class="badge {}{}"{}>{}</span>\n',
        tone,
        " live" if live else "",
        format_html(' tabindex="0" data-tip="{}"', why) if why else "",
        text,
    )


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return a drawing beside words that say the same; ``name`` is one of static/img/icons.svg."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>',
        static("img/icons.svg"),
        name,
    )


@register.simple_tag
def moment(at: datetime | None) -> SafeString:
    """Return a date with its time, in the time zone of this machine; nothing for none."""
    if at is None:
        return SafeString("")
    here = localtime(at)
    words = f"{here.day} {month_abbr[here.month]} {here:%Y, %H:%M}"
    return format_html('<time datetime="{}">{}</time>', here.isoformat(), words)


@register.filter
def number(value: float | None) -> str:
    """Write at most three significant digits, no needless zeros; thousands apart."""
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if 0 < abs(value) < 0.0001:
        return "< 0.0001" if value > 0 else "> -0.0001"
    return f"{value:.3g}"


@register.filter
def score(value: float | None) -> str:
    """Return a mean on the scale of 1 to 5, always with two decimals so that columns line up."""
    return "" if value is None else f"{value:.2f}"


@register.filter
def percent(value: float | None) -> str:
    """Return a share in percent with one decimal."""
    return "" if value is None else f"{100 * value:.1f} %"


@register.filter
def in_measure(value: float, measure: Measure) -> str:
    """Return a value of a measure as it is written."""
    return measure.words(value)


@register.filter
def condition_words(run: Run) -> str:
    """Return a run's condition by its system's titles."""
    return run_condition(run)


@register.filter
def duration(seconds: float | None) -> str:
    """Return a rough duration in words, for times that are estimates anyway."""
    if seconds is None:
        return ""
    if seconds < 1:
        return "less than a second"
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size:
            n = round(seconds / size)
            return f"{n} {unit}{'' if n == 1 else 's'}"
    return ""


@register.filter
def docs_links(text: Any) -> SafeString:
    """Return a text whose names of documentation pages, as ``docs/agreement.md``, are links."""
    escaped = conditional_escape(text)
    return mark_safe(
        re.sub(r"(?<![\w/-])docs/([a-z-]+)\.md\b", r'<a href="/docs/\1/">\g<0></a>', escaped)
    )


@register.filter
def steps(text: str) -> list[str]:
    """Return the steps of a plan as written."""
    return split_steps(text)


@register.simple_tag
def plan_items(text: str) -> SafeString:
    """Return the steps of a plan as written, as the items of a list; a page may have hundreds."""
    return format_html_join("", "<li>{}</li>", ((step,) for step in split_steps(text)))


@register.simple_tag
def change(before: str, after: str) -> PlanChange:
    """Return what became of the steps of the plan before."""
    return plan_change(split_steps(before), split_steps(after))


@register.filter
def turns(indices: Sequence[int]) -> str:
    """Write turns as ``turn 2``, ``turns 2 and 4``, ``turns 1, 2 and 4``."""
    if len(indices) == 1:
        return f"turn {indices[0]}"
    *first, last = map(str, indices)
    return f"turns {', '.join(first)} and {last}"


@register.simple_tag
def without(params: QueryDict, name: str, value: str = "") -> str:
    """Return the query string without one choice, and back on the first page."""
    changed = params.copy()
    kept = [v for v in changed.getlist(name) if value and v != value]
    changed.setlist(name, kept)
    for key in [key for key in changed if not any(changed.getlist(key))]:
        changed.pop(key)
    for key in ("after", "before", "page"):
        changed.pop(key, None)
    return "?" + changed.urlencode()


@register.simple_tag
def choosing(params: QueryDict, name: str, value: str) -> str:
    """Return the query string with one choice in place of what there was, and back on the first
    page.
    """
    changed = params.copy()
    changed[name] = value
    return without(changed, "after")


WIDTH, HEIGHT, EDGE = 120.0, 36.0, 4.0


@register.inclusion_tag("benchmarks/_sparkline.html")
def sparkline(means: Sequence[float | None]) -> dict[str, Any]:
    """Return a small drawing of means on the scale of 1 to 5, turn by turn; gaps stay gaps."""
    span = max(1, len(means) - 1)
    points = [
        None
        if mean is None
        else (
            round(EDGE + (WIDTH - 2 * EDGE) * place / span, 1),
            round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (mean - 1) / 4, 1),
        )
        for place, mean in enumerate(means)
    ]
    known = [mean for mean in means if mean is not None]
    lines: list[list[tuple[float, float]]] = [[]]
    for point in points:
        if point is None:
            lines.append([])
        else:
            lines[-1].append(point)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "lines": [" ".join(f"{x},{y}" for x, y in line) for line in lines if len(line) > 1],
        "last": next((point for point in reversed(points) if point), None),
        "words": f"from {known[0]:.2f} to {known[-1]:.2f}" if known else "no scores",
    }


@register.filter
def unbroken(text: str) -> str:
    """Return a sentence whose numbers stay in one line with what they belong to: n = 32."""
    return SPACE_IN_NUMBER.sub("\u00a0", text)
