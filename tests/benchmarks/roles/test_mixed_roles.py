"""Models, scripts and people in any role of a run, from the start to the end."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from benchmarks.asks.selectors import reply_form
from benchmarks.asks.services import answer_open_ask
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Agent, Exchange, OpenAsk, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from devtools.fake_endpoint.server import FakeServer
from tests.factories.benchmarks import make_user, play, save_sample_dataset

pytestmark = pytest.mark.django_db
MODEL = "endpoint:fake"
PLAN = "1. Open the window.\n2. Wait until it is dry."


@pytest.fixture
def start(server: FakeServer) -> Callable[..., Run]:
    """Start and carry a run with these role assignments; ``agent`` is an agent's name."""
    create_endpoint(
        name="fake", title="Fake", base_url=server.base_url, model="fake", timeout=5.0,
        price_in=1.0, price_out=2.0, parameters={"max_tokens": 400},
    )  # fmt: skip
    ensure_scripted_agents()

    def begin(agent: str, **roles: str) -> Run:
        (run,) = start_runs(
            dataset=save_sample_dataset(1),
            agents=[Agent.objects.get(name=agent)],
            levels=["mid"],
            roles={role: [name] for role, name in roles.items()},
            wake=False,
        )
        play(run)
        return run

    return begin


def answer_all(run: Run) -> int:
    """Answer whatever is asked, with replies of the form that people are shown."""
    person, answered = make_user("player"), 0
    while run.status == Run.Status.WAITING:
        asks = list(OpenAsk.objects.filter(trajectory__run=run, answered_at=None))
        assert asks
        for ask in asks:
            form = reply_form(run.dataset.system, ask.expect)
            text = PLAN if ask.role == "agent" else form.example
            answer_open_ask(ask=ask, by=person, text=text)
            answered += 1
        play(run)
        assert answered < 400
    return answered


def who(run: Run) -> dict[str, set[str]]:
    """The kinds that answered, by role."""
    rows = Exchange.objects.filter(trajectory__run=run, state="answered")
    found: dict[str, set[str]] = {}
    for role, kind in rows.values_list("role", "answerer__kind"):
        found.setdefault(role, set()).add(kind)
    return found


def ended(run: Run) -> Trajectory:
    assert run.status == Run.Status.DONE, run.trajectories.values_list("problem")
    trajectory = run.trajectories.get()
    assert trajectory.termination and trajectory.turns.exists()
    return trajectory


def test_a_model_as_agent_with_scripted_judges(start: Callable[..., Run]) -> None:
    run = start("fake")
    ended(run)
    found = who(run)
    assert found.pop("agent") == {"endpoint"}
    assert set().union(*found.values()) == {"scripted"}


def test_a_scripted_agent_with_models_for_all_else(
    start: Callable[..., Run], server: FakeServer
) -> None:
    others = ("world_judge", "user_judge", "rubric_judge", "simulator")
    run = start("explorer", **dict.fromkeys(others, MODEL))
    ended(run)
    found = who(run)
    assert found.pop("agent") == {"scripted"}
    assert set().union(*found.values()) == {"endpoint"}
    calls = Exchange.objects.filter(trajectory__run=run, answerer__kind="endpoint")
    assert server.counts.received == calls.count()


@pytest.mark.parametrize(
    ("agent", "roles"),
    [
        ("person", {}),
        ("person", {"world_judge": MODEL, "user_judge": MODEL}),
        ("explorer", {"world_judge": "human", "simulator": "human"}),
        ("fake", {"rubric_judge": "human", "user_judge": "human", "simulator": MODEL}),
        ("fake", {"simulator": "human"}),
        (
            "person",
            dict.fromkeys(("world_judge", "user_judge", "rubric_judge", "simulator"), "human"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value) or "alone",
)
def test_a_person_anywhere(start: Callable[..., Run], agent: str, roles: dict[str, Any]) -> None:
    run = start(agent, **roles)
    people = {role for role, name in roles.items() if name == "human"}
    people |= {"agent"} if agent == "person" else set()
    if agent != "fake" or "simulator" not in people:
        # the plans of the fake model may happen to need no feedback
        assert run.status == Run.Status.WAITING
    answer_all(run)
    ended(run)
    found = who(run)
    for role, kinds in found.items():
        assignment = "endpoint" if roles.get(role) == MODEL else "scripted"
        assignment = "endpoint" if (role, agent) == ("agent", "fake") else assignment
        assert kinds == ({"human"} if role in people else {assignment})


def test_over_the_pages_from_form_to_end(start: Callable[..., Run], researcher: Client) -> None:
    """The same over the pages: a model as agent, a person as one judge, a cap on the cost."""
    dataset = save_sample_dataset(1)
    form = researcher.get("/runs/new/").context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    given |= {
        "dataset": dataset.pk, "agents": ["fake"], "levels": ["low"], "cost_cap": "5",
        "role_world_judge_1": "human", "role_user_judge_1": MODEL,
        "accept_undefined": "on",  # the scripted rubric judges cannot read what it plans
    }  # fmt: skip
    response = researcher.post("/runs/new/", given)
    assert response.status_code == 302, response.context["form"].errors
    run = Run.objects.latest("pk")
    assert run.cost_cap == 5.0
    play(run)
    answered = 0
    while run.status == Run.Status.WAITING:
        ask = researcher.get("/asks/", {"run": run.pk}).context["rows"][0].row
        reply = researcher.get(f"/asks/{ask.pk}/").context["ask"].reply.example
        response = researcher.post(f"/asks/{ask.pk}/", {"text": reply})
        assert response.status_code == 302
        answered += 1
        play(run)
    assert answered >= 1
    ended(run)
    page = researcher.get(f"/runs/{run.pk}/").content.decode()
    assert "Endpoint on this machine" in page
    assert "of 5 USD" in page
    assert "A person" in page
    assert run.committed == pytest.approx(
        sum(Exchange.objects.filter(cost__isnull=False).values_list("cost", flat=True))
    )
