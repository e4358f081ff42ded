"""A person's reply settles an open ask once, and the trajectory goes on."""

import pytest
from django.contrib.auth.models import User

from benchmarks.asks.services import answer_open_ask
from benchmarks.core.errors import UnreadableReply
from benchmarks.models import Agent, Exchange, OpenAsk, Run, Trajectory
from benchmarks.runs.services import RunError, start_runs
from tests.factories.benchmarks import make_user, play, start_sample_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return make_user("speaker")


@pytest.fixture
def run() -> Run:
    """A run whose user simulator is a person, carried until it waits."""
    (scripted,) = start_sample_runs("coin-flipper", level="high")
    (run,) = start_runs(
        dataset=scripted.dataset,
        agents=[Agent.objects.get(name="coin-flipper")],
        levels=["high"],
        roles={"simulator": ["human"]},
        wake=False,
    )
    play(run)
    return run


def waiting(run: Run) -> Trajectory:
    found = run.trajectories.filter(status=Trajectory.Status.WAITING).first()
    assert found is not None
    return found


def test_replies_of_a_person_carry_the_trajectory_to_its_end(run: Run, person: User) -> None:
    trajectory = waiting(run)
    said = 0
    while trajectory.status == Trajectory.Status.WAITING:
        ask = trajectory.open_asks.get(answered_at=None)
        answer_open_ask(ask=ask, by=person, text=f"That will not do, for reason {said}.")
        said += 1
        run.refresh_from_db()
        play(run)
        trajectory.refresh_from_db()
    assert trajectory.status == Trajectory.Status.DONE
    feedback = trajectory.turns.exclude(feedback="").order_by("index")
    assert [turn.feedback for turn in feedback] == [
        f"That will not do, for reason {number}." for number in range(said)
    ]
    by = Exchange.objects.filter(trajectory=trajectory, role="simulator")
    assert {row.answerer.kind for row in by} == {"human"}


def test_the_first_answer_stands(run: Run, person: User) -> None:
    ask = waiting(run).open_asks.get(answered_at=None)
    answer_open_ask(ask=ask, by=person, text="No ladder here.")
    with pytest.raises(RunError, match="answered already"):
        answer_open_ask(ask=ask, by=person, text="Something else.")
    reply = Exchange.objects.get(trajectory=ask.trajectory, role="simulator")
    assert (reply.text, reply.state, reply.attempt) == ("No ladder here.", "answered", 1)
    asked = ("step", "slot", "seat", "ask_digest", "messages", "expect", "tools", "seed")
    assert [getattr(reply, name) for name in asked] == [getattr(ask, name) for name in asked]
    assert reply.settled_at is not None
    assert reply.sent_at == ask.opened_at
    assert reply.latency == (reply.settled_at - ask.opened_at).total_seconds()


def test_an_unreadable_reply_changes_nothing(run: Run, person: User) -> None:
    ask = waiting(run).open_asks.get(answered_at=None)
    with pytest.raises(UnreadableReply):
        answer_open_ask(ask=ask, by=person, text="  \n ")
    assert OpenAsk.objects.get(pk=ask.pk).answered_at is None
    assert not Exchange.objects.filter(trajectory=ask.trajectory, role="simulator").exists()
    assert waiting(run).pk == ask.trajectory_id
