"""A run with what all its trajectories have in common, read once for those that follow each other.

Reading it for each trajectory took half of what an episode of two calls costs beside them.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from benchmarks.core.answerers import Answerer
from benchmarks.core.system import System
from benchmarks.endpoints.services import answerer_at
from benchmarks.jobs.leases import contact
from benchmarks.mappers import system_of_run
from benchmarks.models import Run, Trajectory
from benchmarks.runs.versions import missing_version

WORKABLE = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING)
# For so many seconds a run is taken as it was read. Trajectories under way ask no more often
# whether it was paused, and keep to their end what was prepared for them.
FRESH_SECONDS = 0.5


def claimable() -> Q:
    """Match trajectories that are pending, or whose worker's lease has run out."""
    lapsed = Q(status=Trajectory.Status.RUNNING, lease_until__lt=contact.lapsed_by(timezone.now()))
    return Q(status=Trajectory.Status.PENDING) | lapsed


@dataclass(frozen=True)
class PreparedRun:
    """A run as it is when it is asked for first, soon after ``at`` (monotonic seconds).

    ``candidates`` are ids of trajectories that could be claimed a moment ago, ``answerer_rows``
    ids of answerers' rows by digest; who carries the run fills both.
    """

    run_id: int
    at: float = field(default_factory=time.monotonic)
    candidates: list[int] = field(default_factory=list)
    answerer_rows: dict[str, int] = field(default_factory=dict)

    @property
    def is_fresh(self) -> bool:
        """Return whether the run may still be taken as it was read."""
        return time.monotonic() - self.at <= FRESH_SECONDS

    def renewed(self) -> "PreparedRun":
        """Return this while it is fresh, then the same run to be read anew."""
        return self if self.is_fresh else PreparedRun(self.run_id)

    @cached_property
    def run(self) -> Run:
        """Return the run with its dataset and its judging."""
        return Run.objects.select_related("dataset", "primary_judging").get(pk=self.run_id)

    @cached_property
    def system(self) -> System:
        """Return what the run is played by; raises ``UnknownName``."""
        return system_of_run(self.run)

    @cached_property
    def missing_version(self) -> str:
        """Name the first pinned version that is not available; return "" if all are."""
        return missing_version(self.run, self.system)

    @cached_property
    def answerer_at(self) -> Callable[[str, str], Answerer]:
        """Return what builds the answerers of endpoints, each once."""
        return answerer_at(self.system.key)

    @cached_property
    def claimable(self) -> QuerySet[Trajectory]:
        """Return the trajectories that may be claimed, none if the run does not go on.

        The run is asked for in a condition on the row itself. With a join the row would be found
        by a query of its own, which PostgreSQL does not repeat for who has waited for another's
        claim.
        """
        workable = Exists(Run.objects.filter(pk=OuterRef("run"), status__in=WORKABLE))
        return Trajectory.objects.filter(claimable(), workable, run=self.run_id)
