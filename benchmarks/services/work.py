"""Carrying trajectories: claim one under a lease, drive it, note how it went."""

import logging
import random
import time
from collections.abc import Callable
from datetime import datetime
from functools import cache

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Count, Exists, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from benchmarks.core.driver import Capped, Driver, Failed, Finished, Stopped, Suspended
from benchmarks.core.errors import AskMismatch, CoreError, TurnMismatch
from benchmarks.fillers import suggesting_fillers
from benchmarks.mappers import core_task, system_of_run
from benchmarks.models import Run, Trajectory
from benchmarks.prepared import Prepared, PreparedUpdate
from benchmarks.services.budgets import halt_run
from benchmarks.services.casting import build_cast
from benchmarks.services.judging.log import log_of
from benchmarks.services.leases import LEASE, heartbeat
from benchmarks.services.locks import lock_run
from benchmarks.services.runs import bump_data_version
from benchmarks.services.store import LeaseLost
from benchmarks.services.suggestions import make_suggestions
from benchmarks.services.threads import ProcessEnds, Threads
from benchmarks.services.versions import episode_of, missing_version, seeds_of

logger = logging.getLogger(__name__)

WORKABLE = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING)
CANDIDATES = 8
STATUS_CHECK_SECONDS = 0.5
CALL_THREADS = 32


@cache
def _executor() -> Threads:
    """Threads for calls that wait (endpoints); shared by all trajectories of the process."""
    return Threads(CALL_THREADS, thread_name_prefix="call")


def _claimable(now: datetime) -> Q:
    """Pending, or held by a worker whose lease ran out."""
    lapsed = Q(status=Trajectory.Status.RUNNING, lease_until__lt=now)
    return Q(status=Trajectory.Status.PENDING) | lapsed


_FREE = Prepared(
    lambda run, now: (
        Trajectory.objects.filter(_claimable(now), run=run, run__status__in=WORKABLE)
        .order_by("pk")
        .values_list("pk", flat=True)[:CANDIDATES]
    ),
    run=int,
    now=datetime,
)
_CLAIM = PreparedUpdate(
    # The run is asked for in a condition on the row itself. With a join the row would be found by a
    # query of its own, which PostgreSQL does not repeat for who has waited for another's claim.
    lambda pk, now, owner, until: (
        Trajectory.objects.filter(
            _claimable(now),
            Exists(Run.objects.filter(pk=OuterRef("run"), status__in=WORKABLE)),
            pk=pk,
        ),
        {
            "status": Trajectory.Status.RUNNING,
            "lease_owner": owner,
            "lease_until": until,
            "started_at": Coalesce("started_at", Value(now)),
        },
    ),
    pk=int,
    now=datetime,
    owner=str,
    until=datetime,
)
_BEGIN = PreparedUpdate(
    lambda pk, now: (
        Run.objects.filter(pk=pk, status__in=WORKABLE).exclude(
            status=Run.Status.RUNNING, started_at__isnull=False
        ),
        {"status": Run.Status.RUNNING, "started_at": Coalesce("started_at", Value(now))},
    ),
    pk=int,
    now=datetime,
)
_WHOLE = Prepared(
    lambda pk: Trajectory.objects.filter(pk=pk).select_related(
        "run__dataset", "run__primary_judging", "task", "profile"
    ),
    pk=int,
)
_STANDS = Prepared(
    lambda pk: Trajectory.objects.filter(pk=pk).values_list(
        "status", "run", "run__status", "run__started_at"
    ),
    pk=int,
)


def claim_trajectory(*, run_id: int, owner: str) -> int | None:
    """The id of a trajectory that ``owner`` now holds, or None when nothing is left to claim.

    The update is conditional, so of several workers that want the same one exactly one gets it.
    """
    while True:
        free = _FREE.all(run=run_id, now=timezone.now())
        if not free:
            return None
        random.SystemRandom().shuffle(free)  # which worker takes which unit changes no result
        for pk in free:
            if _claim(pk, owner):
                return pk


def _claim(pk: int, owner: str) -> bool:
    now = timezone.now()
    with transaction.atomic():  # one statement, but it is to wait in turn (config/sqlite)
        return bool(_CLAIM.run(pk=pk, now=now, owner=owner, until=now + LEASE))


def carry_reserved(*, pk: int, owner: str) -> bool:
    """Carry one trajectory that people wait for, if it can be claimed; whether it was.

    Suggestions are left to the caller (``suggest_beside``), who need not make people wait for them.
    """
    _, run_id, _, begun = _stands(pk)
    carried = False
    while _claim(pk, owner):
        if begun is None:
            _begin(run_id)
        carry_trajectory(pk=pk, owner=owner, suggests=False)
        carried = True
        status, _, run_status, begun = _stands(pk)
        # Most replies leave all as it was: its people are to speak, and its run waits for people.
        if (status, run_status) != (Trajectory.Status.WAITING, Run.Status.WAITING):
            settle_run(run_id=run_id)
        if status != Trajectory.Status.PENDING:
            break  # else people answered before it was laid aside
    return carried


def _stands(pk: int) -> tuple[str, int, str, datetime | None]:
    """Status of a trajectory, its run, that run's status, and when it was begun."""
    found = _STANDS.first(pk=pk)
    if found is None:
        raise Trajectory.DoesNotExist(pk)
    return found


def suggest_beside(*, pk: int) -> None:
    """Make the suggestions that a trajectory with people in it still lacks."""
    make_suggestions(pk=pk, executor=_executor())


def work_on_run(*, run_id: int, owner: str) -> int:
    """Claim and carry trajectories of a run until none is left; returns how many were carried."""
    started = Run.objects.filter(pk=run_id, status__in=WORKABLE)
    if not started.update(status=Run.Status.RUNNING):
        return 0
    Run.objects.filter(pk=run_id, started_at=None).update(started_at=timezone.now())
    carried = 0
    while (pk := claim_trajectory(run_id=run_id, owner=owner)) is not None:
        carry_trajectory(pk=pk, owner=owner)
        carried += 1
    settle_run(run_id=run_id)
    return carried


def work_on_runs(*, first: int, owner: str) -> int:
    """Carry trajectories of whatever run needs somebody, ``first`` first; returns how many.

    After each trajectory it looks anew, so that a short run need not wait for a long one to end.
    """
    carried = 0
    run_id: int | None = first
    while run_id is not None:
        pk = claim_trajectory(run_id=run_id, owner=owner)
        if pk is not None:
            _begin(run_id)
            carry_trajectory(pk=pk, owner=owner)
            carried += 1
        unended = [Trajectory.Status.PENDING, Trajectory.Status.RUNNING]
        if not Trajectory.objects.filter(run=run_id, status__in=unended).exists():
            settle_run(run_id=run_id)
        run_id = _neediest_run()
    return carried


def _neediest_run() -> int | None:
    """The oldest run with something to claim, of those started together the least attended."""
    units = Trajectory.objects.filter(run=OuterRef("pk"))
    runs = Run.objects.filter(Exists(units.filter(_claimable(timezone.now()))), status__in=WORKABLE)
    runs = runs.annotate(
        workers=_workers("run", "pk"), with_others=_workers("run__experiment", "experiment")
    )
    runs = runs.filter(workers__lt=settings.WORKERS_PER_RUN).order_by("with_others", "pk")
    return runs.values_list("pk", flat=True).first()


def _workers(group: str, name: str) -> Coalesce:
    """How many trajectories of a run, or of all that were started with it, are held now."""
    held = Trajectory.objects.filter(
        **{group: OuterRef(name)}, status=Trajectory.Status.RUNNING, lease_until__gte=timezone.now()
    )
    counts = held.order_by().values(group).annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counts), 0)


def _begin(run_id: int) -> None:
    _BEGIN.run(pk=run_id, now=timezone.now())


def carry_trajectory(*, pk: int, owner: str, suggests: bool = True) -> None:
    """Drive one claimed trajectory as far as it goes, and store where it stands.

    ``suggests``: make the suggestions for people after that.
    """
    trajectory = _WHOLE.first(pk=pk)
    if trajectory is None:
        raise Trajectory.DoesNotExist(pk)
    try:
        with heartbeat.hold(pk, owner):
            status, problem = _drive(trajectory, owner)
    except LeaseLost:
        logger.warning("trajectory %s was taken over by another worker", pk)
        return
    except ProcessEnds:
        _lay_aside(pk, owner, Trajectory.Status.PENDING, "")  # another goes on from the log
        raise
    except (AskMismatch, TurnMismatch) as error:
        status, problem = Trajectory.Status.DECISION, str(error)
    except CoreError as error:
        status, problem = Trajectory.Status.FAILED, str(error)
    except (OperationalError, InterfaceError):
        raise  # the database is away: once the lease has lapsed, it goes on from the log
    except Exception as error:  # a bug must not take the other trajectories of the worker down
        logger.exception("trajectory %s failed unexpectedly", pk)
        kind = type(error).__name__
        status = Trajectory.Status.FAILED
        problem = f"unexpected {kind}; the details are in the worker's log under trajectory {pk}"
    if status not in (Trajectory.Status.DONE, Trajectory.Status.WAITING):  # the log has said so
        _lay_aside(pk, owner, status, problem)
    # Only now: whoever is asked does not wait until an endpoint has made up its mind.
    if suggests and suggesting_fillers(trajectory.run.roles, trajectory.recast):
        suggest_beside(pk=pk)


def _lay_aside(pk: int, owner: str, status: str, problem: str) -> None:
    Trajectory.objects.filter(pk=pk, lease_owner=owner).update(
        status=status, problem=problem, lease_owner="", lease_until=None
    )


def _drive(trajectory: Trajectory, owner: str) -> tuple[str, str]:
    run = trajectory.run
    system = system_of_run(run)
    if missing := missing_version(run, system):
        return Trajectory.Status.DECISION, f"the run is pinned to {missing}"
    trajectory.task.dataset = run.dataset  # known already; saves a query
    task = core_task(trajectory.task, trajectory.profile)

    log = log_of(trajectory, owner)
    driver = Driver(
        cast=build_cast(system, task, {**run.roles, **trajectory.recast}, run.settings),
        log=log,
        parsers=system.parsers,
        seed_for=seeds_of(trajectory, task),
        max_attempts=run.settings.get("reply_attempts", 3),
        stop=_stop_check(run.pk),
        executor=_executor(),
    )
    result = driver.run(episode_of(trajectory, system, task))
    log.store_kept()
    match result:
        case Finished():
            return Trajectory.Status.DONE, ""
        case Suspended():
            return Trajectory.Status.WAITING, ""
        case Stopped():
            return Trajectory.Status.PENDING, ""
        case Capped(reason):
            halt_run(run_id=run.pk, reason=reason)
            return Trajectory.Status.PENDING, ""
        case Failed(reason):
            return Trajectory.Status.FAILED, reason


def _stop_check(run_id: int) -> Callable[[], str]:
    """A check for pause and cancel that asks the database twice a second at most."""
    asked = time.monotonic()

    def stop() -> str:
        nonlocal asked
        if time.monotonic() - asked < STATUS_CHECK_SECONDS:
            return ""
        asked = time.monotonic()
        status = Run.objects.values_list("status", flat=True).get(pk=run_id)
        return "" if status in WORKABLE else status

    return stop


def settle_run(*, run_id: int) -> None:
    """The status of a run as its trajectories have it, once no more can be claimed."""
    T, R = Trajectory.Status, Run.Status
    with transaction.atomic():
        lock_run(run_id)  # else a trajectory that is taken up now could be overlooked
        left = set(
            Trajectory.objects.filter(run=run_id).values_list("status", flat=True).distinct()
        )
        if left & {T.PENDING, T.RUNNING}:
            return  # another worker carries the rest and will settle the run
        if T.WAITING in left:
            status = R.WAITING
        else:
            status = R.ATTENTION if left & {T.FAILED, T.DECISION} else R.DONE
        over = status in (R.DONE, R.ATTENTION)
        Run.objects.filter(pk=run_id, status__in=WORKABLE).update(
            status=status, finished_at=timezone.now() if over else None
        )
        bump_data_version(run_id)
