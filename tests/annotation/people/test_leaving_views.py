"""The pages by which people leave, come back, or are told who made what."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Participant, Study
from tests.annotation.judged import make_judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(ann: User, bob: User, manager: User) -> Study:
    return make_judged([ann, bob], manager)


def here(study: Study, user: User) -> Participant:
    return Participant.objects.get(study=study, user=user)


def test_an_annotator_withdraws_without_a_reason(study: Study, ann: User, client: Client) -> None:
    client.force_login(ann)
    page = client.get(reverse("annotation:study", args=[study.pk])).content.decode()
    address = reverse("annotation:leave", args=[study.pk])
    assert address in page
    assert "at any time" in client.get(address).content.decode()
    answer = client.post(address, {"reason": ""}, follow=True)
    assert "You have withdrawn" in answer.content.decode()
    assert here(study, ann).state == "withdrawn"
    assert client.get(reverse("annotation:study", args=[study.pk])).status_code == 404


def test_a_manager_withdraws_and_takes_back(
    study: Study, ann: User, manager: User, client: Client
) -> None:
    client.force_login(manager)
    address = reverse("annotation:annotator_leave", args=[study.pk, here(study, ann).number])
    assert "2 open items" in client.get(address).content.decode()
    assert client.post(address, {"reason": " "}).status_code == 422
    assert here(study, ann).state == "active"
    assert client.post(address, {"reason": "Ill."}).status_code == 302
    assert here(study, ann).state == "withdrawn"
    assert "Readmit ann" in client.get(address).content.decode()
    assert client.post(address, {"reason": "Well again."}).status_code == 302
    assert here(study, ann).state == "active"
    assert study.assignments.filter(annotator=ann, state="open").count() == 2


def test_lifting_the_blinding(
    study: Study, ann: User, bob: User, manager: User, client: Client
) -> None:
    client.force_login(manager)
    one = reverse("annotation:annotator_unblind", args=[study.pk, here(study, ann).number])
    assert client.post(one, {}).status_code == 422
    assert client.post(one, {"reason": "Saw a name."}).status_code == 302
    assert here(study, ann).unblinded_at is not None
    assert here(study, bob).unblinded_at is None
    assert client.get(one).status_code == 404
    everybody = reverse("annotation:study_unblind", args=[study.pk])
    assert client.post(everybody, {"reason": "The paper is out."}).status_code == 302
    assert here(study, bob).unblinded_at is not None
    assert client.get(everybody).status_code == 404
