"""Leaving a study and coming back: assignments, roles, analyses, and the record of it."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.errors import Refused
from annotation.models import Membership, Participant, Rating, Study, StudyEvent
from annotation.people.withdrawal import (
    remove_member,
    restore_annotator,
    withdraw_annotator,
)
from annotation.ratings.selectors import LeftOut, human_scores, left_out
from annotation.studies.setup import add_member
from benchmarks.exports.ratings import ratings_of
from tests.annotation.judged import make_judged, say
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]
Kind = StudyEvent.Kind


@pytest.fixture
def study(ann: User, bob: User, manager: User) -> Study:
    """Both judge two items; ann has submitted one and begun the other."""
    study = make_judged([ann, bob], manager)
    say(study, ann, 1, {"safety": 4})
    say(study, bob, 1, {"safety": 2})
    return study


def state(study: Study, user: User) -> str:
    return Participant.objects.get(study=study, user=user).state


def test_answers_stay_and_count_no_more(study: Study, ann: User, bob: User) -> None:
    stored = Rating.objects.count()
    run = study.items.get(rank=1).trajectory.run
    assert {score.annotator for score in human_scores(studies=[study.pk])} == {ann.pk, bob.pk}
    assert len({row.rater for row in ratings_of(run)}) == 2
    assert left_out(study) == LeftOut()
    withdraw_annotator(study=study, user=ann, by=ann, reason="")
    assert Rating.objects.count() == stored
    assert {score.annotator for score in human_scores(studies=[study.pk])} == {bob.pk}
    assert len({row.rater for row in ratings_of(run)}) == 1
    assert left_out(study) == LeftOut(people=1, items=1, answers=10)


def test_open_items_can_be_given_to_somebody_else(study: Study, ann: User, bob: User) -> None:
    withdraw_annotator(study=study, user=ann, by=ann)
    withdraw_annotator(study=study, user=ann, by=ann)
    assert state(study, ann) == "withdrawn"
    assignments = study.assignments.filter(annotator=ann).order_by("position")
    assert [assignment.state for assignment in assignments] == ["submitted", "returned"]
    first, second = study.items.order_by("rank")
    assert (first.given, second.given, second.wanted) == (2, 1, 2)
    cyd = make_person("cyd")
    add_member(study=study, user=cyd, role="annotator")  # takes the list that ann left
    given = study.assignments.get(annotator=cyd)
    assert (given.item, given.state) == (second, "open")
    assert not study.memberships.filter(user=ann).exists()
    kinds = study.events.filter(about=ann, kind__in=[Kind.WITHDRAWN, Kind.ROLE, Kind.RETURNED])
    assert list(kinds.order_by("pk").values_list("kind", flat=True)) == [
        "role", "returned", "role", "withdrawn",
    ]  # fmt: skip
    event = study.events.get(kind=Kind.WITHDRAWN)
    assert event.detail == {"before": "active", "after": "withdrawn", "returned": 1}


def test_a_manager_says_why(study: Study, ann: User, manager: User) -> None:
    with pytest.raises(Refused, match="why this person is withdrawn"):
        withdraw_annotator(study=study, user=ann, by=manager, reason=" ")
    assert state(study, ann) == "active"
    withdraw_annotator(study=study, user=ann, by=manager, reason="Ill until summer.")
    assert study.events.get(kind=Kind.WITHDRAWN).reason == "Ill until summer."


def test_coming_back(study: Study, ann: User, manager: User) -> None:
    withdraw_annotator(study=study, user=ann, by=ann)
    with pytest.raises(Refused, match="left the study"):
        add_member(study=study, user=ann, role="annotator")
    with pytest.raises(Refused, match="why this person comes back"):
        restore_annotator(study=study, user=ann, by=manager, reason="")
    restore_annotator(study=study, user=ann, by=manager, reason="Well again.")
    restore_annotator(study=study, user=ann, by=manager, reason="Well again.")
    assert state(study, ann) == "active"
    assert study.memberships.filter(user=ann, role="annotator").exists()
    assignments = study.assignments.filter(annotator=ann).order_by("position")
    assert [assignment.state for assignment in assignments] == ["submitted", "open"]
    assert len({score.annotator for score in human_scores(studies=[study.pk])}) == 2
    last = study.events.filter(kind=Kind.WITHDRAWN).order_by("pk").last()
    assert last is not None
    assert last.detail == {"before": "withdrawn", "after": "active", "reopened": 1}


def test_what_somebody_else_has_by_now_stays_with_them(
    study: Study, ann: User, manager: User
) -> None:
    withdraw_annotator(study=study, user=ann, by=ann)
    cyd = make_person("cyd")
    add_member(study=study, user=cyd, role="annotator")
    item = study.items.get(rank=2)
    assert study.assignments.get(annotator=cyd).item == item
    restore_annotator(study=study, user=ann, by=manager, reason="Well again.")
    assert study.assignments.get(annotator=ann, item=item).state == "returned"
    item.refresh_from_db()
    assert item.given == item.wanted == 2


# --- Roles ----------------------------------------------------------------------------------------


def test_roles_are_taken_on_the_record(study: Study, manager: User) -> None:
    moe = make_person("moe")
    with pytest.raises(Refused, match="at least one manager"):
        remove_member(study=study, user=manager, role="manager", by=manager)
    add_member(study=study, user=moe, role="manager", by=manager)
    remove_member(study=study, user=manager, role="manager", by=moe, reason="Left us.")
    remove_member(study=study, user=manager, role="manager", by=moe)
    event = study.events.filter(kind=Kind.ROLE).order_by("pk").last()
    assert event is not None
    assert (event.detail, event.reason, event.about, event.by) == (
        {"taken": "manager"}, "Left us.", manager, moe,
    )  # fmt: skip


def test_the_administration_leaves_events_too(study: Study, ann: User, client: Client) -> None:
    root = make_person("root", superuser=True)
    root.is_staff = True
    root.save()
    client.force_login(root)
    cyd = make_person("cyd")
    add = reverse("admin:annotation_membership_add")
    given = {"study": study.pk, "user": cyd.pk, "role": "observer"}
    assert client.post(add, given).status_code == 302
    event = study.events.filter(kind=Kind.ROLE, about=cyd).get()
    assert (event.detail, event.by) == ({"given": "observer"}, root)
    row = Membership.objects.get(study=study, user=ann)
    assert (
        client.post(
            reverse("admin:annotation_membership_delete", args=[row.pk]), {"post": "yes"}
        ).status_code
        == 302
    )
    assert state(study, ann) == "withdrawn"
    assert study.events.filter(kind=Kind.ROLE, about=ann, detail={"taken": "annotator"}).exists()
    # Nor can somebody who left be put back here, or a role be changed into another.
    refused = client.post(add, {"study": study.pk, "user": ann.pk, "role": "annotator"})
    assert "left the study" in refused.content.decode()
    change = reverse(
        "admin:annotation_membership_change", args=[study.memberships.get(user=cyd).pk]
    )
    client.post(change, {**given, "role": "manager"})
    assert not study.memberships.filter(user=cyd, role="manager").exists()
    # Answers and the record are not among what can be changed.
    shown = {model.__name__ for model in admin.site._registry}
    assert not shown & {"Rating", "RatingEdit", "StudyEvent", "Assignment", "Adjudication"}
