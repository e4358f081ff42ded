"""The log: request ids, JSON, one line for an outage; the cache without Redis; error reports."""

import io
import json
import logging
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from benchmarks import outages, request_ids
from benchmarks.jobs.threads import Threads
from config.operations import error_reports
from config.operations.cache import RedisOrMemoryCache
from config.operations.logs import (
    AddRequestId,
    FaultsOfUsersInOneLine,
    JsonFormatter,
    LineFormatter,
    OutagesOnce,
)

pytestmark = pytest.mark.either


class Log(io.StringIO):
    """The log that the product writes."""

    handler: logging.Handler

    @property
    def lines(self) -> list[str]:
        return self.getvalue().splitlines()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Log]:
    """The log with the filters of the settings."""
    monkeypatch.setattr(outages, "_ongoing", {})
    stream = Log()
    stream.handler = handler = logging.StreamHandler(stream)
    handler.setFormatter(LineFormatter("%(levelname)s %(name)s: %(message)s"))
    for each in (AddRequestId(), FaultsOfUsersInOneLine(), OutagesOnce()):
        handler.addFilter(each)
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


@pytest.mark.django_db
def test_a_request_is_followed_into_json(
    client: Client, settings: Settings, log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    log.handler.setFormatter(JsonFormatter())
    settings.ACCESS_LOG = True
    caplog.set_level(logging.INFO, "planjury.access")
    user = User.objects.create_user("reader")
    client.force_login(user)
    answer = client.get("/runs/?q=secret", headers={"X-Request-ID": "from-the-proxy-7"})
    assert (answer.status_code, answer["X-Request-ID"]) == (403, "from-the-proxy-7")
    refused, access = map(json.loads, log.lines)
    assert refused["message"] == "Forbidden (Permission denied): /runs/"
    assert "exception" not in refused
    assert {refused["request"], access["request"]} == {"from-the-proxy-7"}
    told = (access["method"], access["path"], access["status"], access["user"])
    assert told == ("GET", "/runs/", 403, user.pk)
    assert "secret" not in log.getvalue()
    # Django logs this one after all middleware.
    assert (
        client.post("/health/live", headers={"X-Request-ID": "from-the-proxy-8"}).status_code == 405
    )
    assert [json.loads(line)["request"] for line in log.lines[2:]] == ["from-the-proxy-8"] * 2
    made_up = client.get("/health/live", headers={"X-Request-ID": "a b\nc"})["X-Request-ID"]
    assert len(made_up) == 16
    assert client.get("/", headers={"host": "unknown.example"}).status_code == 400
    assert all("Traceback" not in line for line in log.lines)


def test_work_knows_the_request_that_asked_for_it() -> None:
    headers: dict[str, str] = {}
    with request_ids.request_id_as("abcdefgh"):
        request_ids.send_id(headers=headers)
    message = SimpleNamespace(request=SimpleNamespace(is_eager=False, headers=headers))
    request_ids.take_id(task=message)
    try:
        with Threads(1) as pool:
            assert pool.submit(request_ids.current_request_id).result() == "abcdefgh"
    finally:
        request_ids.drop_id(task=message)
    assert request_ids.current_request_id() == ""


@pytest.mark.django_db
def test_an_outage_of_the_database_is_a_page_and_two_lines(
    client: Client, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*args: object) -> None:
        raise OperationalError("connection refused\n\tIs the server running?")

    client.force_login(User.objects.create_user("reader"))
    client.raise_request_exception = False
    with monkeypatch.context() as patch:
        patch.setattr("django.contrib.sessions.backends.db.SessionStore.load", away)
        for _ in range(3):
            answer = client.get("/")
            assert (answer.status_code, answer["Retry-After"]) == (503, "5")
            assert b"<h1>PlanJury cannot reach its database right now</h1>" in answer.content
        logging.getLogger("benchmarks.tasks").info("other things are logged")
        try:
            away()
        except OperationalError:
            logging.getLogger("benchmarks.runs.worker").exception("run 3 was left to the sweep")
    begun, other = log.lines
    assert other == "INFO benchmarks.tasks: other things are logged"
    assert begun.startswith("ERROR benchmarks.outages: Outage (database_unavailable): ")
    assert "connection refused" in begun
    outages.connection_created.send(sender=type(connection), connection=connection)
    assert len(log.lines) == 3
    assert "Recovered (database_unavailable)" in log.lines[2]
    assert "operations failed meanwhile" in log.lines[2]


@pytest.mark.parametrize(
    "words",
    ["FATAL:  sorry, too many clients already", "FATAL: no more connections allowed",
     "FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute",
     "FATAL:  query_wait_timeout"],
)  # fmt: skip
def test_servers_and_poolers_say_it_in_their_own_words(words: str) -> None:
    assert outages.outage_behind(OperationalError(words)) is outages.CROWDED


def test_the_cache_goes_on_without_redis(log: Log) -> None:
    cache = RedisOrMemoryCache("redis://127.0.0.1:1/0", {"KEY_PREFIX": "test"})
    cache.set("tries", 4, 60)
    assert cache.incr("tries") == 5
    assert cache.add("tries", 1) is False
    assert cache.get_or_set("other", lambda: 7) == 7
    cache.set_many({"a": 1, "b": 2})
    assert cache.get_many(["a", "b", "c"]) == {"a": 1, "b": 2}
    assert len(log.lines) == 1
    assert "Outage (cache_unavailable)" in log.lines[0]


def test_error_reports_start_where_they_are_set_up_and_leave_out_outages(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, object] = {}
    monkeypatch.setitem(sys.modules, "sentry_sdk", SimpleNamespace(init=given.update))
    error_reports.start_error_reports()
    assert not given
    settings.SENTRY_DSN = "http://key@127.0.0.1/1"
    error_reports.start_error_reports()
    assert given["send_default_pii"] is False
    assert given["include_local_variables"] is False
    send = error_reports._before_send
    fault, outage = ZeroDivisionError(), OperationalError("connection refused")
    asked = {"method": "GET", "url": "/a", "query_string": "token=1", "headers": {"Cookie": "s=1"}}
    sent = send({"request": asked}, {"exc_info": (type(fault), fault, None)})
    assert sent == {"request": {"method": "GET", "url": "/a"}}
    assert send({}, {"exc_info": (type(outage), outage, None)}) is None
