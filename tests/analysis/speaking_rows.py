"""Hand-made trajectories in which people and scripts speak for the user."""

import random
from collections.abc import Mapping, Sequence

from django.utils import timezone

from benchmarks.asks.players import PREFIX
from benchmarks.models import AnswererVersion, Dataset, Exchange, Run, Trajectory, Turn, Violation
from tests.analysis.rows import make_run, make_trajectory

# The number of words of a script's messages; people say 12 to 20.
SCRIPTS = {"plain-words": 16, "eager": 90}


def make_speaking(
    dataset: Dataset,
    agents: Sequence[str] = ("ada", "bob"),
    *,
    people: int = 4,
    tasks: int = 8,
    scripts: Mapping[str, int] = SCRIPTS,
) -> list[Run]:
    """Runs of each agent with people and with each script as user, all on the same tasks.

    A script that says much reveals everything at once, and agents then succeed.
    """
    runs = []
    for agent in agents:
        run = _run(dataset, agent, {"kind": "human", "label": "human"}, "simulator=person")
        for task in range(1, tasks + 1):
            for person in range(1, people + 1):
                who = _answerer("human", f"{PREFIX}{1000 + person}")
                make_spoken(run, task, who, 10 + 2 * person, attempt=person)
        runs.append(run)
        for script, words in scripts.items():
            filler = {"kind": "scripted", "label": "scripted", "policy": script, "version": "1"}
            run = _run(dataset, agent, filler, "standard")
            for task in range(1, tasks + 1):
                make_spoken(run, task, _answerer("scripted", script), words)
            runs.append(run)
    return runs


def _run(dataset: Dataset, agent: str, filler: Mapping[str, str], condition: str) -> Run:
    run = make_run(dataset, agent, condition=condition, finished=25)
    run.roles = {**run.roles, "simulator": [filler]}
    run.save()
    return run


def _answerer(kind: str, name: str) -> AnswererVersion:
    row, _ = AnswererVersion.objects.get_or_create(
        digest=f"{kind} {name}", defaults={"kind": kind, "name": name, "version": "1"}
    )
    return row


def make_spoken(
    run: Run, task: int, who: AnswererVersion, words: int, *, attempt: int = 1
) -> Trajectory:
    """A trajectory of two plans with a message after the first, of about so many words."""
    chance = random.Random(f"{run.agent.name} {task} {who.name} {attempt}")
    eager = words > 50
    trajectory = make_trajectory(
        run, task, texts=["1. Do it.", "1. Do it well."], attempt=attempt,
        accurate=float(eager or chance.random() < 0.5),
    )  # fmt: skip
    Exchange.objects.create(
        trajectory=trajectory, step=2, slot=0, attempt=1, role="simulator", answerer=who,
        ask_digest="0", expect={"kind": "feedback", "params": {}}, seed=1,
        state=Exchange.State.ANSWERED, text="word " * (words + chance.randint(-2, 2)),
        sent_at=timezone.now(),
    )  # fmt: skip
    for turn in Turn.objects.filter(trajectory=trajectory):
        if turn.index == 1 or chance.random() < 0.5:
            for number in range(4 if eager and turn.index == 1 else 1):
                Violation.objects.create(
                    turn=turn, key=f"c{turn.index}{number}", kind="user", text="Not that.",
                    revealed=True, new=True, repeated=False,
                )  # fmt: skip
    return trajectory
