"""Tests of leases: one worker at a time holds a trajectory, and without it writes nothing."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks.calls.log import LeaseLost
from benchmarks.core.answerers import Answer, Identity
from benchmarks.core.log import Call, CallResult
from benchmarks.core.types import Ask, Expect, Message, Outcome, Turn
from benchmarks.jobs.leases import LEASE, Heartbeat
from benchmarks.models import Exchange, OpenAsk, Run, StoredMessage, Trajectory
from benchmarks.models import Turn as TurnRow
from benchmarks.runs.log import DatabaseLog
from benchmarks.runs.prepared import FRESH_SECONDS, PreparedRun
from benchmarks.runs.worker import (
    _claim,
    carry_trajectory,
    claim_trajectory,
    work_on_run,
    work_on_runs,
)
from tests.factories.benchmarks import (
    RunFactory,
    TrajectoryFactory,
    play,
    save_sample_dataset,
    start_sample_runs,
)
from tests.threads import in_threads

S = Trajectory.Status
ASK = Ask("agent", (Message("user", "How?"),), Expect("plan"))
BY = Identity("scripted", "explorer", "1")


def call(attempt: int = 1, repeats: int = 0) -> Call:
    return Call(0, 0, attempt, ASK, BY, 7, repeats=repeats)


@pytest.mark.django_db
class TestClaiming:
    def test_what_is_claimed_is_held_for_a_while(self) -> None:
        (run,) = start_sample_runs()
        pk = claim_trajectory(run_id=run.pk, owner="one")
        held = Trajectory.objects.get(pk=pk)
        assert (held.status, held.lease_owner) == (S.RUNNING, "one")
        assert held.lease_until is not None
        assert timezone.now() < held.lease_until <= timezone.now() + LEASE

    def test_what_another_holds_is_not_claimed(self) -> None:
        (run,) = start_sample_runs()
        claimed = [claim_trajectory(run_id=run.pk, owner=name) for name in "abcd"]
        assert len(set(claimed[:3])) == 3
        assert claimed[3] is None

    def test_a_lapsed_lease_is_claimed_by_the_next(self) -> None:
        (run,) = start_sample_runs(dataset=save_sample_dataset(1))
        pk = claim_trajectory(run_id=run.pk, owner="dead")
        lapse(pk)
        assert claim_trajectory(run_id=run.pk, owner="alive") == pk

    @pytest.mark.parametrize("status", [S.WAITING, S.DONE, S.FAILED, S.DECISION, S.CANCELLED])
    def test_what_stands_elsewhere_is_left_alone(self, status: str) -> None:
        row = TrajectoryFactory(run__status=Run.Status.RUNNING, status=status)
        lapse(row.pk)
        assert claim_trajectory(run_id=row.run_id, owner="one") is None

    @pytest.mark.parametrize("status", [Run.Status.PAUSED, Run.Status.CANCELLED, Run.Status.DONE])
    def test_a_run_that_does_not_go_on_gives_nothing(self, status: str) -> None:
        run = RunFactory(status=status)
        TrajectoryFactory(run=run, status=S.PENDING)
        assert claim_trajectory(run_id=run.pk, owner="one") is None

    def test_a_run_that_was_prepared_gives_nothing_once_it_is_paused(self) -> None:
        (run,) = start_sample_runs()
        prepared = PreparedRun(run.pk)
        assert claim_trajectory(run_id=run.pk, owner="one", prepared=prepared) is not None
        assert prepared.candidates
        Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED)
        assert claim_trajectory(run_id=run.pk, owner="one", prepared=prepared) is None

    def test_candidates_that_another_claimed_are_not_claimed_again(self) -> None:
        (run,) = start_sample_runs()
        mine, other = PreparedRun(run.pk), PreparedRun(run.pk)
        claimed = [
            claim_trajectory(run_id=run.pk, owner=name, prepared=prepared)
            for name, prepared in (("me", mine), ("other", other), ("me", mine), ("other", other))
        ]
        assert len(set(claimed[:3])) == 3 and claimed[3] is None

    def test_a_prepared_run_is_read_anew_after_a_while(self) -> None:
        (run,) = start_sample_runs()
        prepared = PreparedRun(run.pk)
        assert prepared.renewed() is prepared
        late = replace(prepared, at=prepared.at - FRESH_SECONDS - 1)
        Run.objects.filter(pk=run.pk).update(cost_cap=1.0)
        assert prepared.run.cost_cap == late.renewed().run.cost_cap == 1.0
        Run.objects.filter(pk=run.pk).update(cost_cap=2.0)
        assert (prepared.run.cost_cap, late.renewed().run.cost_cap) == (1.0, 2.0)


def lapse(pk: int | None) -> None:
    """The lease of a trajectory ran out a second ago."""
    past = timezone.now() - timedelta(seconds=1)
    Trajectory.objects.filter(pk=pk).update(lease_until=past)


@pytest.mark.django_db(transaction=True)
class TestSeveralWorkers:
    def test_each_trajectory_is_claimed_once(self) -> None:
        (run,) = start_sample_runs(dataset=save_sample_dataset(12))
        claimed: list[int] = []

        def claim_all(number: int) -> None:
            while (pk := claim_trajectory(run_id=run.pk, owner=f"worker {number}")) is not None:
                claimed.append(pk)

        in_threads(claim_all, 4)
        assert Counter(claimed) == dict.fromkeys(run.trajectories.values_list("pk", flat=True), 1)

    def test_one_lapsed_trajectory_has_one_heir(self) -> None:
        (run,) = start_sample_runs(dataset=save_sample_dataset(1))
        pk = claim_trajectory(run_id=run.pk, owner="dead")
        for _ in range(20):
            lapse(pk)
            heirs = in_threads_claim(run, 4)
            assert sum(heir is not None for heir in heirs) == 1

    def test_a_claim_decides_by_the_row_itself(self) -> None:
        """A row that a query of its own had found would be changed whatever became of it since."""
        with CaptureQueriesContext(connection) as seen:
            _claim(1, "me", PreparedRun(1))
        (claim,) = [q["sql"] for q in seen.captured_queries if q["sql"].startswith("UPDATE")]
        assert " IN (SELECT" not in claim

    def test_together_they_do_what_one_does_alone(self) -> None:
        dataset = save_sample_dataset(6)
        (alone,) = start_sample_runs("forgetful", dataset=dataset, seed=1)
        (shared,) = start_sample_runs("forgetful", dataset=dataset, seed=1)
        play(alone)
        in_threads(lambda n: void(work_on_run(run_id=shared.pk, owner=f"worker {n}")), 3)
        shared.refresh_from_db()
        assert shared.status == Run.Status.DONE
        assert outcomes(shared) == outcomes(alone)


def in_threads_claim(run: Run, threads: int) -> list[int | None]:
    """Return what several workers get that look for something to claim at the same moment."""
    got: list[int | None] = []
    in_threads(lambda n: got.append(claim_trajectory(run_id=run.pk, owner=f"{n}")), threads)
    return got


def void(_: object) -> None:
    """Nothing of a value."""


def outcomes(run: Run) -> list[tuple[object, ...]]:
    rows = run.trajectories.order_by("task")
    return list(rows.values_list("task", "termination", "turn_count", "metrics", "payload"))


@pytest.mark.django_db
class TestFencing:
    @pytest.fixture
    def taken_over(self) -> DatabaseLog:
        """The log of a worker whose trajectory another one holds by now."""
        row = TrajectoryFactory(status=S.RUNNING, lease_owner="late", turn_count=0)
        log = DatabaseLog(row, "late")
        log.record_sent([call()])
        Trajectory.objects.filter(pk=row.pk).update(lease_owner="heir")
        return log

    @pytest.mark.parametrize(
        "write",
        [
            lambda log: log.record_sent([Call(1, 0, 1, ASK, BY, 8)]),
            lambda log: log.open_asks([Call(1, 0, 1, ASK, BY, 8)]),
            lambda log: [log.record_turn(Turn(1, "1. Fetch it.")), log.store_kept()],
            lambda log: log.record_outcome(Outcome("valid_plan", {})),
        ],
        ids=["sent", "open", "turn", "outcome"],
    )
    def test_a_late_worker_writes_nothing(
        self, taken_over: DatabaseLog, write: Callable[[DatabaseLog], object]
    ) -> None:
        before = Trajectory.objects.values().get()
        with pytest.raises(LeaseLost):
            write(taken_over)
        assert Trajectory.objects.values().get() == before
        assert Exchange.objects.count() == StoredMessage.objects.count() == 1
        assert not TurnRow.objects.exists() and not OpenAsk.objects.exists()

    def test_a_reply_to_a_call_that_was_given_up_comes_too_late(
        self, taken_over: DatabaseLog
    ) -> None:
        heir = DatabaseLog(taken_over.trajectory, "heir")
        heir.exchanges()
        heir.record_sent([call(attempt=2, repeats=1)])
        with pytest.raises(LeaseLost):
            taken_over.record_verdict(call(), CallResult("answered", Answer("late"), value="late"))
        assert list(Exchange.objects.values_list("attempt", "state", "text")) == [
            (1, "lost", ""), (2, "sent", ""),
        ]  # fmt: skip

    def test_a_reply_that_arrived_meanwhile_is_not_asked_for_again(
        self, taken_over: DatabaseLog
    ) -> None:
        """The heir had read the log before the reply came in, so what it read is out of date."""
        heir = DatabaseLog(taken_over.trajectory, "heir")
        heir.exchanges()
        taken_over.record_verdict(call(), CallResult("answered", Answer("in time"), value="x"))
        with pytest.raises(LeaseLost):
            heir.record_sent([call(attempt=2, repeats=1)])
        assert list(Exchange.objects.values_list("attempt", "state", "text")) == [
            (1, "answered", "in time")
        ]

    def test_a_worker_that_lost_its_trajectory_leaves_it_to_the_heir(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        (run,) = start_sample_runs(dataset=save_sample_dataset(1))
        pk = claim_trajectory(run_id=run.pk, owner="late")
        assert pk is not None
        recorded = DatabaseLog.record_sent

        def lose(self: DatabaseLog, *given: object) -> None:
            recorded(self, *given)  # type: ignore[arg-type]
            Trajectory.objects.filter(pk=pk).update(lease_owner="heir")

        monkeypatch.setattr(DatabaseLog, "record_sent", lose)
        carry_trajectory(pk=pk, owner="late")
        row = Trajectory.objects.get(pk=pk)
        assert (row.status, row.lease_owner, row.turn_count) == (S.RUNNING, "heir", 0)
        assert "taken over" in caplog.text
        monkeypatch.undo()
        lapse(pk)
        play(run)
        row.refresh_from_db()
        assert row.status == S.DONE


@pytest.mark.django_db
class TestHeartbeat:
    def test_it_renews_what_is_still_held(self) -> None:
        mine, other = (
            TrajectoryFactory(status=S.RUNNING, lease_owner=name, lease_until=timezone.now())
            for name in ("me", "heir")
        )
        before = other.lease_until
        Heartbeat.renew({mine.pk: "me", other.pk: "me"})
        mine.refresh_from_db()
        other.refresh_from_db()
        assert mine.lease_until > timezone.now() + LEASE / 2
        assert other.lease_until == before


@pytest.mark.django_db
class TestSeveralRuns:
    def test_a_worker_goes_on_with_whatever_run_needs_it(self) -> None:
        runs = start_sample_runs("explorer", "forgetful")
        assert work_on_runs(first=runs[1].pk, owner="one") == 6
        assert {Run.objects.get(pk=run.pk).status for run in runs} == {Run.Status.DONE}
        assert all(Run.objects.get(pk=run.pk).started_at for run in runs)

    def test_a_short_run_need_not_wait_for_a_long_one(self) -> None:
        (long,) = start_sample_runs("explorer")
        (short,) = start_sample_runs("forgetful", dataset=long.dataset)
        first = claim_trajectory(run_id=long.pk, owner="another")
        order: list[int] = []

        def carry(*, pk: int, owner: str, prepared: PreparedRun) -> None:
            order.append(Trajectory.objects.get(pk=pk).run_id)
            carry_trajectory(pk=pk, owner=owner, prepared=prepared)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("benchmarks.runs.worker.carry_trajectory", carry)
            work_on_runs(first=long.pk, owner="one")
        # somebody works on the long one already, so this worker helps there once and then changes
        assert order == [long.pk, *[short.pk] * 3, long.pk]
        assert Trajectory.objects.get(pk=first).lease_owner == "another"

    def test_no_more_workers_than_a_run_may_have(self, settings: Any) -> None:
        settings.WORKERS_PER_RUN = 1
        (run,) = start_sample_runs()
        claim_trajectory(run_id=run.pk, owner="another")
        other = RunFactory(status=Run.Status.DONE)
        assert work_on_runs(first=other.pk, owner="one") == 0

    def test_a_run_with_nothing_left_is_settled(self) -> None:
        run = RunFactory(status=Run.Status.RUNNING)
        TrajectoryFactory(run=run, status=S.DONE)
        assert work_on_runs(first=run.pk, owner="one") == 0
        assert Run.objects.get(pk=run.pk).status == Run.Status.DONE
