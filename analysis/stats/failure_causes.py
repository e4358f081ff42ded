"""Traits that most of a set of failed trajectories share: their ending, and what sets them apart.

For reading, not for inference: the same trajectories choose the cause and count it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# An ending or a fault that fewer than half of them share is no cause of most of them.
MOST_OF_THEM = 0.5
# A fault sets them apart where it is this much more frequent than in the rest.
APART = 0.1
NEARLY = 1e-9
# One failure has nothing in common with others.
LEAST = 2


@dataclass(frozen=True)
class FailedTrajectory:
    """A failed trajectory: how it ended, and the faults that it has.

    ``most`` are the faults that most of its turns show, several where as many turns show them.
    """

    ending: str
    faults: frozenset[str]
    most: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Cause:
    """The ending of most of ``of`` trajectories (``ended`` of them), and what most of those share.

    ``fault`` is empty where none sets them apart from the rest; ``having`` counts those with it.
    """

    ending: str
    ended: int
    of: int
    fault: str = ""
    having: int = 0

    def in_words(self, ending_does: str, fault_does: str) -> str:
        """Return it as “22 stop early, and 18 of these submit the same plan twice in a row”.

        The two say what trajectories with the ending, and with the fault, do.
        """
        words = f"{'all' if self.ended == self.of else f'{self.ended:,}'} {ending_does}"
        if not self.fault:
            return words
        having = "all" if self.having == self.ended else f"{self.having:,}"
        return f"{words}, and {having} of these {fault_does}"


def main_faults(failures: Mapping[int, FailedTrajectory]) -> dict[int, str]:
    """Return one fault of each trajectory: that which most of its turns show.

    Of several it is the one that fewest of all trajectories have, which says most about it. A
    trajectory without a fault has the name of its ending.
    """
    spread = Counter(fault for one in failures.values() for fault in one.faults)
    return {
        pk: min(one.most, key=lambda fault: (spread[fault], fault), default=one.ending)
        for pk, one in failures.items()
    }


def structured_cause(
    members: Sequence[FailedTrajectory], rest: Sequence[FailedTrajectory]
) -> Cause | None:
    """Return how most of these end, with the fault that sets them apart from ``rest``.

    None for fewer than two, and where no ending is shared by half of them. Of the faults that half
    of those with this ending have, it is the one whose share exceeds that in ``rest`` most; without
    a rest the most frequent one.
    """
    if len(members) < LEAST:
        return None
    ending, ended = min(Counter(one.ending for one in members).items(), key=lambda e: (-e[1], e[0]))
    if ended < MOST_OF_THEM * len(members):
        return None
    here = Counter(f for one in members if one.ending == ending for f in one.faults)
    there = Counter(fault for one in rest for fault in one.faults)
    causes: list[tuple[float, int, str]] = []
    for fault, having in here.items():
        excess = having / ended - (there[fault] / len(rest) if rest else 0)
        if having >= MOST_OF_THEM * ended and (not rest or excess >= APART - NEARLY):
            causes.append((-excess, -having, fault))
    if not causes:
        return Cause(ending, ended, len(members))
    _, having, fault = min(causes)
    return Cause(ending, ended, len(members), fault, -having)
