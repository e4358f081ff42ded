"""A sentence on methods to paste into a paper: what was measured, intervals, n, what was left out.

A report may say what it measures (`Report.methods`); intervals, n, exclusions and seeds are those
of the estimates in its tables, so they need not be written twice. The first table leads: its
interval and n are named first, and the version of the product last.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.conf import settings

from analysis.reports.content import Report, Table
from analysis.reports.formatting import counted, listed, plural
from analysis.stats.results import Estimate, Interval, plural_of

# How intervals are called where their method's name alone would not be understood.
NAMES = {
    "wilson": "Wilson score",
    "wald": "Wald",
    "t": "Student's t",
    "F": "F-based",
    "Fisher z": "Fisher z",
}
PUBLISHED = "published"
# Columns that say nothing without the title of their table.
UNNAMED = frozenset({"Here", "Mean", "Value", "Estimate"})
_BOOTSTRAP = re.compile(r"^(?P<unit>.+) bootstrap (?P<of>of ranks )?\(percentile\)$")
# So many columns are named where intervals differ by column.
MOST_NAMES = 6


class LabelledEstimate(NamedTuple):
    """One estimate of a report, what the table calls it, and the table's title."""

    label: str
    estimate: Estimate
    table: str


def methods_sentence(report: Report) -> str:
    """Return what was measured and how, in a few sentences; nothing where a report shows no
    estimate.
    """
    estimates = list(_estimates(report))
    if not estimates:
        return f"{report.methods} {_version()}" if report.methods else ""
    known = [one for one in estimates if one.estimate.value is not None]
    sentences = [report.methods or _what(report), *_by_table(known), _left_out(estimates, known)]
    return " ".join([*filter(None, sentences), _version()])


def intervals_sentence(table: Table) -> str:
    """Return which intervals a table has, for its caption; nothing where it has none."""
    estimates = _estimates(Report(tables=(table,)))
    known = [one for one in estimates if one.estimate.interval is not None]
    return f"In brackets: {_intervals(known)}." if known else ""


def _version() -> str:
    return f"Computed with PlanJury {settings.VERSION}."


def _estimates(report: Report) -> Iterator[LabelledEstimate]:
    """Yield what was estimated here; published rows are not."""
    for table in report.tables:
        for row in table.rows:
            if row and any(badge.text == PUBLISHED for badge in row[0].badges):
                continue
            for cell, column in zip(row, table.columns, strict=True):
                if cell.estimate is not None:
                    title = f"“{_title(table)}”"
                    label = title if column.label in UNNAMED else column.label
                    yield LabelledEstimate(label, cell.estimate, title)


def _what(report: Report) -> str:
    """Return what the tables estimate, by their titles, where a report does not say it itself."""
    holding = [
        _title(table)
        for table in report.tables
        if any(cell.estimate is not None for row in table.rows for cell in row)
    ]
    return f"We report {listed([f'“{title}”' for title in holding], most=len(holding))}."


def _title(table: Table) -> str:
    """Return the title of a table without its number of rows."""
    return re.sub(r" \([\d,]+ rows?\)$", "", table.title)


def _by_table(known: list[LabelledEstimate]) -> tuple[str, ...]:
    """Return the intervals and n of the first table, then those of the others."""
    if not known:
        return ("No value is defined.",)
    lead = [one for one in known if one.table == known[0].table]
    others = [one for one in known if one.table != known[0].table]
    first = f"{known[0].table}: {_intervals(lead)}, {_counts(lead)}."
    return (
        (first, f"Other tables: {_intervals(others)}, {_counts(others)}.") if others else (first,)
    )


def _intervals(known: list[LabelledEstimate]) -> str:
    """Return the kinds of intervals, with seed and resamples where chance had a part."""
    kinds: dict[str, list[str]] = {}
    for one in known:
        if one.estimate.interval is not None:
            labels = kinds.setdefault(_kind(one.estimate.interval), [])
            if one.label not in labels:
                labels.append(one.label)
    if len(kinds) < 2:
        return next(iter(kinds), "no value has an interval")
    return "; ".join(f"{kind} ({listed(names, most=MOST_NAMES)})" for kind, names in kinds.items())


def _kind(interval: Interval) -> str:
    """Return an interval in words: 95 % Wilson score intervals."""
    level = f"{100 * interval.level:g} %"
    drawn = _BOOTSTRAP.match(interval.method)
    if drawn is None:
        name, _, rest = interval.method.partition(", ")
        more = f", {rest}" if rest else ""
        return f"{level} {NAMES.get(name, name)} intervals{more}{_seed(interval.details)}"
    of = "of ranks " if drawn["of"] else ""
    return (
        f"{level} percentile bootstrap intervals {of}that draw {plural_of(drawn['unit'])}"
        f"{_seed(interval.details)}"
    )


def _seed(details: Mapping[str, int]) -> str:
    if "seed" not in details:
        return ""
    resamples = f"{details['resamples']:,} resamples, " if "resamples" in details else ""
    return f" ({resamples}seed {details['seed']})"


def _counts(known: list[LabelledEstimate]) -> str:
    counts = [one.estimate.n for one in known if one.estimate.n] or [0]
    least, most = min(counts), max(counts)
    return f"n = {least:,}" if least == most else f"n = {least:,} to {most:,} a value"


def _left_out(estimates: list[LabelledEstimate], known: list[LabelledEstimate]) -> str:
    """Return what was left out of a value at most, by reason, and how many values are undefined.

    Not summed: one trajectory is left out of many values of a table.
    """
    most: dict[str, int] = {}
    for one in estimates:
        for reason, count in one.estimate.excluded.items():
            most[reason] = max(most.get(reason, 0), count)
    undefined = len(estimates) - len(known)
    parts = [f"Left out of a value at most: {counted(most)}." if most else "Nothing was left out."]
    if undefined:
        verb = "is" if undefined == 1 else "are"
        parts.append(f"{plural(undefined, 'value')} {verb} undefined and not replaced.")
    return " ".join(parts)
