"""Sessions from their making to the questions afterwards: wishes, links, practice, pools."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from annotation.consent.services import answer_consent
from annotation.errors import Refused
from annotation.joining.invitations import accept_invite
from annotation.live.control.services import end_session
from annotation.live.play.services import be_ready, note_end
from annotation.live.setup.practice import begin_practice
from annotation.live.setup.services import SessionRequest, create_session
from annotation.live.setup.sessions import mode_of, refuse_idle
from annotation.models import Assignment, Invite, Item, LivePlan, LiveSession, Participant, Study
from annotation.people.invitations import digest_of, make_invite
from annotation.steps.next_session import next_session
from annotation.steps.selectors import next_step
from benchmarks.models import Agent, Run, Task
from tests.annotation.live_sessions import AGENT, begin, carry, sample_dataset, say

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def wish(**options: object) -> SessionRequest:
    made = SessionRequest(
        name="Talks", dataset=sample_dataset(), mode="simulator", level="high", seed=3
    )
    return replace(made, **options)  # type: ignore[arg-type]


def make(by: User, mine: int | None = None, **options: object) -> LiveSession:
    made = wish(**options)
    task = Task.objects.filter(dataset=made.dataset).order_by("pk").first()
    assert task is not None
    agent = Agent.objects.get(name=AGENT)
    return create_session(wish=made, agent=agent, task=task, mine=mine, by=by)


def invite(session: LiveSession, by: User, number: int = 1) -> str:
    place = session.places.select_related("session__study").get(number=number)
    return digest_of(
        make_invite(study=session.study, role="annotator", label="", days=7, by=by, place=place)
    )


def step(study: Study, user: User) -> str:
    return next_step(study, Participant.objects.get(study=study, user=user)).name


def play(session: LiveSession) -> None:
    session = LiveSession.objects.get(pk=session.pk)
    begin(session)
    while session.trajectory.open_asks.filter(answered_at=None).exists():
        say(session, "Not like that.")
    note_end(session=session)


def test_a_link_gives_a_place_once(manager: User, ann: User, bob: User) -> None:
    session = make(manager)
    digest = invite(session, manager)
    spare = invite(session, manager)
    assert accept_invite(digest=digest, user=ann) == session.study
    assert session.places.get().player == ann
    assert step(session.study, ann) == "session"
    with pytest.raises(Refused, match="has been used"):
        accept_invite(digest=digest, user=bob)
    with pytest.raises(Refused, match="this place is taken"):
        accept_invite(digest=spare, user=bob)
    # Nothing of it happened: no role, and the link is as it was.
    assert not session.study.memberships.filter(user=bob).exists()
    assert Invite.objects.get(digest=spare).used_at is None
    with pytest.raises(Refused, match="somebody has this place"):
        invite(session, manager)


def test_who_takes_part_already_gets_a_place_by_a_link(manager: User, ann: User) -> None:
    session = make(manager, mode="two_people", mine=1)
    accept_invite(digest=invite(session, manager, 2), user=ann)
    assert [place.player for place in session.places.order_by("number")] == [manager, ann]
    assert session.trajectory.run.agent.kind == Agent.Kind.HUMAN


def test_a_link_to_a_session_that_is_over_leads_nowhere(manager: User, ann: User) -> None:
    session = make(manager)
    digest = invite(session, manager)
    end_session(session=session, by=manager)
    with pytest.raises(Refused, match="over"):
        accept_invite(digest=digest, user=ann)


def test_what_cannot_be_is_refused_and_leaves_nothing(manager: User) -> None:
    with pytest.raises(Refused, match="mode of play"):
        make(manager, mode="dancer")
    with pytest.raises(Refused, match="does not ask about what was played"):
        make(manager, questionnaire="filter_check@1")
    # Players do not judge what they said themselves.
    with pytest.raises(Refused, match="judges what the players did themselves"):
        make(manager, questionnaire="ten_questions@4")
    with pytest.raises(Refused, match="no level"):
        make(manager, level="absurd")
    assert not Study.objects.exists() and not LivePlan.objects.exists()


def test_nobody_is_made_to_wait_for_questions_that_never_come() -> None:
    mode = mode_of("adapt", "persona")
    refuse_idle(mode, {"method": "always_ask"})
    refuse_idle(mode_of("adapt", "agent"), {"method": "teacher"})
    with pytest.raises(Refused, match="choose another method"):
        refuse_idle(mode, {"method": "never_ask"})


def test_practice_comes_first_and_counts_nowhere(manager: User, ann: User) -> None:
    session = make(manager, practises=True)
    accept_invite(digest=invite(session, manager), user=ann)
    study, place = session.study, session.places.get()
    participant = Participant.objects.get(study=study, user=ann)
    coming = next_session(study.live, ann)
    assert coming is not None and coming.practises and coming.place == place
    assert next_step(study, participant).session == session.pk
    practice = begin_practice(place=place, user=ann)
    assert begin_practice(place=place, user=ann) == practice
    assert practice.trajectory.run.kind == Run.Kind.PRACTICE
    assert practice.trajectory.task != session.trajectory.task
    coming = next_session(study.live, ann)
    assert coming is not None and coming.place.session == practice
    assert next_step(study, participant).session == practice.pk
    play(practice)
    assert not Item.objects.filter(study=study).exists()
    coming = next_session(study.live, ann)
    assert coming is not None and coming.place == place and not coming.practises
    assert next_step(study, participant).session == session.pk


def test_scripts_fill_the_other_places_of_a_practice_round(manager: User, ann: User) -> None:
    session = make(manager, mode="two_people", practises=True)
    accept_invite(digest=invite(session, manager, 2), user=ann)
    practice = begin_practice(place=session.places.get(number=2), user=ann)
    assert [bool(place.stand_in) for place in practice.places.order_by("number")] == [True, False]
    begin(practice)
    assert practice.state == LiveSession.State.RUNNING


def test_players_are_asked_once_after_the_end(manager: User, ann: User) -> None:
    session = make(manager)
    accept_invite(digest=invite(session, manager), user=ann)
    play(session)
    session.refresh_from_db()
    assert session.state == LiveSession.State.ENDED
    assert not note_end(session=session)
    (item,) = Item.objects.filter(study=session.study)
    assert (item.use, item.wanted, item.given) == (Item.Use.PLAYED, 1, 1)
    seat = Assignment.objects.get(item=item)
    assert (seat.annotator, seat.part, seat.trajectory) == (ann, "main", session.trajectory)
    assert step(session.study, ann) == "item"
    assert session.study.settings["labels"]["agents"] == ["scripted"]


def test_nobody_is_asked_where_the_study_asks_nothing(manager: User, ann: User) -> None:
    session = make(manager, questionnaire="")
    accept_invite(digest=invite(session, manager), user=ann)
    play(session)
    assert not Item.objects.exists()
    assert "asks nothing" in session.events.get(kind="ended").detail["not_asked"]
    assert step(session.study, ann) == "waiting"


def test_nobody_plays_before_they_agreed(manager: User, ann: User) -> None:
    session = make(manager, consent="I agree.")
    accept_invite(digest=invite(session, manager), user=ann)
    with pytest.raises(Refused, match="consent text"):
        be_ready(place=session.places.get(), user=ann)
    answer_consent(study=session.study, user=ann, version=1, given=True)
    be_ready(place=session.places.get(), user=ann)
    session.refresh_from_db()
    assert session.state == LiveSession.State.RUNNING


def test_a_cancelled_session_asks_nothing(manager: User, ann: User) -> None:
    session = make(manager, mine=1)
    begin(session)
    carry(session)
    end_session(session=session, by=manager)
    assert not Item.objects.exists()
