"""Drives ``episode.episode`` with replies made up by a test: no answerers, no driver."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Constraint, Outcome, Profile, Reply, Task, Turn
from benchmarks.systems.adaplanbench.episode import episode
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS, SETTINGS

KEYS = tuple(dimension.key for dimension in DIMENSIONS)
MAIN = tuple(dimension.key for dimension in DIMENSIONS if dimension.main)


class Lost:
    """A marker in place of a value: the reply is unreadable."""


LOST = Lost()

# What one rubric judge says: one score for all dimensions, scores by dimension (5 where none is
# given), or nothing readable.
Sheet = int | Mapping[str, int | None] | Lost


@dataclass(frozen=True)
class Act:
    """The replies of one turn; ``sheets`` is one sheet for all judges, or one each."""

    world: Sequence[str] | Lost = ()
    user: Sequence[str] | Lost = ()
    sheets: Sheet | Sequence[Sheet] = 5
    plan: str | Reply = ""
    feedback: str | Reply = "Not like that."


@dataclass
class Show:
    """A record of an episode: what it asked and yielded, and how it ended."""

    batches: list[list[Ask]] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    outcome: Outcome = field(default_factory=lambda: Outcome("", {}))

    def asks(self, role: str) -> list[Ask]:
        return [ask for batch in self.batches for ask in batch if ask.role == role]

    @property
    def termination(self) -> str:
        return self.outcome.termination

    @property
    def metrics(self) -> Mapping[str, float | None]:
        return self.outcome.metrics


def make_task(world: Sequence[str] = ("w1", "w2", "w3"), user: Sequence[str] = ("u1", "u2", "u3")):
    constraints = [Constraint(k, "world", f"There is no {k}.", f"tool:{k}") for k in world]
    constraints += [Constraint(k, "user", f"I dislike {k}.", f"attribute:{k}") for k in user]
    return Task("t", "How do I dry a wet floor?", profile=Profile("low", tuple(constraints)))


def settings(**changes: Any) -> dict[str, Any]:
    return read_settings(SETTINGS, changes)


def perform(acts: Sequence[Act], task: Task | None = None, **changes: Any) -> Show:
    """Play the acts, one a turn; more turns than acts is an error."""
    show, step = Show(), 0
    turn = 0
    running = episode(task or make_task(), settings(**changes), random.Random(0))
    send: list[Reply] | None = None
    while True:
        try:
            item = running.send(send)
        except StopIteration as end:
            show.outcome = end.value
            return show
        send = None
        if isinstance(item, Turn):
            show.turns.append(item)
            continue
        batch = list(item)
        show.batches.append(batch)
        if batch[0].role == "agent":
            turn += 1
            assert turn <= len(acts), f"no act for turn {turn}"
        send = [_reply(acts[turn - 1], turn, ask, step, slot) for slot, ask in enumerate(batch)]
        step += 1


def _reply(act: Act, turn: int, ask: Ask, step: int, slot: int) -> Reply:
    value: Any
    match ask.role:
        case "agent":
            if isinstance(act.plan, Reply):
                return act.plan
            text = act.plan or f"1. Plan of turn {turn}."
            value = {"text": text, "steps": [text]}
        case "world_judge":
            value = act.world
        case "user_judge":
            value = act.user
        case "rubric_judge":
            sheets = act.sheets
            value = sheets[int(ask.seat) - 1] if isinstance(sheets, list | tuple) else sheets
        case "simulator":
            if isinstance(act.feedback, Reply):
                return act.feedback
            value = act.feedback
    if isinstance(value, Lost):
        return Reply("unreadable", None, "?", "expected something else.", step, slot)
    if ask.role in ("world_judge", "user_judge"):
        value = {"violated": list(value), "reasons": {}}
    if ask.role == "rubric_judge":
        given = dict.fromkeys(KEYS, value) if isinstance(value, int) else {
            key: value.get(key, 5) for key in KEYS
        }  # fmt: skip
        value = {"scores": given, "reasons": {key: f"judge {ask.seat}: {key}" for key in KEYS}}
    return Reply("answered", value, "", "", step, slot)
