"""Carry trajectories: claim one under a lease, drive its episode, store where it stands."""

import itertools
import logging
import math
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from functools import cache, partial
from typing import NamedTuple

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections, transaction
from django.db.models import Exists, OuterRef, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from benchmarks.calls.log import LeaseLost
from benchmarks.core.answerers import Answerer
from benchmarks.core.driver import Capped, Driver, Failed, Finished, Stopped, Suspended
from benchmarks.core.errors import AskMismatch, CoreError, TurnMismatch
from benchmarks.jobs.leases import LEASE, heartbeat
from benchmarks.jobs.threads import (
    SWITCH_SECONDS,
    CallThreads,
    ProcessEnds,
    Threads,
    check_ending,
    end_work,
)
from benchmarks.llm.connections import load_client
from benchmarks.locks import lock_run
from benchmarks.mappers import core_task
from benchmarks.models import Profile, Run, Task, Trajectory
from benchmarks.models.role_assignments import suggesting_assignments
from benchmarks.models.statements import read_row
from benchmarks.outages import keep_trying
from benchmarks.request_ids import forget_request_id
from benchmarks.roles.services import build_answerers
from benchmarks.runs.capacity import EndpointCapacity, asks_endpoints, measure_capacity
from benchmarks.runs.growing import forget_growing, watched
from benchmarks.runs.judging_log import log_of
from benchmarks.runs.prepared import WORKABLE, PreparedRun, claimable
from benchmarks.runs.services import bump_data_version, halt_run
from benchmarks.runs.signals import run_ended
from benchmarks.runs.suggestions import make_suggestions
from benchmarks.runs.versions import episode_of, seeds_of

logger = logging.getLogger(__name__)

# A process uses them up before it looks again, unless another one claims of them, too.
CANDIDATES = 32
STATUS_CHECK_SECONDS = 0.5
# When a run was last seen to go on (monotonic seconds), by its id, for all its trajectories here.
_seen_workable: dict[int, float] = {}
# They do nothing but wait, and are made when they are needed.
CALL_THREADS = 512


@cache
def _executor() -> CallThreads:
    """Return the threads in which calls to endpoints wait, shared by all runs of the process."""
    return CallThreads(CALL_THREADS, thread_name_prefix="call")


@cache
def _live_executor() -> CallThreads:
    """Return separate threads for live trajectories, so that people do not wait behind runs."""
    return CallThreads(CALL_THREADS, thread_name_prefix="live-call")


@cache
def _carriers() -> Threads:
    """Return threads that carry trajectories on endpoints, as many as those have room for."""
    load_client()
    sys.setswitchinterval(SWITCH_SECONDS)
    return Threads(settings.ENDPOINT_THREADS, thread_name_prefix="carry")


# The trajectories on endpoints that this process has claimed, the runs for which a thread is on its
# way to claim another, and the lock for claiming more.
_claimed: set[int] = set()
_recruited: set[int] = set()
_claiming = threading.Lock()
# The run that was claimed from after the capacity was measured last. While it is fresh, threads go
# on in it: each takes the place of the trajectory that it has carried.
_chosen: PreparedRun | None = None
_carrier_numbers = itertools.count(1)


class Claimed(NamedTuple):
    """A trajectory that a thread has claimed, and its run."""

    pk: int
    prepared: PreparedRun


def claim_trajectory(*, run_id: int, owner: str, prepared: PreparedRun | None = None) -> int | None:
    """Claim a trajectory for ``owner``; return its id, or None if nothing is left to claim.

    The update is conditional, so exactly one of several workers gets the trajectory. ``prepared``
    is the run, where the caller claims or carries several of its trajectories.
    """
    prepared = prepared or PreparedRun(run_id)
    candidates = prepared.candidates
    while True:
        while candidates:
            pk = candidates.pop()
            if _claim(pk, owner, prepared):
                return pk
            candidates.clear()  # others claim in this run, too
        candidates += prepared.claimable.order_by("pk").values_list("pk", flat=True)[:CANDIDATES]
        if not candidates:
            return None
        random.SystemRandom().shuffle(candidates)  # who takes which changes nothing


def _claim(pk: int, owner: str, prepared: PreparedRun) -> bool:
    check_ending()
    now = timezone.now()
    with transaction.atomic():  # one statement, but it waits in the queue of config/sqlite
        claimed = prepared.claimable.filter(pk=pk).update(
            status=Trajectory.Status.RUNNING,
            lease_owner=owner,
            lease_until=now + LEASE,
            started_at=Coalesce("started_at", Value(now)),
        )
    if claimed:
        _seen_workable[prepared.run_id] = time.monotonic()  # a condition of the claim
    return bool(claimed)


def carry_reserved(*, pk: int, owner: str) -> bool:
    """Carry one trajectory of a live session; return whether it could be claimed.

    The caller makes the suggestions (``suggest_beside``), so that people do not wait for them.
    """
    _, run_id, _, begun = _stands(pk)
    carried = False
    while _claim(pk, owner, prepared := PreparedRun(run_id)):
        if begun is None:
            _begin(run_id)
        carry_trajectory(pk=pk, owner=owner, suggests=False, prepared=prepared)
        carried = True
        status, _, run_status, begun = _stands(pk)
        # After most replies nothing changes: the trajectory and its run wait for people again.
        if (status, run_status) != (Trajectory.Status.WAITING, Run.Status.WAITING):
            settle_run(run_id=run_id)
        if status != Trajectory.Status.PENDING:
            break  # a pending one was answered before it was suspended: carry it again
    return carried


def _stands(pk: int) -> tuple[str, int, str, datetime | None]:
    """Return status of a trajectory, its run, that run's status, and when it was begun."""
    fields = "status", "run", "run__status", "run__started_at"
    state: tuple[str, int, str, datetime | None] = Trajectory.objects.values_list(*fields).get(
        pk=pk
    )
    return state


def suggest_beside(*, pk: int) -> None:
    """Make the missing suggestions for the people in a trajectory."""
    make_suggestions(pk=pk, executor=_live_executor())


def work_on_run(*, run_id: int, owner: str) -> int:
    """Claim and carry trajectories of a run until none is left; return how many were carried."""
    started = Run.objects.filter(pk=run_id, status__in=WORKABLE)
    if not started.update(status=Run.Status.RUNNING):
        return 0
    Run.objects.filter(pk=run_id, started_at=None).update(started_at=timezone.now())
    if waits_for_endpoints(run_id):
        carried = _carry_together(run_id, owner)
    else:
        carried, run = 0, PreparedRun(run_id)
        while (pk := claim_trajectory(run_id=run_id, owner=owner, prepared=run)) is not None:
            carry_trajectory(pk=pk, owner=owner, prepared=run)
            carried, run = carried + 1, run.renewed()
    settle_run(run_id=run_id)
    return carried


def waits_for_endpoints(run_id: int) -> bool:
    """Return whether a run's trajectories are carried in parallel, as its endpoints allow."""
    if not settings.ENDPOINT_THREADS:
        return False
    roles = Run.objects.filter(pk=run_id).values_list("roles", flat=True).first()
    return roles is not None and asks_endpoints(roles)


def _carry_together(run_id: int, owner: str) -> int:
    """Carry a run's trajectories in threads until all have ended; return how many there were."""
    futures: list[Future[int]] = []

    def carry() -> int:
        carried, name = 0, _carrier_name(owner)
        try:
            while True:
                claimed, more = _claim_within_capacity(run_id, name, recruit=carried == 0)
                if claimed is None:
                    return carried
                _carry_in_thread(claimed, name, recruit if more else None)
                carried += 1
        finally:
            connections.close_all()

    def recruit() -> None:
        futures.append(_carriers().submit(carry))

    recruit()
    try:
        errors = [
            error for future in futures if (error := future.exception())
        ]  # it grows meanwhile
    except KeyboardInterrupt:
        end_work()  # else the threads would carry the whole run before the process ends
        raise
    if errors:
        raise errors[0]
    return sum(future.result() for future in futures)


def _carrier_name(owner: str) -> str:
    """Return a lease owner for one thread, so that no thread writes under another's lease."""
    return f"{owner}+{next(_carrier_numbers)}"


def _claim_within_capacity(
    run_id: int, owner: str, *, recruit: bool = True
) -> tuple[Claimed | None, bool]:
    """Claim a trajectory of a run, if its endpoints have room; say whether to start a thread.

    ``recruit`` says that this thread was started to claim its first trajectory; else it has carried
    one of this run.
    """
    with _claiming:  # else several threads of this process would take the same room
        if recruit:
            _recruited.discard(run_id)
        elif (claimed := _claim_again(run_id, owner)) is not None:
            return claimed, False
        run = Run.objects.only("roles", "status", "started_at").get(pk=run_id)
        return _claim_in(measure_capacity(_held()), run, owner)


def _claim_anywhere(owner: str, *, carried: int | None) -> tuple[int | None, Claimed | None, bool]:
    """Return the same in the run on endpoints that needs somebody most; its id comes first.

    ``carried`` is the run of which this thread has just carried a trajectory.
    """
    with _claiming:
        if carried is not None and (claimed := _claim_again(carried, owner)) is not None:
            return carried, claimed, False
        capacity = measure_capacity(_held())
        run = _run_with_fewest_workers(capacity, on_endpoints=True)
        if run is None:
            return None, None, False
        return run.pk, *_claim_in(capacity, run, owner)


def _claim_again(run_id: int, owner: str) -> Claimed | None:
    """Claim another trajectory of a run in the place of one that was carried; None says to measure.

    Measuring at each claim took a tenth of a call's CPU time where episodes are short.
    """
    if _chosen is None or _chosen.run_id != run_id or not _chosen.is_fresh:
        return None
    return _claim_for_thread(_chosen, owner)


def _claim_for_thread(prepared: PreparedRun, owner: str) -> Claimed | None:
    pk = claim_trajectory(run_id=prepared.run_id, owner=owner, prepared=prepared)
    if pk is None:
        return None
    _claimed.add(pk)
    return Claimed(pk, prepared)


def _claim_in(capacity: EndpointCapacity, run: Run, owner: str) -> tuple[Claimed | None, bool]:
    global _chosen
    left = capacity.left(run.roles)
    _chosen = PreparedRun(run.pk)
    claimed = _claim_for_thread(_chosen, owner) if left > 0 else None
    if claimed is None:
        _chosen = None
        return None, False
    if run.status != Run.Status.RUNNING or run.started_at is None:
        _begin(run.pk)
    # One at a time: threads that wait for their turn to claim would each hold a connection.
    recruit = left > 1 and run.pk not in _recruited
    if recruit:
        _recruited.add(run.pk)
    return claimed, recruit


def _held() -> set[int]:
    """Return all trajectories that this process has claimed."""
    return _claimed.union(heartbeat.held)


def _carry_in_thread(claimed: Claimed, owner: str, recruit: Callable[[], object] | None) -> None:
    """Start another thread if there is capacity, then carry the claimed trajectory."""
    try:
        if recruit is not None:
            recruit()
        carry_trajectory(pk=claimed.pk, owner=owner, prepared=claimed.prepared)
    except ProcessEnds:
        _put_down(claimed.pk, owner, Trajectory.Status.PENDING, "")
        raise
    finally:
        with _claiming:
            _claimed.discard(claimed.pk)


def work_on_runs(*, first: int, owner: str) -> int:
    """Carry trajectories of any run that needs a worker, ``first`` first; return how many.

    It chooses again after each trajectory, so that a short run need not wait for a long one.
    Runs on endpoints are left to ``begin_carrying``.
    """
    carried, prepared = 0, PreparedRun(first)
    while True:
        run_id = prepared.run_id
        pk = claim_trajectory(run_id=run_id, owner=owner, prepared=prepared)
        if pk is not None:
            _begin(run_id)
            carry_trajectory(pk=pk, owner=owner, prepared=prepared)
            carried += 1
        _settle_if_over(run_id)
        run = _run_with_fewest_workers(measure_capacity(()), on_endpoints=False)
        if run is None:
            return carried
        prepared = prepared.renewed() if run.pk == run_id else PreparedRun(run.pk)


def begin_carrying(*, first: int, owner: str) -> Future[int]:
    """Carry trajectories on endpoints in threads of this process, those of ``first`` first.

    Each thread that claims a trajectory starts another one while there is capacity. The caller
    need not wait for them.
    """
    return _carriers().submit(_carry_within_capacity, first, owner)


def _carry_within_capacity(first: int, owner: str) -> int:
    carried, name = 0, _carrier_name(owner)
    run_id: int | None = first
    try:
        claimed, more = _claim_within_capacity(first, name)
        while run_id is not None:
            if claimed is not None:
                again = partial(begin_carrying, first=run_id, owner=owner)
                _carry_in_thread(claimed, name, again if more else None)
                carried += 1
            before, place = run_id, None if claimed is None else run_id
            run_id, claimed, more = _claim_anywhere(name, carried=place)
            if claimed is None or run_id != before:
                _settle_if_over(before)
            if run_id != first:
                forget_request_id()  # that run is another request's
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


def runs_with_room() -> list[Run]:
    """Return the neediest run on endpoints and the neediest other one that more workers may join.

    A worker that joins later is woken for them; it finds the other runs by itself.
    """
    capacity = measure_capacity(())
    roomy = (_run_with_fewest_workers(capacity, on_endpoints=each) for each in (True, False))
    return [run for run in roomy if run is not None]


def _run_with_fewest_workers(capacity: EndpointCapacity, *, on_endpoints: bool) -> Run | None:
    """Return the oldest run with something to claim, of those started together the least attended.

    If there are threads for runs on endpoints, only those threads take such runs.
    """
    units = Trajectory.objects.filter(claimable(), run=OuterRef("pk"))
    runs = Run.objects.filter(Exists(units), status__in=WORKABLE).order_by("pk")
    workers, with_others = Counter[int](), Counter[int | None]()
    for live in capacity.live:
        workers[live.run] += live.carried
        if live.experiment is not None:
            with_others[live.experiment] += live.carried
    rows = runs.only("roles", "experiment", "status", "started_at", "created_at")
    for run in sorted(rows, key=lambda run: with_others[run.experiment_id]):
        waits = bool(settings.ENDPOINT_THREADS) and asks_endpoints(run.roles)
        room = (
            capacity.left(run.roles) if on_endpoints else settings.WORKERS_PER_RUN - workers[run.pk]
        )
        if waits == on_endpoints and room > 0:
            return run
    return None


def _begin(run_id: int) -> None:
    now = timezone.now()
    Run.objects.filter(pk=run_id, status__in=WORKABLE).exclude(
        status=Run.Status.RUNNING, started_at__isnull=False
    ).update(status=Run.Status.RUNNING, started_at=Coalesce("started_at", Value(now)))


def carry_trajectory(
    *, pk: int, owner: str, suggests: bool = True, prepared: PreparedRun | None = None
) -> None:
    """Drive one claimed trajectory as far as possible, and store where it stands.

    With ``suggests``, make the suggestions for people afterwards. ``prepared`` is the run, where
    the caller has it.
    """
    trajectory = read_row(Trajectory, pk)
    trajectory.task = read_row(Task, trajectory.task_id)
    if trajectory.profile_id is not None:
        trajectory.profile = read_row(Profile, trajectory.profile_id)
    prepared = prepared or PreparedRun(trajectory.run_id)
    trajectory.run = prepared.run
    try:
        with heartbeat.hold(pk, owner):
            status, problem = _drive(trajectory, owner, prepared)
    except LeaseLost:
        logger.warning("trajectory %s was taken over by another worker", pk)
        return
    except ProcessEnds:
        _put_down(pk, owner, Trajectory.Status.PENDING, "")  # another goes on from the log
        raise
    except (AskMismatch, TurnMismatch) as error:
        status, problem = Trajectory.Status.DECISION, str(error)
    except CoreError as error:
        status, problem = Trajectory.Status.FAILED, str(error)
    except (OperationalError, InterfaceError):
        _put_down(pk, owner, Trajectory.Status.PENDING, "")  # another goes on from the log
        raise
    except Exception as error:  # a bug in one trajectory must not stop the worker's others
        logger.exception("trajectory %s failed unexpectedly", pk)
        kind = type(error).__name__
        status = Trajectory.Status.FAILED
        problem = f"unexpected {kind}; the details are in the worker's log under trajectory {pk}"
    if status not in (Trajectory.Status.DONE, Trajectory.Status.WAITING):  # the log has said so
        _put_down(pk, owner, status, problem)
    # Only now: whoever is asked does not wait until an endpoint has made up its mind.
    if suggests and suggesting_assignments(trajectory.run.roles, trajectory.role_changes):
        suggest_beside(pk=pk)


def _put_down(pk: int, owner: str, status: str, problem: str) -> None:
    held = Trajectory.objects.filter(pk=pk, lease_owner=owner)
    free = {"status": status, "problem": problem, "lease_owner": "", "lease_until": None}
    keep_trying(lambda: held.update(**free))


def _drive(trajectory: Trajectory, owner: str, prepared: PreparedRun) -> tuple[str, str]:
    run, system = prepared.run, prepared.system
    if missing := prepared.missing_version:
        return Trajectory.Status.DECISION, f"the run is pinned to {missing}"
    trajectory.task.dataset = run.dataset  # known already; saves a query
    task = core_task(trajectory.task, trajectory.profile)

    log = log_of(trajectory, owner, prepared.answerer_rows)
    roles = {**run.roles, **trajectory.role_changes}

    def answerer_at(name: str, version: str) -> Answerer:
        answerer = prepared.answerer_at(name, version)
        return watched(answerer, trajectory.pk, system, owner) if trajectory.reserved else answerer

    driver = Driver(
        cast=build_answerers(system, task, roles, run.settings, answerer_at),
        log=log,
        parsers=system.parsers,
        seed_for=seeds_of(trajectory, task),
        max_attempts=run.settings.get("reply_attempts", 3),
        stop=_stop_check(run.pk),
        executor=_live_executor() if trajectory.reserved else _executor(),
    )
    try:
        result = driver.run(episode_of(trajectory, system, task))
    finally:
        if trajectory.reserved:
            forget_growing(trajectory.pk, owner)
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
    """Return a check for pausing, cancelling and the end of the process.

    All trajectories of a run in this process together query at most twice a second, as there may be
    hundreds. The check raises ``ProcessEnds`` if the process is shutting down.
    """

    def stop() -> str:
        check_ending()
        if time.monotonic() - _seen_workable.get(run_id, -math.inf) < STATUS_CHECK_SECONDS:
            return ""
        status: str = Run.objects.values_list("status", flat=True).get(pk=run_id)
        if status not in WORKABLE:
            return status
        _seen_workable[run_id] = time.monotonic()
        return ""

    return stop


def settle_run(*, run_id: int) -> None:
    """Derive the status of a run from its trajectories, once none can be claimed."""
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
