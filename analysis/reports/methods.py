"""A sentence on methods to paste into a paper: what was measured, intervals, n, what was left out.

A report may say what it measures (`Report.methods`); intervals, n, exclusions and seeds are those
of the estimates in its tables, so they need not be written twice.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True)
class LabelledEstimate:
    """One estimate of a report, and what the table calls it."""

    label: str
    estimate: Estimate


def methods_sentence(report: Report) -> str:
    """Return what was measured and how, in a few sentences; nothing where a report shows no
    estimate.
    """
    found = list(_estimates(report))
    if not found:
        return report.methods
    known = [one for one in found if one.estimate.value is not None]
    sentences = [report.methods or _what(report, found), _intervals(known), _counts(known)]
    return " ".join(sentence for sentence in [*sentences, _left_out(found, known)] if sentence)


def _estimates(report: Report) -> Iterator[LabelledEstimate]:
    """Yield what was estimated here; published rows are not."""
    for table in report.tables:
        for row in table.rows:
            if row and any(badge.text == PUBLISHED for badge in row[0].badges):
                continue
            for cell, column in zip(row, table.columns, strict=True):
                if cell.estimate is not None:
                    label = f"“{_title(table)}”" if column.label in UNNAMED else column.label
                    yield LabelledEstimate(label, cell.estimate)


def _what(report: Report, found: list[LabelledEstimate]) -> str:
    """Return what the tables estimate, by their titles, where a report does not say it itself."""
    holding = [
        _title(table)
        for table in report.tables
        if any(cell.estimate is not None for row in table.rows for cell in row)
    ]
    return f"Estimated were {listed([f'“{title}”' for title in holding], most=len(holding))}."


def _title(table: Table) -> str:
    """Return the title of a table without its number of rows."""
    return re.sub(r" \([\d,]+ rows?\)$", "", table.title)


def _intervals(known: list[LabelledEstimate]) -> str:
    """Return the kinds of intervals, with seed and resamples where chance had a part."""
    kinds: dict[str, list[str]] = {}
    without = 0
    for one in known:
        interval = one.estimate.interval
        if interval is None:
            without += 1
            continue
        labels = kinds.setdefault(_kind(interval), [])
        if one.label not in labels:
            labels.append(one.label)
    if not kinds:
        return "No value has an interval." if known else ""
    if len(kinds) == 1:
        (kind,) = kinds
        return f"Intervals are {kind}."
    words = [f"{kind} ({listed(labels, most=MOST_NAMES)})" for kind, labels in kinds.items()]
    return f"Intervals are {'; '.join(words)}."


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
    counts = [one.estimate.n for one in known if one.estimate.n]
    if not counts:
        return "No value is defined."
    least, most = min(counts), max(counts)
    return f"n = {least:,}." if least == most else f"n lies between {least:,} and {most:,} a value."


def _left_out(found: list[LabelledEstimate], known: list[LabelledEstimate]) -> str:
    """Return what was left out of a value at most, by reason, and how many values are undefined.

    Not summed: one trajectory is left out of many values of a table.
    """
    most: dict[str, int] = {}
    for one in found:
        for reason, count in one.estimate.excluded.items():
            most[reason] = max(most.get(reason, 0), count)
    undefined = len(found) - len(known)
    parts = [f"Left out of a value at most: {counted(most)}." if most else "Nothing was left out."]
    if undefined:
        verb = "is" if undefined == 1 else "are"
        parts.append(f"{plural(undefined, 'value')} {verb} undefined and not replaced.")
    return " ".join(parts)
