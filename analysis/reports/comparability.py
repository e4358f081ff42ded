"""Certificates of comparability, wherever published values stand beside those of runs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from analysis.filters.selection import Selection
from analysis.reports.content import Report, Table
from benchmarks.comparability.certificates import (
    Certificate,
    ComparedRun,
    certificates_of,
    join_certificates,
)
from benchmarks.core.registry import find_system


def certified(report: Report, selection: Selection, *, cites: bool = False) -> Report:
    """Add how the runs compare with the published values that stand beside them in the report.

    Each table has the certificates of its own published values, the report those of all. ``cites``:
    its sentences or figures state published values too, so that it has one in any case.
    """
    tables = tuple(_certified_table(table, selection) for table in report.tables)
    certificates = [one for table in tables for one in table.certificates]
    if not certificates and cites and report.empty is None:
        certificates = list(selection_certificates(selection, ()))
    return replace(report, tables=tables, certificates=join_certificates(certificates))


def cites_paper(selection: Selection) -> bool:
    """Return whether a page with the filter *published* shows published values now."""
    return selection.filters.published == "show" and bool(find_system(selection.system).published)


def _certified_table(table: Table, selection: Selection) -> Table:
    sources = table.sources
    return (
        replace(table, certificates=selection_certificates(selection, sources))
        if sources
        else table
    )


def selection_certificates(selection: Selection, sources: Iterable[str]) -> tuple[Certificate, ...]:
    """Return how the runs of a page compare with the settings of these sources."""
    if selection.dataset is None:
        return ()
    names = Counter(run.label for run in selection.runs)
    runs = [
        ComparedRun(
            run.pk,
            run.label if names[run.label] == 1 else f"run {run.pk}",
            run.level,
            run.settings,
            run.pins,
            run.casting,
            run.imported,
        )
        for run in selection.runs
    ]
    return certificates_of(selection.dataset, runs, sources)
