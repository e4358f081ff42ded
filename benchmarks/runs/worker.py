"""Carrying trajectories: claim one under a lease, drive it, note how it went."""

import itertools
import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from functools import cache, partial

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections, transaction
from django.db.models import Exists, OuterRef, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from benchmarks.asks.suggestions import make_suggestions
from benchmarks.core.driver import Capped, Driver, Failed, Finished, Stopped, Suspended
from benchmarks.core.errors import AskMismatch, CoreError, TurnMismatch
from benchmarks.judging.log import log_of
from benchmarks.llm.line import load_client
from benchmarks.locks import lock_run
from benchmarks.mappers import core_task, system_of_run
from benchmarks.models import Run, Trajectory
from benchmarks.roles.assignments import Roles, suggesting_fillers
from benchmarks.roles.services import build_cast
from benchmarks.runs.capacity import Rooms, asks_endpoints, look_for_room
from benchmarks.runs.leases import LEASE, heartbeat
from benchmarks.runs.log import LeaseLost
from benchmarks.runs.services import bump_data_version, halt_run
from benchmarks.runs.signals import run_ended
from benchmarks.runs.threads import ProcessEnds, Threads
from benchmarks.runs.versions import episode_of, missing_version, seeds_of

logger = logging.getLogger(__name__)

WORKABLE = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING)
CANDIDATES = 8
STATUS_CHECK_SECONDS = 0.5
# They do nothing but wait, and are made when they are needed.
CALL_THREADS = 512


@cache
def _executor() -> Threads:
    """Threads for calls that wait (endpoints); shared by all runs of the process."""
    return Threads(CALL_THREADS, thread_name_prefix="call")


@cache
def _live_executor() -> Threads:
    """The same for trajectories that people wait for, which do not queue behind those of runs."""
    return Threads(CALL_THREADS, thread_name_prefix="live-call")


@cache
def _carriers() -> Threads:
    """Threads that carry trajectories on endpoints, as many as those have room for."""
    load_client()
    return Threads(settings.ENDPOINT_THREADS, thread_name_prefix="carry")


# What this process has claimed on endpoints, and who may claim there now.
_claimed: set[int] = set()
_claiming = threading.Lock()
_carrier_numbers = itertools.count(1)


def _claimable(now: datetime) -> Q:
    """Pending, or held by a worker whose lease ran out."""
    lapsed = Q(status=Trajectory.Status.RUNNING, lease_until__lt=now)
    return Q(status=Trajectory.Status.PENDING) | lapsed


def claim_trajectory(*, run_id: int, owner: str) -> int | None:
    """The id of a trajectory that ``owner`` now holds, or None when nothing is left to claim.

    The update is conditional, so of several workers that want the same one exactly one gets it.
    """
    while True:
        rows = Trajectory.objects.filter(
            _claimable(timezone.now()), run=run_id, run__status__in=WORKABLE
        )
        free = list(rows.order_by("pk").values_list("pk", flat=True)[:CANDIDATES])
        if not free:
            return None
        random.SystemRandom().shuffle(free)  # which worker takes which unit changes no result
        for pk in free:
            if _claim(pk, owner):
                return pk


def _claim(pk: int, owner: str) -> bool:
    now = timezone.now()
    # The run is asked for in a condition on the row itself. With a join the row would be found by a
    # query of its own, which PostgreSQL does not repeat for who has waited for another's claim.
    workable = Exists(Run.objects.filter(pk=OuterRef("run"), status__in=WORKABLE))
    rows = Trajectory.objects.filter(_claimable(now), workable, pk=pk)
    claimed = rows.update(
        status=Trajectory.Status.RUNNING,
        lease_owner=owner,
        lease_until=now + LEASE,
        started_at=Coalesce("started_at", Value(now)),
    )
    return bool(claimed)


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
    fields = "status", "run", "run__status", "run__started_at"
    found: tuple[str, int, str, datetime | None] = Trajectory.objects.values_list(*fields).get(
        pk=pk
    )
    return found


def suggest_beside(*, pk: int) -> None:
    """Make the suggestions that a trajectory with people in it still lacks."""
    make_suggestions(pk=pk, executor=_live_executor())


def work_on_run(*, run_id: int, owner: str) -> int:
    """Claim and carry trajectories of a run until none is left; returns how many were carried."""
    started = Run.objects.filter(pk=run_id, status__in=WORKABLE)
    if not started.update(status=Run.Status.RUNNING):
        return 0
    Run.objects.filter(pk=run_id, started_at=None).update(started_at=timezone.now())
    if waits_for_endpoints(run_id):
        carried = _carry_together(run_id, owner)
    else:
        carried = 0
        while (pk := claim_trajectory(run_id=run_id, owner=owner)) is not None:
            carry_trajectory(pk=pk, owner=owner)
            carried += 1
    settle_run(run_id=run_id)
    return carried


def waits_for_endpoints(run_id: int) -> bool:
    """Whether trajectories of a run are carried side by side, as its endpoints have room."""
    if not settings.ENDPOINT_THREADS:
        return False
    roles = Run.objects.filter(pk=run_id).values_list("roles", flat=True).first()
    return roles is not None and asks_endpoints(roles)


def _carry_together(run_id: int, owner: str) -> int:
    """Carry trajectories of a run on endpoints in threads; returns how many when all have ended."""
    crew: list[Future[int]] = []

    def carry() -> int:
        carried, name = 0, _carrier_name(owner)
        try:
            while True:
                pk, more = _claim_in_room(run_id, name)
                if pk is None:
                    return carried
                _carry_in_thread(pk, name, recruit if more else None)
                carried += 1
        finally:
            connections.close_all()

    def recruit() -> None:
        crew.append(_carriers().submit(carry))

    recruit()
    errors = [error for future in crew if (error := future.exception())]  # it grows meanwhile
    if errors:
        raise errors[0]
    return sum(future.result() for future in crew)


def _carrier_name(owner: str) -> str:
    """An owner of leases of its own for each thread, so that none writes for another."""
    return f"{owner}+{next(_carrier_numbers)}"


def _claim_in_room(run_id: int, owner: str) -> tuple[int | None, bool]:
    """Claim a trajectory of a run, if its endpoints have room; say whether they have for more."""
    roles = Run.objects.values_list("roles", flat=True).get(pk=run_id)
    with _claiming:  # else several threads of this process would take the same room
        return _claim_in(look_for_room(_held()), run_id, roles, owner)


def _claim_anywhere(owner: str) -> tuple[int | None, int | None, bool]:
    """The same in the run on endpoints that needs somebody most; its id comes first."""
    with _claiming:
        rooms = look_for_room(_held())
        found = _neediest_run(rooms, on_endpoints=True)
        if found is None:
            return None, None, False
        return found[0], *_claim_in(rooms, *found, owner)


def _claim_in(rooms: Rooms, run_id: int, roles: Roles, owner: str) -> tuple[int | None, bool]:
    left = rooms.left(roles)
    pk = claim_trajectory(run_id=run_id, owner=owner) if left > 0 else None
    if pk is not None:
        _claimed.add(pk)
    return pk, pk is not None and left > 1


def _held() -> set[int]:
    """All trajectories that this process has claimed."""
    return _claimed.union(heartbeat.held)


def _carry_in_thread(pk: int, owner: str, recruit: Callable[[], object] | None) -> None:
    """Carry what was claimed, once another thread was started where there is room for it."""
    try:
        if recruit is not None:
            recruit()
        carry_trajectory(pk=pk, owner=owner)
    except ProcessEnds:
        _lay_aside(pk, owner, Trajectory.Status.PENDING, "")
        raise
    finally:
        with _claiming:
            _claimed.discard(pk)


def work_on_runs(*, first: int, owner: str) -> int:
    """Carry trajectories of whatever run needs somebody, ``first`` first; returns how many.

    After each trajectory it looks anew, so that a short run need not wait for a long one to end.
    Runs on endpoints are left to ``begin_carrying``.
    """
    carried = 0
    run_id: int | None = first
    while run_id is not None:
        pk = claim_trajectory(run_id=run_id, owner=owner)
        if pk is not None:
            _begin(run_id)
            carry_trajectory(pk=pk, owner=owner)
            carried += 1
        _settle_if_over(run_id)
        found = _neediest_run(look_for_room(()), on_endpoints=False)
        run_id = None if found is None else found[0]
    return carried


def begin_carrying(*, first: int, owner: str) -> Future[int]:
    """Carry trajectories of runs on endpoints in threads of this process, ``first`` first.

    Each thread that claims a trajectory starts another one as long as there is room. The caller
    need not wait for them.
    """
    return _carriers().submit(_carry_in_room, first, owner)


def _carry_in_room(first: int, owner: str) -> int:
    carried, name = 0, _carrier_name(owner)
    run_id: int | None = first
    try:
        pk, more = _claim_in_room(first, name)
        while run_id is not None:
            if pk is not None:
                _begin(run_id)
                again = partial(begin_carrying, first=run_id, owner=owner)
                _carry_in_thread(pk, name, again if more else None)
                carried += 1
            _settle_if_over(run_id)
            run_id, pk, more = _claim_anywhere(name)
    except ProcessEnds:
        logger.info("the process ends; run %s is left to the sweep", run_id)
    except Exception:
        logger.exception("run %s was left to the sweep", run_id)
    finally:
        connections.close_all()
    return carried


def _settle_if_over(run_id: int) -> None:
    unended = [Trajectory.Status.PENDING, Trajectory.Status.RUNNING]
    if not Trajectory.objects.filter(run=run_id, status__in=unended).exists():
        settle_run(run_id=run_id)


def _neediest_run(rooms: Rooms, *, on_endpoints: bool) -> tuple[int, Roles] | None:
    """The oldest run with something to claim, of those started together the least attended.

    Where there are threads for runs on endpoints, those are theirs alone.
    """
    units = Trajectory.objects.filter(_claimable(timezone.now()), run=OuterRef("pk"))
    runs = Run.objects.filter(Exists(units), status__in=WORKABLE).order_by("pk")
    workers, with_others = Counter[int](), Counter[int]()
    for live in rooms.live:
        workers[live.run] += live.carried
        if live.experiment is not None:
            with_others[live.experiment] += live.carried
    rows = runs.values_list("pk", "roles", "experiment")
    for pk, roles, _ in sorted(rows, key=lambda row: with_others[row[2]]):
        waits = bool(settings.ENDPOINT_THREADS) and asks_endpoints(roles)
        free = rooms.left(roles) > 0 if on_endpoints else workers[pk] < settings.WORKERS_PER_RUN
        if waits == on_endpoints and free:
            return pk, roles
    return None


def _begin(run_id: int) -> None:
    now = timezone.now()
    Run.objects.filter(pk=run_id, status__in=WORKABLE).exclude(
        status=Run.Status.RUNNING, started_at__isnull=False
    ).update(status=Run.Status.RUNNING, started_at=Coalesce("started_at", Value(now)))


def carry_trajectory(*, pk: int, owner: str, suggests: bool = True) -> None:
    """Drive one claimed trajectory as far as it goes, and store where it stands.

    ``suggests``: make the suggestions for people after that.
    """
    trajectory = Trajectory.objects.select_related(
        "run__dataset", "run__primary_judging", "task", "profile"
    ).get(pk=pk)
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
        executor=_live_executor() if trajectory.reserved else _executor(),
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
        settled = Run.objects.filter(pk=run_id, status__in=WORKABLE).update(
            status=status, finished_at=timezone.now() if over else None
        )
        bump_data_version(run_id)
        if settled and over:
            transaction.on_commit(lambda: run_ended.send_robust(sender=Run, run_id=run_id))
