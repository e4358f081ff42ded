"""Numbers in sentences: `{% load prose %}` in the templates of analysis pages."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django import template

from analysis.filters.selection import Selection
from analysis.reports import addresses, chosen_runs, extremes, formatting
from analysis.reports.formatting import Unit
from analysis.stats.results import Estimate, Interval

if TYPE_CHECKING:
    from analysis.stats.comparison.extremes import Extreme

register = template.Library()

# Around the sign between a letter and its value.
SPACE_IN_NUMBER = re.compile(r"(?<=\b\w) (?=[=<] [\d−])|(?<=\b\w [=<]) (?=[\d−])|(?<=\d) (?=%)")


@register.filter
def share(value: float) -> str:
    """Return a share in percent: 49.5 %."""
    return formatting.number(value, "share")


@register.filter
def points(value: float) -> str:
    """Return points of a scale with two decimals: 0.07."""
    return formatting.number(value, "points")


@register.filter
def amount(value: float) -> str:
    """Return a number of any size with three digits."""
    return formatting.number(value, "amount")


@register.filter
def number(value: float) -> str:
    """Return a number with three digits: 12.5."""
    return formatting.number(value, "number")


@register.filter
def whole_number(value: float) -> str:
    """Return the same, without decimals that are 0."""
    return formatting.number(value, "number").removesuffix(".00")


@register.filter
def in_unit(value: float, unit: Unit) -> str:
    """Return a number in a unit that the result names: 55.0 % for ``0.55|in_unit:"share"``."""
    return formatting.number(value, unit)


@register.filter
def signed(value: float, unit: Unit) -> str:
    """Return a number in a unit, with its sign: +0.07."""
    return formatting.number(value, unit, signed=True)


@register.filter
def level(interval: Interval) -> str:
    """Return the level of an interval: 95 %, or 95 % simultaneous."""
    return formatting.level(interval)


@register.filter
def count(value: int) -> str:
    """Return a count with separators: 1,504."""
    return f"{value:,}"


@register.filter
def plural(value: int, noun: str) -> str:
    """Return a count with its noun: ``3|plural:"task"`` is 3 tasks; irregular:
    ``"person,people"``.
    """
    one, _, many = noun.partition(",")
    return formatting.plural(value, one, many)


@register.filter
def listed(items: Sequence[str], most: int = 4) -> str:
    """Return a list in words: a, b and c; at most four by name."""
    return formatting.listed(list(items), most=most)


@register.filter
def counted(reasons: Mapping[str, int]) -> str:
    """Return counts by reason: 3 (ended as judge failure), 1 (waits for a person)."""
    return formatting.counted(reasons)


@register.filter
def ends(interval: Interval, unit: Unit) -> str:
    """Return both ends of an interval: 46.0 to 54.1 %."""
    return formatting.ends(interval, unit)


@register.filter
def difference(value: float, unit: Unit) -> str:
    """Return a difference of two values; of shares in points: 8.1 points."""
    return formatting.difference(value, unit)


@register.filter
def signed_difference(value: float, unit: Unit) -> str:
    """Return a difference with its sign; of shares in points: +8.1 points."""
    return formatting.difference(value, unit, signed=True)


@register.filter
def difference_ends(interval: Interval, unit: Unit) -> str:
    """Return both ends of the interval of a difference, without a unit: −3.2 to 12.9."""
    return formatting.ends(interval, unit).removesuffix(" %")


@register.filter
def p_value(p: float) -> str:
    """Return a p-value in a sentence: p = 0.012, or p < 0.001."""
    return formatting.p_words(p)


@register.filter
def unbroken(text: str) -> str:
    """Return a sentence whose numbers stay in one line with what they belong to: n = 32."""
    return SPACE_IN_NUMBER.sub("\u00a0", text)


@register.simple_tag
def page_about(key: str, selection: Selection, **more: str) -> str:
    """Return the address of another page of analysis about the same runs, with further filters."""
    return addresses.page_of(key, selection, **more)


@register.simple_tag
def dataset_name(selection: Selection) -> str:
    """Return the dataset in words; its version only where there is another."""
    return chosen_runs.dataset_name(selection)


@register.filter
def beyond(extreme: "Extreme", unit: Unit) -> str:
    """Return how far an extreme lies from the next: 8.1 points above B (95 % interval …)."""
    return extremes.beyond(extreme, unit)


@register.filter
def stated(estimate: Estimate, unit: Unit) -> str:
    """Return a value with its interval in brackets, or why there is none."""
    return formatting.stated(estimate, unit)


@register.filter
def stated_change(estimate: Estimate, unit: Unit) -> str:
    """Return a change with its sign, its interval in brackets with theirs: "changes by" this."""
    return formatting.stated_change(estimate, unit)
