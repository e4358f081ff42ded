"""Extremes in words: what a sentence may say of the highest or lowest of several groups."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.reports.formatting import (
    Unit,
    difference,
    ends,
    level,
    listed,
    number,
    plural,
    stated_change,
)
from analysis.stats.comparison.detectable import smallest_difference
from analysis.stats.results import Estimate

if TYPE_CHECKING:
    from analysis.stats.comparison.extremes import Extreme

# A difference of shares above this is hardly ever there to be shown.
LARGEST_SHOWN = 0.9


def beyond(extreme: "Extreme", unit: Unit) -> str:
    """Return how far an extreme lies from the next group: "8.1 points above B (95 % …)"."""
    gap = extreme.difference
    if gap is None:
        return ""
    if gap.value is None:
        return f"{gap.undefined} with {extreme.next}"
    side = "below" if gap.value < 0 else "above"
    where = " on the tasks of both" * (not extreme.same_tasks)
    by = difference(abs(gap.value), unit)
    return f"{by} {side} {extreme.next}{where} ({certainty(gap, unit)})"


def certainty(gap: Estimate, unit: Unit) -> str:
    """Return the interval of a difference and its n: 95 % interval 3.1 to 22.0, n = 32 tasks."""
    interval, n = gap.interval, f"n = {plural(gap.n, 'task')}"
    if interval is None:
        return f"{n}: no interval" if gap.no_interval else n
    if (gap.value or 0.0) < 0:
        # A distance "below" is written without its sign, and so are its ends.
        interval = replace(interval, low=-interval.high, high=-interval.low)
    return f"{level(interval)} interval {ends(interval, unit).removesuffix(' %')}, {n}"


def standing(extreme: "Extreme", unit: Unit, *, lowest: bool = False, group: str = "agent") -> str:
    """Return a clause that names the group with the highest (lowest) value only where it is clear.

    ``group`` is what one of the groups is called.
    """
    if extreme.value is None:
        return f"no {group} has a value"
    value = number(extreme.value, unit) + (" %" if unit == "percent" else "")
    names, several = listed(extreme.names), len(extreme.names) > 1
    match extreme.verdict:
        case "alone":
            return f"{names} has {value}, with no other {group} to compare"
        case "equal":
            every = "both" if extreme.groups == 2 else f"all {extreme.groups}"
            return f"{every} {group}s have {value}"
        case "clear" if several:
            return f"{names} share {value}, {beyond(extreme, unit)}"
        case "clear":
            verb = "is lowest at" if lowest else "leads with"
            return f"{names} {verb} {value}, {beyond(extreme, unit)}"
    none = f"no {group} is clearly lowest" if lowest else f"no {group} clearly leads"
    return f"{none}; {names} {'have' if several else 'has'} {value}, {beyond(extreme, unit)}"


def unseen(differences: Sequence[Estimate], unit: Unit) -> str:
    """Return how large a difference has to be to show, where one of these is not clear."""
    open_ones = [one for one in differences if one.value is not None and not one.is_clear]
    if not open_ones:
        return ""
    sizes = [size for one in open_ones if (size := smallest_difference(one)) is not None]
    tasks = sorted({one.n for one in open_ones})
    n = f"{tasks[0]:,} to {tasks[-1]:,} tasks" if len(tasks) > 1 else plural(tasks[0], "task")
    if not sizes or (unit == "share" and min(sizes) > LARGEST_SHOWN):
        return f"{n} are too few to show any difference here: “not clear” does not mean “equal”."
    most = min(max(sizes), 1.0) if unit == "share" else max(sizes)
    low, high = (difference(end, unit) for end in (min(sizes), most))
    about = high if low == high else f"{low.removesuffix(' points')} to {high}"
    together = any("comparisons" in one.interval.details for one in open_ones if one.interval)
    family = ", all comparisons together" if together else ""
    return (
        f"“Not clear” does not mean “equal”: with {n} only a difference of about {about} would "
        f"show (80 % power{family})."
    )


def clear_changes(changes: Sequence[tuple[str, Estimate]], unit: Unit) -> str:
    """Return which agents' changes are clear, as a clause after the measure; empty without any.

    The largest clear ones come first; where none is clear, what the intervals leave open.
    """
    known = [(name, one) for name, one in changes if one.value is not None]
    if not known:
        return ""
    clear = [pair for pair in known if pair[1].is_clear]
    clear.sort(key=lambda pair: -abs(pair[1].value or 0.0))
    if clear:
        shown = [f"for {name} by {stated_change(one, unit)}" for name, one in clear[:2]]
        more = f" and {len(clear) - 2} more" if len(clear) > 2 else ""
        return f"clearly changes {', '.join(shown)}{more}"
    if len(known) == 1:
        name, one = known[0]
        return f"does not clearly change for {name}: {stated_change(one, unit)}"
    span = _span([one.value or 0.0 for _, one in known], unit)
    inside = [
        end for _, one in known if one.interval for end in (one.interval.low, one.interval.high)
    ]
    if not inside:
        return f"clearly changes for no agent ({span})"
    return f"clearly changes for no agent ({span}; intervals from {_span(inside, unit)})"


def _span(values: Sequence[float], unit: Unit) -> str:
    """Return the lowest and the highest of some differences: −3.1 to +12.5 points."""
    low, high = (difference(end, unit, signed=True) for end in (min(values), max(values)))
    return low if low == high else f"{low.removesuffix(' points')} to {high}"
