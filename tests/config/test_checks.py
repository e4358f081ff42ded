"""System checks: each says what is wrong under its own id."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.checks import CheckMessage, run_checks

from config import checks

Check = Callable[[None], list[CheckMessage]]


def ids(check: Check) -> list[str | None]:
    return [message.id for message in check(None)]


ALL: list[Check] = [
    checks.data_folder_is_writable,
    checks.secret_key_is_set,
    checks.hosts_are_named,
    checks.oidc_is_whole,
    checks.broker_has_its_package,
    checks.database_and_broker_fit,
    checks.demo_stays_here,
    checks.debug_stays_here,
    checks.error_reports_have_their_package,
    checks.web_processes_share_a_cache,
]


@pytest.mark.parametrize("check", ALL)
def test_a_sound_configuration_passes(check: Check) -> None:
    assert check(None) == []


def test_proxies_that_nobody_counted_and_error_reports_without_their_package(settings) -> None:
    settings.PROXIES_GIVEN = False
    assert ids(checks.proxies_are_counted) == ["planjury.W002"]
    assert "planjury.W002" in str(run_checks(tags=["security"], include_deployment_checks=True))
    assert "planjury.W002" not in str(run_checks(tags=["security"]))
    settings.PROXIES_GIVEN = True
    assert ids(checks.proxies_are_counted) == []
    settings.SENTRY_DSN = "https://key@errors.example.org/1"
    expected = [] if find_spec("sentry_sdk") else ["planjury.E010"]
    assert ids(checks.error_reports_have_their_package) == expected


def test_a_folder_that_is_a_file(settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings.DATA_DIR = tmp_path / "file" / "var"
    assert ids(checks.data_folder_is_writable) == ["planjury.E001"]


def test_a_folder_that_will_be_made(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "not" / "yet"
    assert ids(checks.data_folder_is_writable) == []


def test_a_folder_of_somebody_else(settings, tmp_path: Path, monkeypatch) -> None:
    # Root may write anywhere, so the answer of the system is replaced.
    monkeypatch.setattr("os.access", lambda *args: False)
    settings.DATA_DIR = tmp_path
    assert ids(checks.data_folder_is_writable) == ["planjury.E001"]


def test_no_secret_key(settings) -> None:
    settings.SECRET_KEY = ""
    assert ids(checks.secret_key_is_set) == ["planjury.E002"]


def test_no_hosts(settings) -> None:
    settings.ALLOWED_HOSTS = []
    assert ids(checks.hosts_are_named) == ["planjury.E003"]


def test_a_broker_without_its_package(settings, monkeypatch) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    settings.CELERY_BROKER_URL = "redis://localhost"
    assert ids(checks.broker_has_its_package) == ["planjury.E005"]


def test_several_web_processes_want_a_cache_that_they_share(settings) -> None:
    settings.WEB_PROCESSES = 2
    settings.CELERY_BROKER_URL = "fsq://"
    assert ids(checks.web_processes_share_a_cache) == ["planjury.E011"]
    settings.CELERY_BROKER_URL = "redis://localhost:6379/0"
    assert ids(checks.web_processes_share_a_cache) == []


@pytest.mark.parametrize(
    ("vendor", "broker", "found"),
    [
        ("sqlite", "fsq://", []),
        ("sqlite", "redis://localhost:6379/0", []),
        ("sqlite", "redis://:pw@127.0.0.1/0", []),
        ("sqlite", "redis://queue.example:6379/0", ["planjury.E007"]),
        ("sqlite", "rediss://queue.example/0", ["planjury.E007"]),
        ("postgresql", "fsq://", []),
        ("postgresql", "redis://queue.example:6379/0", []),
    ],
)
def test_a_broker_elsewhere_wants_a_database_for_all(
    settings, monkeypatch, vendor: str, broker: str, found: list[str]
) -> None:
    monkeypatch.setattr(checks, "connection", SimpleNamespace(vendor=vendor))
    settings.CELERY_BROKER_URL = broker
    assert ids(checks.database_and_broker_fit) == found


def test_a_demo_that_others_can_reach(settings) -> None:
    settings.DEMO, settings.SERVE_HOST = True, "0.0.0.0"
    assert ids(checks.demo_stays_here) == ["planjury.W001"]


def test_debug_pages_that_others_can_reach(settings) -> None:
    settings.DEBUG, settings.SERVE_HOST = True, "0.0.0.0"
    assert ids(checks.debug_stays_here) == ["planjury.E006"]
