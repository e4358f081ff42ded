"""Tests of players who do not reply in time: each policy, each limit, and harmless absences."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.live.control import services as changing
from annotation.live.control.timeouts import sweep_sessions
from annotation.live.play.services import pause_session, take_place
from annotation.models import LiveEvent, LivePlace, LivePlan, LiveSession
from benchmarks.models import OpenAsk, Trajectory
from tests.annotation.live_sessions import (
    asked,
    begin,
    carry,
    make_live_session,
    make_live_study,
    say,
)

pytestmark = [pytest.mark.django_db, pytest.mark.either]
Leaving = LivePlan.Leaving


def begun(user: User, mode: str = "simulator", **options: object) -> LiveSession:
    session = make_live_session(make_live_study(mode=mode, **options), [user])
    begin(session)
    return session


def let_pass(session: LiveSession, seconds: int) -> None:
    """Move times back, as if so many seconds had passed without a word."""
    earlier = timezone.now() - timedelta(seconds=seconds)
    LivePlace.objects.filter(session=session).update(last_seen_at=earlier, joined_at=earlier)
    OpenAsk.objects.filter(trajectory=session.trajectory).update(opened_at=earlier)


def told(session: LiveSession) -> list[tuple[str, str]]:
    rows = session.events.exclude(kind__in=["made", "ready", "started"])
    return list(rows.order_by("id").values_list("kind", "reason"))


def test_waiting_is_noted_once_and_ends_with_a_sign(ann: User) -> None:
    session = begun(ann, away_seconds=60)
    assert sweep_sessions() == 0
    let_pass(session, 61)
    assert sweep_sessions() == 1
    assert sweep_sessions() == 0
    session.places.update(last_seen_at=timezone.now())
    assert sweep_sessions() == 1
    assert told(session) == [("away", "not seen for 60 seconds"), ("returned", "")]


def test_a_script_takes_the_place(ann: User) -> None:
    session = begun(ann, away_seconds=60, leaving=Leaving.STAND_IN)
    say(session, "Not like that.")
    let_pass(session, 61)
    assert sweep_sessions() == 1
    carry(session)
    assert session.trajectory.status == Trajectory.Status.DONE
    event = session.events.get(kind=LiveEvent.Kind.STAND_IN)
    assert (event.turn, event.about) == (2, ann)
    assert sweep_sessions() == 1  # that it has ended
    session.refresh_from_db()
    assert session.state == LiveSession.State.ENDED


def test_where_only_a_person_will_do_it_is_waited_for(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begun(ann, away_seconds=60, leaving=Leaving.STAND_IN)
    monkeypatch.setattr(changing, "usual_names", lambda run, role: [])
    let_pass(session, 61)
    sweep_sessions()
    sweep_sessions()
    assert [kind for kind, _ in told(session)] == ["away"]
    assert asked(session)


def test_the_place_is_free_for_another(ann: User, bob: User) -> None:
    session = begun(ann, away_seconds=60, leaving=Leaving.HAND_OVER)
    let_pass(session, 61)
    sweep_sessions()
    assert sweep_sessions() == 0
    take_place(place=session.places.get(), user=bob)
    say(session, "Said by bob.")
    assert [kind for kind, _ in told(session)] == ["left", "joined", "offered"]


def test_the_session_ends(ann: User) -> None:
    session = begun(ann, away_seconds=60, leaving=Leaving.CANCEL)
    let_pass(session, 61)
    sweep_sessions()
    session.refresh_from_db()
    session.trajectory.refresh_from_db()
    assert session.state == LiveSession.State.CANCELLED
    assert session.trajectory.status == Trajectory.Status.CANCELLED
    assert told(session) == [("cancelled", "User: not seen for 60 seconds")]


def test_a_reply_has_its_own_limit(ann: User) -> None:
    session = begun(ann, away_seconds=600, reply_seconds=90, leaving=Leaving.CANCEL)
    let_pass(session, 89)
    session.places.update(last_seen_at=timezone.now())
    assert sweep_sessions() == 0
    let_pass(session, 91)
    session.places.update(last_seen_at=timezone.now())
    assert sweep_sessions() == 1
    assert told(session) == [("cancelled", "User: no reply within 90 seconds")]


def test_a_session_has_its_time(ann: User) -> None:
    session = begun(ann, session_minutes=30)
    assert session.ends_by is not None
    LiveSession.objects.filter(pk=session.pk).update(ends_by=timezone.now())
    sweep_sessions()
    assert told(session) == [("cancelled", "the time for the session was up")]


def test_a_pause_stops_the_clocks(ann: User) -> None:
    session = begun(ann, away_seconds=60, leaving=Leaving.CANCEL, session_minutes=1)
    pause_session(session=session, by=ann)
    let_pass(session, 3600)
    LiveSession.objects.filter(pk=session.pk).update(ends_by=timezone.now())
    assert sweep_sessions() == 0


def test_who_was_asked_just_now_has_the_whole_time(ann: User) -> None:
    session = begun(ann, away_seconds=60, leaving=Leaving.CANCEL)
    session.places.update(last_seen_at=timezone.now() - timedelta(hours=1))
    assert sweep_sessions() == 0


def test_a_replacement_has_the_whole_time_for_a_reply(ann: User, bob: User) -> None:
    session = begun(ann, reply_seconds=60, leaving=Leaving.HAND_OVER)
    let_pass(session, 61)
    assert sweep_sessions() == 1
    place = session.places.get()
    assert place.player is None
    take_place(place=place, user=bob)
    assert sweep_sessions() == 0
    assert session.places.get().player == bob
    let_pass(session, 61)
    assert sweep_sessions() == 1
