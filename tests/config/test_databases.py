"""The address of the database: what it becomes, and what is wrong with it."""

import pytest

from config.databases import database_from_url
from config.env import BadVariable


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


@pytest.mark.parametrize(
    "url", ["postgresql:///d?host=/run/postgresql", "postgresql://%2Frun%2Fpostgresql/d"]
)
def test_a_socket_is_a_host(url: str) -> None:
    found = database_from_url(url, name="X")
    assert (found["HOST"], found["NAME"]) == ("/run/postgresql", "d")
    assert "host" not in found["OPTIONS"]
