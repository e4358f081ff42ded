"""The metrics of a server, in the text format of Prometheus.

Requests are counted by the web server, whose processes add up theirs where there are several
(`PLANJURY_WEB_PROCESSES`). Everything else is read from the database when it is asked for, so each
web server reports the same state of the whole installation.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from django.db import DatabaseError
from django.db.models import Count
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from benchmarks.jobs.selectors import worker_states
from benchmarks.models import Exchange, Job, Run, Trajectory
from config.operations.probes import readiness

CONTENT_TYPE = CONTENT_TYPE_LATEST
# The variable by which prometheus_client knows the files that processes share.
_SHARED = "PROMETHEUS_MULTIPROC_DIR"

_registry = CollectorRegistry()
ProcessCollector(registry=_registry)
REQUESTS = Histogram(
    "planjury_request_seconds",
    "Seconds in which requests were answered, by method and status.",
    ("method", "status"),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=_registry,
)
# Methods that are counted under their own names; anybody can make up others.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def count_request(method: str, status: int, seconds: float) -> None:
    """Count one answered request."""
    REQUESTS.labels(method if method in METHODS else "other", str(status)).observe(seconds)


def begin_counting() -> None:
    """Forget what processes of a web server that was here before have counted."""
    if folder := os.environ.get(_SHARED):
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in Path(folder).glob("*.db"):
            file.unlink()


def exposition() -> bytes:
    """Return all metrics as text."""
    registry = _registry
    if os.environ.get(_SHARED):
        # The library reads the files into a registry that is made for the request.
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        registry.register(_installation)
    text: bytes = generate_latest(registry)
    return text


class _Installation(Collector):
    """The state of the whole installation, read at each request."""

    def collect(self) -> Iterable[Metric]:
        """Yield what can be read; without a database that is the readiness alone."""
        current = readiness()
        probes = GaugeMetricFamily(
            "planjury_ready", "Whether a part of the server works, 1 or 0.", labels=["part"]
        )
        for probe in current.probes:
            probes.add_metric([probe.name], float(probe.ok))
        yield probes
        if current.probes[0].ok:
            try:
                yield from _stored()
            except DatabaseError:
                return


def _stored() -> Iterator[Metric]:
    workers = worker_states()
    counts = {
        "working": sum(not w.lost and w.row.state == w.row.State.WORKING for w in workers),
        "ending": sum(not w.lost and w.row.state == w.row.State.ENDING for w in workers),
        "lost": sum(w.lost for w in workers),
    }
    yield _by("planjury_workers", "Worker processes by state.", "state", counts)
    for name, words, model in (
        ("planjury_jobs", "Background jobs by status.", Job),
        ("planjury_runs", "Runs by status.", Run),
        ("planjury_trajectories", "Trajectories by status.", Trajectory),
    ):
        rows = model._default_manager.order_by().values_list("status").annotate(n=Count("pk"))
        statuses = {str(value): 0 for value in model.Status.values}
        yield _by(name, words, "status", statuses | dict(rows))
    out = Exchange.objects.filter(
        trajectory__status=Trajectory.Status.RUNNING,
        trajectory__lease_until__gte=timezone.now(),
        state=Exchange.State.SENT,
    )
    yield GaugeMetricFamily(
        "planjury_calls_in_flight", "Calls to endpoints that are under way.", value=out.count()
    )


def _by(name: str, words: str, label: str, counts: dict[str, int]) -> Metric:
    family = GaugeMetricFamily(name, words, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], float(count))
    return family


_installation = _Installation()
_registry.register(_installation)
