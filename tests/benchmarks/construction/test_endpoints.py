"""A dataset constructed at endpoints that cannot be relied on: what is asked, stored and paid."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.construction.selectors import count_constructed
from benchmarks.construction.services import make_dataset, start_construction
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Dataset, Exchange, Run
from benchmarks.runs.services import change_cost_cap
from benchmarks.systems.adaplanbench_construction.making import MAKING
from benchmarks.verification.services import SAME, verify_run
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.constructions import import_demo_problems
from tests.factories.benchmarks import play

pytestmark = [pytest.mark.django_db, pytest.mark.either]
# Each role at a model that is strange in its own way; planners often talk nonsense.
CAST = {
    "rewriter": "fake",
    "filter": "fake",
    "extractor": "wavers",
    "merger": "repeats",
    "checker": "wavers",
}
PLANNERS = ["endpoint:mumbles", "endpoint:repeats"]


@pytest.fixture
def problems(tmp_path: Path) -> Dataset:
    return import_demo_problems(tmp_path)


@pytest.fixture
def start(serve: Callable[..., FakeServer], problems: Dataset) -> Callable[..., Run]:
    def begin(server: FakeServer, cap: float | None = None) -> Run:
        for model in {*CAST.values(), *(name.partition(":")[2] for name in PLANNERS)}:
            create_endpoint(
                name=model, title=model.title(), base_url=server.base_url, model=model,
                timeout=5.0, price_in=1.0, price_out=2.0, parameters={"max_tokens": 900},
            )  # fmt: skip
        return start_construction(
            dataset=problems,
            planners=PLANNERS,
            roles={role: [f"endpoint:{model}"] for role, model in CAST.items()},
            settings={"rounds": 2, "plans_per_ask": 1, "planners": 2, "reply_attempts": 8},
            cost_cap=cap,
            seed=5,
            wake=False,
        )

    return begin


def test_every_attempt_is_stored_and_what_was_understood_is_constructed(
    serve: Callable[..., FakeServer], start: Callable[..., Run]
) -> None:
    server = serve(shares={"429": 0.1, "500": 0.05})
    run = start(server)
    play(run)
    assert run.status == Run.Status.DONE
    log = Exchange.objects.filter(trajectory__run=run)
    states = {name: log.filter(state=name).count() for name in ("answered", "unreadable")}
    assert states["unreadable"] > 5
    assert sum(states.values()) == log.count() == server.counts.report()["answered"]
    spoilt = log.filter(state="unreadable")
    assert {"agent", "extractor"} <= set(spoilt.values_list("role", flat=True))
    assert not spoilt.filter(reason="").exists()
    assert not spoilt.filter(role="merger").exists(), "what is said twice can be read"
    counts = count_constructed(run, MAKING)
    assert counts.made > 0 and counts.made + counts.left_out + counts.missing == 2
    assert counts.missing == 0
    dataset = make_dataset(run=run, name="Made").saved.dataset
    assert dataset.tasks.count() == counts.made
    found = verify_run(run=run)
    assert found.counts == {SAME: 2} and found.figures == SAME


def test_a_cap_stops_it_and_more_money_comes_to_the_same(
    serve: Callable[..., FakeServer], start: Callable[..., Run]
) -> None:
    server = serve()
    run = start(server, cap=0.02)
    play(run)
    assert run.status == Run.Status.PAUSED and "cost cap" in run.problem
    assert 0 < run.committed <= 0.02
    answered = server.counts.report()["answered"]
    assert answered == Exchange.objects.filter(trajectory__run=run).count()
    assert count_constructed(run, MAKING).made == 0
    change_cost_cap(run=run, cap=5.0)
    run.refresh_from_db()
    play(run)
    assert run.status == Run.Status.DONE
    log = Exchange.objects.filter(trajectory__run=run)
    assert log.count() == server.counts.report()["answered"] > answered
    assert server.counts.report()["answered_again"] == 0
    assert count_constructed(run, MAKING).missing == 0
