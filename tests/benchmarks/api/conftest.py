"""Programs with tokens: one that may start runs, one that may read, one of a stranger."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.api.tokens import create_token
from tests.factories.benchmarks import PERMISSIONS, make_user


def bearer(user: User, *, read_only: bool = False) -> dict[str, str]:
    """The header of a new token."""
    _, secret = create_token(user=user, name="test", read_only=read_only)
    return {"Authorization": f"Bearer {secret}"}


class Caller:
    """A client that sends a token and JSON."""

    BASE = "/api/v1"

    def __init__(self, headers: dict[str, str]) -> None:
        self.client, self.headers = Client(), headers

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"{self.BASE}{path}", query, headers=self.headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.client.post(
            f"{self.BASE}{path}",
            body,
            content_type="application/json",
            headers={**self.headers, **headers},
        )

    def send(self, path: str, fields: dict[str, Any], **headers: str) -> Any:
        """A form with a file."""
        return self.client.post(f"{self.BASE}{path}", fields, headers={**self.headers, **headers})


@pytest.fixture
def starter(db: None) -> User:
    """May see results and start runs."""
    return make_user("starter", PERMISSIONS)


@pytest.fixture
def api(starter: User) -> Caller:
    """The starter's program."""
    return Caller(bearer(starter))


@pytest.fixture
def viewing(db: None) -> Caller:
    """The program of somebody who may only see."""
    return Caller(bearer(make_user("viewer", ["view_results"])))


@pytest.fixture
def outside(db: None) -> Caller:
    """The program of somebody without any right."""
    return Caller(bearer(make_user("outsider")))


@pytest.fixture
def error_of() -> Callable[[Any], tuple[int, str, str]]:
    """Status, code and field of an answer that has the one shape."""

    def read(response: Any) -> tuple[int, str, str]:
        assert response["Content-Type"] == "application/json"
        body = response.json()
        assert list(body) == ["error"], body
        assert {"code", "message"} <= set(body["error"]) <= {"code", "message", "field"}
        return response.status_code, body["error"]["code"], body["error"].get("field", "")

    return read
