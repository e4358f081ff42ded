"""Tests of refusals by pages: they lead to signing in, and do not tell what exists.

Who may open what stands in tests/contracts/access_table.py.
"""

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from benchmarks.imports.selectors import DATASET, IMPORT
from benchmarks.models import Job, Run
from tests.databases import taken_back

# name, what its address holds, whether it only answers POST
PAGES = [
    ("dataset_list", "", False),
    ("dataset_import", "", False),
    ("dataset", "dataset", False),
    ("task", "task", False),
    ("agent_list", "", False),
    ("run_list", "", False),
    ("run_new", "", False),
    ("run", "run", False),
    ("run_progress", "run", False),
    ("run_pause", "run", True),
    ("run_resume", "run", True),
    ("run_cancel", "run", True),
    ("run_cap", "run", True),
    ("analysis:trajectory_list", "", False),
    ("analysis:trajectory", "trajectory", False),
    ("trajectory_exchanges", "trajectory", False),
    ("trajectory_import", "", False),
    ("import_job", "job", False),
    ("dataset_job", "dataset_job", False),
    ("dataset_progress", "dataset_job", False),
    ("import_progress", "job", False),
    ("trajectory_retry", "trajectory", True),
    ("trajectory_restart", "trajectory", True),
    ("analysis:compare", "", False),
]


def name_of(name: str) -> str:
    """The name of an address; the pages of trajectories are those of another app."""
    return name if ":" in name else f"benchmarks:{name}"


@pytest.fixture
def urls(played: Run) -> dict[str, str]:
    """Every page's address."""
    row = played.trajectories.first()
    assert row is not None
    keys = {
        "": [],
        "dataset": [played.dataset_id],
        "task": [row.task_id],
        "run": [played.pk],
        "trajectory": [row.pk],
        "dataset_job": [Job.objects.create(kind=DATASET, title="Importing", status="done").pk],
        "job": [Job.objects.create(kind=IMPORT, title="Importing", status="done").pk],
    }
    return {name: reverse(name_of(name), args=keys[holds]) for name, holds, _ in PAGES}


def answers(client: Client, urls: dict[str, str], **headers: str) -> dict[str, HttpResponse]:
    """Return what each page answers; nothing of what that does lasts."""
    found = {}
    for name, _, posts in PAGES:
        if name in urls:
            ask = client.post if posts else client.get
            with taken_back():
                found[name] = ask(urls[name], headers=headers)
    return found


def statuses(client: Client, urls: dict[str, str], **headers: str) -> dict[str, int]:
    found = answers(client, urls, **headers)
    return {name: answer.status_code for name, answer in found.items()}


def addresses_of(key: int) -> dict[str, str]:
    """Those of pages about one thing that has this key."""
    return {name: reverse(name_of(name), args=[key]) for name, holds, _ in PAGES if holds}


def test_nobody_is_sent_to_sign_in_and_back(urls: dict[str, str], client: Client) -> None:
    login = reverse("account_login")
    sent = {
        name: (answer.status_code, answer.get("Location"))
        for name, answer in answers(client, urls).items()
    }
    assert sent == {name: (302, f"{login}?next={url}") for name, url in urls.items()}


def test_a_fragment_never_shows_the_sign_in_page(urls: dict[str, str], client: Client) -> None:
    assert statuses(client, urls, **{"HX-Request": "true"}) == dict.fromkeys(urls, 403)


def test_a_stranger_learns_nothing_of_what_exists(stranger: Client) -> None:
    urls = addresses_of(999_999)
    assert statuses(stranger, urls) == dict.fromkeys(urls, 403)


@pytest.mark.parametrize("key", [999_999, 2**63, 10**30])
def test_what_does_not_exist_is_not_found(key: int, researcher: Client) -> None:
    urls = addresses_of(key)
    assert statuses(researcher, urls) == dict.fromkeys(urls, 404)


def test_forms_without_their_token_are_refused(played: Run) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("benchmarks:run_cancel", args=[played.pk])).status_code == 403
