"""Replies that are edited until the other side has seen them; the record keeps both versions."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.errors import Refused
from annotation.live.play.services import pause_session, reply_to, take_back
from annotation.models import LiveEvent, LiveSession
from benchmarks.models import Exchange, OpenAsk
from benchmarks.verification.services import verify_run
from tests.annotation.live_sessions import (
    asked,
    begin,
    carry,
    make_live_session,
    make_live_study,
    place_for,
    say,
)

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def pair(ann: User, bob: User, manager: User) -> LiveSession:
    """A session in which ann plans and bob is the user; ann has sent a first plan."""
    session = make_live_session(make_live_study(mode="two_people", by=manager), [ann, bob])
    begin(session)
    say(session, "1. Boil water in the kettle")
    return session


def enter(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(client: Client, session: LiveSession) -> str:
    return client.get(f"/sessions/{session.pk}/").content.decode()


def edit(client: Client, session: LiveSession) -> int:
    return client.post(f"/sessions/{session.pk}/take-back/").status_code


def test_a_message_is_edited_until_the_other_side_sees_it(
    pair: LiveSession, ann: User, bob: User
) -> None:
    ours, theirs = enter(ann), enter(bob)
    assert "Edit your message" in page(ours, pair)
    assert edit(ours, pair) == 302
    shown = page(ours, pair)
    assert "Boil water in the kettle</textarea>" in shown and "Edit your message" not in shown
    assert "Boil water" not in page(theirs, pair)

    (ask,) = asked(pair)
    assert ask.role == "agent"
    sent = ours.post(f"/sessions/{pair.pk}/reply/{ask.pk}/", {"text": "1. Boil water in a pot"})
    assert sent.status_code == 302
    carry(pair)
    assert "in a pot" in page(theirs, pair) and "kettle" not in page(theirs, pair)
    assert "Edit your message" not in page(ours, pair)
    assert edit(ours, pair) == 409
    rows = Exchange.every.filter(trajectory=pair.trajectory, role="agent").order_by("attempt")
    texts = [(row.text, row.withdrawn_at is not None) for row in rows]
    assert texts == [("1. Boil water in the kettle", True), ("1. Boil water in a pot", False)]
    event = pair.events.get(kind=LiveEvent.Kind.TAKEN_BACK)
    assert (event.by, event.place) == (ann, pair.places.get(player=ann))

    while asked(pair):
        ask = asked(pair)[0]
        say(pair, {"agent": "1. Another plan"}.get(ask.role, '{"violated": []}'))
    assert not verify_run(run=pair.trajectory.run).differs


def test_what_a_script_replies_to_stays(session: LiveSession, ann: User) -> None:
    with pytest.raises(Refused, match="is replying"):
        take_back(place=session.places.get(), user=ann)
    assert "Edit your message" not in page(enter(ann), session)


@pytest.fixture
def session(ann: User, manager: User) -> LiveSession:
    """A session with a script, which has replied to ann."""
    session = make_live_session(make_live_study(by=manager), [ann])
    begin(session)
    say(session, "Not like that.")
    return session


def test_nothing_picks_it_up_while_no_worker_runs(session: LiveSession, ann: User) -> None:
    (ask,) = asked(session)
    place = place_for(session, ask)
    reply_to(place=place, user=ann, ask=ask, text="Wait for it.")
    client = enter(ann)
    assert "Edit your message" not in page(client, session)  # a worker may be about to take it
    earlier = timezone.now() - timedelta(seconds=5)
    OpenAsk.objects.update(answered_at=earlier)
    assert "Edit your message" in page(client, session)
    assert edit(client, session) == 302
    assert "Wait for it.</textarea>" in page(client, session)
    (again,) = asked(session)
    assert (again.step, again.slot) == (ask.step, ask.slot)
    reply_to(place=place, user=ann, ask=again, text="No, this.")
    carry(session)
    assert not Exchange.objects.filter(text="Wait for it.").exists()


def test_nothing_to_edit(pair: LiveSession, ann: User, bob: User) -> None:
    with pytest.raises(Refused, match="no message"):
        take_back(place=pair.places.get(player=bob), user=bob)
    with pytest.raises(Refused, match="no longer play"):
        take_back(place=pair.places.get(player=bob), user=ann)
    pause_session(session=pair, by=bob)
    with pytest.raises(Refused, match="not running"):
        take_back(place=pair.places.get(player=ann), user=ann)
