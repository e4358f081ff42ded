"""Decide by a Latin square which agent of a duel stands on which side."""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.core.digests import derive_seed


@dataclass(frozen=True)
class Placement:
    """Where two agents stand for one player on one task.

    ``pair`` names both agents in a fixed order; ``swapped``: the second one stands at the left.
    ``player`` is whoever plays: a name, or a row of players who are not known yet.
    """

    pair: tuple[str, str]
    player: str
    task: str
    swapped: bool


def is_swapped(
    *, pair: tuple[str, str], player: str, task: str, earlier: Iterable[Placement], seed: int
) -> bool:
    """Return whether the second agent of a pair stands at the left, after ``earlier`` placements.

    Whichever side a player saw an agent on less often comes first, then the one on which the agent
    stood less often on this task, then in all; the seed decides where all are equal. Where every
    player has every task, that is a Latin square of order 2, players by tasks. Else the agents of a
    pair stand on either side equally often for every player, up to one duel.
    """
    known = [placement for placement in earlier if placement.pair == pair]
    groups = (
        [placement for placement in known if placement.player == player],
        [placement for placement in known if placement.task == task],
        known,
    )
    for group in groups:
        lean = sum(1 if placement.swapped else -1 for placement in group)
        if lean:
            return lean < 0
    return bool(derive_seed(seed, "sides", *pair) % 2)
