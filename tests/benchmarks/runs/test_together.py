"""Tests of two at the same moment: nothing is lost, done twice, or waited for in a circle.

SQLite lets one transaction in at a time; PostgreSQL lets them run side by side, and here shows
whether the locks are right.
"""

import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from benchmarks.asks import services as people
from benchmarks.asks.services import answer_open_ask
from benchmarks.calls import log as store
from benchmarks.calls.rows import answerer_version
from benchmarks.core.answerers import Identity
from benchmarks.core.log import Exchange as LogExchange
from benchmarks.locks import named_lock, try_named_lock
from benchmarks.models import Agent, Dataset, Exchange, OpenAsk, Run, Trajectory
from benchmarks.runs import worker
from benchmarks.runs.log import DatabaseLog
from benchmarks.runs.services import (
    RunError,
    cancel_run,
    restart_trajectory,
    retry_trajectory,
    start_runs,
)
from benchmarks.runs.worker import carry_trajectory, claim_trajectory, settle_run, work_on_run
from tests.factories.benchmarks import (
    RunFactory,
    TrajectoryFactory,
    make_user,
    play,
    save_sample_dataset,
    start_sample_runs,
)
from tests.threads import in_threads

pytestmark = pytest.mark.django_db(transaction=True)
S = Trajectory.Status


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep woken work from being carried at once."""
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", lambda ids: None)


def run_with_a_person() -> Run:
    """A run whose user simulator is a person."""
    (scripted,) = start_sample_runs("coin-flipper", level="high")
    (run,) = start_runs(
        dataset=scripted.dataset,
        agents=[Agent.objects.get(name="coin-flipper")],
        levels=["high"],
        roles={"simulator": ["human"]},
        wake=False,
    )
    return run


def test_two_people_answer_the_last_two_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_with_a_person()
    play(run)
    first = OpenAsk.objects.filter(trajectory__run=run, answered_at=None).earliest("pk")
    second = OpenAsk.objects.get(pk=first.pk)
    second.pk, second.slot = None, first.slot + 1
    second.save(force_insert=True)
    person = make_user("speaker")
    answerer_version(Identity("human", f"person-{person.pk}", "1"))
    asks = [first, second]
    both_inside = threading.Barrier(2)

    create = Exchange.objects.create

    def slowly(**values: object) -> Exchange:
        row = create(**values)
        # Each in the midst of it, before either can see what the other does.
        with suppress(threading.BrokenBarrierError):
            both_inside.wait(0.5)
        return row

    monkeypatch.setattr(people.Exchange.objects, "create", slowly)
    in_threads(lambda n: answer_open_ask(ask=asks[n], by=person, text="No."), 2)
    assert Trajectory.objects.get(pk=first.trajectory_id).status == S.PENDING


def test_a_person_who_answers_before_the_worker_has_laid_it_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = run_with_a_person()
    person = make_user("speaker")
    read = DatabaseLog.exchanges

    def answer_meanwhile(log: DatabaseLog) -> list[LogExchange]:
        rows = read(log)
        for ask in OpenAsk.objects.filter(trajectory=log.trajectory, answered_at=None):
            answer_open_ask(ask=ask, by=person, text="No ladder here.")
        return rows

    play(run)
    monkeypatch.setattr(DatabaseLog, "exchanges", answer_meanwhile)
    # Taken up again with their asks still open.
    while run.trajectories.filter(status=S.WAITING).update(status=S.PENDING):
        play(run)
        asked = OpenAsk.objects.filter(answered_at=None).values("trajectory")
        assert not run.trajectories.filter(status=S.WAITING).exclude(pk__in=asked).exists()
    run.refresh_from_db()
    assert run.status == Run.Status.DONE


def test_a_trajectory_taken_up_while_its_run_is_settled_is_not_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = RunFactory(status=Run.Status.RUNNING)
    row = TrajectoryFactory(run=run, status=S.FAILED)
    over = threading.Event()
    seen = threading.Event()

    def retry() -> None:
        seen.wait(60)
        retry_trajectory(trajectory=row)
        over.set()

    def now_and_slowly() -> datetime:
        # Settling has seen that nothing is left to do, and has not said so yet.
        if threading.current_thread() is not threading.main_thread() and not seen.is_set():
            seen.set()
            over.wait(0.5)
        return datetime.now(UTC)

    steps = [retry, lambda: settle_run(run_id=run.pk)]
    monkeypatch.setattr(worker, "timezone", SimpleNamespace(now=now_and_slowly))
    in_threads(lambda n: steps[n](), 2)
    run.refresh_from_db()
    row.refresh_from_db()
    assert (row.status, run.status) == (S.PENDING, Run.Status.QUEUED)


def test_of_two_new_attempts_one_is_made() -> None:
    (run,) = start_sample_runs(dataset=save_sample_dataset(1))
    Trajectory.objects.filter(run=run).update(status=S.FAILED)
    row = Trajectory.objects.get(run=run)
    refused: list[str] = []

    def restart(number: int) -> None:
        try:
            restart_trajectory(trajectory=row)
        except RunError as error:
            refused.append(str(error))

    in_threads(restart, 3)
    assert sorted(run.trajectories.values_list("attempt", flat=True)) == [1, 2]
    assert len(refused) == 2


def test_a_run_cancelled_while_workers_carry_it(monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = start_sample_runs("forgetful", dataset=save_sample_dataset(8), level="high")
    # With a cap every call is counted at the run, so that workers lock both rows.
    Run.objects.filter(pk=run.pk).update(cost_cap=1e9)
    writing = threading.Event()
    reserve = store.reserve

    def slowly(budget: Any, most: float, tokens: int) -> None:
        # The trajectory is locked, the run is about to be: now somebody cancels.
        writing.set()
        time.sleep(0.2)
        reserve(budget, most or 0.01)

    def cancel() -> None:
        writing.wait(60)
        cancel_run(run=run)

    monkeypatch.setattr(store, "reserve", slowly)
    steps = [lambda n=n: work_on_run(run_id=run.pk, owner=f"worker {n}") for n in range(2)]
    in_threads(lambda n: (*steps, cancel)[n](), 3)
    left = set(run.trajectories.values_list("status", flat=True))
    assert left <= {S.DONE, S.CANCELLED}
    assert S.CANCELLED in left
    run.refresh_from_db()
    assert run.status == Run.Status.CANCELLED


def test_a_dataset_saved_by_several_is_there_once() -> None:
    in_threads(lambda n: save_sample_dataset(3), 3)
    assert Dataset.objects.count() == 1


def test_a_database_that_was_away_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    (run,) = start_sample_runs(dataset=save_sample_dataset(1))
    pk = claim_trajectory(run_id=run.pk, owner="one")
    assert pk is not None

    def away(*args: object) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(worker, "_drive", away)
    with pytest.raises(OperationalError):
        carry_trajectory(pk=pk, owner="one")
    row = Trajectory.objects.get(pk=pk)
    assert (row.status, row.problem, row.lease_owner) == (S.PENDING, "", "")


def test_only_one_is_alone() -> None:
    inside: list[int] = []

    def enter(number: int) -> None:
        with named_lock("test"):
            inside.append(number)
            assert len(inside) == 1
            inside.remove(number)

    in_threads(enter, 4)


@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one transaction at a time anyway"
)
def test_who_need_not_wait_goes_on() -> None:
    entered, over = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), named_lock("test"):
            entered.set()
            over.wait(60)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(60)
    with try_named_lock("test") as free:
        assert free is False
    with try_named_lock("another") as free:
        assert free is True
    over.set()
    thread.join()
    with try_named_lock("test") as free:
        assert free is True
