"""Turns that are revealed one after the other: what is seen, what is refused, what is kept."""

import time
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.errors import Incomplete
from annotation.exports.head import STUDY_FIELDS
from annotation.models import Assignment, Rating, RatingEdit, Study
from annotation.planning.planned_study import plan_study
from annotation.plans.plan_files import read_document
from annotation.plans.study_plan import PlanError
from benchmarks.models import Trajectory, Turn
from tests.annotation.desks import first_item, make_kind
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db

QUESTIONS = ("feasibility", "physical_plausibility", "effectiveness", "safety")
LATER = "Climb on the roof instead."
LAST = 3


@pytest.fixture
def ann() -> User:
    return make_person("ann")


@pytest.fixture
def study(ann: User) -> Study:
    """A study of three turns; the second repeats the plan of the first."""
    study = make_kind("turn_scores@3", ann, turn_by_turn=True)
    item = first_item(study)
    give_turns(item, ["1. Take glue.", "1. Take glue.", f"1. {LATER}"])
    return study


def give_turns(item: Assignment, texts: list[str]) -> None:
    Turn.objects.filter(trajectory=item.trajectory_id).delete()
    Turn.objects.bulk_create(
        Turn(
            trajectory_id=item.trajectory_id, index=index, text=text, payload={"valid": True},
            feedback=f"Remark {index}-after.", is_final=index == len(texts),
        )
        for index, text in enumerate(texts, 1)
    )  # fmt: skip
    Trajectory.objects.filter(pk=item.trajectory_id).update(turn_count=len(texts))
    item.item.subjects = {**item.item.subjects, "turn": [str(n) for n in range(1, len(texts) + 1)]}
    item.item.save()


class Desk:
    """Ann's desk as her browser uses it: pages, answers and the button below the form."""

    def __init__(self, ann: User, item: Assignment) -> None:
        self.client = Client()
        self.client.force_login(ann)
        self.url = f"/studies/{item.study_id}/annotate/{item.position}/"
        self.shown = 1

    def page(self) -> str:
        return self.client.get(self.url).content.decode()

    def score(self, turn: int, value: int = 4, *, edit: str = "") -> Any:
        edits = [
            {"id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{edit or turn}{key}")), "question": key,
             "subject": f"turn-{turn}", "value": value}
            for key in QUESTIONS
        ]  # fmt: skip
        return self.client.post(
            f"{self.url}answers/", {"edits": edits}, content_type="application/json"
        )

    def press(self) -> Any:
        return self.client.post(f"{self.url}submit/", {"revealed": str(self.shown)})


@pytest.fixture
def desk(ann: User, study: Study) -> Desk:
    return Desk(ann, first_item(study))


def test_a_turn_is_scored_before_the_next_is_seen(desk: Desk, study: Study) -> None:
    page = desk.page()
    assert "Take glue." in page and "Next turn" in page
    # Neither later turns nor what came after this plan is anywhere in the page.
    for hidden in (LATER, "Remark 1-after", "turn-2", "Final plan", "of 3", "of 12"):
        assert hidden not in page
    reply = desk.score(2)
    assert reply.status_code == 422 and "not shown yet" in reply.json()["results"][0]["refused"]
    assert desk.press().json()["code"] == "incomplete"
    assert desk.score(1).status_code == 200
    assert desk.score(1, 3, edit="again").status_code == 200  # until the next is seen
    assert desk.press().json() == {"next": desk.url}
    page = desk.page()
    assert "Remark 1-after" in page and "Remark 2-after" not in page and LATER not in page
    assert 'data-copy="turn-1"' in page  # the same plan as before
    reply = desk.score(1, 5, edit="hindsight")
    assert reply.status_code == 422 and "so it stays" in reply.json()["results"][0]["refused"]
    rows = Rating.objects.filter(subject="turn-1", aspect="answer")
    assert set(rows.values_list("value", flat=True)) == {3}
    assert first_item(study).state == Assignment.State.OPEN


def test_the_last_turn_is_not_called_final_before_it_is_scored(desk: Desk, study: Study) -> None:
    for turn in range(1, LAST + 1):
        page = desk.page()
        assert "Final plan" not in page and "That was the last turn" not in page
        desk.shown = turn
        desk.score(turn)
        assert desk.press().json() == {"next": desk.url}
    page = desk.page()
    assert "Final plan, turn 3" in page and "That was the last turn" in page
    desk.shown = LAST + 1
    assert desk.press().json()["next"] != desk.url
    item = first_item(study)
    assert (item.state, item.revealed) == (Assignment.State.SUBMITTED, LAST + 1)


def test_a_score_cannot_be_taken_back_after_the_next_turn(desk: Desk) -> None:
    desk.page()
    desk.score(1)
    desk.press()
    first = RatingEdit.objects.filter(subject="turn-1").order_by("pk")[0]
    undo = {"edits": [{"id": str(uuid.uuid4()), "undoes": str(first.client_id)}]}
    reply = desk.client.post(f"{desk.url}answers/", undo, content_type="application/json")
    assert reply.status_code == 422
    # A remark says nothing of a score, and is taken.
    remark = {"id": str(uuid.uuid4()), "question": "safety", "subject": "turn-1",
              "aspect": "comment", "text": "Later thought."}  # fmt: skip
    reply = desk.client.post(
        f"{desk.url}answers/", {"edits": [remark]}, content_type="application/json"
    )
    assert reply.status_code == 200


def test_without_script_the_turns_come_one_by_one(desk: Desk, study: Study) -> None:
    desk.page()
    fields = {f"{key}.turn-1": "4" for key in QUESTIONS}
    reply = desk.client.post(desk.url, {**fields, "action": "submit", "shown": "{}"})
    assert (reply.status_code, reply["Location"]) == (302, desk.url)
    assert first_item(study).revealed == 2 and "Final plan" not in desk.page()


def test_five_hundred_turns_with_the_network_cut_at_each_tenth(
    ann: User, study: Study, record_property: Any
) -> None:
    """A cut loses a request before it arrives or its reply; the page sends it again either way."""
    item = first_item(study)
    give_turns(item, [f"1. Step {turn}." for turn in range(1, 501)])
    desk = Desk(ann, item)
    desk.client.get(desk.url)
    slowest = 0.0
    for turn in range(1, 501):
        desk.shown = turn
        cut = turn % 10 == 0
        for _ in range(2 if cut else 1):  # the reply to the first was lost
            assert desk.score(turn, 1 + turn % 5).status_code == 200
        began = time.perf_counter()
        assert desk.press().json() == {"next": desk.url}
        slowest = max(slowest, time.perf_counter() - began)
        if cut:
            assert desk.press().json() == {"next": desk.url}
        item.refresh_from_db()
        assert item.revealed == turn + 1
    assert RatingEdit.objects.count() == Rating.objects.count() == 500 * len(QUESTIONS)
    for key in QUESTIONS:
        rows = Rating.objects.filter(question=key).order_by("pk")
        assert [r.value for r in rows] == [1 + turn % 5 for turn in range(1, 501)]
    desk.shown = 501
    assert desk.press().status_code == 200
    item.refresh_from_db()
    assert item.state == Assignment.State.SUBMITTED
    record_property("slowest_reveal_ms", round(1000 * slowest))


def test_services_say_what_is_missing_of_the_turn(study: Study, ann: User) -> None:
    from annotation.assignments.presence import open_assignment
    from annotation.desk.services import submit_assignment

    item = first_item(study)
    open_assignment(assignment=item, number=1)
    with pytest.raises(Incomplete) as refused:
        submit_assignment(assignment=item, by=ann)
    assert refused.value.missing == [f"{key}.turn-1" for key in QUESTIONS]


def test_a_plan_needs_questions_about_turns(study: Study) -> None:
    plan = {"name": "Blind to later turns", "questionnaire": "ten_questions@4", "places": 1,
            "items": {"runs": list(study.items.values_list("trajectory__run", flat=True)[:1])},
            "turn_by_turn": True}  # fmt: skip
    with pytest.raises(PlanError, match="asks nothing about single turns"):
        plan_study(read_document(plan))
    planned = plan_study(read_document({**plan, "questionnaire": "turn_scores@3"}))
    assert planned.plan.turn_by_turn and "turn_by_turn" in STUDY_FIELDS
