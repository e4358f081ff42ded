"""Deferred reports: they take longer than a page may, so a job makes them and stores them.

A maker is registered under a name; it turns plain parameters into the report and into the key of
the data behind it. A page looks a report up by its key (`find_deferred`) and requests it
(`request_deferred`). The worker uses the data as they are when it begins, and only what the person
who asked may see. It stores the report under the key of those data, so a page never shows a report
of other data. A maker that takes minutes reports its progress (`note_progress`). What it writes may
also be a file (`analysis.reports.deferred_files`).
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import caches

from analysis.reports.content import Report
from benchmarks.jobs.services import JobCancelled, Progress, enqueue_job, job_kind, keep_lease
from benchmarks.models import Job
from benchmarks.visibility import Visibility

KIND = "analysis-report"
KEEP_SECONDS = 7 * 24 * 60 * 60
ACTIVE = (Job.Status.QUEUED, Job.Status.RUNNING)

Params = Mapping[str, Any]
# From parameters and what the person who asks may see to the key, and what writes the report.
Maker = Callable[[Params, Visibility], tuple[str, Callable[[], Any]]]
# Each with the seconds for which what it writes is kept.
_makers: dict[str, tuple[Maker, int]] = {}


class _ReportProgress:
    """The last message of the report that is being written, and whether its lease was lost."""

    def __init__(self) -> None:
        self.message: str | None = None
        self.lost: threading.Event | None = None


_progress: ContextVar[_ReportProgress | None] = ContextVar("report_progress", default=None)


def note_progress(message: str) -> None:
    """Store how far a deferred report is; raise where its job was cancelled or taken over.

    Without a worker, this does nothing.
    """
    state = _progress.get()
    if state is None:
        return
    if state.lost is not None and state.lost.is_set():
        raise JobCancelled
    state.message = message


@contextmanager
def _track_progress(progress: Progress) -> Iterator[None]:
    state = _ReportProgress()
    token = _progress.set(state)
    try:
        with keep_lease(progress, lambda: state.message) as state.lost:
            yield
    finally:
        _progress.reset(token)


@dataclass(frozen=True)
class ReportRequest:
    """The request of a deferred report: its maker, parameters, key, title, and kind of job."""

    maker: str
    params: Params
    key: str
    title: str
    kind: str = KIND


@dataclass(frozen=True)
class DeferredReport:
    """The state of a deferred report: ``report`` once it is stored; else its job, if any."""

    wanted: ReportRequest
    report: Report | None = None
    job: Job | None = None

    @property
    def moving(self) -> bool:
        """Return whether a worker has the report or will have it."""
        return self.report is None and self.job is not None and self.job.status in ACTIVE

    @property
    def failed(self) -> bool:
        """Return whether the last attempt ended without a report."""
        return self.report is None and self.job is not None and self.job.status not in ACTIVE

    @property
    def stamp(self) -> str:
        """A digest that changes whenever the page would show another state of the job."""
        if self.job is None:
            return ""
        words = f"{self.job.status} {self.job.message}"
        return blake2b(words.encode(), digest_size=4).hexdigest()

    @property
    def unasked(self) -> bool:
        """Return whether nobody has requested it yet."""
        return self.report is None and self.job is None


def report_maker(name: str, keep_seconds: int = KEEP_SECONDS) -> Callable[[Maker], Maker]:
    """Register the maker of the deferred reports of this name."""

    def register(maker: Maker) -> Maker:
        _makers[name] = maker, keep_seconds
        return maker

    return register


def kept_deferred(key: str) -> Report | None:
    """Return the deferred report of this key, if it is stored."""
    report: Report | None = caches["kept"].get(key)
    return report


def drop_deferred(wanted: ReportRequest) -> None:
    """Delete a deferred report, so that the next request makes it again."""
    caches["kept"].delete(wanted.key)


def keep_deferred(
    key: str, write: Callable[[], Report], keep_seconds: int = KEEP_SECONDS
) -> Report:
    """Return the deferred report of this key; write and store it where it is missing."""
    report = kept_deferred(key)
    if report is None:
        report = write()
        caches["kept"].set(key, report, keep_seconds)
    return report


def find_deferred(wanted: ReportRequest) -> DeferredReport:
    """Return the state of a deferred report; writes nothing."""
    report = kept_deferred(wanted.key)
    if report is not None:
        return DeferredReport(wanted, report)
    job = Job.objects.filter(kind=wanted.kind, payload__key=wanted.key).order_by("-pk").first()
    if job is None or job.status != Job.Status.DONE:
        return DeferredReport(wanted, None, job)
    # It ended since the first look; or its report was of other data, or has been dropped.
    return DeferredReport(wanted, kept_deferred(wanted.key))


def request_deferred(*, wanted: ReportRequest, person: User) -> DeferredReport:
    """Have a job make a report, unless it is stored or being made."""
    deferred = find_deferred(wanted)
    if deferred.report is not None or deferred.moving:
        return deferred
    job = enqueue_job(
        kind=wanted.kind,
        title=wanted.title,
        payload={"maker": wanted.maker, "params": dict(wanted.params), "key": wanted.key},
        created_by=person,
    )
    return DeferredReport(wanted, None, job)


@job_kind(KIND)
def run_report_job(job: Job, progress: Progress) -> None:
    """Write the report as its maker says, with what the person who asked may see now."""
    given, person = job.payload, job.created_by
    if person is None or not person.is_active:
        return  # nobody waits for it any more
    maker, keep_seconds = _makers[given["maker"]]
    key, write = maker(given["params"], Visibility.to(person))
    with _track_progress(progress):
        keep_deferred(key, write, keep_seconds)
