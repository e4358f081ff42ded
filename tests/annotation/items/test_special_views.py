"""Adding training and gold items to a study that runs, on its pages."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.designs.pairs import pair_id, split_pair
from annotation.models import Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.plans.study_plan import ItemSource
from benchmarks.models import Trajectory
from tests.annotation.rows import make_runs, make_study, plan_for, play_in

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


def test_pairs_are_chosen_and_none_twice(ann: User, bob: User, manager: User) -> None:
    runs = make_runs(tasks=9)
    plan = plan_for(
        runs, [ann, bob], questionnaire="compare_plans@1", queries_each=None, order="random",
        raters=2, items=ItemSource(
            runs=tuple(run.pk for run in runs), tasks=tuple(f"task-{n}" for n in range(5)),
        ),
    )  # fmt: skip
    study = create_planned_study(planned=plan_study(plan))
    study.memberships.create(user=manager, role="manager")
    # A pair stays the same, whichever of its two comes first.
    held = study.items.order_by("pk")[0]
    study.items.filter(pk=held.pk).update(trajectory=held.other_id, other=held.trajectory_id)
    client, url = browser_of(manager), f"/studies/{study.pk}/items/specials/"
    draft = ""

    def send(go: str, **fields: Any) -> Any:
        nonlocal draft
        answer = client.post(url, {"go": go, "draft": draft, **fields})
        if answer.context and "draft" in answer.context:
            draft = answer.context["draft"].text
        return answer

    listed = [row.pk for row in send("pick").context["rows"]]
    assert len(listed) == 4, "of nine tasks, five are in the study"
    lesson, *gold = listed[:4]
    # Who played in one of the two is given neither.
    play_in(bob, Trajectory.objects.get(pk=split_pair(gold[0])[1]))
    for use, pk in (("training", lesson), *(("gold", pk) for pk in gold)):
        send(f"add:{use}:{pk}")
        assert send(f"keep:{pk}", **{"right.better": "1"}).status_code == 200
    assert send("store", gold_each="2").status_code == 302
    added = study.items.exclude(use="main").order_by("pk")
    assert [(item.trajectory_id, item.other_id) for item in added] == [
        split_pair(pk) for pk in (lesson, *gold)
    ]
    given = {
        user: set(study.assignments.filter(annotator=user, item__use="gold").values_list("item"))
        for user in (ann, bob)
    }
    assert len(given[ann]) == len(given[bob]) == 2 and (added[1].pk,) not in given[bob]
    assert send("pick").context["rows"] == []
    draft = ""
    send(f"add:gold:{pair_id(held.trajectory_id or 0, held.other_id or 0)}")
    send(f"keep:{pair_id(held.trajectory_id or 0, held.other_id or 0)}", **{"right.better": "1"})
    again = send("store")
    assert again.status_code == 422 and study.items.count() == 9


def test_who_annotates_blind_may_not_know_what_checks_them(running: Study, ann: User) -> None:
    running.memberships.create(user=ann, role="manager")
    client = browser_of(ann)
    assert client.get(f"/studies/{running.pk}/items/specials/").status_code == 403
    more = client.get(f"/studies/{running.pk}/items/more/").content.decode()
    assert "items/specials" not in more
