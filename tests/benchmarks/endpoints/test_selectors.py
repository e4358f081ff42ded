"""Use and cost of endpoints, against sums by hand."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from benchmarks.endpoints.selectors import (
    endpoint_row,
    endpoint_rows,
    endpoint_use,
    run_use,
    use_by_day,
    use_by_run,
)
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Endpoint, Exchange, Run
from benchmarks.runs.estimates import cost_estimate
from tests.factories.benchmarks import (
    AnswererVersionFactory,
    DatasetFactory,
    ExchangeFactory,
    RunFactory,
    TrajectoryFactory,
)

pytestmark = pytest.mark.django_db
S = Exchange.State


def make_endpoint(name: str = "one", **more: Any) -> Endpoint:
    given = {"base_url": "http://localhost:1/v1", "model": "m", "currency": "EUR"} | more
    return create_endpoint(name=name, title=f"Model {name}", **given)


class Calls:
    """A run whose calls to an endpoint are written down by hand."""

    def __init__(self, name: str = "one", **run: Any) -> None:
        self.run = RunFactory(currency="EUR", **run)
        self.trajectory = TrajectoryFactory(run=self.run)
        self.version = AnswererVersionFactory(kind="endpoint", name=name)
        self.step = 0

    def add(self, state: str = S.ANSWERED, day: int = 1, **given: Any) -> None:
        self.step += 1
        sent = datetime(2026, 3, day, 12, tzinfo=UTC)
        ExchangeFactory(
            trajectory=self.trajectory,
            answerer=self.version,
            step=self.step,
            state=state,
            sent_at=sent,
            **given,
        )


@pytest.fixture
def calls() -> Calls:
    make_endpoint()
    calls = Calls()
    calls.add(cost=0.5, most=2.0, tokens_in=100, tokens_out=10, latency=1.0, tries=1)
    calls.add(cost=0.25, most=2.0, tokens_in=50, tokens_out=5, latency=3.0, tries=3, day=2)
    # read in vain, and without usage: it may have cost what was put aside
    calls.add(S.UNREADABLE, most=2.0, latency=2.0, tries=1)
    calls.add(S.LOST, most=4.0, tries=1)
    calls.add(S.FAILED, most=0.0, tries=4)
    # given up before it was ever sent
    calls.add(S.FAILED, most=0.0, tries=0)
    calls.add(S.SENT, most=1.0)
    # of this one nobody can tell what it cost
    calls.add(S.LOST, most=None, day=2)
    return calls


def test_sums_are_those_by_hand(calls: Calls) -> None:
    use = endpoint_use("one")["one"]
    assert (use.calls, use.answered, use.unreadable, use.failed, use.lost, use.sent) == (
        8, 2, 1, 2, 2, 1,
    )  # fmt: skip
    assert use.retries == (3 - 1) + (4 - 1)
    assert (use.tokens_in, use.tokens_out, use.counted, use.uncounted) == (150, 15, 2, 1)
    assert (use.cost, use.costed) == (0.75, 2)
    assert use.assumed == 2.0 + 4.0 + 1.0
    assert (use.unknown, use.currency) == (1, "EUR")
    # of 1, 2 and 3 seconds the nearest ranks are ceil(1.5) = 2 and ceil(2.85) = 3
    assert (use.median, use.p95) == (2.0, 3.0)


def test_percentiles_are_nearest_ranks() -> None:
    make_endpoint()
    calls = Calls()
    for second in range(20, 0, -1):
        calls.add(latency=float(second))
    use = endpoint_use()["one"]
    assert (use.median, use.p95) == (10.0, 19.0)


def test_days_and_runs_add_up_to_the_whole(calls: Calls) -> None:
    endpoint = Endpoint.objects.get()
    more = Calls()
    more.version = calls.version
    more.add(cost=8.0, tokens_in=1, tokens_out=1, day=2)
    days = {item.day: item.use for item in use_by_day(endpoint)}
    assert list(days) == [date(2026, 3, 2), date(2026, 3, 1)]
    assert [days[day].calls for day in days] == [3, 6]
    assert days[date(2026, 3, 2)].cost == 8.25
    runs = {item.run.pk: item.use for item in use_by_run(endpoint)}
    assert list(runs) == [more.run.pk, calls.run.pk]
    assert (runs[calls.run.pk].cost, runs[more.run.pk].cost) == (0.75, 8.0)
    assert endpoint_use()["one"].calls == 9


def test_without_prices_there_is_no_cost_rather_than_none_at_all() -> None:
    make_endpoint()
    calls = Calls()
    calls.add(most=None, cost=None, tokens_in=5, tokens_out=5)
    use = run_use(calls.run)
    assert use is not None
    assert (use.cost, use.assumed, use.unknown) == (None, None, 1)


def test_what_is_free_costs_nothing() -> None:
    make_endpoint()
    calls = Calls()
    calls.add(most=0.0, cost=0.0)
    use = run_use(calls.run)
    assert use is not None
    assert (use.cost, use.costed, use.unknown) == (0.0, 1, 0)


def test_others_are_not_counted(calls: Calls) -> None:
    make_endpoint("two")
    other = Calls("two")
    other.add(cost=3.0)
    ExchangeFactory(trajectory=calls.trajectory, step=99, cost=100.0)  # a script's
    assert endpoint_use()["one"].cost == 0.75
    assert endpoint_use("two").keys() == {"two"}
    use = run_use(calls.run)
    assert use is not None and use.cost == 0.75
    assert run_use(RunFactory()) is None


@pytest.mark.parametrize("endpoints", [1, 6])
def test_a_list_takes_few_queries(endpoints: int, django_assert_max_num_queries: Any) -> None:
    for number in range(endpoints):
        made = make_endpoint(f"number-{number}")
        Calls(made.name).add(cost=1.0, latency=1.0)
    found = list(Endpoint.objects.all())
    with django_assert_max_num_queries(7):
        rows = endpoint_rows(found)
    assert [row.use.cost for row in rows] == [1.0] * endpoints


def test_whether_it_can_be_asked(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = make_endpoint(key_variable="PLANJURY_KEY_ONE")
    monkeypatch.delenv("PLANJURY_KEY_ONE", raising=False)
    assert endpoint_row(endpoint).obstacles == ("its key is not set",)
    monkeypatch.setenv("PLANJURY_KEY_ONE", "0123456789")
    assert endpoint_row(endpoint).obstacles == ()
    settings.PLANJURY_ENDPOINT_HOSTS = ["api.example.org"]
    row = endpoint_row(endpoint)
    assert row.obstacles == ("its host is not allowed",)
    assert not any("localhost" in words for words in row.obstacles)
    assert "localhost" in row.details[0]


class TestEstimate:
    """About 1.5 per trajectory for the agent and 0.1 for each seat of the judges."""

    @pytest.fixture
    def history(self) -> Run:
        make_endpoint()
        dataset = DatasetFactory()
        version = AnswererVersionFactory(kind="endpoint", name="one")
        run = RunFactory(dataset=dataset, level="mid", currency="EUR")
        for number in range(6):
            trajectory = TrajectoryFactory(run=run)
            given = {"trajectory": trajectory, "answerer": version}
            ExchangeFactory(step=0, role="agent", cost=1.0 + number % 2, **given)
            for seat in ("1", "2"):
                ExchangeFactory(step=1, slot=int(seat), role="judge", seat=seat, cost=0.1, **given)
        return run

    def estimate(self, run: Run, *parts: tuple[str, str], level: str = "mid") -> Any:
        return cost_estimate(
            run.dataset, list(Endpoint.objects.all()), {level: [list(parts)]}, {level: 10}
        )

    def test_it_adds_up_the_parts(self, history: Run) -> None:
        found = self.estimate(history, ("agent", "one"), ("judge", "one"), ("judge", "one"))
        assert found.amount == pytest.approx(10 * (1.5 + 0.1 + 0.1))
        assert (found.currency, found.n) == ("EUR", 6)

    def test_a_part_without_history_leaves_it_open(self, history: Run) -> None:
        assert self.estimate(history, ("agent", "one"), ("simulator", "one")) is None
        assert self.estimate(history, ("agent", "one"), level="high") is None
        assert self.estimate(history) is None

    def test_one_unknown_cost_leaves_it_open(self, history: Run) -> None:
        Exchange.objects.filter(role="agent").first().delete()  # type: ignore[union-attr]
        assert self.estimate(history, ("agent", "one")).n == 5
        row = Exchange.objects.filter(role="agent").latest("pk")
        Exchange.objects.filter(pk=row.pk).update(cost=None)
        assert self.estimate(history, ("agent", "one")) is None

    def test_two_currencies_are_not_added(self, history: Run) -> None:
        make_endpoint("two", currency="USD")
        assert self.estimate(history, ("agent", "one")) is None
