"""Tests of people's ratings of one trajectory, and of who may see them."""

import uuid

import pytest
from django.contrib.auth.models import User

from annotation.adjudication.selectors import find_slot
from annotation.adjudication.services import decide_place
from annotation.models import Aspect, Membership, Study
from annotation.people.withdrawal import withdraw_annotator
from annotation.questionnaires import load_questionnaire
from annotation.ratings.services import EditRequest
from annotation.ratings.trajectory_ratings import StudyRatings, ratings_of_trajectory
from tests.annotation.judged import make_judged, say
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def judged(ann: User, bob: User, manager: User) -> Study:
    """Ann gives safety 2 with a comment, Bob 5; both have the second item open."""
    study = make_judged([ann, bob], manager)
    remark = EditRequest(uuid.uuid4(), "safety", text="A sharp edge.", aspect=Aspect.COMMENT)
    say(study, ann, 1, {"safety": 2}, remarks=[remark])
    say(study, bob, 1, {"safety": 5})
    return study


def read(study: Study, user: User) -> list[StudyRatings]:
    row = study.items.get(rank=1).trajectory
    assert row is not None
    return ratings_of_trajectory(trajectory=row.pk, profile=row.profile_id, user=user)


def join(study: Study, name: str, role: str) -> User:
    user = make_person(name)
    Membership.objects.create(study=study, user=user, role=role)
    return user


def test_answers_by_number_with_comments_and_the_decision(
    judged: Study, ann: User, manager: User
) -> None:
    item = judged.items.get(rank=1)
    slot = find_slot(item, load_questionnaire(judged.questionnaire), "safety")
    assert slot is not None
    decide_place(item=item, slot=slot, by=manager, value=3, reason="In between.")
    (said,) = read(judged, manager)
    assert (said.people, said.pending, said.left_out, said.single) == (2, 0, 0, True)
    (safety,) = [place for place in said.places if place.question.key == "safety"]
    assert (safety.values, safety.mean, safety.turn) == ([2, 5], 3.5, None)
    assert [answer.who for answer in safety.answers] == ["Annotator 1", "Annotator 2"]
    assert safety.decision is not None
    assert (safety.decision.words, safety.decision.reason) == ("3", "In between.")
    assert [(one.who, one.text, one.kind) for one in said.beside] == [
        ("Annotator 1", "A sharp edge.", "comment")
    ]


def test_names_are_told_where_the_study_is_open(judged: Study, manager: User) -> None:
    Study.objects.filter(pk=judged.pk).update(blinded=False)
    (said,) = read(judged, manager)
    assert said.places[0].answers[0].who == "Annotator 1, ann"


def test_observers_see_all_together(judged: Study) -> None:
    (said,) = read(judged, join(judged, "olga", "observer"))
    assert not said.single and said.beside == ()
    assert any(place.mean == 3.5 for place in said.places)


def test_strangers_and_annotators_see_nothing(judged: Study, ann: User) -> None:
    assert read(judged, make_person("stranger", "view_results")) == []
    assert read(judged, ann) == []
    assert read(judged, make_person("root", superuser=True)) != []


def test_who_still_judges_blind_sees_nothing_whatever_else_they_are(
    judged: Study, ann: User
) -> None:
    Membership.objects.create(study=judged, user=ann, role="researcher")
    assert read(judged, ann) == []  # the second item is open
    assignment = judged.assignments.get(annotator=ann, position=2)
    say(judged, ann, assignment.position)
    assert [said.people for said in read(judged, ann)] == [2]


def test_who_withdrew_is_counted_and_not_shown(judged: Study, bob: User, manager: User) -> None:
    withdraw_annotator(study=judged, user=bob, by=manager, reason="asked")
    (said,) = read(judged, manager)
    (safety,) = [place for place in said.places if place.question.key == "safety"]
    assert (said.people, said.left_out, safety.values) == (1, 1, [2])


def test_queries_do_not_grow_with_people(
    judged: Study, manager: User, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(10):  # type: ignore[operator]
        read(judged, manager)
