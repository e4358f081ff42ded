"""Numbers in words, for hover texts and labels."""

from html import escape
from textwrap import wrap
from typing import Literal

from analysis.stats.results import Estimate

Unit = Literal["share", "points"]
DASH = "–"
LEGEND_WIDTH = 40


def label(text: str) -> str:
    """A name as Plotly shows it: its texts know tags, so these must not reach it as such."""
    return escape(text, quote=False)


def wrapped_label(text: str) -> str:
    """The same for a legend: in lines that the width of a column holds."""
    return "<br>".join(map(label, wrap(text, LEGEND_WIDTH)))


def number(value: float | None, unit: Unit) -> str:
    """A share as a percentage with one decimal, points with two, nothing as a dash."""
    if value is None:
        return DASH
    return f"{100 * value:.1f} %" if unit == "share" else f"{value:.2f}"


def describe(name: str, estimate: Estimate, unit: Unit) -> str:
    """One hover text: the name, the value, its interval or why there is none, and n."""
    lines = [label(name)]
    if estimate.value is None:
        lines.append(f"{DASH} {label(estimate.undefined)}")
    else:
        lines.append(f"{number(estimate.value, unit)} (n = {estimate.n})")
    interval = estimate.interval
    if interval is not None:
        ends = f"{number(interval.low, unit)} to {number(interval.high, unit)}"
        lines.append(f"{100 * interval.level:g} % interval {ends} ({label(interval.method)})")
    elif estimate.no_interval:
        lines.append(label(estimate.no_interval))
    lines += [f"left out: {count} ({label(why)})" for why, count in estimate.excluded.items()]
    lines += [label(warning) for warning in estimate.warnings]
    return "<br>".join(lines)
