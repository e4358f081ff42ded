"""Tests that the trajectories carried at once follow the limits of endpoints, over all workers."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.db.migrations import RunSQL
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks import tasks
from benchmarks.endpoints.services import create_endpoint
from benchmarks.jobs.threads import Threads
from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.connections import close_connections, open_connection
from benchmarks.mappers import endpoint_config
from benchmarks.models import Agent, Endpoint, Run, Trajectory
from benchmarks.runs import worker
from benchmarks.runs.capacity import EndpointCapacity, measure_capacity
from benchmarks.runs.prepared import PreparedRun
from benchmarks.runs.services import start_runs
from devtools.fake_endpoint.server import FakeServer
from tests.factories.benchmarks import save_sample_dataset

HOSTS = ["127.0.0.1"]


@pytest.fixture(autouse=True)
def new_lines() -> Iterator[None]:
    yield
    close_connections()


def start(server: FakeServer, units: int, **values: Any) -> Run:
    """A run of so many trajectories whose agent is an endpoint."""
    create_endpoint(name="fake", title="Fake", base_url=server.base_url, model="fake", **values)
    (run,) = start_runs(
        dataset=save_sample_dataset(units),
        agents=[Agent.objects.get(name="fake")],
        levels=["low"],
        settings={"max_turns": 1, "rubric_judges": 1},
        wake=False,
    )
    return run


def hold(run: Run, count: int, *, lapsed: bool = False) -> list[int]:
    """Have other workers carry some of a run's trajectories."""
    until = timezone.now() + timedelta(seconds=-1 if lapsed else 30)
    pending = run.trajectories.filter(status=Trajectory.Status.PENDING).order_by("pk")
    held = list(pending.values_list("pk", flat=True)[:count])
    run.trajectories.filter(pk__in=held).update(
        status=Trajectory.Status.RUNNING, lease_owner="elsewhere", lease_until=until
    )
    return held


def config() -> EndpointConfig:
    return endpoint_config(Endpoint.objects.get(name="fake"))


@pytest.mark.django_db
class TestRoom:
    def test_live_leases_of_all_workers_count(self, server: FakeServer) -> None:
        run = start(server, 6, concurrency=4)
        assert measure_capacity(()).left(run.roles) == 4
        hold(run, 3)
        assert measure_capacity(()).left(run.roles) == 1
        hold(run, 2, lapsed=True)
        assert measure_capacity(()).left(run.roles) == 1

    def test_runs_on_one_endpoint_share_its_room(self, server: FakeServer) -> None:
        run = start(server, 3, concurrency=4)
        hold(run, 3)
        (other,) = start_runs(dataset=run.dataset, agents=[run.agent], levels=["low"], wake=False)
        assert measure_capacity(()).left(other.roles) == 1

    def test_few_calls_a_minute_make_little_room(self, server: FakeServer) -> None:
        run = start(server, 1, concurrency=32, requests_per_minute=20)
        assert measure_capacity(()).left(run.roles) == 5

    def test_refusals_take_room_away(self, server: FakeServer) -> None:
        run = start(server, 1, concurrency=8)
        limiter = open_connection(config(), HOSTS).limiter
        with limiter.place() as place, limiter.place():
            place.refused()
        assert measure_capacity(()).left(run.roles) == 1

    def test_calls_are_shared_as_trajectories_are(self, server: FakeServer) -> None:
        run = start(server, 4, concurrency=8)
        mine = hold(run, 4)[:1]
        measure_capacity(mine)
        limiter = open_connection(config(), HOSTS).limiter
        assert limiter.limit == 2
        run.trajectories.exclude(pk__in=mine).update(status=Trajectory.Status.DONE)
        measure_capacity(mine)
        assert limiter.limit == 8


@pytest.fixture
def threads(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads that carry, as in the product; they end with the test."""
    settings.ENDPOINT_THREADS = 32
    with Threads(32) as made:
        monkeypatch.setattr(worker, "_carriers", lambda: made)
        yield
    connection.close()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("threads")
class TestCarrying:
    def test_one_thread_at_a_time_is_started(self, server: FakeServer) -> None:
        run = start(server, 6, concurrency=6)
        assert worker._claim_within_capacity(run.pk, "first")[1]
        # The one that was started has not come yet.
        assert not worker._claim_within_capacity(run.pk, "another", recruit=False)[1]
        assert worker._claim_within_capacity(run.pk, "the one started")[1]
        worker._claimed.clear()

    def test_as_many_at_once_as_the_endpoint_takes(self, serve: Callable[..., FakeServer]) -> None:
        # Long enough that a busy machine has begun several before the first is answered.
        server = serve(latency=2.0)
        run = start(server, 10, concurrency=6)
        assert worker.work_on_run(run_id=run.pk, owner="one") == 10
        run.refresh_from_db()
        assert run.status == Run.Status.DONE
        assert 3 <= server.counts.most_at_once <= 6

    def test_a_worker_does_the_same_and_stays_free(
        self, serve: Callable[..., FakeServer], settings: Any
    ) -> None:
        settings.RUN_THREADS = 1
        server = serve(latency=2.0)
        run = start(server, 10, concurrency=6)
        tasks.carry_run(run.pk)
        assert Run.objects.get(pk=run.pk).status != Run.Status.DONE
        until = time.monotonic() + 120
        while Run.objects.get(pk=run.pk).status != Run.Status.DONE and time.monotonic() < until:
            time.sleep(0.05)
        assert 3 <= server.counts.most_at_once <= 6
        done = run.trajectories.filter(status=Trajectory.Status.DONE)
        assert done.count() == 10

    @pytest.mark.parametrize(("seconds", "measured"), [(600.0, 2), (-1.0, 6)])
    def test_threads_go_on_in_a_run_without_measuring_it_anew(
        self, server: FakeServer, monkeypatch: pytest.MonkeyPatch, seconds: float, measured: int
    ) -> None:
        held = []

        def measure(now: set[int]) -> EndpointCapacity:
            held.append(now)
            return measure_capacity(now)

        monkeypatch.setattr(worker, "measure_capacity", measure)
        monkeypatch.setattr("benchmarks.runs.prepared.FRESH_SECONDS", seconds)
        run = start(server, 5, concurrency=1)
        assert worker.work_on_run(run_id=run.pk, owner="one") == 5
        assert len(held) == measured  # the last time when none was left

    def test_who_carried_another_run_measures_before_going_on(self, server: FakeServer) -> None:
        run = start(server, 3, concurrency=3)
        assert worker._claim_within_capacity(run.pk, "first")[0]
        assert worker._claim_again(run.pk + 1, "first") is None
        claimed = worker._claim_again(run.pk, "first")
        assert claimed is not None and claimed.pk in worker._held()
        worker._claimed.clear()

    def test_no_room_is_left_to_others(self, server: FakeServer) -> None:
        run = start(server, 2, concurrency=1)
        hold(run, 1)
        assert worker.work_on_run(run_id=run.pk, owner="one") == 0
        assert run.trajectories.filter(status=Trajectory.Status.PENDING).count() == 1


@pytest.mark.django_db(transaction=True)
def test_few_statements_carry_a_trajectory(server: FakeServer) -> None:
    """Each lets another thread compute first, most of them while nobody else can write."""
    run = PreparedRun(start(server, 2).pk)
    for _ in range(2):  # the first one also reads the run, and stores who answers
        pk = worker.claim_trajectory(run_id=run.run_id, owner="one", prepared=run)
        assert pk is not None
        with CaptureQueriesContext(connection) as statements:
            worker.carry_trajectory(pk=pk, owner="one", prepared=run)
    first_words = Counter(query["sql"].split()[0] for query in statements)
    # The call's two transactions, one for what judges answered at once, one for the outcome.
    assert first_words["BEGIN"] == first_words["COMMIT"] == 4
    assert first_words["UPDATE"] == 4  # three renew the lease, one stores the reply
    assert sum(first_words.values()) <= 23


@pytest.mark.django_db
def test_endpoints_with_the_old_default_get_the_new_one(server: FakeServer) -> None:
    for name, most in (("old", 8), ("chosen", 7)):
        create_endpoint(
            name=name, title=name, base_url=server.base_url, model="fake", concurrency=most
        )
    migration = import_module("benchmarks.migrations.0016_endpoint_concurrency").Migration
    (update,) = [each.sql for each in migration.operations if isinstance(each, RunSQL)]
    with connection.cursor() as cursor:
        cursor.execute(update)
    found = dict(Endpoint.objects.values_list("name", "concurrency"))
    assert found == {"old": 32, "chosen": 7}
