"""Fixtures: people as they come to pages, and a run that they can open."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.models import Run
from tests.factories.benchmarks import PERMISSIONS, make_user, play, start_sample_runs


def without_tokens(page: str) -> str:
    """Return a page without the tokens of its forms, which differ each time."""
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page)


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def stranger(db: None) -> Client:
    """Signed in, without any permission."""
    return _client(make_user("stranger"))


@pytest.fixture
def reader(db: None) -> Client:
    """May see results and start nothing."""
    return _client(make_user("reader", ["view_results"]))


@pytest.fixture
def researcher(db: None) -> Client:
    """May see results and start runs."""
    return _client(make_user("researcher", PERMISSIONS))


@pytest.fixture
def admin(db: None) -> Client:
    """May do everything."""
    return _client(User.objects.create_superuser("root", password="not a secret"))


@pytest.fixture
def played(db: None) -> Run:
    """A run of the explorer on three demo tasks, carried to its end."""
    (run,) = start_sample_runs("explorer")
    play(run)
    return run
