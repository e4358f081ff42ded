"""Invites: one person each, for a time, until taken back."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.errors import Refused
from annotation.joining.invitations import accept_invite, accept_invite_as_new
from annotation.models import Invite, Membership, Participant, Study, StudyEvent
from annotation.people.invitations import digest_of, make_invite, revoke_invite
from tests.annotation.rows import make_person
from tests.threads import in_threads

pytestmark = pytest.mark.django_db


def told(study: Study) -> Iterator[str]:
    for event in study.events.filter(kind=StudyEvent.Kind.INVITED):
        yield event.detail["what"]


def invited(study: Study, manager: User, role: str = "annotator", days: int = 7) -> str:
    """The digest of a fresh link."""
    return digest_of(make_invite(study=study, role=role, label="Cat", days=days, by=manager))


def test_a_token_is_kept_as_a_digest_alone(study: Study, manager: User) -> None:
    token = make_invite(study=study, role="annotator", label=" Cat ", days=7, by=manager)
    (row,) = Invite.objects.values()
    assert len(token) > 40
    assert token not in str(row)
    assert (row["digest"], row["label"]) == (digest_of(token), "Cat")
    assert timedelta(days=6.9) < row["expires_at"] - timezone.now() < timedelta(days=7)
    assert token not in str(list(study.events.values()))


def test_accepting_gives_role_and_number_and_uses_the_link_up(study: Study, manager: User) -> None:
    digest = invited(study, manager)
    cat, dan = make_person("cat"), make_person("dan")
    assert accept_invite(digest=digest, user=cat) == study
    assert Participant.objects.get(user=cat).number == 3
    with pytest.raises(Refused, match="has been used"):
        accept_invite(digest=digest, user=dan)
    assert not Membership.objects.filter(user=dan).exists()
    # whoever got in may press twice
    assert accept_invite(digest=digest, user=cat) == study
    assert list(told(study)) == ["made", "used"]


def test_a_new_account_comes_with_the_role_or_not_at_all(study: Study, manager: User) -> None:
    digest = invited(study, manager, "observer")
    user, joined = accept_invite_as_new(digest=digest, username="cat", password="long-enough-1")
    assert joined == study
    assert user.check_password("long-enough-1")
    assert [m.role for m in user.memberships.all()] == ["observer"]
    with pytest.raises(Refused):
        accept_invite_as_new(digest=digest, username="dan", password="long-enough-1")
    assert not User.objects.filter(username="dan").exists()


def test_links_that_are_not_good(study: Study, manager: User) -> None:
    cat = make_person("cat")
    late, back, over = (invited(study, manager) for _ in range(3))
    Invite.objects.filter(digest=late).update(expires_at=timezone.now())
    revoke_invite(invite=Invite.objects.get(digest=back), by=manager)
    revoke_invite(invite=Invite.objects.get(digest=back), by=manager)
    for digest, words in ((late, "expired"), (back, "revoked"), ("0" * 64, "no such invitation")):
        with pytest.raises(Refused, match=words) as refused:
            accept_invite(digest=digest, user=cat)
        assert study.name not in refused.value.reason
    Study.objects.filter(pk=study.pk).update(status="closed")
    with pytest.raises(Refused, match="has ended"):
        accept_invite(digest=over, user=cat)
    assert not Membership.objects.filter(user=cat).exists()
    assert list(told(study)).count("revoked") == 1


def test_a_used_link_cannot_be_taken_back(study: Study, manager: User) -> None:
    digest = invited(study, manager)
    accept_invite(digest=digest, user=make_person("cat"))
    with pytest.raises(Refused, match="was used"):
        revoke_invite(invite=Invite.objects.get(), by=manager)


def test_who_is_in_already_does_not_use_the_link_up(study: Study, manager: User, ann: User) -> None:
    digest = invited(study, manager)
    with pytest.raises(Refused, match="you are annotator of this study already"):
        accept_invite(digest=digest, user=ann)
    accept_invite(digest=digest, user=make_person("cat"))


def test_who_has_left_does_not_come_back_by_a_link(study: Study, manager: User, ann: User) -> None:
    study.memberships.filter(user=ann).delete()
    study.participants.filter(user=ann).update(state=Participant.State.WITHDRAWN)
    with pytest.raises(Refused, match="you have left this study"):
        accept_invite(digest=invited(study, manager), user=ann)


@pytest.mark.parametrize(
    ("role", "days", "words"),
    [("king", 7, "one of"), ("annotator", 0, "1 to 90"), ("annotator", 91, "not 91")],
)
def test_an_invite_says_what_it_is_for(
    study: Study, manager: User, role: str, days: int, words: str
) -> None:
    with pytest.raises(Refused, match=words):
        make_invite(study=study, role=role, label="", days=days, by=manager)
    assert not Invite.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_come_at_once_one_gets_in(study: Study, manager: User) -> None:
    digest = invited(study, manager)
    people = [make_person("cat"), make_person("dan")]
    got: list[str] = []

    def come(number: int) -> None:
        try:
            accept_invite(digest=digest, user=people[number])
        except Refused as refused:
            got.append(refused.code)
        else:
            got.append("in")

    in_threads(come, 2)
    assert sorted(got) == ["gone", "in"]
    assert Membership.objects.filter(study=study, user__in=people).count() == 1
    assert Participant.objects.filter(study=study).count() == 3
    assert list(told(study)).count("used") == 1


def test_links_for_a_list_of_people(study: Study, manager: User) -> None:
    boss = Client()
    boss.force_login(manager)
    url = f"/studies/{study.pk}/people/"
    page = boss.get(url).content.decode()
    assert "Every list is taken" in page and "None is free now" in page
    given = {"role": "annotator", "days": "7"}
    made = boss.post(f"/studies/{study.pk}/invites/", {**given, "label": "Cat\n\n dan@x.org \nCat"})
    links = made.context["links"]
    assert [link.label for link in links] == ["Cat", "dan@x.org"]
    assert f"dan@x.org\t{links[1].url}" in made.content.decode()
    assert set(Invite.objects.values_list("label", flat=True)) == {"Cat", "dan@x.org"}
    joined = Client().get(links[1].url, follow=True).content.decode()
    assert "The link is valid until" in joined
    # One line too long, or a study that is over: no link at all.
    wrong = boss.post(f"/studies/{study.pk}/invites/", {**given, "label": f"Eve\n{'x' * 121}"})
    assert wrong.status_code == 422 and "At most 120 characters a line" in wrong.content.decode()
    Study.objects.filter(pk=study.pk).update(status="closed")
    assert boss.post(f"/studies/{study.pk}/invites/", {**given, "label": "Eve"}).status_code == 422
    assert Invite.objects.count() == 2
