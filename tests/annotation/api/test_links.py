"""Links to studies, made by programs: invitations, and links for recruiting platforms."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Invite, RecruitingLink, Study, StudyEvent
from annotation.people.invitations import digest_of
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from tests.annotation.rows import make_runs, plan_for
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db


@pytest.fixture
def program(manager: User) -> Caller:
    return Caller(bearer(manager))


@pytest.fixture
def pool(manager: User) -> Study:
    plan = plan_for(
        make_runs(tasks=3), [], dealing="pool", raters=2, order="random", queries_each=None,
        name="Pooled",
    )  # fmt: skip
    return create_planned_study(planned=plan_study(plan), by=manager)


@pytest.fixture
def lists(manager: User) -> Study:
    plan = plan_for(make_runs(tasks=3), [], places=3, name="Lists")
    return create_planned_study(planned=plan_study(plan), by=manager)


def token_of(url: str) -> str:
    return urlsplit(url).path.strip("/").split("/")[-1]


def test_each_person_gets_a_link_that_works(
    program: Caller, study: Study, client: Client, manager: User
) -> None:
    body = {"labels": ["Ada", "Bea", "Ada"], "role": "researcher", "days": 3}
    answer = program.post(f"/studies/{study.pk}/invitations", body)
    assert answer.status_code == 201
    links = answer.json()
    assert [link["label"] for link in links] == ["Ada", "Bea"]
    for link in links:
        invite = Invite.objects.get(digest=digest_of(token_of(link["url"])))
        assert (invite.study, invite.role, invite.by) == (study, "researcher", manager)
        assert client.get(link["url"], follow=True).status_code == 200
    assert StudyEvent.objects.filter(study=study, kind=StudyEvent.Kind.INVITED).count() == 2


def test_each_free_list_gets_one_link(program: Caller, lists: Study) -> None:
    made = program.post(f"/studies/{lists.pk}/invitations", {"to": "lists"})
    assert made.status_code == 201
    places = {Invite.objects.get(digest=digest_of(token_of(link["url"]))).study_place_id
              for link in made.json()}  # fmt: skip
    assert len(places) == len(made.json()) == 3 and None not in places
    again = program.post(f"/studies/{lists.pk}/invitations", {"to": "lists"})
    assert again.status_code == 409 and "Every list" in again.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        {"role": "boss"}, {"days": 0}, {"days": 91}, {"labels": []}, {"labels": ["x" * 121]},
        {"labels": ["a"] * 201}, {"to": "all"}, {"to": "everybody"}, {"colour": "red"},
        {"labels": ["fine", "x" * 121]},
    ],
)  # fmt: skip
def test_what_cannot_be_made_makes_no_link(program: Caller, study: Study, body: Any) -> None:
    assert program.post(f"/studies/{study.pk}/invitations", body).status_code == 422
    assert not Invite.objects.exists()


def test_people_of_a_platform_get_a_link(program: Caller, pool: Study, client: Client) -> None:
    body = {"platform": "prolific", "code": "C0DE", "places": 2, "items_each": 3,
            "screening": "Do you cook? | *Yes | No"}  # fmt: skip
    answer = program.post(f"/studies/{pool.pk}/recruiting-links", body)
    assert answer.status_code == 201, answer.json()
    url = answer.json()["url"]
    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}" in url
    link = RecruitingLink.objects.get(digest=digest_of(token_of(url)))
    assert (link.places, link.items_each, link.code) == (2, 3, "C0DE")
    assert link.screening and client.get(url).url == "/recruit/"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"code": ""}, "code"), ({"platform": "x"}, "platform"), ({"places": 0}, "places"),
        ({"items_each": None}, "items_each"), ({"days": 99}, "days"), ({"code": "a b"}, ""),
        ({"screening": "no answers"}, "screening"),
        ({"return_url": "https://example.org"}, "return_url"),
    ],
)  # fmt: skip
def test_a_link_of_a_platform_that_cannot_be_is_refused(
    program: Caller, pool: Study, changes: dict[str, Any], field: str
) -> None:
    body = {"platform": "prolific", "code": "C0DE", "places": 2, "items_each": 3, **changes}
    answer = program.post(f"/studies/{pool.pk}/recruiting-links", body)
    assert answer.status_code == 422 and answer.json()["error"].get("field", "") == field
    assert not RecruitingLink.objects.exists()


@pytest.mark.parametrize("route", ["invitations", "recruiting-links"])
def test_links_are_for_managers_and_never_kept(
    program: Caller, pool: Study, ann: User, route: str
) -> None:
    body = {} if route == "invitations" else {
        "platform": "mturk", "places": 1, "items_each": 1,
    }  # fmt: skip
    path = f"/studies/{pool.pk}/{route}"
    assert Caller(bearer(ann)).post(path, body).status_code == 404
    sent = [program.post(path, body, **{"Idempotency-Key": "same"}).json() for _ in range(2)]
    assert sent[0] != sent[1]
