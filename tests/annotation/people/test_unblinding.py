"""Lifting the blinding marks what is said later, for one annotator or for all."""

import uuid

import pytest
from django.contrib.auth.models import User

from annotation.desk.services import submit_assignment
from annotation.errors import Refused
from annotation.models import Participant, RatingEdit, Study, StudyEvent
from annotation.people.services import unblind_annotator, unblind_study
from annotation.ratings.selectors import human_scores
from annotation.ratings.services import record_rating
from annotation.studies.setup import add_member
from benchmarks.visibility import Visibility
from tests.annotation.judged import make_judged, say
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(ann: User, bob: User, manager: User) -> Study:
    return make_judged([ann, bob], manager)


def test_later_answers_of_one_are_marked(study: Study, ann: User, bob: User, manager: User) -> None:
    assignment = say(study, ann, 1, submit=False)
    assert Visibility.to(ann).closed and Visibility.to(bob).closed
    unblind_annotator(study=study, user=ann, by=manager, reason="Saw a name in a log.")
    unblind_annotator(study=study, user=ann, by=manager, reason="Saw a name in a log.")
    assert not Visibility.to(ann).closed and Visibility.to(bob).closed
    record_rating(assignment=assignment, by=ann, question="safety", value=5, client_id=uuid.uuid4())
    submit_assignment(assignment=assignment, by=ann)
    say(study, bob, 1)
    marked = RatingEdit.objects.filter(unblinded=True)
    assert list(marked.values_list("question", "value", "by__username")) == [("safety", 5, "ann")]
    scores = list(human_scores(studies=[study.pk]))
    assert [(s.question, s.annotator) for s in scores if s.unblinded] == [("safety", ann.pk)]
    (event,) = study.events.filter(kind=StudyEvent.Kind.UNBLINDED)
    assert (event.about, event.by, event.reason) == (ann, manager, "Saw a name in a log.")


def test_a_study_is_unblinded_for_those_who_come_later_too(
    study: Study, ann: User, bob: User, manager: User
) -> None:
    unblind_study(study=study, by=manager, reason="The paper is out.")
    study.refresh_from_db()
    assert not study.blinded
    assert not Visibility.to(ann).closed and not Visibility.to(bob).closed
    cyd = make_person("cyd")
    add_member(study=study, user=cyd, role="annotator", by=manager)
    assert not Participant.objects.filter(study=study, unblinded_at=None).exists()
    say(study, ann, 1)
    assert all(score.unblinded for score in human_scores(studies=[study.pk]))
    (event,) = study.events.filter(kind=StudyEvent.Kind.UNBLINDED)
    assert event.detail == {"before": "blinded", "after": "not blinded", "annotators": 2}
    with pytest.raises(Refused, match="not blinded"):
        unblind_study(study=study, by=manager, reason="Again.")


def test_a_reason_is_needed(study: Study, ann: User, manager: User) -> None:
    with pytest.raises(Refused, match="why the blinding is lifted"):
        unblind_annotator(study=study, user=ann, by=manager, reason=" ")
    with pytest.raises(Refused, match="why the blinding is lifted"):
        unblind_study(study=study, by=manager, reason="")
    assert not Participant.objects.exclude(unblinded_at=None).exists()
