"""Tests of access to studies: every address by everybody, against a literal table."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Membership, RatingEdit, Study
from tests.annotation.rows import make_person
from tests.databases import taken_back

pytestmark = pytest.mark.django_db

PEOPLE = (
    "nobody", "stranger", "ann", "bob", "manager", "researcher", "observer", "superuser", "starter",
)  # fmt: skip
# 200 shown, 302 to the sign-in page, 403 refused, 404 no such thing for this person.
GET: dict[str, tuple[int, ...]] = {
    "/": (302, 200, 200, 200, 200, 200, 200, 200, 200),
    "/studies/": (302, 200, 200, 200, 200, 200, 200, 200, 200),
    "/studies/new/": (302, 403, 403, 403, 403, 403, 403, 200, 200),
    "/demo/progress/": (302, 286, 286, 286, 286, 286, 286, 286, 286),
    "/studies/S/": (302, 404, 200, 200, 200, 200, 200, 200, 404),
    "/studies/S/export/": (302, 404, 403, 403, 200, 200, 403, 200, 404),
    "/studies/S/export/file/?format=csv": (302, 404, 403, 403, 200, 200, 403, 200, 404),
    "/studies/S/annotate/1/": (302, 404, 200, 200, 404, 404, 404, 404, 404),
    "/studies/S/annotate/3/": (302, 404, 404, 404, 404, 404, 404, 404, 404),
    "/studies/0/": (302, 404, 404, 404, 404, 404, 404, 404, 404),
    "/studies/0/annotate/1/": (302, 404, 404, 404, 404, 404, 404, 404, 404),
}
POST: dict[str, tuple[int, ...]] = {
    "/studies/S/status/": (302, 404, 403, 403, 302, 403, 403, 302, 404),
    "/studies/S/annotate/1/answers/": (401, 404, 200, 200, 404, 404, 404, 404, 404),
    "/studies/S/annotate/1/submit/": (401, 404, 422, 422, 404, 404, 404, 404, 404),
    "/studies/S/annotate/1/": (302, 404, 422, 422, 404, 404, 404, 404, 404),
    "/demo/again/": (302, 403, 403, 403, 403, 403, 403, 302, 302),
}


@pytest.fixture
def clients(study: Study, ann: User, bob: User, manager: User) -> dict[str, Client]:
    """Everybody's browser."""
    people = {
        "stranger": make_person("stranger"),
        "ann": ann,
        "bob": bob,
        "manager": manager,
        "researcher": make_person("researcher"),
        "observer": make_person("observer"),
        "superuser": make_person("root", superuser=True),
        "starter": make_person("starter", "start_runs"),
    }
    for role in ("researcher", "observer"):
        Membership.objects.create(study=study, user=people[role], role=role)
    clients = {name: Client() for name in PEOPLE}
    for name, user in people.items():
        clients[name].force_login(user)
    return clients


@pytest.mark.parametrize(
    ("method", "path", "statuses"),
    [(m, path, row) for m, table in (("GET", GET), ("POST", POST)) for path, row in table.items()],
)
def test_table(
    clients: dict[str, Client], study: Study, method: str, path: str, statuses: tuple[int, ...]
) -> None:
    """What one person does is taken back before the next one comes."""
    address = path.replace("S", str(study.pk), 1) if "/S/" in path else path
    given = {}
    if method == "POST":
        body = json.dumps({"edits": []})
        kind = "application/json" if address.endswith("answers/") else None
        given = {"content_type": kind, "data": body} if kind else {"data": {"status": "closed"}}
    found = []
    for name in PEOPLE:
        with taken_back():
            answer = getattr(clients[name], method.lower())(address, **given)
            found.append(answer.status_code)
            if answer.status_code == 302 and name == "nobody":
                assert answer.headers["Location"].startswith("/accounts/login/?next=")
            if answer.status_code in (403, 404):
                study.refresh_from_db()
                assert study.status == "open", name
                assert not RatingEdit.objects.exists(), name
    assert tuple(found) == statuses


def test_the_next_item_of_somebody_without_items_is_the_study(
    clients: dict[str, Client], study: Study
) -> None:
    answer = clients["manager"].get(f"/studies/{study.pk}/annotate/")
    assert answer.headers["Location"] == f"/studies/{study.pk}/"


def test_an_answer_reaches_only_ones_own_item(
    clients: dict[str, Client], study: Study, ann: User, bob: User
) -> None:
    edit = {"id": "6a0f1c9e-8f8d-4c53-9d4c-1d1f2a3b4c5d", "question": "safety", "value": 4}
    answer = clients["bob"].post(
        f"/studies/{study.pk}/annotate/1/answers/",
        data=json.dumps({"edits": [edit]}),
        content_type="application/json",
    )
    assert answer.status_code == 200
    assert RatingEdit.objects.get().assignment.annotator == bob


def test_a_form_from_elsewhere_is_refused(study: Study, ann: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ann)
    answer = client.post(
        f"/studies/{study.pk}/annotate/1/answers/", data="{}", content_type="application/json"
    )
    assert answer.status_code == 403
