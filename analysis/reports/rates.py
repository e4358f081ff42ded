"""Shares with two intervals as cells: one for independent observations, one that draws clusters."""

from collections.abc import Iterable, Mapping

from analysis.reports.content import Cell, Column, how_interval, rounded
from analysis.reports.formatting import counted, ends, number
from analysis.stats.descriptive.rates import Rate
from analysis.stats.results import Estimate


def rate_column(label: str, part: str = "", help: str = "") -> Column:
    """Return a share, its counts, and both intervals."""
    name = part or label.lower()
    more = ("hits", "of", "low", "high", "wilson low", "wilson high", "note")
    return Column(label, (name, *(f"{name} {word}" for word in more)), help=help)


def rate_cell(rate: Rate) -> Cell:
    """Return the share with its counts and the interval that draws clusters, or else Wilson's."""
    if rate.wilson.value is None:
        why = rate.wilson.undefined
        return Cell(data=(None, rate.hits, rate.of, *(None,) * 4, why), reason=why)
    drawn, wilson = rate.clustered.interval, rate.wilson.interval
    notes = [rate.clustered.no_interval, *rate.clustered.warnings]
    if rate.wilson.excluded:
        notes.append(f"left out: {counted(rate.wilson.excluded)}")
    note = "; ".join(filter(None, notes))
    sub = [f"{rate.hits:,} of {rate.of:,}"]
    if drawn is not None:
        sub.append(ends(drawn, "share").removesuffix(" %"))
    elif wilson is not None:
        sub.append(ends(wilson, "share").removesuffix(" %"))
    limits = [
        rounded(end)
        for interval in (drawn, wilson)
        for end in ((interval.low, interval.high) if interval else (None, None))
    ]
    return Cell(
        number(rate.wilson.value, "share"),
        (rounded(rate.wilson.value), rate.hits, rate.of, *limits, note),
        sub="\n".join(sub),
        tip=note,
    )


def left_out_cell(excluded: Mapping[str, int]) -> Cell:
    """Return how many decisions were left out, with the reasons."""
    words = counted(excluded)
    return Cell(str(sum(excluded.values())) if excluded else "none", (words,), sub=words)


def read_first(rate: Rate) -> Estimate:
    """Return the estimate to show where there is room for one: that by cluster, else Wilson's."""
    return rate.clustered if rate.clustered.interval is not None else rate.wilson


def how_rates(rates: Iterable[Rate]) -> str:
    """Return the methods of both intervals."""
    rows = list(rates)
    estimates = [rate.clustered for rate in rows] + [rate.wilson for rate in rows]
    return how_interval(estimates) or "none"


def rate_words(rate: Rate, name: str) -> str:
    """Return a rate in words; ``name`` is its short name."""
    if rate.wilson.value is None:
        return f"nothing, because there is none ({name} undefined)"
    interval = read_first(rate).interval
    inside = f"; 95 % interval {ends(interval, 'share')}" if interval is not None else ""
    return f"{number(rate.wilson.value, 'share')} ({rate.hits:,} of {rate.of:,}{inside})"


def two_intervals(clusters: str, units: str) -> str:
    """Say what the two intervals of a rate are: the one drawn, by cluster, and Wilson's."""
    return (
        f"95 % intervals draw {clusters}; where all of them agree, Wilson's counts each once. The "
        f"CSV has Wilson's over {units} as well, which takes them as independent."
    )
