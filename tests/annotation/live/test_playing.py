"""Sessions: places, beginning, replies that are stored once, and changes of who plays."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.errors import Refused
from annotation.live.control.services import (
    end_session,
    free_place,
    let_stand_in,
    take_over,
)
from annotation.live.play.services import (
    be_ready,
    note_end,
    pause_session,
    reply_to,
    resume_session,
    take_place,
)
from annotation.models import LiveEvent, LiveSession
from benchmarks.core.ports.people import Hint
from benchmarks.jobs import wake_up
from benchmarks.models import Exchange, Run, Trajectory
from benchmarks.runs import sweep
from benchmarks.runs.worker import carry_reserved
from tests.annotation.live_sessions import (
    asked,
    begin,
    carry,
    make_live_session,
    make_live_study,
    place_for,
    say,
)
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def session(ann: User) -> LiveSession:
    """A session in which ann is the user."""
    return make_live_session(make_live_study(), [ann])


def kinds(session: LiveSession) -> list[str]:
    return [event.kind for event in session.events.order_by("id")]


def test_nothing_begins_before_its_people_are_there(session: LiveSession, ann: User) -> None:
    carry(session)
    assert session.trajectory.status == Trajectory.Status.WAITING
    assert not Exchange.objects.filter(trajectory=session.trajectory).exists()
    begin(session)
    assert session.state == LiveSession.State.RUNNING
    assert [ask.role for ask in asked(session)] == ["simulator"]
    assert kinds(session) == ["made", "ready", "started"]


def test_a_session_is_played_to_its_end(session: LiveSession) -> None:
    begin(session)
    said = 0
    while asked(session):
        said += 1
        say(session, f"Not like that, for reason {said}.")
    assert session.trajectory.status == Trajectory.Status.DONE
    assert note_end(session=session) and not note_end(session=session)
    assert session.state == LiveSession.State.ENDED
    texts = session.trajectory.turns.exclude(feedback="").values_list("feedback", flat=True)
    assert list(texts) == [f"Not like that, for reason {n}." for n in range(1, said + 1)]


def test_people_make_a_condition_of_their_own(session: LiveSession) -> None:
    assert session.trajectory.run.condition == "simulator=person"
    both = make_live_session(
        make_live_study(mode="judge_and_simulator", by=make_person("max")), [make_person("eve")]
    )
    assert both.trajectory.run.condition == (
        "world_judge=person, user_judge=person, simulator=person"
    )


def test_the_same_words_twice_are_stored_once(session: LiveSession, ann: User) -> None:
    begin(session)
    (ask,) = asked(session)
    place = place_for(session, ask)
    first = reply_to(place=place, user=ann, ask=ask, text="No ladder here.")
    assert reply_to(place=place, user=ann, ask=ask, text="No ladder here.") == first
    with pytest.raises(Refused, match="answered already"):
        reply_to(place=place, user=ann, ask=ask, text="Something else.")
    assert Exchange.objects.filter(trajectory=session.trajectory, role="simulator").count() == 1


def test_an_overridden_hint_is_on_record(session: LiveSession, ann: User) -> None:
    begin(session)
    (ask,) = asked(session)
    hint = Hint("left_out", "This does not seem to say that …", "w-ladder")
    reply_to(place=place_for(session, ask), user=ann, ask=ask, text="Try again.", overridden=[hint])
    event = session.events.get(kind=LiveEvent.Kind.OVERRIDDEN)
    assert event.detail["code"] == "left_out" and event.detail["about"] == "w-ladder"
    assert event.turn == 1


def test_an_end_names_a_turn_that_there_is(session: LiveSession) -> None:
    begin(session)
    while asked(session):
        say(session, f"Not like that, for reason {session.trajectory.turn_count}.")
    note_end(session=session)
    assert session.events.get(kind=LiveEvent.Kind.ENDED).turn == session.trajectory.turns.count()


def test_who_ends_it_does_so_in_a_turn_that_was_begun(session: LiveSession, ann: User) -> None:
    begin(session)
    say(session, "Not like that.")
    end_session(session=session, by=ann)
    assert session.events.get(kind=LiveEvent.Kind.CANCELLED).turn == 2
    # Of another one the agent has not said anything since the last reply.
    second = make_live_session(session.study, [ann])
    begin(second)
    (ask,) = asked(second)
    reply_to(place=place_for(second, ask), user=ann, ask=ask, text="Not like that.")
    end_session(session=second, by=ann)
    assert second.events.get(kind=LiveEvent.Kind.CANCELLED).turn == 1


def test_others_say_nothing_in_it(session: LiveSession, bob: User) -> None:
    begin(session)
    (ask,) = asked(session)
    with pytest.raises(Refused, match="no longer play"):
        reply_to(place=place_for(session, ask), user=bob, ask=ask, text="Hello.")
    with pytest.raises(Refused, match="place is taken"):
        take_place(place=session.places.get(), user=bob)
    elsewhere = make_live_session(session.study, [bob])
    begin(elsewhere)
    with pytest.raises(Refused, match="belongs to another player"):
        reply_to(place=elsewhere.places.get(), user=bob, ask=ask, text="Hello.")


def test_a_pause_keeps_replies_out_until_it_ends(session: LiveSession, ann: User) -> None:
    begin(session)
    (ask,) = asked(session)
    pause_session(session=session, by=ann)
    with pytest.raises(Refused, match="paused"):
        reply_to(place=place_for(session, ask), user=ann, ask=ask, text="Hello.")
    resume_session(session=session, by=ann, manages=False)
    reply_to(place=place_for(session, ask), user=ann, ask=ask, text="Hello.")


@pytest.mark.parametrize("pauses", ["manager", "ann", "bob", "bob who left"])
def test_a_pause_belongs_to_who_made_it(pauses: str, ann: User, bob: User, manager: User) -> None:
    study = make_live_study(mode="two_people", by=manager)
    session = make_live_session(study, [ann, bob], agent="person")
    begin(session)
    who = {"manager": manager, "ann": ann}.get(pauses, bob)
    pause_session(session=session, by=who)
    if pauses == "bob who left":
        free_place(place=session.places.get(player=bob), by=None)
    if pauses in ("manager", "bob"):
        with pytest.raises(Refused, match="only who paused"):
            resume_session(session=session, by=ann, manages=False)
        resume_session(session=session, by=who, manages=pauses == "manager")
    else:
        resume_session(session=session, by=ann, manages=False)
    session.refresh_from_db()
    assert session.state == LiveSession.State.RUNNING


def test_a_script_goes_on_and_a_person_takes_over_again(
    session: LiveSession, ann: User, bob: User
) -> None:
    begin(session)
    say(session, "Not like that.")
    assert asked(session)
    place = session.places.get()
    let_stand_in(place=place, by=None, reason="gone")
    carry(session)
    assert session.trajectory.status == Trajectory.Status.DONE
    who = Exchange.objects.filter(trajectory=session.trajectory, role="simulator")
    assert [row.answerer.kind for row in who.order_by("step")][:2] == ["human", "scripted"]
    event = session.events.get(kind=LiveEvent.Kind.STAND_IN)
    assert (event.turn, event.about, event.by) == (2, ann, None)


def test_a_person_takes_over(session: LiveSession, ann: User, bob: User) -> None:
    begin(session)
    place = session.places.get()
    free_place(place=place, by=None)
    take_place(place=place, user=bob)
    say(session, "Said by bob.")
    take_over(place=session.places.get(), user=ann)
    assert [event.about for event in session.events.filter(kind="left")] == [ann]
    if asked(session):
        say(session, "Said by ann.")


def test_an_ended_session_stays_as_it_is(session: LiveSession, ann: User) -> None:
    begin(session)
    (ask,) = asked(session)
    end_session(session=session, by=None, reason="enough")
    end_session(session=session, by=None)
    session.refresh_from_db()
    assert session.state == LiveSession.State.CANCELLED
    assert kinds(session).count("cancelled") == 1
    with pytest.raises(Refused, match="cancelled"):
        reply_to(place=place_for(session, ask), user=ann, ask=ask, text="Too late.")
    with pytest.raises(Refused, match="cancelled"):
        be_ready(place=session.places.get(), user=ann)


def test_sessions_of_a_kind_share_a_run(session: LiveSession, bob: User) -> None:
    other = make_live_session(session.study, [bob])
    assert other.trajectory.run_id == session.trajectory.run_id
    assert (other.number, other.trajectory.attempt) == (2, 2)
    run = Run.objects.get(pk=session.trajectory.run_id)
    begin(session)
    run.refresh_from_db()
    assert run.status == Run.Status.WAITING


def test_a_reply_sends_a_worker_to_this_session_alone(
    session: LiveSession,
    ann: User,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    woken: list[int] = []
    monkeypatch.setattr(wake_up, "wake_for_trajectory", woken.append)
    monkeypatch.setattr(wake_up, "wake_for_runs", lambda runs: pytest.fail("nobody else is needed"))
    with django_capture_on_commit_callbacks(execute=True):
        be_ready(place=session.places.get(), user=ann)
    assert woken == [session.trajectory_id]
    assert carry_reserved(pk=session.trajectory_id, owner="me")
    assert not carry_reserved(pk=session.trajectory_id, owner="me")
    assert asked(session)


def test_a_session_that_nobody_carries_is_rung_for_again(session: LiveSession, ann: User) -> None:
    be_ready(place=session.places.get(), user=ann)
    assert sweep._unattended_reserved() == [session.trajectory_id]
    carry(session)
    assert not sweep._unattended_reserved()
