"""Signing in: how often it may be tried, who is counted, and the second factor."""

from threading import Lock

import pytest
import time_machine
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from tests.threads import in_threads

pytestmark = pytest.mark.either

LOGIN = "/accounts/login/"
NOW = "2026-03-02T10:00:00Z"


@pytest.fixture
def rater(db: None) -> User:
    """Somebody with a password."""
    return User.objects.create_user("rater", password="correct horse")


def sign_in(password: str, *, name: str = "rater", at: str = "10.0.0.1", **headers: str):
    form = {"login": name, "password": password}
    return Client(REMOTE_ADDR=at).post(LOGIN, form, headers=headers)


def test_after_five_wrong_passwords_the_right_one_has_to_wait_and_is_told_how_long(
    rater: User,
) -> None:
    with time_machine.travel(NOW, tick=False) as clock:
        for _ in range(5):
            assert sign_in("wrong").status_code == 200
            clock.shift(10)
        refused = sign_in("correct horse")
        assert refused.status_code == 429
        # The first of five was 50 seconds ago, and five minutes count.
        assert refused.headers["Retry-After"] == "250"
        assert "5 minutes" in refused.content.decode()
        clock.shift(249)
        assert sign_in("correct horse").status_code == 429
        clock.shift(2)
        assert sign_in("correct horse").status_code == 302


@pytest.mark.parametrize(
    ("name", "password", "focused"), [("rater", "wrong", "password"), ("", "wrong", "login")]
)
def test_an_error_puts_the_focus_on_its_field(
    rater: User, name: str, password: str, focused: str
) -> None:
    page = sign_in(password, name=name).content.decode()
    fields = [part.partition(">")[0] for part in page.split("<input")[1:]]
    assert [field for field in fields if "autofocus" in field] == [
        field for field in fields if f'name="{focused}"' in field
    ]
    assert "autofocus" not in Client().get(LOGIN).content.decode()


def test_who_signs_in_rightly_is_not_counted(rater: User) -> None:
    with time_machine.travel(NOW, tick=False):
        assert [sign_in("correct horse").status_code for _ in range(12)] == [302] * 12


def test_other_names_from_elsewhere_are_not_held_up(rater: User) -> None:
    User.objects.create_user("other", password="correct horse")
    for _ in range(5):
        sign_in("wrong", at="10.0.0.1")
    assert sign_in("correct horse", name="other", at="10.0.0.2").status_code == 302


def test_nobody_locks_a_name_for_other_addresses(rater: User) -> None:
    for _ in range(5):
        assert sign_in("wrong", at="10.0.0.1").status_code == 200
    assert sign_in("correct horse", at="10.0.0.1").status_code == 429
    assert sign_in("correct horse", at="10.0.0.2").status_code == 302


def test_another_address_of_the_same_ipv6_network_is_the_same(rater: User) -> None:
    for n in range(5):
        assert sign_in("wrong", at=f"2001:db8::{n}").status_code == 200
    assert sign_in("correct horse", at="2001:db8::77").status_code == 429
    assert sign_in("correct horse", at="2001:db8:0:1::1").status_code == 302


def test_wrong_passwords_from_everywhere_slow_the_name_down_without_locking_it(
    rater: User,
) -> None:
    User.objects.create_user("other", password="correct horse")
    with time_machine.travel(NOW, tick=False) as clock:
        for n in range(20):
            assert sign_in("wrong", at=f"10.0.1.{n}").status_code == 200
        assert sign_in("wrong", at="10.0.2.1").status_code == 200  # the first of those slowed down
        refused = sign_in("correct horse", at="10.0.2.2")
        assert refused.status_code == 429
        assert refused.headers["Retry-After"] == "10"
        assert sign_in("correct horse", name="other", at="10.0.2.2").status_code == 302
        clock.shift(11)
        assert sign_in("correct horse", at="10.0.2.2").status_code == 302


def test_many_right_passwords_slow_nobody_down(rater: User) -> None:
    with time_machine.travel(NOW, tick=False):
        answers = {sign_in("correct horse", at=f"10.0.1.{n}").status_code for n in range(25)}
    assert answers == {302}


def test_one_address_cannot_try_many_names(rater: User) -> None:
    with time_machine.travel(NOW, tick=False):
        assert {sign_in("wrong", name=f"name-{n}").status_code for n in range(10)} == {200}
        refused = sign_in("correct horse")
        assert refused.status_code == 429
        assert refused.headers["Retry-After"] == "60"
        assert sign_in("correct horse", at="10.0.0.2").status_code == 302


def test_any_address_may_send_the_form_thirty_times_a_minute(rater: User) -> None:
    with time_machine.travel(NOW, tick=False):
        answers = [sign_in("correct horse") for _ in range(31)]
        assert {answer.status_code for answer in answers[:30]} == {302}
        assert answers[30].status_code == 429
        assert answers[30].headers["Retry-After"] == "60"


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_when_attempts_come_at_once() -> None:
    User.objects.create_user("rater", password="correct horse")
    seen, lock = [], Lock()

    def attempt(number: int) -> None:
        status = sign_in("wrong").status_code
        with lock:
            seen.append(status)

    in_threads(attempt, 12)
    assert sorted(seen) == [200] * 5 + [429] * 7


def test_many_other_counters_do_not_push_one_out(rater: User) -> None:
    for _ in range(5):
        sign_in("wrong")
    for n in range(2000):
        cache.set(f"another-{n}", 1, 300)
    assert sign_in("correct horse").status_code == 429


def test_behind_a_proxy_the_client_is_counted_and_nobody_made_up(rater: User, settings) -> None:
    settings.PROXIES = 1
    proxy = "192.0.2.1"
    for n in range(10):
        sign_in("wrong", name=f"name-{n}", at=proxy, X_Forwarded_For=f"1.2.3.{n}, 10.0.0.1")
    held = sign_in("correct horse", at=proxy, X_Forwarded_For="9.9.9.9, 10.0.0.1")
    assert held.status_code == 429
    free = sign_in("correct horse", at=proxy, X_Forwarded_For="10.0.0.2")
    assert free.status_code == 302


@pytest.mark.parametrize("written", ["10.0.0.1:{port}", "[2001:db8::1]:{port}"])
def test_a_port_that_a_proxy_adds_makes_no_other_address(
    rater: User, settings, written: str
) -> None:
    settings.PROXIES = 1
    for n in range(5):
        sign_in("wrong", at="192.0.2.1", X_Forwarded_For=written.format(port=4000 + n))
    last = sign_in("correct horse", at="192.0.2.1", X_Forwarded_For=written.format(port=5000))
    assert last.status_code == 429


@pytest.mark.parametrize("written", ["unknown", "", "999.1.1.1", "_hidden", "\x00"])
def test_where_a_proxy_names_no_address_its_own_counts(rater: User, settings, written: str) -> None:
    settings.PROXIES = 1
    answer = sign_in("correct horse", at="192.0.2.1", X_Forwarded_For=f"10.0.0.1, {written}")
    assert answer.status_code == 302


def test_without_a_proxy_nobody_says_who_they_are(rater: User) -> None:
    for n in range(10):
        sign_in("wrong", name=f"name-{n}", at="192.0.2.1", X_Forwarded_For=f"1.2.3.{n}")
    held = sign_in("correct horse", at="192.0.2.1", X_Forwarded_For="1.2.3.77")
    assert held.status_code == 429


def test_a_proxy_on_this_machine_that_nobody_counted_locks_nobody_out(rater: User) -> None:
    for n in range(10):
        passed = f"9.9.9.{n}, 203.0.113.5"  # what stands first the client made up
        sign_in("wrong", name=f"name-{n}", at="127.0.0.1", X_Forwarded_For=passed)
    held = sign_in("correct horse", at="127.0.0.1", X_Forwarded_For="203.0.113.5")
    assert held.status_code == 429
    free = sign_in("correct horse", at="127.0.0.1", X_Forwarded_For="203.0.113.6")
    assert free.status_code == 302


# --- Second factor -------------------------------------------------------------------------------


def code(secret: str) -> str:
    """Return what an authenticator app shows now."""
    return format_hotp_value(hotp_value(secret, next(yield_hotp_counters_from_time())))


@pytest.fixture
def guarded(rater: User) -> str:
    """The secret of the rater's authenticator app."""
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    TOTP.activate(rater, secret)
    RecoveryCodes.activate(rater)
    return secret


def test_the_second_factor_is_set_up_from_the_account_menu(rater: User) -> None:
    client = Client()
    client.post(LOGIN, {"login": "rater", "password": "correct horse"})
    assert reverse("mfa_index") in client.get("/studies/").content.decode()
    asked = client.get(reverse("mfa_activate_totp"))
    page = client.post(asked.headers["Location"], {"password": "correct horse"}, follow=True)
    secret = page.context["form"].secret
    done = client.post(reverse("mfa_activate_totp"), {"code": code(secret)}, follow=True)
    assert "Recovery codes" in done.content.decode()
    codes = client.get(reverse("mfa_download_recovery_codes"))
    assert len(codes.content.decode().split()) == 10


def test_a_password_alone_is_not_enough(rater: User, guarded: str) -> None:
    client = Client()
    answer = client.post(LOGIN, {"login": "rater", "password": "correct horse"})
    assert answer.headers["Location"] == reverse("mfa_authenticate")
    assert client.get("/studies/").status_code == 302
    wrong = client.post(reverse("mfa_authenticate"), {"code": "000000"})
    assert wrong.status_code == 200
    assert client.get("/studies/").status_code == 302
    client.post(reverse("mfa_authenticate"), {"code": code(guarded)})
    assert client.get("/studies/").status_code == 200


def test_a_recovery_code_works_once(rater: User, guarded: str) -> None:
    (first, *_) = rater.authenticator_set.get(type="recovery_codes").wrap().get_unused_codes()
    for expected in ("/", None):
        client = Client()
        client.post(LOGIN, {"login": "rater", "password": "correct horse"})
        answer = client.post(reverse("mfa_authenticate"), {"code": first})
        assert answer.headers.get("Location") == expected


def test_codes_cannot_be_tried_for_ever(rater: User, guarded: str) -> None:
    client = Client()
    client.post(LOGIN, {"login": "rater", "password": "correct horse"})
    for _ in range(5):
        assert client.post(reverse("mfa_authenticate"), {"code": "000000"}).status_code == 200
    refused = client.post(reverse("mfa_authenticate"), {"code": code(guarded)})
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "300"
