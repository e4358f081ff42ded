"""The page of exports, its files, and the same files in the API."""

import csv
import io
import json
import sys
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client

from annotation.models import Assignment, Membership, Study, StudyEvent
from tests.annotation.exports.worlds import World, make_world
from tests.annotation.rows import SECRETS, make_person
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db
PARTS = ("csv", "json", "parquet", "huggingface", "history", "questions")


@pytest.fixture
def world(db: None) -> World:
    return make_world()


@pytest.fixture
def researcher(world: World) -> User:
    user = make_person("rita")
    Membership.objects.create(study=world.study, user=user, role="researcher")
    return user


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def text_of(answer: HttpResponseBase) -> str:
    body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return body.decode(errors="replace")


def file(client: Client, study: Study, **wish: Any) -> HttpResponseBase:
    return client.get(f"/studies/{study.pk}/export/file/", wish)  # type: ignore[return-value]


def test_the_page_offers_every_format(world: World, django_assert_max_num_queries: Any) -> None:
    client = browser_of(world.mia)
    with django_assert_max_num_queries(14):
        page = client.get(f"/studies/{world.study.pk}/export/")
    text = page.content.decode()
    for format in PARTS:
        assert f'value="{format}"' in text
    assert "The answers of 2 annotators as files." in text and 'name="names"' in text
    world.study.participants.filter(user=world.ann).update(state="withdrawn")
    text = client.get(f"/studies/{world.study.pk}/export/").content.decode()
    assert "Left out: 1 who withdrew." in text


@pytest.mark.parametrize("format", PARTS)
def test_every_format_is_a_download(world: World, format: str) -> None:
    answer = file(browser_of(world.mia), world.study, format=format)
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"].startswith('attachment; filename="marks-all-')
    assert len(b"".join(answer)) > 200  # type: ignore[arg-type]
    event = StudyEvent.objects.get(kind="exported")
    assert (event.by, event.detail["formats"]) == (world.mia, [format])


def test_names_are_for_managers_who_ask(world: World, researcher: User) -> None:
    for user, wish, named in (
        (world.mia, {}, False),
        (world.mia, {"names": "on"}, True),
        (researcher, {"names": "on"}, False),
    ):
        answer = file(browser_of(user), world.study, format="csv", **wish)
        rows = list(csv.DictReader(io.StringIO(text_of(answer))))
        assert ("annotator" in rows[0]) == named, user
        assert StudyEvent.objects.filter(kind="exported").latest("pk").detail["names"] == named
    assert 'name="names"' not in text_of(
        browser_of(researcher).get(f"/studies/{world.study.pk}/export/")
    )


def test_what_is_wrong_is_said_and_nothing_is_sent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = browser_of(world.mia)
    for wish in ({}, {"format": "xlsx"}, {"format": "csv", "licence": "x" * 61}):
        answer = file(client, world.study, **wish)
        assert answer.status_code == 422
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    answer = file(client, world.study, format="parquet")
    assert answer.status_code == 422 and "extra &#x27;parquet&#x27;" in text_of(answer)
    assert not StudyEvent.objects.filter(kind="exported").exists()


def test_who_annotates_blind_gets_their_own_whatever_their_roles(world: World) -> None:
    Membership.objects.create(study=world.study, user=world.ann, role="manager")
    client = browser_of(world.ann)
    page = text_of(client.get(f"/studies/{world.study.pk}/export/"))
    assert "only your own answers" in page and 'name="names"' not in page
    for format in PARTS:
        answer = file(client, world.study, format=format, names="on", withdrawn="on", events="on")
        assert answer.status_code == (422 if format == "huggingface" else 200)
        text = text_of(answer)
        assert not [secret for secret in SECRETS if secret in text], format
        assert "not sure" in text or format not in ("csv", "json")
        assert "Robotics" in text or format not in ("csv", "json", "history")
    rows = json.loads(text_of(file(client, world.study, format="json")))["rows"]
    assert len({row["rater"] for row in rows}) == 1
    Assignment.objects.filter(annotator=world.ann, state="open").update(state="submitted")
    assert SECRETS[0] in text_of(file(client, world.study, format="csv"))


def test_the_api_gives_the_same_files(world: World, researcher: User) -> None:
    url, manager = f"/studies/{world.study.pk}", Caller(bearer(world.mia))
    rows = list(csv.DictReader(io.StringIO(text_of(manager.get(f"{url}/ratings.csv")))))
    assert {row["model"] for row in rows} >= {SECRETS[0]} and "annotator" not in rows[0]
    document = json.loads(text_of(manager.get(f"{url}/study.json?events=true&names=true")))
    assert [person["annotator"] for person in document["people"]] == ["ann", "bob"]
    assert document["events"] and document["rows"]
    caller = Caller(bearer(researcher))
    assert caller.get(f"{url}/study.json").status_code == 200
    refused = caller.get(f"{url}/ratings.csv?names=true")
    assert refused.status_code == 403 and "managers" in refused.json()["error"]["message"]
    assert caller.get(f"{url}/ratings.csv?colour=red").status_code == 422
    assert Caller(bearer(world.bob)).get(f"{url}/study.json").status_code == 403
