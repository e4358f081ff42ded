"""Simulated annotators play the user in sessions, so that pages on simulated users have people.

What they write is drawn from a seed at the rates below, which were set before the first session was
played and are kept in the study's settings. They do not try to be like people, nor like the
scripted user simulator.
"""

import random
import time
from collections import Counter
from collections.abc import Iterator

from django.contrib.auth.models import User
from django.db import transaction

from annotation.demo.simulation import ensure_simulated_annotator
from annotation.demo.studies import ACCOUNTS, ROLES
from annotation.live.play.services import be_ready, note_end, reply_to
from annotation.live.setup.design import draw_tasks
from annotation.live.setup.services import DesignRequest, SessionRequest, create_sessions
from annotation.models import LivePlace, LiveSession, Membership, Study
from annotation.studies.setup import add_member
from benchmarks.core.digests import derive_seed
from benchmarks.jobs.services import Progress
from benchmarks.models import Agent, Dataset, OpenAsk, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.prepared import WORKABLE
from benchmarks.runs.worker import work_on_run

Role = Membership.Role
UNDER_WAY = (Trajectory.Status.PENDING, Trajectory.Status.RUNNING)
KEY, NAME = "scripted people", "Scripted people play the user"
LEVEL, SEED = "mid", 37
PEOPLE, TASKS = 5, 10
AGENTS = ("forgetful", "coin-flipper")
# Ranges from which each person draws how often a message begins with an opening, and how often a
# point comes with a request.
OPENS, ASKS = (0.1, 0.9), (0.0, 0.6)
OPENINGS = (
    "Thank you, but this plan does not suit me yet.",
    "Most of it is fine.",
    "Nearly there.",
    "I am afraid I cannot do it like this.",
)
REQUESTS = ("Please find another way.", "Could you plan around that?", "Please leave that out.")
PAUSE = 0.2


def scripted_sessions(tasks: int) -> int:
    """Return how many sessions are played on a dataset of so many tasks."""
    return PEOPLE * len(AGENTS) * min(tasks, TASKS)


def ensure_scripted_sessions(dataset: Dataset, progress: Progress) -> Study | None:
    """Return the study of the scripted people, made with all its sessions if it is missing.

    None where the demo's accounts are gone.
    """
    stored = Study.objects.filter(is_demo=True, settings__demo=KEY).first()
    if stored is not None:
        return stored
    accounts = User.objects.filter(groups__name=ACCOUNTS).in_bulk(field_name="username")
    maker = accounts.get("manager")
    if maker is None:
        return None
    wish = SessionRequest(
        name=NAME, dataset=dataset, mode="simulator", level=LEVEL, questionnaire="", seed=SEED
    )
    rates = {"opens": OPENS, "asks": ASKS}
    with transaction.atomic():
        progress.report()  # raises when another worker has taken the job over
        study = create_sessions(wish=wish, design=_design(dataset), by=maker)
        study.settings = {**study.settings, "demo": KEY, "scripted_people": rates}
        study.save(update_fields=["settings"])
        for name, role in ROLES:
            if name in accounts and role in (Role.RESEARCHER, Role.OBSERVER):
                add_member(study=study, user=accounts[name], role=role, by=maker)
    return study


def _design(dataset: Dataset) -> DesignRequest:
    """Return who plays what: everybody meets every agent on each of the tasks that are drawn."""
    ensure_scripted_agents()
    tasks = list(dataset.tasks.order_by("pk"))
    drawn = draw_tasks(
        tasks=[task.external_id for task in tasks],
        kinds=[task.category for task in tasks],
        count=TASKS,
        seed=SEED,
    )
    of, some = Counter(t.category for t in tasks), Counter(tasks[place].category for place in drawn)
    return DesignRequest(
        agents=list(Agent.objects.filter(name__in=AGENTS).order_by("name")),
        tasks=[tasks[place] for place in drawn],
        rows=[[ensure_simulated_annotator(number=number)] for number in range(1, PEOPLE + 1)],
        each=len(AGENTS) * len(drawn),
        order="random",
        drawn={kind: (some[kind], count) for kind, count in of.items()},
    )


def play_scripted_sessions(study: Study, owner: str) -> Iterator[str]:
    """Let the scripted people play what is not over; says which session is next.

    A session that somebody paused is left as it is. A repetition goes on where it was interrupted.
    """
    sessions = LiveSession.objects.filter(study=study).exclude(state__in=LiveSession.OVER)
    for session in sessions.select_related("trajectory").order_by("number"):
        yield f"{study.name}: session {session.number}"
        place = session.places.get()
        assert place.player is not None
        be_ready(place=place, user=place.player)
        _play(session, place, place.player, owner)


def ended_sessions() -> int:
    """Return how many sessions the scripted people have played to the end."""
    sessions = LiveSession.objects.filter(study__is_demo=True, study__settings__demo=KEY)
    return sessions.filter(state=LiveSession.State.ENDED).count()


def _play(session: LiveSession, place: LivePlace, player: User, owner: str) -> None:
    run, trajectory = session.trajectory.run_id, session.trajectory_id
    while Run.objects.filter(pk=run, status__in=WORKABLE).exists():
        work_on_run(run_id=run, owner=owner)
        ask = OpenAsk.objects.filter(trajectory=trajectory, answered_at=None).first()
        if ask is not None:
            reply_to(place=place, user=player, ask=ask, text=_message(session, player, ask))
        elif Trajectory.objects.get(pk=trajectory).status in UNDER_WAY:
            time.sleep(PAUSE)  # another worker has it
        else:
            break
    note_end(session=session)


def _message(session: LiveSession, player: User, ask: OpenAsk) -> str:
    """Return what this person tells the agent: each point in its own words, and some more."""
    name, seed = player.get_username(), session.study.seed
    character = random.Random(derive_seed(seed, "character", name))
    opens, asks = character.uniform(*OPENS), character.uniform(*ASKS)
    chance = random.Random(derive_seed(seed, name, session.number, ask.step, ask.slot))
    lines = [chance.choice(OPENINGS)] if chance.random() < opens else []
    for point in ask.context["points"]:
        more = f" {chance.choice(REQUESTS)}" if chance.random() < asks else ""
        lines.append(f"{point['text']}{more}")
    return "\n".join(lines)
