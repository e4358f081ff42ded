"""Making, changing and retiring endpoints; caps that nobody could keep."""

from typing import Any

import pytest

from benchmarks.core.errors import CoreError, SettingError
from benchmarks.endpoints.services import (
    CapError,
    EndpointError,
    change_endpoint,
    create_endpoint,
)
from benchmarks.models import Agent, Endpoint, Run
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.selectors import agents_for, run_roles
from benchmarks.runs.services import change_cost_cap, start_runs
from tests.factories.benchmarks import AgentFactory, RunFactory, start_sample_runs

pytestmark = pytest.mark.django_db
PRICED = {"price_in": 1.0, "price_out": 2.0, "parameters": {"max_tokens": 100}}


def make(name: str = "one", **more: Any) -> Endpoint:
    given = {"base_url": "http://localhost:1/v1", "model": "m"} | more
    return create_endpoint(name=name, title=f"Model {name}", **given)


def use(endpoint: Endpoint, **more: Any) -> Run:
    """A run that counts on an endpoint, without any call made yet."""
    (scripted,) = start_sample_runs("explorer")
    (run,) = start_runs(
        dataset=scripted.dataset,
        agents=[Agent.objects.get(name=endpoint.name)],
        levels=["mid"],
        wake=False,
        **more,
    )
    return run


class TestChanges:
    def test_an_endpoint_brings_its_agent(self) -> None:
        endpoint = make()
        agent = endpoint.agents.get()
        assert (agent.name, agent.title, agent.kind) == ("one", "Model one", "endpoint")
        change_endpoint(endpoint=endpoint, title="Another title")
        assert endpoint.agents.get().title == "Another title"

    def test_a_simulated_one_says_so_wherever_its_agent_is_named(self) -> None:
        endpoint = change_endpoint(endpoint=make(), simulated=True, title="x" * 120)
        assert endpoint.agents.get().title == "x" * 108 + " (simulated)"
        change_endpoint(endpoint=endpoint, simulated=False, title="Short")
        assert endpoint.agents.get().title == "Short"

    def test_no_two_share_a_name(self) -> None:
        make()
        AgentFactory(name="somebody")
        for name in ("one", "somebody"):
            with pytest.raises(EndpointError, match="taken"):
                make(name)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("base_url", "http://localhost:2/v1"), ("model", "n"), ("parameters", {"top_p": 1}),
            ("structured", "json_object"), ("native_tools", True), ("currency", "EUR"),
        ],
    )  # fmt: skip
    def test_what_shapes_answers_is_locked_once_a_run_counts_on_it(
        self, name: str, value: Any
    ) -> None:
        endpoint = change_endpoint(endpoint=make(), **{name: value})
        before = getattr(endpoint, name)
        use(endpoint)
        with pytest.raises(EndpointError, match=name.replace("_", " ")):
            change_endpoint(endpoint=endpoint, **{name: {"base_url": "http://localhost:3/v1",
                "model": "o", "parameters": {}, "structured": "none", "native_tools": False,
                "currency": "USD"}[name]})  # fmt: skip
        endpoint.refresh_from_db()
        assert getattr(endpoint, name) == before

    def test_a_judge_counts_as_well(self) -> None:
        endpoint = make()
        start_sample_runs("explorer", roles={"world_judge": ["endpoint:one"]})
        with pytest.raises(EndpointError, match="model cannot be changed"):
            change_endpoint(endpoint=endpoint, model="another")

    def test_prices_and_limits_may_change_at_any_time(self) -> None:
        endpoint = make()
        use(endpoint)
        changed = change_endpoint(
            endpoint=endpoint, price_in=3.0, timeout=5.0, concurrency=2, key_variable=""
        )
        assert (changed.price_in, changed.timeout, changed.concurrency) == (3.0, 5.0, 2)

    def test_one_that_the_rules_forbid_can_still_be_retired(self, settings: Any) -> None:
        endpoint = make()
        settings.PLANJURY_ENDPOINT_HOSTS = ["api.example.org"]
        with pytest.raises(CoreError, match="not in the list of allowed hosts"):
            change_endpoint(endpoint=endpoint, timeout=5.0)
        assert change_endpoint(endpoint=endpoint, retired=True).retired
        assert "one" not in [agent.name for agent in agents_for("adaplanbench")]

    def test_a_retired_one_takes_no_role(self) -> None:
        change_endpoint(endpoint=make(), retired=True)
        with pytest.raises(SettingError, match="not retired"):
            start_sample_runs("explorer", roles={"world_judge": ["endpoint:one"]})


class TestCaps:
    @pytest.mark.parametrize(
        ("given", "lacks"),
        [
            ({}, "no input price and no output price and no max_tokens"),
            (PRICED | {"price_in": None}, "no input price"),
            (PRICED | {"parameters": {}}, "no max_tokens"),
        ],
    )
    def test_a_cap_that_nobody_could_keep_is_refused(
        self, given: dict[str, Any], lacks: str
    ) -> None:
        endpoint = make(**given)
        (scripted,) = start_sample_runs("explorer")
        before = Run.objects.count()
        with pytest.raises(CapError) as refused:
            start_runs(
                dataset=scripted.dataset,
                agents=[endpoint.agents.get()],
                levels=["mid"],
                cost_cap=1.0,
                wake=False,
            )
        assert str(refused.value).endswith(f"Model one has {lacks}")
        assert Run.objects.count() == before

    def test_a_cap_is_refused_later_too(self) -> None:
        run = use(make())
        with pytest.raises(CapError, match="Model one has no input price"):
            change_cost_cap(run=run, cap=1.0)
        run.refresh_from_db()
        assert run.cost_cap is None

    @pytest.mark.parametrize(
        "given", [PRICED, {"price_in": 1.0, "price_out": 0.0, "parameters": {}}]
    )
    def test_one_that_can_be_kept_is_taken(self, given: dict[str, Any]) -> None:
        run = use(make(**given), cost_cap=1.0)
        assert (run.cost_cap, run.currency) == (1.0, "USD")

    def test_currencies_do_not_mix(self) -> None:
        make("two", currency="EUR")
        with pytest.raises(EndpointError, match="EUR, USD cannot share a run"):
            use(make(), roles={"world_judge": ["endpoint:two"]})


class TestLabels:
    def test_results_of_a_simulated_endpoint_are_labelled(self) -> None:
        run = use(make(simulated=True))
        assert run.roles["agent"][0]["label"] == "simulated"
        caution = run_caution(run)
        assert caution is not None
        assert "Simulated answers" in caution.title
        assert [f.label for f in run_roles(run)[0].assignments] == ["simulated"]

    def test_what_came_before_it_was_known_is_labelled_as_well(self) -> None:
        endpoint = make()
        run, other = use(endpoint), RunFactory(currency="USD")
        caution = run_caution(run)
        assert caution is not None and "Endpoint on this machine" in caution.title
        change_endpoint(endpoint=endpoint, simulated=True)
        version = run.data_version
        run.refresh_from_db()
        caution = run_caution(run)
        assert caution is not None and "Simulated answers" in caution.title
        assert "Endpoint on this machine" not in caution.title
        assert run.data_version == version + 1
        other.refresh_from_db()
        assert "simulated" not in str(other.roles)

    def test_the_label_does_not_come_off_again(self) -> None:
        endpoint = make(simulated=True)
        assert not change_endpoint(endpoint=endpoint, simulated=False).simulated
        change_endpoint(endpoint=endpoint, simulated=True)
        use(endpoint)
        with pytest.raises(EndpointError, match="simulated cannot be changed"):
            change_endpoint(endpoint=endpoint, simulated=False)

    def test_models_elsewhere_need_no_banner(self, settings: Any) -> None:
        settings.PLANJURY_ENDPOINT_HOSTS = ["api.example.org"]
        endpoint = make(base_url="https://api.example.org/v1")
        run = use(endpoint, roles={"world_judge": ["endpoint:one"], "user_judge": ["human"]})
        Run.objects.filter(pk=run.pk).update(is_demo=True)
        run.refresh_from_db()
        caution = run_caution(run)
        assert caution is not None
        # a model answered, so this is no demo of scripts alone
        assert caution.title == "Demo tasks · Scripted judges · Scripted user simulator"
