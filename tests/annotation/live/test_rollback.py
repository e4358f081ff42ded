"""Sessions that go on from an earlier message: what came after it is kept and counts no more."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.errors import Refused
from annotation.live.control.services import end_session, roll_back, rollback_points
from annotation.live.play import views
from annotation.live.play.services import reply_to
from annotation.models import LiveDraft, LiveEvent, LiveSession
from benchmarks.asks.players import trajectories_played_by
from benchmarks.calls.log import LeaseLost
from benchmarks.core.answerers import Answer, Identity
from benchmarks.core.log import Call, CallResult
from benchmarks.core.types import Ask, Expect, Message
from benchmarks.models import Branch, Exchange, OpenAsk, Trajectory, Turn
from benchmarks.runs.growing import _keep, read_growing
from benchmarks.runs.log import DatabaseLog
from benchmarks.verification.services import verify_run
from tests.annotation.live_sessions import (
    asked,
    begin,
    carry,
    make_live_session,
    make_live_study,
    say,
)

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def session(ann: User, manager: User) -> LiveSession:
    """A session of two turns, and the plan of the third."""
    session = make_live_session(make_live_study(by=manager), [ann])
    begin(session)
    say(session, "Not like that.")
    say(session, "Not like this either.")
    return session


def step_of(session: LiveSession, text: str) -> int:
    row = Exchange.objects.get(trajectory=session.trajectory, text=text)
    return row.step


def back_to(session: LiveSession, text: str, by: User) -> None:
    roll_back(session=session, step=step_of(session, text), by=by, reason="a test")
    carry(session)


def test_what_was_said_is_kept_and_the_episode_goes_on_from_the_turn(
    session: LiveSession, ann: User, manager: User
) -> None:
    rows = Exchange.objects.filter(trajectory=session.trajectory)
    before = {row.pk: (row.state, row.text, row.value) for row in rows}
    turns = list(Turn.objects.filter(trajectory=session.trajectory).values_list("pk", "text"))
    back_to(session, "Not like that.", manager)

    kept = {r.pk: (r.state, r.text, r.value) for r in Exchange.every.filter(pk__in=before)}
    assert kept == before
    standing = list(rows.values_list("text", flat=True))
    assert "Not like that." not in standing and "Not like this either." not in standing
    assert turns and not Turn.objects.filter(trajectory=session.trajectory).exists()
    session.trajectory.refresh_from_db()
    assert session.trajectory.turn_count == 0 and [ask.role for ask in asked(session)]

    while asked(session):
        say(session, "Another way, please.")
    report = verify_run(run=session.trajectory.run)
    assert report.trajectories == 1 and not report.differs and not report.findings, report
    event = session.events.get(kind=LiveEvent.Kind.ROLLED_BACK)
    assert (event.by, event.reason, event.detail["turn"]) == (manager, "a test", 1)
    assert event.detail["withdrawn"] == Exchange.every.exclude(withdrawn_at=None).count()
    assert session.trajectory in trajectories_played_by(ann)


def test_a_late_reply_is_stored_as_withdrawn_and_changes_nothing(
    session: LiveSession, manager: User
) -> None:
    trajectory = Trajectory.objects.select_related("run").get(pk=session.trajectory_id)
    step = step_of(session, "Not like this either.")
    roll_back(session=session, step=step, by=manager)
    Trajectory.objects.filter(pk=trajectory.pk).update(status="running", lease_owner="w1")
    log = DatabaseLog(trajectory, "w1")
    log.exchanges()
    ask = Ask("agent", (Message("user", "Plan"),), Expect("plan", {}))
    call = Call(step, 0, 9, ask, Identity("endpoint", "slow", "1"), 1, most=0.0)
    log.record_sent([call])

    roll_back(session=session, step=step, by=manager)
    log.record_verdict(call, CallResult("answered", Answer("1. Late"), value=["Late"]))
    with pytest.raises(LeaseLost):
        log.record_sent([call])
    late = Exchange.every.get(trajectory=trajectory, attempt=9)
    assert (late.state, late.text) == ("answered", "1. Late") and late.withdrawn_at is not None
    carry(session)
    assert asked(session) and not Exchange.objects.filter(text="1. Late").exists()


def test_a_reply_that_was_rolled_back_grows_no_more(session: LiveSession, manager: User) -> None:
    pk = session.trajectory_id
    caches["growing"].set(f"{pk}-writer", "w1")
    _keep(pk, "w1", "agent", "1. Half a")
    assert read_growing(pk) is not None
    roll_back(session=session, step=0, by=manager)
    _keep(pk, "w1", "agent", "1. Half a plan")
    assert read_growing(pk) is None


def test_who_may_roll_back_and_to_where(session: LiveSession, ann: User, manager: User) -> None:
    address = reverse("annotation:session_control", args=[session.pk])
    step = step_of(session, "Not like that.")
    player, boss = Client(), Client()
    player.force_login(ann)
    boss.force_login(manager)
    assert player.post(address, {"do": "roll_back", "step": step}).status_code in (403, 404)
    for wrong in ("", "999", "-1", "x"):
        assert boss.post(address, {"do": "roll_back", "step": wrong}).status_code in (409, 422)
    assert not Exchange.every.exclude(withdrawn_at=None).exists()
    page = boss.get(address).content.decode()
    assert "Continue before" in page and "Turn 1, user simulator: Not like that." in page
    assert boss.post(address, {"do": "roll_back", "step": step}).status_code == 302
    assert boss.post(address, {"do": "roll_back", "step": step}).status_code == 409  # until then
    carry(session)
    end_session(session=session, by=manager)
    with pytest.raises(Refused, match="ended|cancelled"):
        roll_back(session=session, step=0, by=manager)


def test_players_read_it_and_a_form_that_is_gone_keeps_its_text(
    session: LiveSession, ann: User, manager: User
) -> None:
    (old,) = asked(session)
    LiveDraft.objects.create(
        trajectory=session.trajectory, step=old.step, slot=old.slot, user=ann, fields={"text": "a"}
    )
    client = Client()
    client.force_login(ann)
    page = client.get(f"/sessions/{session.pk}/").content.decode()
    assert "Not like this either." in page
    back_to(session, "Not like this either.", manager)
    page = client.get(f"/sessions/{session.pk}/").content.decode()
    assert "took the session back to turn 2: a test." in page
    assert "Not like this either." not in page and "Not like that." in page
    assert not LiveDraft.objects.exists()
    late = client.post(f"/sessions/{session.pk}/reply/{old.pk}/", {"text": "Typed before"})
    assert late.status_code == 409 and "Typed before" in late.content.decode()
    watch = Client()
    watch.force_login(manager)
    page = watch.get(f"/sessions/{session.pk}/watch/").content.decode()
    assert "mia rolled the session back to turn 2; 7 replies were withdrawn." in page


def test_the_log_shows_what_was_withdrawn(
    session: LiveSession, manager: User, admin_client: Client
) -> None:
    back_to(session, "Not like this either.", manager)
    page = admin_client.get(
        reverse("benchmarks:trajectory_exchanges", args=[session.trajectory_id]) + "?turn=2"
    ).content.decode()
    assert page.count("the trajectory went on without it") == 7
    assert "Not like this either." in page


def test_points_name_each_message(session: LiveSession) -> None:
    trajectory = Trajectory.objects.select_related("run__dataset").get(pk=session.trajectory_id)
    points = rollback_points(trajectory)
    assert [point.step for point in points] == sorted({p.step for p in points}, reverse=True)
    assert points[0].turn == 3 and points[-1].words.startswith("Turn 1, agent: ")


def test_what_a_branch_shares_is_not_withdrawn(session: LiveSession, manager: User) -> None:
    ours, step = session.trajectory, step_of(session, "Not like that.")
    other = Trajectory.objects.create(
        run=ours.run, task=ours.task, profile=ours.profile, attempt=9, status="done"
    )
    Branch.objects.create(trajectory=other, parent=ours, steps=step + 1, turn=1, arm="again")
    with pytest.raises(Refused, match="has branched"):
        roll_back(session=session, step=step, by=manager)
    assert not Exchange.every.exclude(withdrawn_at=None).exists()
    roll_back(session=session, step=step + 1, by=manager)


def test_a_reply_that_a_rollback_overtakes_stays_on_the_page(
    session: LiveSession, ann: User, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form was read, then a manager rolled the session back, then the reply was stored."""
    (ask,) = asked(session)

    def overtaken(**given: Any) -> Any:
        back_to(session, "Not like that.", manager)
        return reply_to(**given)

    monkeypatch.setattr(views, "reply_to", overtaken)
    client = Client()
    client.force_login(ann)
    sent = client.post(f"/sessions/{session.pk}/reply/{ask.pk}/", {"text": "Too late for this."})
    shown = sent.content.decode()
    assert sent.status_code == 409 and "Too late for this." in shown
    assert "this reply is no longer needed" in shown
    assert not Exchange.every.filter(text="Too late for this.").exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_replies_at_the_same_instant_one_is_stored(session: LiveSession, ann: User) -> None:
    (ask,) = asked(session)
    place, at_once = session.places.get(), threading.Barrier(2)

    def send(text: str) -> str:
        try:
            at_once.wait()
            reply_to(place=place, user=ann, ask=OpenAsk.objects.get(pk=ask.pk), text=text)
        except Refused as refused:
            return refused.code
        finally:
            connection.close()
        return text

    with ThreadPoolExecutor(2) as pool:
        answers = set(pool.map(send, ("This one.", "No, this one.")))
    (stored,) = Exchange.every.filter(trajectory=session.trajectory, step=ask.step, slot=ask.slot)
    assert answers == {stored.text, "conflict"}
