"""Places: lists of items that wait for people, who claim them by links, mail or by choice."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.errors import Refused
from annotation.joining.invitations import accept_invite
from annotation.models import Assignment, Invite, Study, StudyEvent
from annotation.people.erasure import erase_person
from annotation.people.invitations import digest_of, make_invite, make_place_links, revoke_invite
from annotation.people.mail import renew_invite
from annotation.people.withdrawal import restore_annotator, withdraw_annotator
from annotation.planning.planned_study import PlannedStudy, plan_study
from annotation.planning.services import create_planned_study
from annotation.studies.design import study_certificate
from annotation.studies.places import free_lists
from annotation.studies.progress import study_progress
from annotation.studies.setup import add_member
from annotation.submissions.services import refill_assignments
from benchmarks.models import Trajectory
from tests.annotation.rows import make_person, make_runs, plan_for, play_in
from tests.threads import in_threads

pytestmark = pytest.mark.django_db


def plan(*, places: int = 3, tasks: int = 3) -> PlannedStudy:
    """The paper's design in small: one query of two agents for each place, and no accounts."""
    return plan_study(replace(plan_for(make_runs(tasks=tasks), [], name="Lists"), places=places))


@pytest.fixture
def planned(manager: User) -> PlannedStudy:
    return plan()


@pytest.fixture
def study(planned: PlannedStudy, manager: User) -> Study:
    return create_planned_study(planned=planned, by=manager)


def items_of(study: Study, user: User) -> list[int]:
    rows = study.assignments.filter(annotator=user).order_by("position")
    return list(rows.values_list("item__rank", flat=True))


def submit(study: Study, user: User, count: int = 1) -> None:
    from annotation.assignments.services import change_assignment_state

    for row in study.assignments.filter(annotator=user).order_by("position")[:count]:
        change_assignment_state(row, Assignment.State.SUBMITTED, by=user)


def test_a_study_needs_no_accounts(study: Study, planned: PlannedStudy) -> None:
    assert not study.participants.exists() and not study.assignments.exists()
    lists = free_lists(study)
    assert [row.name for row in lists] == ["Annotator 1", "Annotator 2", "Annotator 3"]
    assert [(row.items, row.left, row.linked) for row in lists] == [(2, 2, False)] * 3
    assert study_certificate(study).sha256 == planned.digest
    progress = study_progress(study)
    assert (progress.free, progress.open, progress.wanted) == (6, 0, 6)


def test_each_link_leads_to_its_list(study: Study, planned: PlannedStudy, manager: User) -> None:
    links = make_place_links(study=study, days=7, by=manager)
    assert [name for name, _ in links] == ["Annotator 1", "Annotator 2", "Annotator 3"]
    with pytest.raises(Refused, match="every list is taken or has a link"):
        make_place_links(study=study, days=7, by=manager)
    people = [make_person(name) for name in ("ann", "bob", "cyd")]
    for user, (_, token) in zip(reversed(people), links, strict=True):
        accept_invite(digest=digest_of(token), user=user)
    cyd = study.participants.get(user=people[2])
    # The person, their number and their list are one.
    assert cyd.number == 1 and study.places.get(user=cyd.user).number == 1
    assert items_of(study, cyd.user) == study.places.get(number=1).ranks
    assert study_certificate(study).sha256 == planned.digest
    event = study.events.get(kind=StudyEvent.Kind.ASSIGNED, about=cyd.user)
    assert event.detail == {"items": 2, "place": 1}


def test_links_for_named_people_are_bound_to_lists(study: Study, manager: User) -> None:
    for label in ("ann@x.org", "bob@x.org"):
        make_invite(study=study, role="annotator", label=label, days=7, by=manager)
    make_invite(study=study, role="observer", label="eve", days=7, by=manager)
    bound = dict(Invite.objects.values_list("label", "study_place__number"))
    assert bound == {"ann@x.org": 1, "bob@x.org": 2, "eve": None}
    first = Invite.objects.get(label="ann@x.org")
    renewed = Invite.objects.get(digest=digest_of(renew_invite(invite=first, by=manager)))
    assert renewed.study_place == first.study_place
    # Whoever comes without a link takes the list that nobody was promised.
    add_member(study=study, user=make_person("cyd"), role="annotator", by=manager)
    assert study.places.get(user__username="cyd").number == 3
    for invite in Invite.objects.filter(label="bob@x.org"):
        revoke_invite(invite=invite, by=manager)
    assert [row.linked for row in free_lists(study)] == [True, False]


def test_of_two_who_want_one_list_one_gets_it(study: Study, manager: User) -> None:
    (_, token), *_ = make_place_links(study=study, days=7, by=manager)
    for name in ("ann", "bob", "cyd"):  # one of them takes the list of the link
        add_member(study=study, user=make_person(name), role="annotator", by=manager)
    with pytest.raises(Refused, match="all places of this study are taken"):
        accept_invite(digest=digest_of(token), user=make_person("dan"))
    assert not study.memberships.filter(user__username="dan").exists()
    assert Invite.objects.get(digest=digest_of(token)).used_at is None
    # Somebody leaves: the same link gives what they left.
    bob = User.objects.get(username="bob")
    withdraw_annotator(study=study, user=bob, by=bob)
    dan = User.objects.get(username="dan")
    accept_invite(digest=digest_of(token), user=dan)
    assert items_of(study, dan) == study.places.get(user=dan).ranks


@pytest.mark.django_db(transaction=True)
def test_two_who_come_at_once_get_two_lists(manager: User) -> None:
    study = create_planned_study(planned=plan(places=2, tasks=2), by=manager)
    people = [make_person(f"p{number}") for number in range(3)]
    got: list[str] = []

    def come(number: int) -> None:
        try:
            add_member(study=study, user=people[number], role="annotator", needs_place=True)
        except Refused as refused:
            got.append(refused.reason)
        else:
            got.append("in")

    in_threads(come, 3)
    assert sorted(got) == ["all places of this study are taken", "in", "in"]
    assert study.places.filter(user=None).count() == 0
    ranks = study.assignments.values_list("item__rank", flat=True)
    assert sorted(ranks) == [1, 2, 3, 4]
    assert sorted(study.participants.values_list("number", flat=True)) == [1, 2]


def test_who_leaves_frees_what_they_did_not_judge(study: Study, manager: User) -> None:
    ann, bob = make_person("ann"), make_person("bob")
    add_member(study=study, user=ann, role="annotator", by=manager)
    submit(study, ann)
    withdraw_annotator(study=study, user=ann, by=ann)
    first = free_lists(study)[0]
    assert (first.name, first.items, first.left) == ("Annotator 1", 2, 1)
    add_member(study=study, user=bob, role="annotator", by=manager)
    place = study.places.get(number=1)
    assert place.user == bob and items_of(study, bob) == place.ranks[1:]
    # Annotator 1 was ann, and their submission stays under that number.
    assert study.participants.get(user=bob).number == 4
    restore_annotator(study=study, user=ann, by=manager, reason="back")
    place.refresh_from_db()
    assert place.user == bob


def test_who_comes_back_has_their_list_again(study: Study, manager: User) -> None:
    ann = make_person("ann")
    add_member(study=study, user=ann, role="annotator", by=manager)
    withdraw_annotator(study=study, user=ann, by=ann)
    assert len(free_lists(study)) == 3
    restore_annotator(study=study, user=ann, by=manager, reason="back")
    assert [row.name for row in free_lists(study)] == ["Annotator 2", "Annotator 3"]
    assert study.assignments.filter(annotator=ann, state="open").count() == 2


def test_a_whole_list_again_in_place_of_somebody_erased(study: Study, manager: User) -> None:
    ann, root = make_person("ann"), make_person("root", superuser=True)
    add_member(study=study, user=ann, role="annotator", by=manager)
    submit(study, ann, 2)
    erase_person(user=ann, by=root, typed="ann", reason="asked")
    assert [row.name for row in free_lists(study)] == ["Annotator 2", "Annotator 3"]
    ann.refresh_from_db()
    refill_assignments(study=study, user=ann, by=manager)
    assert free_lists(study)[0].left == 2
    bob = make_person("bob")
    add_member(study=study, user=bob, role="annotator", by=manager)
    assert items_of(study, bob) == study.places.get(number=1).ranks


def test_nobody_gets_what_they_played_in(study: Study, manager: User) -> None:
    ann = make_person("ann")
    of_first = study.items.get(rank=study.places.get(number=1).ranks[0])
    play_in(ann, Trajectory.objects.get(pk=of_first.trajectory_id))
    add_member(study=study, user=ann, role="annotator", by=manager)
    assert study.places.get(user=ann).number == 2
    for name in ("bob", "cyd"):
        add_member(study=study, user=make_person(name), role="annotator", by=manager)
    # Where no other list is left, they get theirs without it.
    withdraw_annotator(study=study, user=ann, by=ann)
    bob = User.objects.get(username="bob")
    withdraw_annotator(study=study, user=bob, by=bob)
    assert study.places.get(user__username="bob").number == 1
    dan = make_person("dan")
    for step, number in enumerate((1, 2), 2):
        row = study.items.get(rank=study.places.get(number=number).ranks[0])
        play_in(dan, Trajectory.objects.get(pk=row.trajectory_id), step=step)
    add_member(study=study, user=dan, role="annotator", by=manager)
    place = study.places.get(user=dan)
    assert place.number == 1 and items_of(study, dan) == place.ranks[1:]


def test_the_page_makes_a_link_for_each_list(study: Study, manager: User) -> None:
    boss, url = Client(), f"/studies/{study.pk}/people/"
    boss.force_login(manager)
    page = boss.get(url).content.decode()
    assert "3 lists are free" in page and "Make 3 links" in page
    made = boss.post(f"/studies/{study.pk}/invites/", {"lists": "all"})
    assert [link.label for link in made.context["links"]] == [
        "Annotator 1", "Annotator 2", "Annotator 3",
    ]  # fmt: skip
    again = boss.post(f"/studies/{study.pk}/invites/", {"lists": "all"}, follow=True)
    assert "every list is taken or has a link" in again.content.decode()
    make_person("ann")
    added = boss.post(url, {"names": "ann", "role": "annotator"}, follow=True).content.decode()
    assert "ann has the list of Annotator 1." in added
    stranger = Client()
    stranger.force_login(make_person("eve"))
    assert stranger.post(f"/studies/{study.pk}/invites/", {"lists": "all"}).status_code == 404
