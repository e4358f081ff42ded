"""Twenty blind duels between agents of planted strengths, played by a script to their ends."""

import random
from collections import Counter

import pytest
from django.contrib.auth.models import User

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from annotation.live.duels.selectors import read_progress
from annotation.live.duels.services import vote
from annotation.live.play.services import be_ready
from annotation.live.setup.files import read_live_document
from annotation.live.setup.services import create_sessions
from annotation.models import Duel, DuelVote, Study
from annotation.ratings.duel_votes import votes_of
from benchmarks.models import Run, Task, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.verification.services import SAME, verify_run
from tests.analysis.page_reports import report_of
from tests.annotation.live_sessions import asked, carry, say
from tests.annotation.rows import make_person
from tests.factories.benchmarks import save_sample_dataset

pytestmark = pytest.mark.django_db
STRONG, WEAK = "forgetful", "coin-flipper"
# The strong agent is preferred with this probability, and one vote in ten is a tie or "both bad".
PREFERRED, UNDECIDED = 0.85, 0.1


def make_duels(manager: User, players: int, each: int) -> Study:
    """A study of duels, made as from a file: every task is played once."""
    ensure_scripted_agents()
    dataset = save_sample_dataset(tasks=20)
    tasks = Task.objects.filter(dataset=dataset).order_by("pk")[: players * each]
    names = [make_person(f"player{n}").get_username() for n in range(players)]
    form = read_live_document(
        {
            "name": "Duels", "dataset": dataset.name, "mode": "simulator", "level": "high",
            "agents": [STRONG, WEAK], "duels": True, "players": names, "each": each,
            "tasks": [task.external_id for task in tasks], "order": "latin", "seed": 11,
            "blinded": True, "settings": {"max_turns": 2},
        }
    )  # fmt: skip
    return create_sessions(wish=form.wish(), design=form.design(), by=manager)


def play_duel(duel: Duel, chance: random.Random) -> None:
    """Play a duel to its end, with a vote in every turn and one at the end."""
    player = duel.left.places.get().player
    assert player is not None
    sides = (duel.left, duel.right)
    agents = [side.trajectory.run.agent.name for side in sides]
    for side in sides:
        be_ready(place=side.places.get(), user=player)
        carry(side)
    while not (progress := read_progress(duel)).over:
        if progress.compares:
            vote(duel=duel, turn=progress.turn, choice=_choice(agents, chance), by=player)
        for side in sides:
            if asked(side) and not progress.is_held(side.pk):
                say(side, "That breaks one of my rules.")
    vote(duel=duel, turn=0, choice=_choice(agents, chance), by=player)


def _choice(agents: list[str], chance: random.Random) -> str:
    if chance.random() < UNDECIDED:
        return chance.choice(["tie", "both_bad"])
    preferred = STRONG if chance.random() < PREFERRED else WEAK
    return ("left", "right")[agents.index(preferred)]


def test_twenty_duels_find_the_better_agent(reader: User) -> None:
    study = make_duels(reader, players=2, each=10)
    duels = list(Duel.objects.filter(left__study=study).order_by("pk"))
    assert len(duels) == 20
    sides = Counter(
        (name, duel.left.trajectory.run.agent.name)
        for duel in duels
        for name in (duel.row, duel.left.trajectory.task.external_id)
    )
    assert set(sides.values()) == {5, 1}, "either agent is at the left equally often"
    chance = random.Random(20261129)
    for duel in duels:
        play_duel(duel, chance)
    votes = votes_of(study.pk)
    assert len([row for row in votes if row.turn == 0]) == 20 and all(row.counts for row in votes)
    for run in Run.objects.filter(trajectories__live_session__study=study).distinct():
        report = verify_run(run=run)
        assert not report.differs and set(report.counts) == {SAME}
    made = report_of(
        "preferences",
        select(PAGES["preferences"], Filters(study=str(study.pk)), reader),
    )
    assert made.sentence.startswith("Forgetful is preferred")
    assert "clearly more than Coin flipper" in made.sentence
    # An endpoint that is gone says nothing of its agent: the vote stays, and does not count.
    Trajectory.objects.filter(pk=duels[0].left.trajectory_id).update(status="cancelled")
    assert [row.counts for row in votes_of(study.pk) if row.turn == 0].count(False) == 1
    assert DuelVote.objects.filter(duel__left__study=study).count() == len(votes)


@pytest.fixture
def reader(db: None) -> User:
    return make_person("rita", "view_results", "start_runs")
