"""Live studies and sessions for tests, with workers that work when they are told to."""

import time
from collections.abc import Sequence

from django.contrib.auth.models import User

from annotation.live.play.services import be_ready, reply_to
from annotation.live.setup.sessions import make_session, store_live_study
from annotation.models import LivePlace, LivePlan, LiveSession, Study
from benchmarks.models import Agent, Dataset, OpenAsk, Run, Task, Trajectory
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play, start_sample_runs

# The only one that never ends of itself before people have said something.
AGENT = "coin-flipper"


def make_live_study(
    *,
    mode: str = "simulator",
    by: User | None = None,
    system: str = "adaplanbench",
    **options: object,
) -> Study:
    """An open study of sessions; ``options`` are those of `LivePlan`."""
    study = Study(
        name="Live", questionnaire="ten_questions@1", status=Study.Status.OPEN, seed=7, blinded=True
    )
    plan = LivePlan(system=system, mode=mode, **options)
    store_live_study(study=study, plan=plan, by=by or make_person("mia"))
    return study


def sample_dataset() -> Dataset:
    """The sample tasks, with scripted agents."""
    found = Dataset.objects.filter(system="adaplanbench").first()
    if found is None:
        (run,) = start_sample_runs(AGENT, level="high")
        found = run.dataset
    return found


def make_live_session(
    study: Study,
    players: Sequence[User | None],
    *,
    agent: str = AGENT,
    level: str = "high",
    **settings: object,
) -> LiveSession:
    """A session of these players; ``settings`` are those of its condition."""
    task = Task.objects.filter(dataset=sample_dataset()).order_by("pk").first()
    assert task is not None
    return make_session(
        study=study,
        agent=Agent.objects.get(name=agent),
        task=task,
        level=level,
        settings=settings,
        players=players,
        by=None,
    )


def begin(session: LiveSession) -> None:
    """All players say that they are ready, and the worker works until somebody is asked."""
    for place in session.places.exclude(player=None):
        assert place.player is not None
        be_ready(place=place, user=place.player)
    carry(session)


def carry(session: LiveSession) -> None:
    """The worker works until somebody is asked or nothing is left.

    A browser's request may have woken a thread that holds the trajectory already: wait for it.
    """
    trajectory, deadline = session.trajectory, time.monotonic() + 30
    under_way = {Trajectory.Status.PENDING, Trajectory.Status.RUNNING}
    while True:
        trajectory.run.refresh_from_db()
        play(trajectory.run)
        trajectory.refresh_from_db()
        stopped = trajectory.run.status in {Run.Status.PAUSED, Run.Status.CANCELLED}
        if trajectory.status not in under_way or stopped or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    session.refresh_from_db()


def asked(session: LiveSession) -> list[OpenAsk]:
    """Return what waits for people now."""
    return list(session.trajectory.open_asks.filter(answered_at=None).order_by("slot"))


def place_for(session: LiveSession, ask: OpenAsk) -> LivePlace:
    """The place that is asked."""
    return next(place for place in session.places.all() if ask.role in place.roles)


def say(session: LiveSession, text: str) -> None:
    """Whoever is asked first replies, and the worker goes on."""
    ask = asked(session)[0]
    place = place_for(session, ask)
    assert place.player is not None
    reply_to(place=place, user=place.player, ask=ask, text=text)
    carry(session)
