"""Reports that take longer than a page may: made in the background, kept, shown when ready.

Whoever makes one registers under a name a function from plain parameters to the report and to the
key of what it was made from. A page asks by key: `look` reads what there is, `ask` has it made.
The worker works with what is there when it begins, and as what the asking person may see; it keeps
its report under the key that belongs to that, so a page never shows a report of other data. What
takes minutes says how far it is by `tell`.
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
from django.db.models import Q

from analysis.reports.content import Report
from benchmarks.jobs.services import JobCancelled, Progress, enqueue_job, job_kind, keep_lease
from benchmarks.models import Job
from benchmarks.visibility import Visibility

KIND = "analysis-report"
KEEP_SECONDS = 7 * 24 * 60 * 60
ACTIVE = (Job.Status.QUEUED, Job.Status.RUNNING)

Params = Mapping[str, Any]
# From parameters and what the person who asks may see to the key, and what writes the report.
Maker = Callable[[Params, Visibility], tuple[str, Callable[[], Report]]]
_makers: dict[str, Maker] = {}


class _Telling:
    """What the report that is being written last said of itself, and whether it is still wanted."""

    def __init__(self) -> None:
        self.words: str | None = None
        self.lost: threading.Event | None = None


_telling: ContextVar[_Telling | None] = ContextVar("later_telling", default=None)


def tell(words: str) -> None:
    """Say how far a long report is; ends the work if its job was cancelled or taken over.

    Says nothing to nobody where no worker writes the report.
    """
    telling = _telling.get()
    if telling is None:
        return
    if telling.lost is not None and telling.lost.is_set():
        raise JobCancelled
    telling.words = words


@contextmanager
def _telling_to(progress: Progress) -> Iterator[None]:
    telling = _Telling()
    token = _telling.set(telling)
    try:
        with keep_lease(progress, lambda: telling.words) as telling.lost:
            yield
    finally:
        _telling.reset(token)


@dataclass(frozen=True)
class Wanted:
    """A report that takes long: who makes it, from what, under which key, and its name."""

    maker: str
    params: Params
    key: str
    title: str


@dataclass(frozen=True)
class Later:
    """How far a report is: ``report`` once it is there; else the job that makes it, if any."""

    wanted: Wanted
    report: Report | None = None
    job: Job | None = None

    @property
    def moving(self) -> bool:
        """A worker has it or will have it."""
        return self.report is None and self.job is not None and self.job.status in ACTIVE

    @property
    def failed(self) -> bool:
        """The last attempt ended without a report."""
        return self.report is None and self.job is not None and self.job.status not in ACTIVE

    @property
    def stamp(self) -> str:
        """Changes whenever the page would say something else about the job."""
        if self.job is None:
            return ""
        words = f"{self.job.status} {self.job.message}"
        return blake2b(words.encode(), digest_size=4).hexdigest()

    @property
    def unasked(self) -> bool:
        """Nobody has asked for it yet."""
        return self.report is None and self.job is None


def report_maker(name: str) -> Callable[[Maker], Maker]:
    """Register what makes the long reports of this name."""

    def register(maker: Maker) -> Maker:
        _makers[name] = maker
        return maker

    return register


def kept_later(key: str) -> Report | None:
    """The long report of this key, if it is there."""
    found: Report | None = caches["kept"].get(key)
    return found


def forget(wanted: Wanted) -> None:
    """Drop a long report, so that it is made again when it is next asked for."""
    caches["kept"].delete(wanted.key)


def keep_later(key: str, write: Callable[[], Report]) -> Report:
    """The long report of this key, written and kept where it is not there."""
    report = kept_later(key)
    if report is None:
        report = write()
        caches["kept"].set(key, report, KEEP_SECONDS)
    return report


def look(wanted: Wanted) -> Later:
    """How far a report is; reads only."""
    report = kept_later(wanted.key)
    if report is not None:
        return Later(wanted, report)
    jobs = Job.objects.filter(kind=KIND, payload__key=wanted.key)
    # One that is done and left no report was made from other data, or has been dropped since.
    job = jobs.exclude(Q(status=Job.Status.DONE)).order_by("-pk").first()
    return Later(wanted, None, job)


def ask(*, wanted: Wanted, person: User) -> Later:
    """Have a report made, unless it is there or being made."""
    found = look(wanted)
    if found.report is not None or found.moving:
        return found
    job = enqueue_job(
        kind=KIND,
        title=wanted.title,
        payload={"maker": wanted.maker, "params": dict(wanted.params), "key": wanted.key},
        created_by=person,
    )
    return Later(wanted, None, job)


@job_kind(KIND)
def make_later(job: Job, progress: Progress) -> None:
    """Write the report as its maker says, for what the person who asked may see now."""
    given, person = job.payload, job.created_by
    if person is None or not person.is_active:
        return  # nobody waits for it any more
    key, write = _makers[given["maker"]](given["params"], Visibility.to(person))
    with _telling_to(progress):
        keep_later(key, write)
