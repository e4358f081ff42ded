"""Numbers and counts in words, for sentences, tables and the notes on how things were computed."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Literal

from analysis.stats.results import Estimate, Interval
from benchmarks.core.ports.labels import Measure

# A "percent" is a number of a measure whose title says that it is in percent.
Unit = Literal["share", "percent", "points", "number", "amount"]
MINUS = "−"


def unit_of(measure: Measure) -> Unit:
    """Return how values of a measure are written; a "percent" has its sign from the sentence."""
    return "share" if measure.in_percent else "number"


def unit_of_differences(measure: Measure) -> Unit:
    """Return how differences of a measure are written: in points where it is in percent."""
    return "percent" if measure.kind == "percent" else unit_of(measure)


def number(value: float, unit: Unit, *, signed: bool = False) -> str:
    """Return a share in percent with one decimal, points with two, other numbers with three digits.

    An amount may be far below 1, such as the cost of one trajectory: it keeps two digits.
    """
    match unit:
        case "share":
            text = f"{abs(100 * value):.1f} %"
        case "points":
            text = f"{abs(value):.2f}"
        case "amount" if 1e-9 < abs(value) < 0.1:
            text = f"{abs(value):.{1 - floor(log10(abs(value)))}f}"
        case _:
            size = abs(value)
            text = f"{size:.0f}" if size >= 100 else f"{size:.1f}" if size >= 10 else f"{size:.2f}"
    is_zero = not any(digit in text for digit in "123456789")
    if value < 0 and not is_zero:
        return MINUS + text
    return f"+{text}" if signed and not is_zero else text


def difference(value: float, unit: Unit, *, signed: bool = False) -> str:
    """Return a difference of two values; of shares and percentages in points: 8.1 points."""
    if unit not in ("share", "percent"):
        return number(value, unit, signed=signed)
    part = value if unit == "share" else value / 100
    text = number(part, "share", signed=signed).removesuffix(" %")
    return "0 points" if text == "0.0" else f"{text} points"


def p_text(p: float | None) -> str:
    """Return a p-value as a table has it: three decimals, or that it is smaller."""
    if p is None:
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_words(p: float) -> str:
    """Return a p-value in a sentence: p = 0.012, p < 0.001."""
    return f"p {'' if p < 0.001 else '= '}{p_text(p)}"


def ends(interval: Interval, unit: Unit, *, signed: bool = False) -> str:
    """Return an interval as "61.2 to 89.0 %": the unit once, at the end."""
    low, high = (number(end, unit, signed=signed) for end in (interval.low, interval.high))
    return f"{low.removesuffix(' %')} to {high}"


def level(interval: Interval) -> str:
    """Return the level of an interval, and whether it holds together with others."""
    together = " simultaneous" if "comparisons" in interval.details else ""
    return f"{100 * interval.level:g} %{together}"


def stated(estimate: Estimate, unit: Unit, *, signed: bool = False) -> str:
    """Return a value with its interval in brackets, or why there is none."""
    if estimate.value is None:
        return f"undefined ({estimate.undefined})"
    text = number(estimate.value, unit, signed=signed)
    if estimate.interval is None:
        return text
    inside = ends(estimate.interval, unit, signed=signed)
    return f"{text} ({level(estimate.interval)} interval {inside})"


def stated_change(estimate: Estimate, unit: Unit) -> str:
    """Return a change whose sign and interval agree: −11.1 points (95 % interval −43.5 to +22.1).

    Sentences say "changes by" before it: "falls by 11.1 (−43.5 to 22.1)" reads as a rise.
    """
    if estimate.value is None:
        return f"undefined ({estimate.undefined})"
    text = difference(estimate.value, unit, signed=True)
    if estimate.interval is None:
        return text
    inside = ends(estimate.interval, unit, signed=True).removesuffix(" %")
    return f"{text} ({level(estimate.interval)} interval {inside})"


def plural(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: 1 task, 1,200 tasks."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(items: Sequence[str], *, most: int = 4) -> str:
    """Return a list in words, cut short where it is long: a, b and 3 more."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def first_up(text: str) -> str:
    """Return a text with a capital at its beginning; all else stays."""
    return text[:1].upper() + text[1:]


def counted(reasons: Mapping[str, int]) -> str:
    """Return what was left out, by reason: 3 (ended as judge failure), 1 (waits for a person)."""
    return ", ".join(f"{count:,} ({reason})" for reason, count in reasons.items())


def left_out_sentence(reasons: Mapping[str, int], of: str = "", *, nothing: str = "Nothing") -> str:
    """Say what is left out by reason, ``of`` a measure, or that nothing is."""
    about = f" of {of}" if of else ""
    return f"Left out{about}: {counted(reasons)}." if reasons else f"{nothing} is left out{about}."
