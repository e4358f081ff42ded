"""Adding training and gold items to a study that runs, on its pages."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Study
from benchmarks.models import Trajectory
from tests.annotation.rows import make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def running(ann: User, bob: User, manager: User) -> Study:
    return make_study(annotators=[ann, bob], manager=manager, tasks=10, each=4)


def browser_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_items_are_chosen_given_right_answers_and_added(
    running: Study, ann: User, manager: User
) -> None:
    client, url = browser_of(manager), f"/studies/{running.pk}/items/specials/"
    assert url in client.get(f"/studies/{running.pk}/items/more/").content.decode()
    page = client.get(url)
    assert "need not repeat it" in page.content.decode()
    draft = ""

    def send(go: str, **fields: Any) -> Any:
        nonlocal draft
        answer = client.post(url, {"go": go, "draft": draft, **fields})
        if answer.context and "draft" in answer.context:
            draft = answer.context["draft"].text
        return answer

    listed = [row.pk for row in send("pick").context["rows"]]
    free = Trajectory.objects.exclude(items__study=running).order_by("pk")
    assert sorted(listed) == list(free.values_list("pk", flat=True)) and len(listed) == 4
    for odd in ("x" * 60_000, "a\x00b"):
        assert send("pick", find=odd).context["rows"] == []
    for use, pk in zip(("training", "gold", "gold"), listed, strict=False):
        assert "Correct answers" in send(f"add:{use}:{pk}").content.decode()
        assert send(f"keep:{pk}").status_code == 422, "nothing is said to be right"
        for odd in ("9" * 5000, "--4", "²"):
            assert send(f"keep:{pk}", **{"right.safety": odd}).status_code == 422
        assert send(f"keep:{pk}", **{"right.safety": ["4", "5"]}).status_code == 200
    wrong = send("store")
    assert wrong.status_code == 422 and "Nothing was added" in wrong.content.decode()
    assert "at least 2" in wrong.content.decode() and running.items.count() == 16
    stored = send("store", gold_each="2")
    assert stored.status_code == 302
    told = client.get(stored.headers["Location"]).content.decode()
    assert "Added: 1 for training, 2 as gold. 2 annotators still to pass" in told
    assert "hidden among the items of 2 annotators" in told
    assert running.assignments.filter(item__use="gold").count() == 4
    assert client.get(f"/studies/{running.pk}/design/").status_code == 200


def test_who_annotates_blind_may_not_know_what_checks_them(running: Study, ann: User) -> None:
    running.memberships.create(user=ann, role="manager")
    client = browser_of(ann)
    assert client.get(f"/studies/{running.pk}/items/specials/").status_code == 403
    more = client.get(f"/studies/{running.pk}/items/more/").content.decode()
    assert "items/specials" not in more
