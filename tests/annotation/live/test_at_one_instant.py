"""Every act in a room at the same instant as every other one, as pages send them.

Whoever is told that something was done finds it stored, whoever is refused finds nothing; what a
room shows stays whole, it is played to its end, and its log gives what is stored.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from threading import Barrier
from typing import NamedTuple

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from annotation.live.control.services import take_over
from annotation.live.duels.selectors import read_progress
from annotation.live.play.services import be_ready, note_end
from annotation.models import Duel, LiveEvent, LiveSession, Membership, Study
from annotation.studies.setup import add_member
from benchmarks.models import Exchange, OpenAsk, Run, Trajectory
from benchmarks.verification.services import verify_run
from tests.annotation.live.test_duels import further_duel, make_duel
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

pytestmark = pytest.mark.django_db(transaction=True)
Kind = LiveEvent.Kind
NOTHING, OBJECTS = '{"violated": []}', "Please leave that out."
FIRST, SECOND, LAST = "1. Whistle a tune.", "1. Hum it.", "1. Be quiet."
DONE, REFUSED = 302, (404, 409, 422)


class Act(NamedTuple):
    """Who sends which form where; ``traces`` counts what it leaves in the record when it is done.

    Whoever does it twice may be told twice that it is done (``twice``), and it is done once.
    """

    by: str
    path: str
    fields: Mapping[str, object]
    traces: Callable[[LiveSession], int]
    twice: bool = False


def events(kind: str, **where: object) -> Callable[[LiveSession], int]:
    return lambda session: session.events.filter(kind=kind, **where).count()


def verdicts(session: LiveSession) -> int:
    rows = Exchange.every.filter(trajectory=session.trajectory_id, role="world_judge")
    return rows.filter(answerer__kind="human", state="answered").count()


def branches(session: LiveSession) -> int:
    return Trajectory.objects.filter(branch__parent=session.trajectory_id).count()


def control(do: str, kind: str, *, twice: bool = False, by: str = "mia", **fields: object) -> Act:
    where = {"place__number": fields["place"]} if "place" in fields else {}
    traces = events(kind, **where)
    return Act(by, "/sessions/{session}/control/", {"do": do, **fields}, traces, twice)


ACTS = {
    "send": Act("max", "/sessions/{session}/reply/{ask}/", {"text": NOTHING}, verdicts, twice=True),
    "edit": Act("ann", "/sessions/{session}/take-back/", {}, events(Kind.TAKEN_BACK)),
    "take over": control("take_over", Kind.TAKEN_OVER, place=2, by="nina", twice=True),
    "take over the agent": control("take_over", Kind.TAKEN_OVER, place=1, by="zoe", twice=True),
    "give back": control("give_back", Kind.GIVEN_BACK, place=2),
    "free": control("free", Kind.LEFT, place=1, twice=True),
    "roll back": control("roll_back", Kind.ROLLED_BACK, step=0),
    "pause": Act("ann", "/sessions/{session}/pause/", {}, events(Kind.PAUSED), twice=True),
    "note": control("note", Kind.NOTE, place=2, reason="Look at the first step."),
    "end": control("end", Kind.CANCELLED, reason="It is late.", twice=True),
    "branch": Act(
        "mia", "/trajectories/{trajectory}/branches/new/",
        {"turn": 1, "answer": "agent", "text": LAST, "replays": 1, "seed": 3}, branches,
    ),
}  # fmt: skip
PAIRS = list(combinations_with_replacement(ACTS, 2))


@pytest.fixture
def study(db: None) -> Study:
    """A study that three people may control, of whom one plays the user in bob's place."""
    mia = make_person("mia", superuser=True)
    study = make_live_study(mode="two_people", by=mia, settings={"asks": False})
    for name in ("max", "nina", "zoe"):
        add_member(study=study, user=make_person(name), role=Membership.Role.MANAGER, by=mia)
    for name in ("ann", "bob"):
        make_person(name)
    return study


def enter(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def waiting_session(study: Study) -> LiveSession:
    """A session in its second turn: ann has planned, and max judges, who sits in bob's place."""
    people = {user.username: user for user in User.objects.all()}
    session = make_live_session(study, [people["ann"], people["bob"]], max_turns=2, rubric_judges=1)
    begin(session)
    say(session, FIRST)
    take_over(place=session.places.get(number=2), user=people["max"])
    keys = asked(session)[0].expect["params"]["keys"]
    for text in (json.dumps({"violated": keys[:1]}), NOTHING, OBJECTS, SECOND):
        say(session, text)
    return session


def at_once(acts: Sequence[Act], **where: int) -> list[int]:
    """The statuses that pages get who send these at one instant."""
    clients = [enter(act.by) for act in acts]
    gate = Barrier(len(acts))

    def send(number: int) -> int:
        act = acts[number]
        try:
            gate.wait()
            return clients[number].post(act.path.format(**where), act.fields).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(send, range(len(acts))))


def check_whole(session: LiveSession) -> None:
    """Nothing is half-written, and every page has a clear state."""
    session.refresh_from_db()
    rows = Exchange.objects.filter(trajectory=session.trajectory_id)
    stored = [(row.step, row.slot) for row in rows.filter(state="answered")]
    assert len(stored) == len(set(stored))
    answered = OpenAsk.objects.filter(trajectory=session.trajectory_id).exclude(answered_at=None)
    assert {(ask.step, ask.slot) for ask in answered} <= set(stored)
    status = Trajectory.objects.get(pk=session.trajectory_id).status
    assert (status == "cancelled") == (session.state == LiveSession.State.CANCELLED)
    for name in ("ann", "bob", "max"):
        shown = enter(name).get(f"/sessions/{session.pk}/", follow=True)
        assert shown.status_code == 200, name
    assert enter("mia").get(f"/sessions/{session.pk}/watch/", follow=True).status_code == 200


def play_on(session: LiveSession) -> None:
    """Resume what is paused, fill what is free, and play to the end."""
    manager = enter("mia")
    if session.state == LiveSession.State.PAUSED:
        assert manager.post(f"/sessions/{session.pk}/control/", {"do": "resume"}).status_code == 302
    over = session.state in LiveSession.OVER
    for place in () if over else session.places.filter(player=None):
        user = make_person(f"new-{session.pk}-{place.number}")
        take_over(place=place, user=user)
    carry(session)
    while session.state == LiveSession.State.RUNNING and (waits := asked(session)):
        assert place_for(session, waits[0]).player is not None
        say(session, {"agent": LAST, "simulator": OBJECTS}.get(waits[0].role, NOTHING))
    note_end(session=session)
    session.refresh_from_db()
    assert session.state in LiveSession.OVER, session.trajectory.status


@pytest.mark.parametrize("first", ACTS)
def test_acts_of_a_room(study: Study, first: str) -> None:
    for other in [b for a, b in PAIRS if a == first]:
        session = waiting_session(study)
        (ask,) = [ask for ask in asked(session) if ask.role == "world_judge"]
        before = {name: ACTS[name].traces(session) for name in (first, other)}
        where = {"session": session.pk, "trajectory": session.trajectory_id, "ask": ask.pk}
        statuses = at_once([ACTS[first], ACTS[other]], **where)
        told = list(zip((first, other), statuses, strict=True))
        assert all(status == DONE or status in REFUSED for status in statuses), told
        assert DONE in statuses, told
        carry(session)
        check_whole(session)
        for name in before:
            done = told.count((name, DONE))
            left = ACTS[name].traces(session) - before[name]
            assert left == (min(1, done) if ACTS[name].twice else done), told
        play_on(session)
        assert not verify_run(run=session.trajectory.run).differs, told


def judged_duel(study: Study, player: User) -> Duel:
    """A duel in which both agents have planned once, and both sides ask."""
    duel = further_duel(study.live, player)
    for side in (duel.left, duel.right):
        be_ready(place=side.places.get(), user=player)
        carry(side)
    assert read_progress(duel).compares
    return duel


def vote(turn: int, choice: str) -> Act:
    return Act("ann", "/duels/{duel}/vote/", {"turn": turn, "choice": choice}, verdicts)


END = {"do": "end", "reason": "It is late."}
IN_DUELS = {
    "left": vote(1, "left"),
    "right": vote(1, "right"),
    "send": Act("ann", "/sessions/{left}/reply/{ask}/", {"text": OBJECTS}, verdicts),
    "pause": Act("ann", "/sessions/{right}/pause/", {}, verdicts),
    "end": Act("mia", "/sessions/{left}/control/", END, verdicts),
    "close": Act("ann", "/duels/{duel}/close/", {}, verdicts),
}


@pytest.mark.parametrize("first", IN_DUELS)
def test_votes_in_a_duel(first: str) -> None:
    """A vote is stored once and as it was sent, whatever else is sent then."""
    ann = make_person("ann")
    study = make_duel(ann).left.study
    User.objects.filter(username="mia").update(is_superuser=True)
    for other in list(IN_DUELS)[list(IN_DUELS).index(first) :]:
        duel = judged_duel(study, ann)
        (ask,) = asked(duel.left)
        where = {"duel": duel.pk, "left": duel.left_id, "right": duel.right_id, "ask": ask.pk}
        statuses = at_once([IN_DUELS[first], IN_DUELS[other]], **where)
        told = list(zip((first, other), statuses, strict=True))
        assert all(status == DONE or status in REFUSED for status in statuses), told
        stored = [vote.choice for vote in duel.votes.all()]
        votes = {name for name, status in told if status == DONE and name in ("left", "right")}
        assert stored == sorted(votes) and len(stored) <= 1, told
        sent = Exchange.objects.filter(trajectory=duel.left.trajectory, text=OBJECTS).count()
        assert sent == min(1, told.count(("send", DONE))), told
        for side in (duel.left, duel.right):
            carry(side)
            assert enter("ann").get(f"/sessions/{side.pk}/", follow=True).status_code == 200
        for side in (duel.left, duel.right):
            enter("mia").post(f"/sessions/{side.pk}/control/", END)
        last = [vote(0, "left"), vote(0, "both_bad"), IN_DUELS["close"]]
        statuses = at_once(last, duel=duel.pk)
        assert sorted(statuses) == [DONE, DONE, 409], told
        chosen = duel.votes.get(turn=0).choice
        assert chosen == ("left" if statuses[0] == DONE else "both_bad"), told
    for run in Run.objects.all():
        assert not verify_run(run=run).differs
