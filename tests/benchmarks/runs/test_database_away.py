"""A database that goes away while a call is under way: its reply is stored when it is back."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from benchmarks import outages
from benchmarks.calls import log
from benchmarks.jobs import leases
from benchmarks.jobs.leases import BEAT_SECONDS, LEASE, Contact, Heartbeat
from benchmarks.models import Exchange, Run, Trajectory
from benchmarks.runs import prepared, worker
from tests.benchmarks.runs.test_process_ends import run  # noqa: F401
from tests.factories.benchmarks import TrajectoryFactory

pytestmark = pytest.mark.django_db(transaction=True)
AWAY = "connection to server lost"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes are tried again at once."""
    monkeypatch.setattr(outages, "PAUSE_SECONDS", 0.0)


def fail_first(count: int, do: Callable[..., Any], *, after: bool = False) -> Callable[..., Any]:
    """Do something, but the first times find no database, or lose it afterwards."""
    failures = iter(range(count))

    def attempt(*given: Any, **named: Any) -> Any:
        failing = next(failures, None) is not None
        if failing and not after:
            raise OperationalError(AWAY)
        found = do(*given, **named)
        if failing:
            raise OperationalError(AWAY)
        return found

    return attempt


def answered_once(run: Run) -> None:  # noqa: F811
    assert run.trajectories.get().status == Trajectory.Status.DONE
    calls = Exchange.objects.filter(role="agent")
    assert {(call.state, call.attempt) for call in calls} == {("answered", 1)}


def test_a_reply_waits_until_the_database_is_back(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    away = fail_first(3, log.release)
    # Only what has arrived waits here: what was not sent yet costs nothing.
    monkeypatch.setattr(log.CallLog, "record_sent", record_sent_with(log.release))
    monkeypatch.setattr(log, "release", away)
    worker.work_on_run(run_id=run.pk, owner="patient")
    answered_once(run)


def test_a_reply_that_was_stored_as_the_connection_broke_counts(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def twice(write: Callable[[], None]) -> None:
        outages.keep_trying(fail_first(1, write, after=True))

    monkeypatch.setattr(log, "keep_trying", twice)
    worker.work_on_run(run_id=run.pk, owner="patient")
    answered_once(run)


def test_a_trajectory_is_free_as_soon_as_the_database_is_back(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(log.CallLog, "record_sent", fail_first(1, log.CallLog.record_sent))
        with pytest.raises(OperationalError):
            worker.work_on_run(run_id=run.pk, owner="first")
    assert run.trajectories.get().status == Trajectory.Status.PENDING
    worker.work_on_run(run_id=run.pk, owner="second")
    answered_once(run)


def test_an_error_that_is_no_outage_is_raised() -> None:
    with pytest.raises(OperationalError):
        outages.keep_trying(fail("no such table: x"))


def fail(text: str) -> Callable[[], None]:
    def write() -> None:
        raise OperationalError(text)

    return write


def test_leases_are_renewed_as_soon_as_the_database_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = TrajectoryFactory(status=Trajectory.Status.RUNNING, lease_owner="me")
    heartbeat = Heartbeat()
    renewals = []

    def renew(held: dict[int, str]) -> None:
        renewals.append(held)
        if len(renewals) < 3:
            raise OperationalError(AWAY)

    monkeypatch.setattr(heartbeat, "renew", renew)
    pauses, looked = iter([0.0]), threading.Event()

    def sleep(seconds: float) -> None:
        if seconds == BEAT_SECONDS and next(pauses, None) is None:
            looked.wait(60)
            heartbeat._held.clear()

    monkeypatch.setattr(leases.time, "sleep", sleep)
    with heartbeat.hold(row.pk, "me"):
        thread = heartbeat._thread
        assert thread is not None
        looked.set()
        thread.join(60)
    assert renewals == [{row.pk: "me"}] * 3


class TestContact:
    """Time is that of ``at``, in seconds."""

    @pytest.fixture
    def at(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], Any]:
        began = timezone.now()

        def set_clock(seconds: float) -> Any:
            now = began + timedelta(seconds=seconds)
            monkeypatch.setattr(leases.timezone, "now", lambda: now)
            return now

        return set_clock

    def test_without_an_outage_a_lease_is_free_when_it_has_run_out(self, at: Any) -> None:
        contact = Contact()
        for seconds in (0, 10, 20):
            assert contact.lapsed_by(at(seconds)) == at(seconds)
            contact.note()
        assert contact.lapsed_by(at(29)) == at(29)

    def test_leases_that_ran_out_in_an_outage_are_left_to_their_owners(self, at: Any) -> None:
        contact = Contact()
        began = at(0)
        contact.note()
        assert contact.lapsed_by(at(40)) == began  # before a report has noticed the outage
        at(45)
        contact.note()
        for seconds in (55, 65, 74):
            assert contact.lapsed_by(at(seconds)) == began
            contact.note()
        over = at(45 + LEASE.total_seconds())
        assert contact.lapsed_by(over) == over

    def test_an_outage_soon_after_another_begins_with_it(self, at: Any) -> None:
        contact = Contact()
        began = at(0)
        contact.note()
        for seconds in (40, 60):
            at(seconds)
            contact.note()
        assert contact.lapsed_by(at(61)) == began
        assert contact.lapsed_by(at(89)) == began

    def test_a_worker_leaves_them_alone(self, at: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        contact = Contact()
        monkeypatch.setattr(leases, "contact", contact)
        monkeypatch.setattr(prepared, "contact", contact)
        at(0)
        contact.note()
        row = TrajectoryFactory(
            run__status=Run.Status.RUNNING,
            status=Trajectory.Status.RUNNING,
            lease_owner="cut off",
            lease_until=at(20),
        )
        at(40)
        assert worker.claim_trajectory(run_id=row.run_id, owner="other") is None
        contact.forget()
        assert worker.claim_trajectory(run_id=row.run_id, owner="other") == row.pk


def record_sent_with(release: Any) -> Any:
    """``record_sent`` as it is, on a database that is there."""
    usual = log.CallLog.record_sent

    def record_sent(self: log.CallLog, *given: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log, "release", release)
            usual(self, *given)

    return record_sent
