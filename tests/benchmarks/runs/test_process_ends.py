"""A process that is told to end while it carries a trajectory: nothing fails, others go on."""

import threading

import pytest
from _pytest.logging import LogCaptureFixture as LogCapture
from celery.signals import worker_shutting_down
from pytest_django import Settings

from benchmarks import tasks
from benchmarks.core.answerers import Answer
from benchmarks.core.types import Ask
from benchmarks.endpoints.services import create_endpoint
from benchmarks.jobs import threads
from benchmarks.jobs.threads import ProcessEnds, Threads
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.models import Agent, Exchange, Job, Run, Trajectory
from benchmarks.runs import drain, worker
from benchmarks.runs.services import start_runs
from devtools.fake_endpoint.server import FakeServer
from tests.factories.benchmarks import play, save_sample_dataset

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(server: FakeServer) -> Run:
    create_endpoint(
        name="fake",
        title="Fake",
        base_url=server.base_url,
        model="fake",
        timeout=5.0,
        price_in=1.0,
        price_out=1.0,
        parameters={"max_tokens": 400},
    )
    (run,) = start_runs(
        dataset=save_sample_dataset(1),
        agents=[Agent.objects.get(name="fake")],
        levels=["low"],
        settings={"max_turns": 3, "rubric_judges": 1},
        wake=False,
    )
    return run


@pytest.fixture
def ending(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The mark that the process ends, which a test can set and take away."""
    event = threading.Event()
    monkeypatch.setattr(threads, "_ending", event)
    return event


@pytest.fixture
def ends_in_call(ending: threading.Event, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Has the process told to end while its first call is under way."""
    answer = EndpointAnswerer.answer

    def last(self: EndpointAnswerer, ask: Ask, seed: int) -> Answer:
        threads.end_work()
        return answer(self, ask, seed)

    monkeypatch.setattr(EndpointAnswerer, "answer", last)
    return ending


def test_threads_tell_their_end_from_errors() -> None:
    with Threads(1) as pool:
        assert pool.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ProcessEnds):
        pool.submit(divmod, 7, 2)


def test_the_call_under_way_is_stored_and_no_other_is_made(
    run: Run, ends_in_call: threading.Event
) -> None:
    with pytest.raises(ProcessEnds):
        worker.work_on_run(run_id=run.pk, owner="one that ends")
    trajectory = run.trajectories.get()
    assert (trajectory.status, trajectory.problem) == (Trajectory.Status.PENDING, "")
    assert (trajectory.lease_owner, trajectory.lease_until) == ("", None)
    calls = Exchange.objects.filter(trajectory=trajectory, role="agent").order_by("pk")
    (first,) = calls
    assert first.state == "answered"

    ends_in_call.clear()
    play(run)
    assert run.status == Run.Status.DONE
    assert calls[0] == first
    assert [call.state for call in calls] == ["answered"] * run.trajectories.get().turn_count


def test_nothing_is_claimed_and_no_thread_started(run: Run, ending: threading.Event) -> None:
    ending.set()
    with pytest.raises(ProcessEnds):
        worker.claim_trajectory(run_id=run.pk, owner="one that ends")
    with Threads(1) as pool, pytest.raises(ProcessEnds):
        pool.submit(divmod, 7, 2)
    tasks.carry_run(run.pk)
    assert run.trajectories.get().status == Trajectory.Status.PENDING


def test_celery_tells_when_the_worker_is_stopped(
    ending: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    drained = threading.Event()
    monkeypatch.setattr(drain, "drain", drained.set)
    worker_shutting_down.send(sender="test", sig="SIGTERM", how="Warm", exitcode=0)
    assert ending.is_set()
    assert drained.wait(60)


def test_the_limit_is_that_of_the_slowest_endpoint_in_use(run: Run, settings: Settings) -> None:
    create_endpoint(name="idle", title="Idle", base_url="http://127.0.0.1:9/v1", model="x")
    assert drain.drain_seconds() == 5.0 + drain.MARGIN
    Run.objects.update(status=Run.Status.DONE)
    assert drain.drain_seconds() == drain.MARGIN
    settings.DRAIN_SECONDS = 3
    assert drain.drain_seconds() == 3.0


def test_a_call_out_at_the_limit_is_lost_at_its_reserved_cost_and_not_repeated_by_its_thread(
    run: Run, ending: threading.Event, monkeypatch: pytest.MonkeyPatch, caplog: LogCapture
) -> None:
    """The process is interrupted while a call is out; its reply comes in after that."""
    answer = EndpointAnswerer.answer
    name = threads.owner_name()
    interrupted: list[int] = []

    def slow(self: EndpointAnswerer, ask: Ask, seed: int) -> Answer:
        if not interrupted:
            Job.objects.create(kind="x", title="X", status="running", attempts=1, lease_owner=name)
            interrupted.append(drain.interrupt_work(threads.process_name()))
        return answer(self, ask, seed)

    monkeypatch.setattr(EndpointAnswerer, "answer", slow)
    with caplog.at_level("WARNING"):
        worker.work_on_run(run_id=run.pk, owner=name)
    assert interrupted == [1]
    lost, again = Exchange.objects.filter(role="agent").order_by("pk")[:2]
    assert (lost.state, lost.reason) == ("lost", drain.INTERRUPTED)
    assert (again.step, again.slot, again.attempt, again.state) == (0, 0, 2, "answered")
    (line,) = (text for text in caplog.messages if text.startswith("Interrupted"))
    assert f"reserved cost {lost.most:g}" in line
    run.refresh_from_db()
    answered = sum(call.cost for call in Exchange.objects.filter(state="answered", role="agent"))
    assert lost.most and run.committed == pytest.approx(lost.most + answered)
    job = Job.objects.get(kind="x")
    assert (job.status, job.attempts, job.lease_owner) == ("queued", 0, "")
