"""Reports that are stored until something that they show has changed: their key says so."""

from collections.abc import Callable
from hashlib import sha256

from django.core.cache import caches

from analysis.reports.content import Report
from benchmarks.source_digest import source_digest

KEEP_SECONDS = 24 * 60 * 60


def key_of(*parts: str) -> str:
    """Return the key of a report that today's source files make of these parts."""
    return sha256("\n".join([source_digest(), *parts]).encode()).hexdigest()[:32]


def kept_report(key: str) -> Report | None:
    """Return the report of this key, if it was written before."""
    report: Report | None = caches["reports"].get(f"analysis:{key}")
    return report


def keep_report(key: str, write: Callable[[], Report]) -> Report:
    """Return the report of this key; write and store it where it was not written before.

    A report that waits for a job is not stored.
    """
    report = kept_report(key)
    if report is None:
        report = write()
        if report.waits:
            return report
        caches["reports"].set(f"analysis:{key}", report, KEEP_SECONDS)
    return report
