"""Extremes in words: what a sentence may say of the highest or lowest of several groups."""

from analysis.reports.formatting import Unit, difference, ends, level, listed, number, plural
from analysis.stats.comparison.extremes import Extreme
from analysis.stats.results import Estimate


def beyond(extreme: Extreme, unit: Unit) -> str:
    """Return how far an extreme lies from the next group: "8.1 points above B (95 % …)"."""
    gap = extreme.difference
    if gap is None:
        return ""
    if gap.value is None:
        return f"{gap.undefined} with {extreme.next}"
    side = "below" if gap.value < 0 else "above"
    return f"{difference(abs(gap.value), unit)} {side} {extreme.next} ({certainty(gap, unit)})"


def certainty(gap: Estimate, unit: Unit) -> str:
    """Return the interval of a difference and its n: 95 % interval 3.1 to 22.0, n = 32 tasks."""
    interval, n = gap.interval, f"n = {plural(gap.n, 'task')}"
    if interval is None:
        return f"{n}: no interval" if gap.no_interval else n
    low, high = interval.low, interval.high
    # A distance "below" is written without its sign, and so are its ends.
    turned = type(interval)(
        -high, -low, interval.level, interval.method, interval.details, interval.unit
    )
    shown = turned if (gap.value or 0.0) < 0 else interval
    return f"{level(interval)} interval {ends(shown, unit).removesuffix(' %')}, {n}"


def standing(extreme: Extreme, unit: Unit, *, lowest: bool = False, group: str = "agent") -> str:
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
            return f"all {extreme.groups} {group}s have {value}"
        case "clear" if several:
            return f"{names} share {value}, {beyond(extreme, unit)}"
        case "clear":
            verb = "is lowest at" if lowest else "leads with"
            return f"{names} {verb} {value}, {beyond(extreme, unit)}"
    none = f"no {group} is clearly lowest" if lowest else f"no {group} clearly leads"
    return f"{none}; {names} {'have' if several else 'has'} {value}, {beyond(extreme, unit)}"
