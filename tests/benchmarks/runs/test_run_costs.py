"""Tests of costs on pages: the form's cap and estimate, the run's page, and its log."""

import re
from typing import Any

import pytest
from django.test import Client

from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Dataset, Endpoint, Exchange, Experiment, Run
from benchmarks.runs.selectors import spent
from benchmarks.runs.services import halt_run
from tests.factories.benchmarks import (
    AnswererVersionFactory,
    ExchangeFactory,
    RunFactory,
    TrajectoryFactory,
    save_sample_dataset,
    start_sample_runs,
)

pytestmark = pytest.mark.django_db
NEW = "/runs/new/"
PRICED = {"price_in": 1.0, "price_out": 2.0, "parameters": {"max_tokens": 100}}


def text(response: Any) -> str:
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return " ".join(words.replace("&#x27;", "'").split())


def make(name: str, **more: Any) -> Endpoint:
    given = {"base_url": "http://localhost:1/v1", "model": "m"} | more
    return create_endpoint(name=name, title=f"Model {name}", **given)


@pytest.fixture
def dataset(db: None) -> Dataset:
    return save_sample_dataset()


@pytest.fixture
def answers(dataset: Dataset, researcher: Client) -> dict[str, Any]:
    """Return the form for a priced model as agent, whose plans the scripts cannot read."""
    make("priced", **PRICED)
    make("unpriced")
    form = researcher.get(NEW).context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    given["accept_undefined"] = "on"
    return {**given, "dataset": dataset.pk, "agents": ["priced"], "levels": ["mid"]}


class TestForm:
    def test_every_role_offers_scripts_models_and_people(
        self, researcher: Client, answers: dict[str, Any]
    ) -> None:
        form = researcher.get(NEW).context["form"]
        for name in form.role_names:
            groups = dict(form.fields[name].choices)
            assert list(groups) == ["Scripts", "Language models", "People"]
            assert groups["Language models"] == [
                ("endpoint:priced", "Model priced"), ("endpoint:unpriced", "Model unpriced"),
            ]  # fmt: skip
            assert groups["People"] == [("human", "A person")]
        page = researcher.get(NEW).content.decode()
        assert '<optgroup label="Language models">' in page

    def test_without_endpoints_nothing_is_said_of_caps(
        self, researcher: Client, dataset: Dataset
    ) -> None:
        page = researcher.get(NEW).content.decode()
        assert "cost_cap" not in page and "there is none yet" in page

    def test_a_cap_and_models_in_other_roles(
        self, researcher: Client, answers: dict[str, Any]
    ) -> None:
        more = {"cost_cap": "2.5", "role_world_judge_1": "endpoint:priced"}
        assert researcher.post(NEW, answers | more).status_code == 302
        run = Run.objects.get()
        assert (run.cost_cap, run.currency) == (2.5, "USD")
        assert run.roles["world_judge"][0]["endpoint"] == "priced"

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"agents": ["priced", "unpriced"]}, "Model unpriced has no input price"),
            ({"role_user_judge_1": "endpoint:unpriced"}, "no max_tokens"),
            ({"cost_cap": "0"}, "Expected an amount above 0"),
            ({"cost_cap": "-3"}, "Expected an amount above 0"),
            ({"cost_cap": "inf"}, "Enter a number"),
            ({"cost_cap": "much"}, "Enter a number"),
        ],
    )
    def test_a_cap_that_cannot_be_kept(
        self, researcher: Client, answers: dict[str, Any], more: dict[str, Any], words: str
    ) -> None:
        response = researcher.post(NEW, answers | {"cost_cap": "2"} | more)
        assert response.status_code == 422
        assert list(response.context["form"].errors) == ["cost_cap"]
        assert words in text(response)
        assert not Run.objects.exists() and not Experiment.objects.exists()

    def test_without_a_cap_no_price_is_needed(
        self, researcher: Client, answers: dict[str, Any]
    ) -> None:
        assert researcher.post(NEW, answers | {"agents": ["unpriced"]}).status_code == 302
        assert Run.objects.get().cost_cap is None

    def test_currencies_do_not_mix(self, researcher: Client, answers: dict[str, Any]) -> None:
        make("euro", currency="EUR")
        response = researcher.post(NEW, answers | {"role_world_judge_1": "endpoint:euro"})
        assert response.status_code == 422
        assert "EUR, USD cannot share a run" in text(response)
        assert not Run.objects.exists()

    def test_a_retired_one_is_not_offered(
        self, researcher: Client, answers: dict[str, Any]
    ) -> None:
        Endpoint.objects.filter(name="unpriced").update(retired=True)
        assert "Model unpriced" not in researcher.get(NEW).content.decode()
        wrong = answers | {"role_world_judge_1": "endpoint:unpriced"}
        response = researcher.post(NEW, wrong)
        assert "role_world_judge_1" in response.context["form"].errors

    def test_an_estimate_only_where_something_is_known(
        self, researcher: Client, answers: dict[str, Any], dataset: Dataset
    ) -> None:
        assert "The cost is not known yet" in text(researcher.get(NEW, answers))
        judged = answers | {
            f"role_{seat}": "endpoint:priced"
            for seat in ("world_judge_1", "rubric_judge_1", "rubric_judge_2")
        }
        asked = "Asked: Model priced as agent, world judge, rubric judges × 2."
        assert asked in text(researcher.get(NEW, judged))
        version = AnswererVersionFactory(kind="endpoint", name="priced")
        run = RunFactory(dataset=dataset, level="mid")
        for number in range(5):
            ExchangeFactory(
                trajectory=TrajectoryFactory(run=run), role="agent", answerer=version,
                cost=0.2 + 0.1 * number,
            )  # fmt: skip
        # five trajectories cost 0.4 on average, and there are three to play
        tasks = list(dataset.tasks.values_list("external_id", flat=True))[:3]
        response = researcher.get(NEW, answers | {"tasks": "\n".join(tasks)})
        found = response.context["size"]["estimate"]
        assert found.amount == pytest.approx(3 * 0.4)
        assert "about 1.2 USD, going by at least 5" in text(response)
        judged = answers | {"role_world_judge_1": "endpoint:priced"}
        assert researcher.get(NEW, judged).context["size"]["estimate"] is None

        few = answers | {"tasks": "\n".join(tasks)}
        enough = text(researcher.get(NEW, few | {"cost_cap": found.amount}))
        assert "The cap will stop" not in enough
        page = text(researcher.get(NEW, few | {"cost_cap": found.amount / 2}))
        assert "The cap will stop this run before the end." in page
        assert f"about {found.amount:.3g} USD, the cap is {found.amount / 2:.3g}." in page
        scripted = answers | {"agents": ["explorer"]}
        assert "cost" not in researcher.get(NEW, scripted).context["size"]


class TestRunPage:
    @pytest.fixture
    def run(self) -> Run:
        make("priced", **PRICED)
        (run,) = start_sample_runs("priced", cost_cap=2.0)
        version = AnswererVersionFactory(kind="endpoint", name="priced")
        trajectory = run.trajectories.first()
        given = {"trajectory": trajectory, "answerer": version}
        ExchangeFactory(step=0, cost=0.5, most=0.9, tokens_in=1200, tokens_out=300, **given)
        ExchangeFactory(
            step=1, state="lost", most=0.25, reason="no complete reply within 5 s", **given
        )
        Run.objects.filter(pk=run.pk).update(committed=0.75)
        run.refresh_from_db()
        return run

    def test_costs_tokens_and_roles(self, run: Run, reader: Client) -> None:
        page = text(reader.get(f"/runs/{run.pk}/"))
        assert "0.75 of 2 USD" in page
        assert "0.5 USD" in page and "0.25 USD" in page
        assert "1,200, 300" in page
        assert "Model priced" in page and "endpoint on this machine" in page
        assert "Change the cap" not in page
        assert "0.75 of 2 USD" in text(reader.get("/runs/"))

    def test_a_run_of_scripts_speaks_of_no_money(self, reader: Client, played: Run) -> None:
        page = text(reader.get(f"/runs/{played.pk}/"))
        assert "Cost cap" not in page and "Known cost" not in page and "USD" not in page

    def test_why_it_is_paused_and_more_money(self, run: Run, researcher: Client) -> None:
        halt_run(run_id=run.pk, reason="the cost cap of 2 is reached: 1.9 is spent")
        page = text(researcher.get(f"/runs/{run.pk}/"))
        assert "Paused: the cost cap of 2 is reached" in page
        response = researcher.post(f"/runs/{run.pk}/cap/", {"cap": "4"}, follow=True)
        assert "The run has a cap of 4 USD" in text(response)
        run.refresh_from_db()
        assert (run.cost_cap, run.status, run.problem) == (4.0, Run.Status.QUEUED, "")

    def test_no_cap_any_more(self, run: Run, researcher: Client) -> None:
        researcher.post(f"/runs/{run.pk}/cap/", {"cap": ""})
        run.refresh_from_db()
        assert run.cost_cap is None

    @pytest.mark.parametrize("cap", ["0", "-1", "lots", "nan"])
    def test_a_cap_that_is_none(self, run: Run, researcher: Client, cap: str) -> None:
        response = researcher.post(f"/runs/{run.pk}/cap/", {"cap": cap}, follow=True)
        assert "The cost cap was not changed" in text(response)
        run.refresh_from_db()
        assert run.cost_cap == 2.0

    def test_a_cap_without_prices(self, run: Run, researcher: Client) -> None:
        Endpoint.objects.update(price_in=None)
        response = researcher.post(f"/runs/{run.pk}/cap/", {"cap": "3"}, follow=True)
        assert "Model priced has no input price" in text(response)
        run.refresh_from_db()
        assert run.cost_cap == 2.0

    def test_queries(
        self, run: Run, researcher: Client, django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(24):
            researcher.get(f"/runs/{run.pk}/")
        with django_assert_max_num_queries(7):
            researcher.get(f"/runs/{run.pk}/progress/")


class TestLog:
    def shown(self, reader: Client, **given: Any) -> str:
        make("priced", **PRICED)
        run = RunFactory(currency="EUR")
        version = AnswererVersionFactory(kind="endpoint", name="priced")
        row: Exchange = ExchangeFactory(
            trajectory=TrajectoryFactory(run=run), answerer=version, **given
        )
        return text(reader.get(f"/trajectories/{row.trajectory_id}/exchanges/"))

    def test_a_reply_that_was_cut_off(self, reader: Client) -> None:
        page = self.shown(reader, finish="length", tries=3, cost=0.004)
        assert "cut off : the reply reached its token limit" in page
        assert "3, because the endpoint refused or failed" in page
        assert "0.004 EUR" in page
        assert "Model priced" in page

    def test_what_nobody_knows_the_cost_of(self, reader: Client) -> None:
        assert "not known, at most 0.02 EUR" in self.shown(reader, state="lost", most=0.02)

    def test_without_a_price(self, reader: Client) -> None:
        page = self.shown(reader, most=None)
        assert "Cost not known" in page and "at most" not in page

    def test_reasoning_tools_and_the_model_that_answered(self, reader: Client) -> None:
        tool = {"function": {"name": "look_up", "description": "Finds a thing."}}
        page = self.shown(
            reader, reasoning="Let me think.", text="The answer.", tools=[tool],
            model_reported="m-2025-11",
        )  # fmt: skip
        assert page.index("Let me think.") < page.index("Reply as received")
        assert "1 tool offered" in page and "look_up Finds a thing." in page
        assert "m-2025-11" in page

    def test_a_filtered_one(self, reader: Client) -> None:
        assert "content filter stopped it" in self.shown(reader, finish="content_filter")


def test_nothing_spent_is_zero_after_reserving_and_releasing() -> None:
    """0.1 + 0.2 - 0.3 is no cost."""
    run = Run(currency="USD", cost_cap=0.5, committed=0.1 + 0.2 - 0.3)
    assert run.committed > 0
    cost = spent(run)
    assert cost is not None and cost.amount == 0
