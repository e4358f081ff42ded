"""Pausing, resuming, cancelling, retrying, starting anew."""

from collections.abc import Callable

import pytest

from benchmarks.models import Run, Trajectory
from benchmarks.runs import services as service
from benchmarks.runs.services import RunError
from benchmarks.runs.worker import claim_trajectory, settle_run, work_on_run
from tests.factories.benchmarks import RunFactory, TrajectoryFactory, play, start_sample_runs

pytestmark = pytest.mark.django_db
R, S = Run.Status, Trajectory.Status


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        (service.pause_run, {R.QUEUED, R.RUNNING, R.WAITING, R.ATTENTION}),
        (service.resume_run, {R.PAUSED}),
        (service.cancel_run, {R.QUEUED, R.RUNNING, R.WAITING, R.ATTENTION, R.PAUSED}),
    ],
)
@pytest.mark.parametrize("status", list(R))
def test_what_may_follow_what(change: Callable[..., None], allowed: set[str], status: str) -> None:
    run = RunFactory(status=status)
    if status in allowed:
        change(run=run)
        assert run.status != status
        return
    with pytest.raises(RunError, match=f"is {R(status).label.lower()} and cannot be"):
        change(run=run)
    run.refresh_from_db()
    assert run.status == status


def test_nothing_of_a_paused_run_can_be_claimed_until_it_is_resumed() -> None:
    (run,) = start_sample_runs()
    service.pause_run(run=run)
    assert claim_trajectory(run_id=run.pk, owner="one") is None
    assert work_on_run(run_id=run.pk, owner="one") == 0
    service.resume_run(run=run)
    play(run)
    assert run.status == R.DONE


def test_pausing_lets_a_worker_lay_down_what_it_carries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker sees the pause before it sends the next ask; what is logged is kept."""
    (run,) = start_sample_runs("forgetful")
    monkeypatch.setattr("benchmarks.runs.worker.STATUS_CHECK_SECONDS", 0)
    from benchmarks.runs.log import DatabaseLog

    told = DatabaseLog.record_turn

    def pause_after_first_turn(self: DatabaseLog, turn: object) -> None:
        told(self, turn)  # type: ignore[arg-type]
        Run.objects.filter(pk=run.pk).update(status=R.PAUSED)

    monkeypatch.setattr(DatabaseLog, "record_turn", pause_after_first_turn)
    play(run)
    assert run.status == R.PAUSED
    begun = run.trajectories.filter(turn_count=1).get()
    assert (begun.status, begun.lease_owner) in {(S.PENDING, ""), (S.DONE, "")}
    monkeypatch.undo()
    service.resume_run(run=run)
    play(run)
    assert run.status == R.DONE
    assert not run.trajectories.exclude(status=S.DONE).exists()


def test_cancelling_keeps_what_ended() -> None:
    run = RunFactory(status=R.RUNNING)
    done = TrajectoryFactory(run=run)
    failed = TrajectoryFactory(run=run, status=S.FAILED)
    open_ = [TrajectoryFactory(run=run, status=s) for s in (S.PENDING, S.WAITING)]
    held = TrajectoryFactory(run=run, status=S.RUNNING, lease_owner="somebody")
    service.cancel_run(run=run)
    states = dict(run.trajectories.values_list("pk", "status"))
    assert states[done.pk] == S.DONE
    assert states[failed.pk] == S.FAILED
    assert {states[t.pk] for t in (*open_, held)} == {S.CANCELLED}
    held.refresh_from_db()
    assert held.lease_owner == ""
    run.refresh_from_db()
    assert run.finished_at is not None


@pytest.mark.parametrize("status", [S.FAILED, S.DECISION])
def test_a_retry_goes_on_from_what_is_stored(status: str) -> None:
    (run,) = start_sample_runs()
    play(run)
    row = run.trajectories.first()
    assert row is not None
    before = (row.metrics, list(row.exchanges.values_list("pk", flat=True)))
    run.trajectories.filter(pk=row.pk).update(status=status, problem="the endpoint was gone")
    settle = Run.objects.filter(pk=run.pk)
    settle.update(status=R.ATTENTION)
    service.retry_trajectory(trajectory=row)
    play(run)
    row.refresh_from_db()
    assert (row.status, row.problem, run.status) == (S.DONE, "", R.DONE)
    assert (row.metrics, list(row.exchanges.values_list("pk", flat=True))) == before


@pytest.mark.parametrize("status", [S.PENDING, S.RUNNING, S.WAITING, S.DONE, S.CANCELLED])
def test_only_what_failed_is_retried(status: str) -> None:
    row = TrajectoryFactory(status=status)
    with pytest.raises(RunError, match="has not failed"):
        service.retry_trajectory(trajectory=row)
    with pytest.raises(RunError, match="neither failed nor waiting"):
        service.restart_trajectory(trajectory=row)
    row.refresh_from_db()
    assert row.status == status


def test_starting_anew_keeps_the_old_attempt() -> None:
    (run,) = start_sample_runs()
    play(run)
    old = run.trajectories.first()
    assert old is not None
    Trajectory.objects.filter(pk=old.pk).update(status=S.DECISION)
    old.refresh_from_db()
    fresh = service.restart_trajectory(trajectory=old)
    assert (fresh.attempt, fresh.task_id, fresh.profile_id) == (2, old.task_id, old.profile_id)
    assert fresh.seed != old.seed
    play(run)
    old.refresh_from_db()
    fresh.refresh_from_db()
    assert (old.status, fresh.status) == (S.CANCELLED, S.DONE)
    assert old.turns.exists() and old.exchanges.exists()


def test_nothing_of_a_cancelled_run_is_begun_again() -> None:
    row = TrajectoryFactory(run__status=R.CANCELLED, status=S.FAILED)
    with pytest.raises(RunError, match="cancelled"):
        service.retry_trajectory(trajectory=row)
    with pytest.raises(RunError, match="cancelled"):
        service.restart_trajectory(trajectory=row)
    assert Trajectory.objects.get().status == S.FAILED


def test_a_paused_run_stays_paused_when_one_of_its_trajectories_is_retried() -> None:
    row = TrajectoryFactory(run__status=R.PAUSED, status=S.FAILED)
    service.retry_trajectory(trajectory=row)
    row.run.refresh_from_db()
    assert row.run.status == R.PAUSED


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ([S.DONE, S.DONE], R.DONE),
        ([S.DONE, S.CANCELLED], R.DONE),
        ([S.DONE, S.FAILED], R.ATTENTION),
        ([S.DECISION, S.DONE], R.ATTENTION),
        ([S.WAITING, S.FAILED], R.WAITING),
        ([S.PENDING, S.DONE], R.RUNNING),
        ([S.RUNNING, S.FAILED], R.RUNNING),
    ],
)
def test_a_run_settles_as_its_trajectories_have_it(states: list[str], expected: str) -> None:
    run = RunFactory(status=R.RUNNING)
    for status in states:
        TrajectoryFactory(run=run, status=status)
    settle_run(run_id=run.pk)
    run.refresh_from_db()
    assert run.status == expected
    assert (run.finished_at is not None) == (expected in (R.DONE, R.ATTENTION))


@pytest.mark.parametrize("status", [R.PAUSED, R.CANCELLED])
def test_settling_does_not_undo_a_pause_or_a_cancellation(status: str) -> None:
    run = RunFactory(status=status)
    TrajectoryFactory(run=run)
    settle_run(run_id=run.pk)
    run.refresh_from_db()
    assert run.status == status
