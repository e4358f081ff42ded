"""Planted culprits: is the turn that lost a trajectory named, and how often is one named falsely?

``python -m tests.bench.branching`` prints the table of docs/statistics.md. Trajectories of a small
dialogue are played by the product's driver with scripts; each replay shares the exchanges of its
trajectory before a turn and goes on with seeds of its own, as branches do.

Simulated: of each trajectory it is known which turn lost it, or that none did.
"""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from analysis.stats.comparison.replays import decisive_turns
from benchmarks.core.answerers import Answer, Cast, Scripted
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import Exchange, MemoryLog
from benchmarks.core.types import Ask, Episode, Expect, Message, Outcome, Turn

GOOD, BAD = "good", "bad"
TURNS, REPLAYS = 6, 10


@dataclass(frozen=True)
class Household:
    """How answers and outcomes come about.

    ``slip``: probability of a bad answer in a turn; ``mended``: that a trajectory with a bad answer
    ends well all the same; ``luck``: that one without a bad answer does.
    """

    slip: float
    mended: float
    luck: float


# Each failure is planted: at one turn, at none (judges decide by chance), or everywhere.
PLANTED = Household(slip=0.02, mended=0.03, luck=0.98)
CARELESS = Household(slip=0.08, mended=0.1, luck=0.95)
CHANCE = Household(slip=0.0, mended=0.0, luck=0.5)
HOPELESS = Household(slip=0.1, mended=0.0, luck=0.0)


def episode() -> Episode:
    """Ask the agent in every turn, then a judge who sees all answers."""
    said: list[str] = []
    for index in range(1, TURNS + 1):
        messages = tuple(Message("assistant", word) for word in said)
        (reply,) = yield [Ask("agent", messages, Expect("text"), context={"turn": index})]
        said.append(reply.value)
        yield Turn(index, reply.value)
    told = (Message("user", " ".join(said)),)
    (verdict,) = yield [Ask("judge", told, Expect("text"))]
    return Outcome("ended", {"accurate": float(verdict.value == GOOD)})


def cast_of(world: Household, planted: int | None) -> Cast:
    """Return the scripts; ``planted`` is the turn in which the agent answers badly for once."""

    def agent(ask: Ask, seed: int) -> Answer:
        if planted is not None:
            return Answer(BAD if ask.context["turn"] == planted else GOOD)
        return Answer(BAD if random.Random(seed).random() < world.slip else GOOD)

    def judge(ask: Ask, seed: int) -> Answer:
        chance = world.mended if BAD in ask.messages[0].text else world.luck
        return Answer(GOOD if random.Random(seed).random() < chance else BAD)

    return Cast(
        {
            "agent": {"": Scripted("agent", "1", agent)},
            "judge": {"": Scripted("judge", "1", judge)},
        }
    )


PARSERS: Mapping[str, Callable[[str, Mapping[str, Any]], Any]] = {"text": lambda text, _: text}


def played(cast: Cast, shared: list[Exchange], *seed: object) -> tuple[MemoryLog, float]:
    """Play a dialogue that begins with shared exchanges; return its log and whether it is right."""
    log = MemoryLog()
    for row in shared:
        log.rows[row.step, row.slot, row.attempt] = replace(row)
    ended = Driver(cast, log, PARSERS, lambda step, slot: derive_seed(*seed, step, slot)).run(
        episode()
    )
    assert isinstance(ended, Finished)
    return log, ended.outcome.metrics["accurate"] or 0.0


def failed(world: Household, planted: int | None, *seed: object) -> MemoryLog:
    """Return a failed trajectory, as a researcher would ask about it."""
    for again in range(1000):
        log, right = played(cast_of(world, planted), [], *seed, again)
        if not right:
            return log
    raise AssertionError("this household never fails")


def named_turn(world: Household, planted: int | None, k: int, *seed: object) -> int | None:
    """Return the turn that k replays of each turn name."""
    log = failed(world, planted, "failed", *seed)
    cast = cast_of(world, None)
    rights = []
    for steps in range(TURNS + 1):
        shared = [row for row in log.exchanges() if row.step < steps]
        rights.append([played(cast, shared, *seed, steps, number)[1] for number in range(k)])
    return decisive_turns(rights[:-1], rights[-1]).decisive


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--trajectories", type=int, default=200)
    options.add_argument("--replays", type=int, default=REPLAYS)
    options.add_argument("--seed", type=int, default=20261128)
    given = options.parse_args()
    n, k = given.trajectories, given.replays
    turns = [random.Random(f"{given.seed} {i}").randint(1, TURNS) for i in range(n)]
    cases = [
        ("one turn, all others well", PLANTED, turns),
        ("one turn, others slip in 8 %", CARELESS, turns),
        ("no turn: judges decide by chance", CHANCE, [None] * n),
        ("no turn: never right", HOPELESS, [None] * n),
    ]
    print(f"| what lost it | k | of {n}: named rightly | falsely | none |\n|---|---|---|---|---|")
    for words, world, culprits in cases:
        counts: Counter[str] = Counter()
        for number, culprit in enumerate(culprits):
            named = named_turn(world, culprit, k, given.seed, words, number)
            counts["none" if named is None else "right" if named == culprit else "false"] += 1
        shares = " | ".join(f"{counts[key] / n:.1%}" for key in ("right", "false", "none"))
        print(f"| {words} | {k} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
