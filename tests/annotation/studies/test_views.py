"""Home, lists, one study, and making a study."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Annotator, Membership, Study
from benchmarks.models import Job
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


# --- Home -----------------------------------------------------------------------------------------


def test_home_offers_an_annotator_the_next_item(study: Study, ann: User) -> None:
    page = text_of(browser_of(ann), "/")
    assert "0 of 2" in page and "Begin" in page
    assert f"/studies/{study.pk}/annotate/" in page
    assert "Runs" not in page


def test_home_is_never_empty_without_a_word() -> None:
    assert "No tasks" in text_of(browser_of(make_person("new")), "/")
    page = text_of(browser_of(make_person("rita", "view_results", "start_runs")), "/")
    assert "No runs yet" in page
    assert "No studies yet" in page


def test_home_shows_runs_to_those_who_may_see_them(study: Study) -> None:
    page = text_of(browser_of(make_person("rita", "view_results")), "/")
    assert "Pair" in page
    assert "6 trajectories" in page


def test_home_costs_few_queries_however_much_there_is(
    study: Study, manager: User, django_assert_max_num_queries: Any
) -> None:
    root = browser_of(make_person("root", superuser=True))
    for number in range(5):
        Membership.objects.create(
            study=Study.objects.create(
                name=f"S{number}", questionnaire="ten_questions@1", settings={"gold": []}
            ),
            user=manager, role="manager",
        )  # fmt: skip
    for client, path, most in ((root, "/", 18), (browser_of(manager), "/studies/", 10)):
        client.get(path)
        with django_assert_max_num_queries(most):
            client.get(path)


def test_demo_progress_polls_until_it_is_done() -> None:
    client = browser_of(make_person("new"))
    assert client.get("/demo/progress/").status_code == 286
    job = Job.objects.create(kind="demo", title="Demo", status="running", done=3, total=9)
    page = text_of(client, "/")
    assert "3 of 9" in page
    url = page.partition('hx-get="')[2].partition('"')[0].replace("&amp;", "&")
    assert client.get(url).status_code == 204
    Job.objects.filter(pk=job.pk).update(done=4, message="at level mid")
    fresh = client.get(url)
    assert fresh.status_code == 200
    assert "at level mid" in fresh.content.decode()
    Job.objects.filter(pk=job.pk).update(status="done")
    over = client.get(url)
    assert (over.status_code, over.headers["HX-Refresh"]) == (286, "true")
    assert "Loading the demo" not in text_of(client, "/")


def test_demo_that_failed_says_so_and_can_go_on() -> None:
    client = browser_of(make_person("rita", "view_results", "start_runs"))
    Job.objects.create(kind="demo", title="Demo", status="failed", message="OSError: disk full")
    page = text_of(client, "/")
    assert "OSError: disk full" in page
    assert "Continue loading the demo" in page
    page = text_of(browser_of(make_person("new")), "/")
    assert "disk full" not in page
    assert "Continue loading" not in page


# --- One study ------------------------------------------------------------------------------------


def test_manager_sees_how_far_everybody_is(study: Study, manager: User, bob: User) -> None:
    Annotator.objects.create(user=bob, is_simulated=True)
    page = text_of(browser_of(manager), f"/studies/{study.pk}/")
    assert "Simulated annotators" in page
    assert page.index(">1 ann</a>") < page.index(">2 bob</a>")
    assert page.count(">simulated</span>") == 1


def test_annotator_sees_only_their_own_progress(study: Study, ann: User) -> None:
    page = text_of(browser_of(ann), f"/studies/{study.pk}/")
    assert "0 of 2 items" in page and "submitted, " not in page
    assert "How to judge" in page
    assert "bob" not in page


def test_study_page_costs_few_queries(
    study: Study, manager: User, django_assert_max_num_queries: Any
) -> None:
    Membership.objects.create(study=study, user=manager, role="annotator")
    client = browser_of(manager)
    client.get(f"/studies/{study.pk}/")
    with django_assert_max_num_queries(16):
        client.get(f"/studies/{study.pk}/")


def test_closing_and_opening(study: Study, manager: User) -> None:
    client = browser_of(manager)
    for status in ("closed", "open"):
        client.post(f"/studies/{study.pk}/status/", {"status": status})
        study.refresh_from_db()
        assert study.status == status
    client.post(f"/studies/{study.pk}/status/", {"status": "draft"})
    study.refresh_from_db()
    assert study.status == "open"
