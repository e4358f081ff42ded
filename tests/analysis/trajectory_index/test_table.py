"""The table of all facts: what is read again, what is kept, what is said to be missing."""

from typing import Any

import pytest
from django.utils import timezone

from analysis.models import RunFacts
from analysis.trajectory_index import table
from analysis.trajectory_index.columns import STATES
from analysis.trajectory_index.services import batches, read_missing_columns, request_index
from analysis.trajectory_index.table import current_index
from benchmarks.jobs.services import perform
from benchmarks.models import Run, Trajectory
from tests.factories.benchmarks import JudgeScoreFactory, RunFactory, TrajectoryFactory

pytestmark = pytest.mark.django_db
S = Trajectory.Status


def reads(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what is asked to be read from here on: lists of runs, or of trajectories."""
    found: list[Any] = []
    whole, some = table.read_each, table.read_columns
    monkeypatch.setattr(table, "read_each", lambda runs: (found.append(list(runs)), whole(runs))[1])
    monkeypatch.setattr(
        table, "read_columns", lambda runs, only: (found.append(only), some(runs, only))[1]
    )
    return found


def forget() -> None:
    """Empty the caches, as in a process that has just started."""
    table._known.clear()


def test_only_runs_that_changed_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = TrajectoryFactory(), TrajectoryFactory()
    asked = reads(monkeypatch)
    assert current_index().columns.id.tolist() == [first.pk, second.pk]
    assert current_index() and asked == [[second.run_id, first.run_id]]
    first.metrics = {"valid": 0.0}
    first.save()
    Run.objects.filter(pk=first.run_id).update(data_version=1)
    assert current_index().columns.valid.tolist() == [0, 1]
    assert asked[1:] == [[first.run_id]]


def test_what_is_kept_serves_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    score = JudgeScoreFactory(value=4.0)
    before = current_index().columns
    assert RunFacts.objects.get().trajectories == 1
    forget()
    asked = reads(monkeypatch)
    after = current_index().columns
    assert asked == []
    assert (after.id.tolist(), after.mean.tolist()) == ([score.trajectory_id], [4.0])
    assert after.mean.tolist() == before.mean.tolist()


def test_runs_that_were_deleted_are_gone() -> None:
    kept, gone = TrajectoryFactory(), TrajectoryFactory()
    current_index()
    run = gone.run
    gone.delete()
    run.delete()
    facts = current_index()
    assert facts.columns.id.tolist() == [kept.pk]
    assert [row.pk for row in facts.runs] == [kept.run_id]


def test_of_a_run_under_way_what_moved_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunFactory(status=Run.Status.RUNNING)
    done, running, pending = (
        TrajectoryFactory(run=run, status=status) for status in (S.DONE, S.RUNNING, S.PENDING)
    )
    current_index()
    assert not RunFacts.objects.exists()  # it would be old in a moment
    asked = reads(monkeypatch)
    Trajectory.objects.filter(pk=pending.pk).update(status=S.RUNNING)
    facts = current_index()
    assert asked == []
    assert [row.pk for row in facts.behind] == [run.pk]  # too soon to look again, and said
    assert not facts.unread
    monkeypatch.setattr(table, "REST", 0.0)
    monkeypatch.setattr(table, "TIMES", 0.0)
    facts = current_index()
    assert asked == [[running.pk, pending.pk]]
    assert not facts.behind
    states = [STATES[code] for code in facts.columns.state]
    assert states == ["done", "running", "running"]
    assert facts.columns.id.tolist() == [done.pk, running.pk, pending.pk]


def test_more_changes_than_a_page_may_read_are_read_by_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = RunFactory(status=Run.Status.RUNNING)
    rows = [TrajectoryFactory(run=run, status=S.PENDING) for _ in range(5)]
    current_index()
    for name, value in (("REST", 0.0), ("TIMES", 0.0), ("AT_ONCE", 2)):
        monkeypatch.setattr(table, name, value)
    Trajectory.objects.filter(run=run).update(status=S.DONE)
    done = STATES.index("done")
    found = []
    for _ in range(3):
        facts = current_index()
        found.append((int((facts.columns.state == done).sum()), bool(facts.behind)))
    assert found == [(2, True), (4, True), (5, False)]
    assert len(rows) == 5


def test_many_are_left_to_a_worker_and_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    small = TrajectoryFactory()
    large = RunFactory()
    TrajectoryFactory.create_batch(3, run=large)
    monkeypatch.setattr(table, "AT_ONCE", 2)
    facts = current_index()
    assert facts.columns.id.tolist() == [small.pk]
    assert [row.pk for row in facts.missing] == [row.pk for row in facts.unread] == [large.pk]
    job = request_index(trajectories=3)
    assert request_index(trajectories=3) == job  # whoever asks, once
    perform(job_id=job.pk, owner="test")
    job.refresh_from_db()
    assert (job.status, job.done, job.total) == ("done", 3, 3)
    facts = current_index()
    assert (len(facts.columns), facts.missing, facts.unread) == (4, (), ())


def test_a_job_begun_anew_reads_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    TrajectoryFactory()
    current_index()
    kept = RunFacts.objects.get().made_at

    class Silent:
        def report(self, **_: Any) -> None: ...

    later = TrajectoryFactory()
    forget()
    read_missing_columns(None, Silent())  # type: ignore[arg-type]
    assert RunFacts.objects.get(run=later.run_id).made_at <= timezone.now()
    assert RunFacts.objects.exclude(run=later.run_id).get().made_at == kept


def test_runs_are_read_in_parts_of_some_size() -> None:
    assert batches([1, 2, 3, 4], {1: 3, 2: 1, 3: 9, 4: 2}, most=4) == [[1, 2], [3], [4]]
