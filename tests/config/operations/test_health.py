"""Tests of health checks for programs that watch a server, and of the administrators' page."""

import smtplib
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from benchmarks.jobs import workers
from benchmarks.jobs.threads import owner_name, process_name
from benchmarks.models import Job, Trajectory, WorkerProcess
from config.operations import probes
from tests.factories.benchmarks import save_sample_dataset, start_sample_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]
BY_IP = {"headers": {"host": "10.1.2.3"}}


@pytest.fixture(autouse=True)
def _looks_anew() -> Iterator[None]:
    probes.forget()
    yield
    probes.forget()


def test_a_prober_is_answered_by_ip_address_without_https_or_session(
    client: Client, settings: Settings, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/", **BY_IP).status_code != 200
    with django_assert_num_queries(0):
        answer = client.get("/health/live", **BY_IP)
    assert (answer.status_code, answer.content) == (200, b"live\n")
    answer = client.get("/health/ready", REMOTE_ADDR="203.0.113.9", **BY_IP)
    assert (answer.status_code, answer.content) == (200, b"ready\n")
    assert not answer.cookies
    assert answer["Cache-Control"] == "no-store"
    assert client.post("/health/ready", **BY_IP).status_code == 405


def test_reasons_are_for_named_addresses_alone(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HEALTH_IPS = [ip_network("10.0.0.0/8")]
    settings.MIN_FREE_MB = 10**9
    near = client.get("/health/ready", REMOTE_ADDR="10.9.8.7").json()
    assert near["status"] == "not ready"
    checks = near["checks"]
    assert [name for name, found in checks.items() if not found["ok"]] == ["disk"]
    assert "below 1,000,000,000" in checks["disk"]["detail"]
    # What a proxy in front passes on counts as far as its number is known.
    far = client.get(
        "/health/ready", REMOTE_ADDR="203.0.113.9", headers={"X-Forwarded-For": "10.1.1.1"}
    )
    assert (far.status_code, far.content, far["Retry-After"]) == (503, b"not ready\n", "5")

    settings.MIN_FREE_MB = 1
    probes.forget()
    monkeypatch.setattr(probes, "is_behind", lambda _: True)
    near = client.get("/health/ready", REMOTE_ADDR="::ffff:10.9.8.7")
    assert near.status_code == 503
    assert "manage.py migrate" in near.json()["checks"]["migrations"]["detail"]


def test_without_the_broker_pages_go_on(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> int:
        raise probes._ProbeFailed("redis://:**@127.0.0.1:1/0: connection refused")

    monkeypatch.setattr(probes, "messages_waiting", away)
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")


def test_metrics_need_their_token(client: Client, settings: Settings) -> None:
    assert client.get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "a long random word"
    assert client.get("/metrics").status_code == 401
    wrong = client.get("/metrics", headers={"Authorization": "Bearer é"})
    assert wrong.status_code == 401
    Job.objects.create(kind="x", title="X", status=Job.Status.FAILED)
    workers._report(timezone.now())
    text = client.get(
        "/metrics", headers={"Authorization": "Bearer a long random word"}
    ).content.decode()
    assert 'planjury_jobs{status="failed"} 1.0' in text
    assert 'planjury_workers{state="working"} 1.0' in text
    assert 'planjury_ready{part="database"} 1.0' in text
    assert 'planjury_request_seconds_count{method="GET",status="401"}' in text


def test_the_page_of_administrators(client: Client) -> None:
    workers._report(timezone.now() - timedelta(hours=2))
    WorkerProcess.objects.create(
        name="gone:12",
        version="0.1",
        threads=4,
        endpoint_threads=8,
        started_at=timezone.now() - timedelta(hours=1),
        seen_at=timezone.now() - timedelta(minutes=1),
    )
    (run,) = start_sample_runs("forgetful", dataset=save_sample_dataset(2))
    later = timezone.now() + timedelta(seconds=30)
    run.trajectories.update(
        status=Trajectory.Status.RUNNING, lease_owner=f"{owner_name()}+3", lease_until=later
    )
    job = Job.objects.create(
        kind="import", title="Import of a.json", status="failed", attempts=6, message="gone <away>"
    )
    client.force_login(User.objects.create_user("mere"))
    assert client.get("/server/").status_code == 403
    assert client.post(f"/server/jobs/{job.pk}/retry").status_code == 403
    client.force_login(User.objects.create_superuser("root", "root@example.org"))
    answer = client.get("/server/")
    mine, gone = sorted(answer.context["workers"], key=lambda state: state.lost)
    assert (mine.row.name, mine.lost, mine.trajectories) == (process_name(), False, 2)
    assert (gone.row.name, gone.lost, gone.trajectories) == ("gone:12", True, 0)
    assert b"gone &lt;away&gt;" in answer.content

    client.post(f"/server/jobs/{job.pk}/retry")
    job.refresh_from_db()
    assert (job.attempts, job.status == "failed" and "gone" in job.message) == (job.attempts, False)
    workers.end_heartbeat()
    assert not WorkerProcess.objects.filter(name=process_name()).exists()


def test_mail_settings_are_tried(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(User.objects.create_superuser("root", "root@example.org"))
    answer = client.post("/server/mail", {"to": "you@example.org"}, follow=True)
    assert "written to the server’s log" in answer.text or "server&#x27;s log" in answer.text
    (message,) = mail.outbox
    assert message.to == ["you@example.org"]

    def refuse(*args: object, **kwargs: object) -> None:
        raise smtplib.SMTPAuthenticationError(535, b"wrong password")

    monkeypatch.setattr("config.operations.views.send_mail", refuse)
    answer = client.post("/server/mail", {"to": "you@example.org"})
    assert answer.status_code == 422
    assert "does not accept the user name and password" in answer.text
    assert connection.in_atomic_block
