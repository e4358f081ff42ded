"""The notice that intervals rest on few tasks, or other clusters."""

from collections.abc import Iterable
from dataclasses import replace

from analysis.reports.content import Notice, Report
from analysis.stats.results import FEW_CLUSTERS, Estimate, few_clusters, plural_of


def few_clusters_notices(estimates: Iterable[Estimate]) -> tuple[Notice, ...]:
    """Return one notice for each kind of cluster that an estimate warns of being few."""
    counts_by_unit: dict[str, list[int]] = {}
    for estimate in estimates:
        interval = estimate.interval
        if interval is not None and interval.unit:
            clusters = interval.details["clusters"]
            warning = few_clusters(clusters, interval.unit)
            if warning and set(warning) <= set(estimate.warnings):
                counts_by_unit.setdefault(interval.unit, []).append(clusters)
    return tuple(_notice(min(counts), max(counts), unit) for unit, counts in counts_by_unit.items())


def _notice(low: int, high: int, unit: str) -> Notice:
    many = plural_of(unit)
    span = f"{low}" if low == high else f"{low} to {high}"
    return Notice(
        f"Few {many}: intervals of coefficients here rest on {span} {many if high > 1 else unit}. "
        f"With fewer than {FEW_CLUSTERS}, a 95 % interval can be too narrow."
    )


def with_few_clusters(report: Report) -> Report:
    """Add the notice to a report whose tables hold such intervals and that does not say it yet."""
    titles = {notice.text.partition(":")[0] for notice in report.notices}
    cells = (cell for table in report.tables for row in table.rows for cell in row)
    estimates = [cell.estimate for cell in cells if cell.estimate is not None]
    notices = tuple(
        notice
        for notice in few_clusters_notices(estimates)
        if notice.text.partition(":")[0] not in titles
    )
    return replace(report, notices=(*report.notices, *notices)) if notices else report
