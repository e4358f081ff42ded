"""The guidelines are confirmed before the first item of every study, once."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.exports.head import PERSON_FIELDS
from annotation.models import Participant
from tests.annotation.desks import make_kind
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> User:
    return make_person("ann")


@pytest.mark.parametrize("kind", ["ten_questions@4", "turn_scores@3", "violation_check@3"])
def test_the_first_item_comes_after_the_guidelines(client: Client, ann: User, kind: str) -> None:
    study = make_kind(kind, ann)
    client.force_login(ann)
    start, page = f"/studies/{study.pk}/annotate/", f"/studies/{study.pk}/guidelines/"
    assert client.get(start).url == page  # type: ignore[attr-defined]
    assert "I have read this" in client.get(page).content.decode()
    # Looking is not confirming.
    assert client.get(start).url == page  # type: ignore[attr-defined]
    assert client.post(page).url == start  # type: ignore[attr-defined]
    read = Participant.objects.get(study=study).guidelines_read_at
    assert read is not None and "guidelines_read_at" in PERSON_FIELDS
    assert client.get(start).url == f"{start}1/"  # type: ignore[attr-defined]
    assert "<summary>Guidelines</summary>" not in client.get(f"{start}1/").content.decode()
    client.post(page)
    assert Participant.objects.get(study=study).guidelines_read_at == read


def test_somebody_under_way_is_not_stopped(client: Client, ann: User) -> None:
    study = make_kind("ten_questions@4", ann)
    Participant.objects.filter(study=study).update(skipped=1)
    client.force_login(ann)
    start = f"/studies/{study.pk}/annotate/"
    assert client.get(start).url == f"{start}1/"  # type: ignore[attr-defined]


def test_others_have_no_guidelines_to_confirm(client: Client, ann: User) -> None:
    study = make_kind("ten_questions@4", ann)
    client.force_login(make_person("bob"))
    assert client.post(f"/studies/{study.pk}/guidelines/").status_code == 404
    assert Participant.objects.get(study=study).guidelines_read_at is None
