"""Trying an endpoint in the background, on the fake one."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from benchmarks.endpoints import trials
from benchmarks.endpoints.services import EndpointError, change_endpoint, create_endpoint
from benchmarks.endpoints.trials import start_trial
from benchmarks.jobs.services import perform
from benchmarks.mappers import core_messages
from benchmarks.models import Endpoint, EndpointTrial, Job, Run
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.llm.stage import KEY, VARIABLE
from tests.factories.benchmarks import EndpointTrialFactory, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture(autouse=True)
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is woken: the tests carry the jobs themselves."""
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", lambda job_id: None)
    monkeypatch.setenv(VARIABLE, KEY)


def make(server: FakeServer, model: str = "fake", **more: Any) -> Endpoint:
    given = {"timeout": 5.0, "base_url": server.base_url, "model": model} | more
    return create_endpoint(name=f"on-{model}", title=f"On {model}", **given)


def tried(endpoint: Endpoint, by: User | None = None) -> list[EndpointTrial]:
    job = start_trial(endpoint=endpoint, asked_by=by)
    perform(job_id=job.pk, owner="test")
    job.refresh_from_db()
    assert job.status == Job.Status.DONE, job.message
    return list(endpoint.trials.order_by("pk"))


def test_it_asks_for_what_the_endpoint_is_said_to_do(server: FakeServer) -> None:
    person = make_user("root")
    endpoint = make(
        server, structured="json_schema", native_tools=True, price_in=1.0, price_out=1.0
    )
    rows = tried(endpoint, person)
    assert [row.role for row in rows] == ["words", "json", "tool"]
    assert {row.state for row in rows} == {"answered"}, [row.reason for row in rows]
    for row in rows:
        assert row.asked_by == person
        assert row.model_reported == "fake-2025"
        assert row.tokens_in and row.tokens_out is not None
        assert row.cost == pytest.approx((row.tokens_in + row.tokens_out) / 1e6)
        assert row.latency is not None and row.sent_at <= row.settled_at
        asked = [message.text for message in core_messages(row.messages)]
        assert asked[-1] == trials.QUESTIONS[row.role]
    formats = [request.get("response_format", {}).get("type") for request in server.requests]
    assert formats == [None, "json_schema", None]
    assert [bool(request.get("tools")) for request in server.requests] == [False, False, True]


def test_without_structure_and_tools_there_is_one_question(server: FakeServer) -> None:
    (row,) = tried(make(server))
    assert (row.role, row.state, row.cost) == ("words", "answered", None)


def test_the_fake_endpoint_is_found_out_and_its_runs_labelled(server: FakeServer) -> None:
    endpoint = make(server)
    assert not endpoint.simulated
    tried(endpoint)
    endpoint.refresh_from_db()
    assert endpoint.simulated
    change_endpoint(endpoint=endpoint, model="echo")  # a trial locks nothing


def test_another_server_on_this_machine_is_not_called_fake(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials, "FAKE_OWNER", "somebody else")
    endpoint = make(server)
    tried(endpoint)
    endpoint.refresh_from_db()
    assert not endpoint.simulated


@pytest.mark.parametrize("model", ["echo", "echo-error", "unauthorized"])
def test_no_secret_is_stored(server: FakeServer, model: str) -> None:
    (row,) = tried(make(server, model, key_variable=VARIABLE))
    stored = " ".join(map(str, EndpointTrial.objects.values_list()[0]))
    assert KEY not in stored and KEY[3:15] not in stored
    assert (row.state == "answered") == (model == "echo")
    if model != "unauthorized":
        assert "[redacted]" in stored
    assert KEY not in " ".join(Job.objects.values_list("message", flat=True))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("refuses", "answered 400 (bad_request): “Unsupported value"),
        ("down", "answered 503"),
        ("cut-off", "cut off"),
        ("filtered", "content filter"),
        ("empty", "empty"),
        ("not-json", "no JSON"),
        ("redirect", "redirects are not followed"),
    ],
)
def test_what_went_wrong_is_told(server: FakeServer, model: str, words: str) -> None:
    (row,) = tried(make(server, model))
    assert row.state in ("unreadable", "declined", "failed", "lost")
    assert words in row.reason


def test_json_that_is_none_and_tools_that_are_not_called(server: FakeServer) -> None:
    endpoint = make(server, "garbage", structured="json_object", native_tools=True)
    words, as_json, tool = tried(endpoint)
    assert words.state == "answered"
    assert "not the JSON" in as_json.reason
    assert tool.state == "unreadable" and "called no tool" in tool.reason


def test_reasoning_stands_apart(server: FakeServer) -> None:
    (row,) = tried(make(server, "thinks"))
    assert row.reasoning.startswith("The question wants an answer")
    assert "The question wants" not in row.text


def test_a_missing_key_is_named_and_nothing_is_sent(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    (row,) = tried(make(server, key_variable=VARIABLE))
    assert f"{VARIABLE} is not set" in row.reason
    assert server.counts.received == 0


def test_a_host_that_is_not_allowed_any_more(server: FakeServer, settings: Any) -> None:
    endpoint = make(server)
    settings.PLANJURY_ENDPOINT_HOSTS = ["api.example.org"]
    (row,) = tried(endpoint)
    assert "not in the list of allowed hosts" in row.reason
    assert server.counts.received == 0


def test_one_trial_at_a_time(server: FakeServer) -> None:
    endpoint = make(server)
    job = start_trial(endpoint=endpoint)
    with pytest.raises(EndpointError, match="being tried already"):
        start_trial(endpoint=endpoint)
    Job.objects.filter(pk=job.pk).update(status=Job.Status.FAILED)
    start_trial(endpoint=endpoint)
    change_endpoint(endpoint=endpoint, retired=True)
    with pytest.raises(EndpointError, match="retired"):
        start_trial(endpoint=endpoint)


def test_begun_anew_it_asks_only_what_has_no_answer(server: FakeServer) -> None:
    endpoint = make(server, structured="json_schema")
    job = start_trial(endpoint=endpoint)
    EndpointTrialFactory(endpoint=endpoint, job=job, text="said before")
    EndpointTrialFactory(endpoint=endpoint, job=job, slot=1, role="json", state="sent")
    perform(job_id=job.pk, owner="another")
    assert server.counts.received == 1
    rows = endpoint.trials.order_by("pk").values_list("slot", "attempt", "repeats", "state")
    assert list(rows) == [
        (0, 1, 0, "answered"),
        (1, 1, 0, "lost"),
        (1, 2, 1, "answered"),
    ]


@pytest.mark.django_db(transaction=True)
def test_a_slow_answer_keeps_the_job_alive(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.jobs.services.BEAT_SECONDS", 0.05)
    server.latency = 0.4
    reports: list[int | None] = []
    report = trials.Progress.report

    def noted(self: Any, **given: Any) -> None:
        reports.append(given.get("done"))
        report(self, **given)

    monkeypatch.setattr(trials.Progress, "report", noted)
    tried(make(server))
    assert reports.count(None) >= 3


def test_trials_belong_to_no_run(server: FakeServer) -> None:
    tried(make(server))
    assert not Run.objects.exists()
