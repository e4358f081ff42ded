"""The keys that a person chose for the desk."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.desk.keys import MOST_KEYS, chosen_keys

pytestmark = pytest.mark.django_db


def keep(client: Client, choice: Any) -> Any:
    return client.post(reverse("annotation:desk_keys"), choice, content_type="application/json")


def test_keys_are_kept_for_the_person(client: Client, ann: User, bob: User) -> None:
    client.force_login(ann)
    assert chosen_keys(ann.pk) is None
    first = {"mode": "alone", "keys": {"u": "z", "4": "ä"}}
    for choice in (first, {"mode": "off", "keys": {}}, first):
        assert keep(client, choice).status_code == 200
        assert chosen_keys(ann.pk) == choice and chosen_keys(bob.pk) is None
    # They are no columns of a list.
    address = reverse("benchmarks:list_columns", args=["desk-keys"])
    assert client.post(address, {"offered": "mode"}).status_code == 404


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"mode": "shift", "keys": {}}, "mode: expected one of alone, alt, off"),
        ({"mode": "alt"}, "keys: expected"),
        ({"mode": "alt", "keys": {}, "more": 1}, "more: expected a field among mode, keys"),
        ({"mode": "alt", "keys": {"u": "zz"}}, "one character"),
        ({"mode": "alt", "keys": {"uu": "z"}}, "one character"),
        ({"mode": "alt", "keys": {"u": 1}}, "keys.u: expected one character"),
        ({"mode": "alt", "keys": {chr(256 + n): "z" for n in range(MOST_KEYS + 1)}}, "keys"),
        ([], "expected"),
        ("{", "name in double quotes"),
    ],
)
def test_what_is_no_choice_of_keys_is_refused(
    client: Client, ann: User, choice: Any, words: str
) -> None:
    client.force_login(ann)
    kept = {"mode": "alt", "keys": {"u": "z"}}
    keep(client, kept)
    answer = keep(client, choice)
    assert answer.status_code == 422 and words in answer.json()["refused"]
    assert chosen_keys(ann.pk) == kept
