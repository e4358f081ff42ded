"""Tests of the cost of runs on endpoints, and that a cap on it holds."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db.models import F, Sum, Value
from django.db.models.functions import Coalesce

from benchmarks.core.answerers import Answer, Identity
from benchmarks.core.errors import CapReached, SettingError
from benchmarks.core.log import Call, CallResult
from benchmarks.core.types import Ask, Expect, Message
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Agent, Exchange, Run, Trajectory
from benchmarks.runs.log import DatabaseLog
from benchmarks.runs.services import change_cost_cap, pause_run, resume_run, start_runs
from benchmarks.runs.worker import work_on_run
from devtools.fake_endpoint.server import FakeServer
from tests.factories.benchmarks import (
    RunFactory,
    TrajectoryFactory,
    ensure_scripted_agents,
    save_sample_dataset,
)

pytestmark = pytest.mark.django_db
PRICED = {"price_in": 1.0, "price_out": 2.0, "parameters": {"max_tokens": 400}}
JUDGES = {"world_judge": ["endpoint:fake"], "user_judge": ["endpoint:fake"]}
ASK = Ask("agent", (Message("user", "How?"),), Expect("plan"))
Play = Callable[..., Run]


@pytest.fixture
def endpoint_run(serve: Callable[..., FakeServer]) -> Play:
    """Starts a run whose agent and judges are at the fake endpoint."""

    def start(cap: float | None = None, **options: Any) -> Run:
        server = serve(**options)
        create_endpoint(
            name="fake",
            title="Fake",
            base_url=server.base_url,
            model="fake",
            timeout=20.0,
            **PRICED,
        )
        (run,) = start_runs(
            dataset=save_sample_dataset(2),
            agents=[Agent.objects.get(name="fake")],
            levels=["mid"],
            roles=JUDGES,
            cost_cap=cap,
            wake=False,
        )
        return run

    return start


def carry(run: Run) -> Run:
    work_on_run(run_id=run.pk, owner="test")
    run.refresh_from_db()
    return run


def recomputed(run: Run) -> float:
    """Return what the stored exchanges say that the run has cost, or may have cost."""
    cost = Coalesce(F("cost"), F("most"), Value(0.0))
    found = Exchange.objects.filter(trajectory__run=run).aggregate(all=Sum(cost))["all"]
    return float(found or 0)


class TestCosts:
    def test_what_is_committed_is_the_sum_of_the_exchanges(self, endpoint_run: Play) -> None:
        run = carry(endpoint_run())
        assert run.status == Run.Status.DONE
        assert run.currency == "USD"
        known = Exchange.objects.filter(trajectory__run=run).aggregate(all=Sum("cost"))["all"]
        assert run.committed == pytest.approx(known) == pytest.approx(recomputed(run))

    def test_scripts_cost_nothing(self, endpoint_run: Play) -> None:
        run = carry(endpoint_run())
        free = Exchange.objects.filter(trajectory__run=run, answerer__kind="scripted")
        assert free.exists()
        assert set(free.values_list("most", "cost")) == {(0.0, None)}

    def test_calls_of_unknown_outcome_are_logged_and_count_in_full(
        self, endpoint_run: Play
    ) -> None:
        shares = {"hang-up": 0.15, "500": 0.15}
        run = carry(endpoint_run(shares=shares))
        assert run.status == Run.Status.DONE
        rows = Exchange.objects.filter(trajectory__run=run)
        lost = rows.filter(state="lost")
        assert lost.exists()
        assert all(row.reason.startswith("endpoint 'fake': the connection") for row in lost)
        assumed = sum(row.most or 0 for row in lost)
        known = rows.aggregate(all=Sum("cost"))["all"]
        assert run.committed == pytest.approx(known + assumed) == pytest.approx(recomputed(run))
        # refusals within an attempt are counted, not billed
        assert rows.filter(state="answered", tries__gt=1).exists()

    def test_the_reason_why_a_reply_ended_is_kept(self, endpoint_run: Play) -> None:
        run = carry(endpoint_run())
        ends = Exchange.objects.filter(trajectory__run=run, answerer__kind="endpoint")
        assert set(ends.values_list("finish", flat=True)) == {"stop"}


class TestCaps:
    def test_a_run_at_its_cap_is_paused_and_goes_on_with_more(self, endpoint_run: Play) -> None:
        run = carry(endpoint_run(cap=0.006))
        assert run.status == Run.Status.PAUSED
        assert "of 0.006 used under the cost cap" in run.problem
        assert 0 < run.committed <= 0.006
        left = set(run.trajectories.values_list("status", flat=True))
        assert left <= {Trajectory.Status.PENDING, Trajectory.Status.DONE}
        assert Trajectory.Status.PENDING in left
        stored = set(
            Exchange.objects.filter(trajectory__run=run, state="answered").values_list("pk", "text")
        )
        change_cost_cap(run=run, cap=5.0)
        assert (run.status, run.problem) == (Run.Status.QUEUED, "")
        carry(run)
        assert run.status == Run.Status.DONE
        after = Exchange.objects.filter(trajectory__run=run, state="answered")
        assert stored <= set(after.values_list("pk", "text"))
        assert run.committed == pytest.approx(recomputed(run))

    def test_resumed_without_more_money_it_pauses_again(self, endpoint_run: Play) -> None:
        run = carry(endpoint_run(cap=0.006))
        for _ in range(3):  # another trajectory may still find room for a cheaper step
            resume_run(run=run)
            carry(run)
            assert run.status == Run.Status.PAUSED
            assert "cost cap" in run.problem
        assert run.committed == pytest.approx(recomputed(run))
        assert run.committed <= 0.006

    def test_a_person_who_paused_it_resumes_it(self, endpoint_run: Play) -> None:
        run = endpoint_run(cap=0.006)
        pause_run(run=run)
        change_cost_cap(run=run, cap=1.0)
        assert run.status == Run.Status.PAUSED

    @pytest.mark.parametrize("cap", [0, -1, float("nan"), float("inf")])
    def test_a_cap_is_an_amount_of_money(self, cap: float) -> None:
        ensure_scripted_agents()
        agents = [Agent.objects.get(name="explorer")]
        with pytest.raises(SettingError, match="cost cap"):
            start_runs(dataset=save_sample_dataset(1), agents=agents, levels=["mid"], cost_cap=cap)
        assert not Run.objects.exists()


class TestReservations:
    """The log alone, told what calls may cost."""

    @pytest.fixture
    def log(self) -> DatabaseLog:
        run = RunFactory(cost_cap=1.0, status=Run.Status.RUNNING)
        row = TrajectoryFactory(run=run, status=Trajectory.Status.RUNNING, lease_owner="me")
        return DatabaseLog(row, "me")

    @staticmethod
    def call(slot: int, most: float | None) -> Call:
        return Call(0, slot, 1, ASK, Identity("endpoint", "paid", "1"), 7, most=most)

    @staticmethod
    def committed() -> float:
        return Run.objects.get().committed

    def test_all_or_nothing(self, log: DatabaseLog) -> None:
        with pytest.raises(CapReached, match="0.0000 of 1 used under the cost cap"):
            log.record_sent([self.call(0, 0.6), self.call(1, 0.6)])
        assert self.committed() == 0
        assert not Exchange.objects.exists()
        log.record_sent([self.call(0, 0.6), self.call(1, 0.4)])
        assert self.committed() == pytest.approx(1.0)

    @pytest.mark.parametrize(
        ("state", "cost", "counted"),
        [
            ("answered", 0.1, 0.1),
            ("unreadable", 0.2, 0.2),
            ("answered", None, 0.6),
            ("lost", None, 0.6),
            ("failed", None, 0.0),
        ],
    )
    def test_what_takes_the_place_of_what_was_put_aside(
        self, log: DatabaseLog, state: Any, cost: float | None, counted: float
    ) -> None:
        call = self.call(0, 0.6)
        log.record_sent([call])
        log.record_verdict(call, CallResult(state, Answer("text", cost=cost), "value"))
        assert self.committed() == pytest.approx(counted)
        assert recomputed(Run.objects.get()) == pytest.approx(counted)

    def test_what_was_in_flight_at_a_kill_stays_counted(self, log: DatabaseLog) -> None:
        log.record_sent([self.call(0, 0.6)])
        again = DatabaseLog(log.trajectory, "me")
        again.exchanges()
        with pytest.raises(CapReached):
            again.record_sent(
                [Call(0, 0, 2, ASK, Identity("endpoint", "paid", "1"), 7, 1, most=0.6)]
            )
        again.record_sent([Call(0, 0, 2, ASK, Identity("endpoint", "paid", "1"), 7, 1, most=0.3)])
        assert self.committed() == pytest.approx(0.9)
        assert list(Exchange.objects.values_list("state", "most")) == [("lost", 0.6), ("sent", 0.3)]

    def test_an_unknown_price_and_a_cap_do_not_go_together(self, log: DatabaseLog) -> None:
        with pytest.raises(CapReached, match="both prices and a max_tokens"):
            log.record_sent([self.call(0, None)])
        log.capped = False
        Run.objects.update(cost_cap=None)
        log.record_sent([self.call(0, None)])
        assert self.committed() == 0

    def test_a_cap_that_was_raised_meanwhile_holds_at_once(self, log: DatabaseLog) -> None:
        Run.objects.update(cost_cap=2.0)
        log.record_sent([self.call(0, 1.5)])
        assert self.committed() == pytest.approx(1.5)
