"""Who may open what: every address with every kind of person."""

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.models import Job, Run
from benchmarks.selectors.jobs import IMPORT

# name, what its address holds, whether it only answers POST, whether it takes the right to start
PAGES = [
    ("dataset_list", "", False, False),
    ("dataset_import", "", False, True),
    ("dataset", "dataset", False, False),
    ("task", "task", False, False),
    ("agent_list", "", False, False),
    ("run_list", "", False, False),
    ("run_new", "", False, True),
    ("run", "run", False, False),
    ("run_progress", "run", False, False),
    ("run_pause", "run", True, True),
    ("run_resume", "run", True, True),
    ("run_cancel", "run", True, True),
    ("run_cap", "run", True, True),
    ("analysis:trajectory_list", "", False, False),
    ("analysis:trajectory", "trajectory", False, False),
    ("trajectory_exchanges", "trajectory", False, False),
    ("trajectory_import", "", False, True),
    ("import_job", "job", False, True),
    ("import_progress", "job", False, True),
    ("trajectory_retry", "trajectory", True, True),
    ("trajectory_restart", "trajectory", True, True),
    ("analysis:compare", "", False, False),
]
# Those that stop asking when there is nothing more to come.
FRAGMENTS = ("run_progress", "import_progress")
# Endpoints and open asks have rules of their own, and tests of them beside their pages.
ELSEWHERE = ("endpoint", "ask")
every_page = pytest.mark.parametrize(
    ("name", "holds", "posts", "starts"), PAGES, ids=[page[0] for page in PAGES]
)

page_of_one = pytest.mark.parametrize(
    ("name", "posts"), [(page[0], page[2]) for page in PAGES if page[1]]
)
page_that_posts = pytest.mark.parametrize(
    ("name", "holds"), [page[:2] for page in PAGES if page[2]]
)


def name_of(name: str) -> str:
    """The name of an address; the pages of trajectories are those of another app."""
    return name if ":" in name else f"benchmarks:{name}"


def url_of(name: str, holds: str, run: Run) -> str:
    row = run.trajectories.first()
    assert row is not None
    keys = {
        "": [],
        "dataset": [run.dataset_id],
        "task": [row.task_id],
        "run": [run.pk],
        "trajectory": [row.pk],
        "job": [Job.objects.create(kind=IMPORT, title="Importing", status="done").pk],
    }
    return reverse(name_of(name), args=keys[holds])


def test_every_address_is_covered() -> None:
    from benchmarks.urls import urlpatterns

    names = {pattern.name for pattern in urlpatterns}
    assert {page[0] for page in PAGES if ":" not in page[0]} == {
        n for n in names if not n.startswith(ELSEWHERE)
    }


@every_page
def test_nobody_is_sent_to_sign_in_and_back(
    name: str, holds: str, posts: bool, starts: bool, played: Run, client: Client
) -> None:
    url = url_of(name, holds, played)
    response = client.post(url) if posts else client.get(url)
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('account_login')}?next={url}"


@every_page
def test_a_fragment_never_shows_the_sign_in_page(
    name: str, holds: str, posts: bool, starts: bool, played: Run, client: Client
) -> None:
    url = url_of(name, holds, played)
    headers = {"HX-Request": "true"}
    response = client.post(url, headers=headers) if posts else client.get(url, headers=headers)
    assert response.status_code == 403


@every_page
def test_a_stranger_is_refused(
    name: str, holds: str, posts: bool, starts: bool, played: Run, stranger: Client
) -> None:
    url = url_of(name, holds, played)
    response = stranger.post(url) if posts else stranger.get(url)
    assert response.status_code == 403


@page_of_one
def test_a_stranger_learns_nothing_of_what_exists(name: str, posts: bool, stranger: Client) -> None:
    url = reverse(name_of(name), args=[999_999])
    assert (stranger.post(url) if posts else stranger.get(url)).status_code == 403


@every_page
def test_a_reader_sees_and_starts_nothing(
    name: str, holds: str, posts: bool, starts: bool, played: Run, reader: Client
) -> None:
    url = url_of(name, holds, played)
    response = reader.post(url) if posts else reader.get(url)
    assert response.status_code == (403 if starts else 286 if name in FRAGMENTS else 200)


@every_page
@pytest.mark.parametrize("person", ["researcher", "admin"])
def test_researchers_and_administrators_may(
    name: str,
    holds: str,
    posts: bool,
    starts: bool,
    person: str,
    played: Run,
    request: pytest.FixtureRequest,
) -> None:
    client: Client = request.getfixturevalue(person)
    url = url_of(name, holds, played)
    response = client.post(url) if posts else client.get(url)
    assert response.status_code == (302 if posts else 286 if name in FRAGMENTS else 200)


@page_of_one
@pytest.mark.parametrize("key", [999_999, 2**63, 10**30])
def test_what_does_not_exist_is_not_found(
    name: str, posts: bool, key: int, researcher: Client
) -> None:
    url = reverse(name_of(name), args=[key])
    assert (researcher.post(url) if posts else researcher.get(url)).status_code == 404


@page_that_posts
def test_what_changes_something_is_posted(
    name: str, holds: str, played: Run, researcher: Client
) -> None:
    assert researcher.get(url_of(name, holds, played)).status_code == 405


def test_forms_without_their_token_are_refused(played: Run) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post(reverse("benchmarks:run_cancel", args=[played.pk])).status_code == 403
