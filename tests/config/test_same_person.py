"""A page of one person sends nothing in the name of another."""

import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.mark.parametrize(("owner", "status"), [("own", 404), ("other", 401), ("", 404)])
def test_answers_of_somebody_else_are_refused_and_kept(owner: str, status: int, db: None) -> None:
    user = User.objects.create_user("ann")
    client = Client()
    client.force_login(user)
    names = {"own": str(user.pk), "other": str(user.pk + 1), "": ""}
    answer = client.post("/studies/1/annotate/1/answers/", headers={"X-Answers-Of": names[owner]})
    assert answer.status_code == status
    if status == 401:
        assert answer.json()["code"] == "signed_out"
