"""Tests of addresses of database and broker, as Django, Celery and the cache get them."""

from pathlib import Path

import pytest
from django.core.cache import cache

from config.settings.env import BadVariable
from config.settings.services import caches, checked_broker, database_from_url, transport_options


def test_a_postgresql_address() -> None:
    found = database_from_url("postgresql://me:a%40b@db.example:5433/plan%20jury", name="X")
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["USER"], found["PASSWORD"]) == ("me", "a@b")
    assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example", 5433, "plan jury")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://h/d", "must begin with postgresql://"),
        ("x", "must begin with postgresql://"),
        ("postgresql://h", "must end with the name of one database"),
        ("postgresql://h/", "must end with the name of one database"),
        ("postgresql://h/a/b", "must end with the name of one database"),
        ("postgresql://h:port/d", "is not a database URL"),
        ("postgresql://h/d?sslmode", "is not a database URL"),
        ("postgresql://h/d?pooler=session", "unknown parameter pooler"),
        ("postgresql://h/d?sslmod=require", "unknown parameter sslmod; known are"),
        ("postgresql://me:a#b@h/d", "write it as %23"),
    ],
)
def test_another_address_is_refused(url: str, words: str) -> None:
    with pytest.raises(BadVariable) as caught:
        database_from_url(url, name="DATABASE_URL")
    assert "DATABASE_URL" in str(caught.value)
    assert words in str(caught.value)
    assert "a#b" not in str(caught.value)


def test_parameters_go_to_the_driver() -> None:
    url = "postgresql://db.example/d?sslmode=verify-full&sslrootcert=/etc/ca%20s.pem"
    options = database_from_url(url, name="X")["OPTIONS"]
    assert (options["sslmode"], options["sslrootcert"]) == ("verify-full", "/etc/ca s.pem")
    assert options["connect_timeout"] == 10
    assert (
        database_from_url(f"{url}&connect_timeout=3", name="X")["OPTIONS"]["connect_timeout"] == "3"
    )


def test_a_pooler_gives_no_cursor_that_outlives_a_transaction() -> None:
    found = database_from_url("postgresql://h:6432/d?pooler=transaction", name="X")
    assert found["DISABLE_SERVER_SIDE_CURSORS"] is True
    assert "pooler" not in found["OPTIONS"]
    assert not database_from_url("postgresql://h/d", name="X")["DISABLE_SERVER_SIDE_CURSORS"]


@pytest.mark.parametrize(
    "url", ["postgresql:///d?host=/run/postgresql", "postgresql://%2Frun%2Fpostgresql/d"]
)
def test_a_socket_is_a_host(url: str) -> None:
    found = database_from_url(url, name="X")
    assert (found["HOST"], found["NAME"]) == ("/run/postgresql", "d")
    assert "host" not in found["OPTIONS"]


NAME = "PLANJURY_BROKER_URL"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("pigeon://loft", "must begin with redis:// or rediss://"),
        ("redis", "must begin with redis:// or rediss://"),
        ("redis:host", "must begin with redis:// or rediss://"),
        ("redis:///0", "names no host"),
        ("redis://host:port/0", "is not the address of a Redis"),
        ("redis://host/jobs", "must end with the number of a database"),
        ("redis://:a#b@host/0", "write it as %23"),
    ],
)
def test_a_wrong_address_is_refused(url: str, words: str) -> None:
    with pytest.raises(BadVariable) as caught:
        checked_broker(url, name=NAME)
    assert words in str(caught.value)
    assert "a#b" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["fsq://", "redis://host", "redis://:pw@host:6380/3", "rediss://h/0?ssl_cert_reqs=none"]
)
def test_a_right_address_stays_as_it_is(url: str) -> None:
    assert checked_broker(url, name=NAME) == url


def test_a_certificate_is_checked_unless_somebody_says_otherwise() -> None:
    assert checked_broker("rediss://h/0", name=NAME) == "rediss://h/0?ssl_cert_reqs=required"
    assert checked_broker("rediss://h/0?health_check_interval=5", name=NAME).endswith(
        "?health_check_interval=5&ssl_cert_reqs=required"
    )


def test_a_long_task_is_not_given_to_a_second_worker(tmp_path: Path) -> None:
    options = transport_options("redis://host/0", folder=tmp_path)
    assert options["visibility_timeout"] >= 24 * 60 * 60
    assert options["unacked_restore_interval"] * options["unacked_restore_throttle"] <= 10
    assert "folder" not in options
    assert transport_options("fsq://", folder=tmp_path)["folder"] == str(tmp_path)


def test_machines_share_what_one_of_them_has_redis_for() -> None:
    assert caches("redis://host/0", folder=Path("/data"))["default"]["BACKEND"].endswith(
        "RedisOrMemoryCache"
    )
    assert caches("fsq://", folder=Path("/data"))["default"]["BACKEND"].endswith(
        "locmem.LocMemCache"
    )


def test_the_cache_keeps_what_it_is_given(db: None) -> None:
    # Asks for the database only to be run on both kinds of cache.
    cache.set("report", {"rows": [1, None, "ä"]}, 60)
    assert cache.get("report") == {"rows": [1, None, "ä"]}
    cache.clear()
    assert cache.get("report") is None
