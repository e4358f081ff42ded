"""Tests of the headers of every answer, and of the life of a session."""

from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from tests.config.test_settings import run_python

pytestmark = pytest.mark.either

LOGIN = "/accounts/login/"
FORM = {"login": "rater", "password": "correct horse"}


@pytest.fixture
def rater(db: None) -> User:
    """Somebody with a password."""
    return User.objects.create_user("rater", password="correct horse")


@pytest.mark.parametrize("path", [LOGIN, "/", "/none/such/", "/api/v1/runs", "/static/none.css"])
def test_every_answer_carries_the_policy(path: str, client: Client, db: None) -> None:
    headers = client.get(path).headers
    policy = dict(
        part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";")
    )
    assert policy["script-src"] == "'self'"
    assert policy["default-src"] == "'self'"
    assert policy["form-action"] == "'self'"
    assert policy["base-uri"] == "'self'"
    assert policy["frame-ancestors"] == policy["object-src"] == "'none'"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


def test_cookies_are_for_https_alone_where_it_is_served(rater: User, settings) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    client = Client()
    page = client.get(LOGIN, secure=True)
    answer = client.post(LOGIN, FORM, secure=True)
    for cookie in (page.cookies["csrftoken"], answer.cookies["sessionid"]):
        assert cookie["secure"]
        assert cookie["samesite"] == "Lax"
    assert answer.cookies["sessionid"]["httponly"]


def test_browsers_are_held_to_https_where_the_operator_says_so(settings, db: None) -> None:
    assert "Strict-Transport-Security" not in Client().get(LOGIN, secure=True).headers
    settings.SECURE_HSTS_SECONDS = 3600
    assert "Strict-Transport-Security" not in Client().get(LOGIN).headers
    assert Client().get(LOGIN, secure=True).headers["Strict-Transport-Security"] == "max-age=3600"


def test_the_environment_says_what_is_served_over_https(tmp_path) -> None:
    code = (
        "import config.settings.{0} as s; print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, "
        "s.SECURE_HSTS_SECONDS, s.PROXIES)"
    )
    given = {"PLANJURY_DATA_DIR": str(tmp_path)}
    told = {"PLANJURY_HSTS_SECONDS": "60", "PLANJURY_PROXIES": "1"}
    assert run_python(code.format("base"), **given).stdout.split() == ["False", "False", "0", "0"]
    assert run_python(code.format("production"), **given, **told).stdout.split() == [
        "True", "True", "60", "1",
    ]  # fmt: skip


def test_a_session_ends_after_twelve_hours_on_the_server_too(rater: User) -> None:
    client = Client()
    with time_machine.travel("2026-03-02T08:00:00Z", tick=False) as clock:
        client.post(LOGIN, FORM)
        clock.shift(timedelta(hours=11, minutes=59))
        assert client.get("/studies/").status_code == 200
        clock.shift(timedelta(minutes=2))
        # A cookie that its browser should have thrown away is of no use.
        assert client.get("/studies/").status_code == 302


def test_signing_out_ends_the_session_and_not_only_the_cookie(rater: User) -> None:
    client = Client()
    client.post(LOGIN, FORM)
    kept = client.cookies["sessionid"].value
    assert Session.objects.count() == 1
    client.post("/accounts/logout/")
    assert Session.objects.filter(session_key=kept).count() == 0
    client.cookies["sessionid"] = kept
    assert client.get("/studies/").status_code == 302


def test_signing_in_gives_a_session_of_a_new_name(rater: User) -> None:
    client = Client()
    session = client.session
    session["before"] = True
    session.save()
    client.cookies["sessionid"] = before = session.session_key
    client.post(LOGIN, FORM)
    assert client.cookies["sessionid"].value != before


def test_another_password_ends_the_sessions_elsewhere(rater: User) -> None:
    here, there = Client(), Client()
    for client in (here, there):
        client.post(LOGIN, FORM)
    new = {
        "oldpassword": "correct horse",
        "password1": "battery st4ple",
        "password2": "battery st4ple",
    }
    assert here.post("/accounts/password/change/", new).status_code == 302
    assert here.get("/studies/").status_code == 200
    assert there.get("/studies/").status_code == 302


@pytest.mark.parametrize("path", [LOGIN, "/accounts/logout/", "/accounts/password/change/"])
def test_forms_of_accounts_without_their_token_are_refused(path: str, rater: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(rater)
    assert client.post(path, FORM).status_code == 403


def test_a_foreign_host_name_is_refused_on_a_page_that_says_what_to_do(client: Client) -> None:
    page = client.get("/", headers={"host": "other.example"})
    assert page.status_code == 400
    assert "PLANJURY_ALLOWED_HOSTS" in page.content.decode()
