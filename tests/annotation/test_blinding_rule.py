"""Tests of blinding: who is blind, for how long, and what is hidden by it."""

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from annotation.blinding import blind_studies
from annotation.desk.services import skip_assignment
from annotation.models import Assignment, Item, Participant, Study
from benchmarks.models import Dataset, Run
from benchmarks.visibility import Visibility
from tests.annotation.rows import make_runs

pytestmark = pytest.mark.django_db


def skip_all(study: Study, user: User) -> None:
    for item in study.assignments.filter(annotator=user):
        skip_assignment(assignment=item, by=user, reason="Enough of them.")


def test_until_the_last_item_is_done(study: Study, ann: User, manager: User) -> None:
    assert set(Visibility.to(ann).closed) == set(Run.objects.values_list("pk", flat=True))
    assert not Visibility.to(manager).closed
    (duty,) = Visibility.to(ann).duties
    assert (duty.title, duty.words, duty.url) == ("Pilot", "2 items", f"/studies/{study.pk}/")
    skip_all(study, ann)
    assert not Visibility.to(ann).closed and not Visibility.to(ann).duties


def test_closing_a_study_opens_nothing_and_the_words_say_so(study: Study, ann: User) -> None:
    Study.objects.update(status=Study.Status.CLOSED)
    assert Visibility.to(ann).closed
    assert Visibility.to(ann).duties[0].title == "Pilot (closed)"


def test_the_same_agents_elsewhere_on_the_dataset(study: Study, ann: User) -> None:
    judged = Run.objects.all()[0]
    same = {"agent": judged.agent, "dataset": judged.dataset}
    sibling = Run.objects.create(**same, level="high")
    Dataset.objects.update(name="Studied")
    (elsewhere, _) = make_runs(level="low")
    assert sibling.pk in Visibility.to(ann).closed
    assert elsewhere.pk not in Visibility.to(ann).closed


def test_between_two_items_of_a_pool(study: Study, ann: User) -> None:
    skip_all(study, ann)
    Study.objects.update(dealing=Study.Dealing.POOL)
    assert not Visibility.to(ann).closed  # all items that ann has not had are taken
    Item.objects.update(wanted=F("wanted") + 1)
    had = Assignment.objects.filter(annotator=ann).values("item")
    assert Visibility.to(ann).closed
    left = Item.objects.exclude(pk__in=had).count()
    assert Visibility.to(ann).duties[0].words.split()[0] == str(left)
    Participant.objects.filter(user=ann).update(state=Participant.State.PAUSED)
    assert not Visibility.to(ann).closed


def test_whoever_was_unblinded_sees_all(study: Study, ann: User) -> None:
    Participant.objects.filter(user=ann).update(unblinded_at=timezone.now())
    assert not blind_studies(ann) and not Visibility.to(ann).closed


def test_tasks_whose_candidates_are_decided_about(study: Study, ann: User) -> None:
    assert not Visibility.to(ann).tasks
    item = Item.objects.filter(assignments__annotator=ann)[0]
    task = Run.objects.all()[0].trajectories.all()[0].task_id
    Item.objects.filter(pk=item.pk).update(trajectory=None, task=task)
    assert Visibility.to(ann).tasks == {task}
    skip_all(study, ann)
    assert not Visibility.to(ann).tasks
