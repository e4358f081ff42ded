"""Tokens: made once, compared by digest, ended by revoking, expiry, or the end of an account."""

import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks.api import tokens
from benchmarks.api.tokens import create_token, find_token, revoke_token
from benchmarks.core.errors import CoreError
from benchmarks.models import ApiToken
from tests.benchmarks.api.conftest import Caller, bearer
from tests.factories.benchmarks import PERMISSIONS, make_user

PAGE = "/account/tokens/"


def test_only_a_digest_is_stored(starter: User) -> None:
    token, secret = create_token(user=starter, name="export")
    assert re.fullmatch(r"pj_[A-Za-z0-9_-]{43}", secret)
    stored = ApiToken.objects.filter(pk=token.pk).values().get()
    assert all(secret not in str(value) for value in stored.values())
    assert stored["prefix"] == secret[:11]
    assert find_token(secret) == token


def test_the_prefix_alone_opens_nothing(starter: User) -> None:
    token, secret = create_token(user=starter, name="export")
    other = secret[:11] + "A" * 35
    assert len(other) == len(secret)
    assert find_token(other) is None
    assert find_token(token.prefix) is None


def test_two_tokens_of_one_prefix_are_told_apart(starter: User) -> None:
    first, secret = create_token(user=starter, name="a")
    second, _ = create_token(user=starter, name="b")
    ApiToken.objects.filter(pk=second.pk).update(prefix=first.prefix)
    assert find_token(secret) == first


@pytest.mark.parametrize("end", ["revoked", "expired", "inactive", "gone"])
def test_a_dead_token_is_refused_like_one_that_never_was(
    end: str, starter: User, error_of: Any
) -> None:
    token, secret = create_token(
        user=starter, name="a", expires_at=timezone.now() + timedelta(days=1)
    )
    caller = Caller({"Authorization": f"Bearer {secret}"})
    assert caller.get("/runs").status_code == 200
    shift = timedelta(0)
    if end == "revoked":
        revoke_token(token=token)
    elif end == "expired":
        shift = timedelta(days=1, seconds=1)
    elif end == "inactive":
        User.objects.filter(pk=starter.pk).update(is_active=False)
    else:
        token.delete()
    never = Caller({"Authorization": "Bearer pj_" + "x" * 43})
    with time_machine.travel(timezone.now() + shift, tick=False):
        dead, unknown = caller.get("/runs"), never.get("/runs")
    assert error_of(dead) == (401, "unauthorized", "")
    assert (dead.content, dead["WWW-Authenticate"]) == (unknown.content, "Bearer")


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer pj_short", "Basic cm9vdDpyb290", "Token pj_x", "Bearer é",
     "Bearer pj_" + "\x00" * 43],
)  # fmt: skip
def test_what_is_no_token_is_refused(header: str, db: None, error_of: Any) -> None:
    assert error_of(Caller({"Authorization": header}).get("/runs"))[0] == 401


def test_a_session_of_the_browser_opens_nothing(starter: User, error_of: Any) -> None:
    client = Client()
    client.force_login(starter)
    assert client.get("/runs/").status_code == 200
    assert error_of(client.get("/api/v1/runs")) == (401, "unauthorized", "")
    assert error_of(client.post("/api/v1/runs/1/cancel")) == (401, "unauthorized", "")


def test_a_session_gives_a_token_no_further_right(starter: User, error_of: Any) -> None:
    """The request comes with an administrator's cookie and a stranger's token."""
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    headers = bearer(make_user("nobody"))
    assert error_of(client.get("/api/v1/runs", headers=headers)) == (403, "forbidden", "")


def test_a_token_that_reads_starts_nothing(starter: User, error_of: Any) -> None:
    caller = Caller(bearer(starter, read_only=True))
    assert caller.get("/runs").status_code == 200
    assert error_of(caller.post("/runs", {"dataset": 1})) == (403, "read_only", "")
    assert error_of(caller.post("/runs/1/cancel")) == (403, "read_only", "")


def test_rights_are_those_of_the_moment(starter: User, api: Caller) -> None:
    assert api.get("/runs").status_code == 200
    starter.user_permissions.clear()
    assert api.get("/runs").status_code == 403


def test_wrong_tokens_are_slowed_down_and_right_ones_are_not(
    api: Caller, settings: Any, error_of: Any
) -> None:
    settings.API_WRONG_TOKENS = 3
    wrong = Caller({"Authorization": "Bearer pj_" + "y" * 43})
    answers = [wrong.get("/runs") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert error_of(answers[-1]) == (429, "too_many_requests", "")
    assert answers[-1]["Retry-After"] == "60"
    assert api.get("/runs").status_code == 200


def test_requests_of_a_user_are_limited_by_the_minute(
    api: Caller, starter: User, viewing: Caller, settings: Any, error_of: Any
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 3
    second = Caller(bearer(starter))
    with time_machine.travel("2026-01-01 12:00:20+00:00", tick=False):
        answers = [caller.get("/runs") for caller in (api, second, api, second)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        left = [answer["X-RateLimit-Remaining"] for answer in answers]
        assert left == ["2", "1", "0", "0"]
        assert error_of(answers[-1]) == (429, "too_many_requests", "")
        assert (answers[-1]["Retry-After"], answers[-1]["X-RateLimit-Limit"]) == ("40", "3")
        assert viewing.get("/runs").status_code == 200
    with time_machine.travel("2026-01-01 12:01:00+00:00", tick=False):
        assert api.get("/runs")["X-RateLimit-Remaining"] == "2"


def test_use_is_noted_to_the_minute(starter: User) -> None:
    token, secret = create_token(user=starter, name="a")
    caller = Caller({"Authorization": f"Bearer {secret}"})
    with time_machine.travel("2026-01-01 12:00:00+00:00", tick=False):
        caller.get("/runs")
    with time_machine.travel("2026-01-01 12:00:30+00:00", tick=False):
        caller.get("/runs")
    token.refresh_from_db()
    assert token.used_at is not None
    assert token.used_at.isoformat() == "2026-01-01T12:00:00+00:00"
    with time_machine.travel("2026-01-01 12:01:01+00:00", tick=False):
        caller.get("/runs")
    token.refresh_from_db()
    assert token.used_at.isoformat() == "2026-01-01T12:01:01+00:00"


def test_there_are_bounds(starter: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_LIVE", 1)
    first, _ = create_token(user=starter, name="a")
    with pytest.raises(CoreError, match="revoke one first"):
        create_token(user=starter, name="b")
    revoke_token(token=first)
    create_token(user=starter, name="b")
    with pytest.raises(CoreError, match="expired already"):
        create_token(user=make_user("other"), name="c", expires_at=timezone.now())


class TestPage:
    def send(self, client: Client, **fields: str) -> Any:
        return client.post(PAGE, {"name": "nightly", "days": "30", **fields})

    @pytest.fixture
    def person(self, starter: User) -> Client:
        client = Client()
        client.force_login(starter)
        return client

    def test_the_token_is_shown_once(self, person: Client) -> None:
        page = self.send(person)
        (secret,) = set(re.findall(r"pj_[A-Za-z0-9_-]{43}", page.content.decode()))
        assert "no-store" in page["Cache-Control"]
        token = find_token(secret)
        assert token is not None
        assert (token.name, token.read_only) == ("nightly", False)
        assert token.expires_at is not None
        again = person.get(PAGE).content.decode()
        assert secret not in again
        assert secret[:11] in again

    def test_without_end_and_only_reading(self, person: Client) -> None:
        self.send(person, days="0", read_only="on")
        token = ApiToken.objects.get()
        assert (token.expires_at, token.read_only) == (None, True)

    @pytest.mark.parametrize(
        ("field", "value"), [("name", ""), ("name", "x" * 81), ("name", "a\x00b"), ("days", "7000")]
    )
    def test_nonsense_is_refused(self, person: Client, field: str, value: str) -> None:
        page = self.send(person, **{field: value})
        assert page.status_code == 422
        assert page.context["form"].errors[field]
        assert not ApiToken.objects.exists()

    def test_names_are_escaped(self, person: Client) -> None:
        page = self.send(person, name="<script>alert(1)</script>").content.decode()
        assert "<script>alert" not in page

    def test_revoking(self, person: Client, starter: User) -> None:
        token, secret = create_token(user=starter, name="a")
        url = reverse("programs:token_revoke", args=[token.pk])
        assert person.get(url).status_code == 405
        page = person.post(url, follow=True).content.decode()
        assert "is revoked" in page
        assert find_token(secret) is None

    def test_nobody_revokes_anothers(self, person: Client) -> None:
        token, secret = create_token(user=make_user("other", PERMISSIONS), name="zebra")
        assert person.post(reverse("programs:token_revoke", args=[token.pk])).status_code == 404
        assert find_token(secret) == token
        assert "zebra" not in person.get(PAGE).content.decode()

    def test_forms_need_their_own_token(self, starter: User) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(starter)
        assert self.send(client).status_code == 403

    def test_only_for_people_who_are_signed_in(self, db: None) -> None:
        assert Client().get(PAGE).status_code == 302


class TestCommand:
    def test_it_prints_the_token_alone(self, starter: User, capsys: Any) -> None:
        call_command("api_token", "starter", "--name", "cron", "--read-only", "--days", "7")
        token = find_token(capsys.readouterr().out.strip())
        assert token is not None
        assert (token.user, token.name, token.read_only) == (starter, "cron", True)
        assert token.expires_at is not None

    @pytest.mark.parametrize(
        "arguments",
        [["nobody", "--name", "a"], ["starter", "--name", " "],
         ["starter", "--name", "a", "--days", "-1"]],
    )  # fmt: skip
    def test_nonsense_is_refused(self, arguments: list[str], starter: User) -> None:
        with pytest.raises(CommandError):
            call_command("api_token", *arguments)
        assert not ApiToken.objects.exists()
