"""A process that is told to end while it carries a trajectory: nothing fails, others go on."""

from collections.abc import Callable

import pytest

from benchmarks import tasks
from benchmarks.endpoints.services import create_endpoint
from benchmarks.llm.fake.server import FakeServer
from benchmarks.models import Agent, Exchange, Run, Trajectory
from benchmarks.runs import worker
from benchmarks.runs.services import start_runs
from benchmarks.runs.threads import ProcessEnds, Threads
from tests.factories.benchmarks import play, save_sample_dataset

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(server: FakeServer) -> Run:
    create_endpoint(name="fake", title="Fake", base_url=server.base_url, model="fake", timeout=5.0)
    (run,) = start_runs(
        dataset=save_sample_dataset(1),
        agents=[Agent.objects.get(name="fake")],
        levels=["low"],
        settings={"max_turns": 1, "rubric_judges": 1},
        wake=False,
    )
    return run


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has threads refuse work, as they do once the interpreter is shutting down."""
    threads = Threads(1)
    threads.shutdown()
    monkeypatch.setattr(worker, "_executor", lambda: threads)
    return monkeypatch.undo


def test_threads_tell_their_end_from_errors() -> None:
    with Threads(1) as threads:
        assert threads.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ProcessEnds):
        threads.submit(divmod, 7, 2)


def test_a_trajectory_waits_for_another_worker(run: Run, ending: Callable[[], None]) -> None:
    with pytest.raises(ProcessEnds):
        worker.work_on_run(run_id=run.pk, owner="one that ends")
    trajectory = run.trajectories.get()
    assert (trajectory.status, trajectory.problem) == (Trajectory.Status.PENDING, "")
    assert (trajectory.lease_owner, trajectory.lease_until) == ("", None)

    ending()
    play(run)
    assert run.status == Run.Status.DONE
    states = Exchange.objects.filter(trajectory=trajectory, role="agent").values_list("state")
    # The call had been written down and may have left, as far as the log can tell.
    assert [state for (state,) in states.order_by("attempt")] == ["lost", "answered"]


@pytest.mark.usefixtures("ending")
def test_the_task_ends_quietly(run: Run) -> None:
    tasks.carry_run(run.pk)
    assert run.trajectories.get().status == Trajectory.Status.PENDING
