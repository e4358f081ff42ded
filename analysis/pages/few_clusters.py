"""The notice on the page itself where its intervals rest on few tasks, or other clusters."""

from collections.abc import Iterable
from dataclasses import replace

from analysis.pages.prose import read_prose
from analysis.reports.content import Notice, Report
from analysis.stats.resampling import FEW_CLUSTERS, plural_of
from analysis.stats.results import Estimate


def few_clusters_notices(estimates: Iterable[Estimate]) -> tuple[Notice, ...]:
    """Return one notice for each kind of cluster of which an interval has fewer than 40."""
    found: dict[str, list[int]] = {}
    for estimate in estimates:
        interval = estimate.interval
        if interval is not None and interval.unit:
            clusters = interval.details["clusters"]
            if clusters < FEW_CLUSTERS:
                found.setdefault(interval.unit, []).append(clusters)
    return tuple(_notice(min(counts), max(counts), unit) for unit, counts in found.items())


def _notice(low: int, high: int, unit: str) -> Notice:
    context = {"low": low, "high": high, "unit": unit, "many": plural_of(unit)}
    (found,) = read_prose("pages/_few_clusters.html", context).notices()
    return found


def with_few_clusters(report: Report) -> Report:
    """Add the notice to a report whose tables hold such intervals."""
    estimates = (
        cell.estimate
        for table in report.tables
        for row in table.rows
        for cell in row
        if cell.estimate is not None
    )
    notices = few_clusters_notices(estimates)
    return replace(report, notices=(*report.notices, *notices)) if notices else report
