"""Certify datasets: play the parts of a certificate, and store what came of them once."""

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from benchmarks.core import types
from benchmarks.core.digests import digest
from benchmarks.core.errors import CoreError
from benchmarks.core.registry import find_system
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import named_lock
from benchmarks.mappers import core_task
from benchmarks.models import Dataset, Job, ValidityCertificate
from benchmarks.validity.selectors import (
    KIND,
    OPEN,
    CertifiedValidity,
    certificate_versions,
    current_certificate,
)
from benchmarks.validity.trials import Trials, certificate_content, episodes_of

REPORT_EVERY = timedelta(seconds=1)


class NotCertifiable(CoreError):
    """A dataset that cannot be certified; the text says why."""


def is_certifiable(dataset: Dataset) -> bool:
    """Return whether the dataset's system ranks agents and says what certificates play."""
    system = find_system(dataset.system)
    return system.validity is not None and bool(system.labels.headlines)


def dataset_trials(dataset: Dataset, report: Callable[[], None] = lambda: None) -> Trials:
    """Return what is played to certify a dataset; ``report`` is called at each episode."""
    if not is_certifiable(dataset):
        raise NotCertifiable(f"{dataset}: agents are not ranked on datasets of this system")
    tasks = list(_units(dataset))
    if not tasks:
        raise NotCertifiable(f"{dataset} has no tasks")
    return Trials(find_system(dataset.system), tasks, dataset.roles, report)


def _units(dataset: Dataset) -> Iterator[types.Task]:
    """Yield each task at each of its levels."""
    rows = dataset.tasks.order_by("pk").prefetch_related("profiles__constraints")
    for row in rows.iterator(chunk_size=200):
        row.dataset = dataset
        profiles = sorted(row.profiles.all(), key=lambda one: (one.rank, one.pk))
        if not profiles:
            yield core_task(row, None)
        yield from (core_task(row, profile) for profile in profiles)


def content_digest(dataset: Dataset, versions: dict[str, str], content: types.Json) -> str:
    """Return the digest that stands for a certificate: dataset, versions, and what was played."""
    return digest([dataset.system, dataset.checksum, versions, content])


def certify_dataset(dataset: Dataset, trials: Trials) -> CertifiedValidity:
    """Play and store a certificate; one that is stored already is returned as it is."""
    versions = certificate_versions(trials.system)
    content = certificate_content(trials)
    with named_lock("certificate"):
        if (stored := current_certificate(dataset)) is not None:
            return stored
        row = ValidityCertificate.objects.create(
            dataset=dataset,
            versions=versions,
            versions_digest=digest(versions),
            content=content,
            digest=content_digest(dataset, versions, content),
        )
    return CertifiedValidity(row)


def start_certificate(*, dataset: Dataset, asked_by: User | None = None) -> Job | None:
    """Let a worker certify a dataset; None where that is done or under way."""
    if not is_certifiable(dataset):
        raise NotCertifiable(f"{dataset}: agents are not ranked on datasets of this system")
    with named_lock("certificate"):
        if current_certificate(dataset) is not None:
            return None
        if Job.objects.filter(kind=KIND, payload__dataset=dataset.pk, status__in=OPEN).exists():
            return None
        return enqueue_job(
            kind=KIND,
            title=f"Certify {dataset}"[:200],
            payload={"dataset": dataset.pk},
            created_by=asked_by,
        )


@job_kind(KIND, at_once=1)
def perform_certificate(job: Job, progress: Progress) -> None:
    """Certify the dataset; a restarted job plays the same again."""
    dataset = Dataset.objects.filter(pk=job.payload["dataset"], removed_at=None).first()
    if dataset is None:
        raise NotCertifiable("the dataset was deleted")
    if current_certificate(dataset) is not None:
        return
    played, told = 0, timezone.now()

    def report() -> None:
        nonlocal played, told
        played += 1
        if timezone.now() - told >= REPORT_EVERY:
            told = timezone.now()
            progress.report(done=played)

    trials = dataset_trials(dataset, report)
    progress.report(done=0, total=episodes_of(trials))
    certify_dataset(dataset, trials)
    progress.report(done=played, total=played)
