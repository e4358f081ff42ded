"""What failed trajectories share: the order of their faults, their ending, what sets them apart.

For reading, not for inference: the same trajectories choose the cause and count it.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

# An ending or a fault that fewer than half of them share is no cause of most of them.
MOST_OF_THEM = 0.5
# A fault sets them apart where it is this much more frequent than in the rest.
APART = 0.1
NEARLY = 1e-9
# One failure has nothing in common with others.
LEAST = 2
# A sequence that fewer failures share, or with more steps, is told with less detail.
LEAST_ALIKE = 3
MOST_STEPS = 6


@dataclass(frozen=True)
class FailedTrajectory:
    """A failed trajectory: how it ended, and the faults that it has.

    ``steps`` are the faults in the order of the turns that show them, each step with its turn;
    None where a fault is known of the whole trajectory only.
    """

    ending: str
    faults: frozenset[str]
    steps: tuple[tuple[tuple[str, ...], int | None], ...] = ()


class FaultEvent(NamedTuple):
    """A fault in a sequence; ``again``: it had occurred before, with others in between."""

    fault: str
    again: bool = False


class FaultSequence(NamedTuple):
    """What happened in which order, up to the ending; ``cut``: further steps are left out."""

    steps: tuple[tuple[FaultEvent, ...], ...]
    ending: str
    cut: bool = False

    def in_words(self, titles: Mapping[str, str], ending: str) -> str:
        """Return it as “World constraint violated → same plan twice in a row → early stop”.

        ``titles`` name the faults, ``ending`` is the title of the ending.
        """
        if not self.steps:
            return f"{ending}, no fault noted"
        steps = [
            " and ".join(_lower(titles[event.fault]) + " again" * event.again for event in step)
            for step in self.steps
        ]
        words = " → ".join([*steps, *["…"] * self.cut, _lower(ending)])
        return words[:1].upper() + words[1:]


def _lower(title: str) -> str:
    """Return a title as it reads within a sentence; one that begins with an acronym stays."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


class PlacedSequence(NamedTuple):
    """The sequence of one trajectory, and the turn of each of its steps (None: of the whole)."""

    sequence: FaultSequence
    turns: tuple[int | None, ...]


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


def fault_sequences(
    failures: Mapping[int, FailedTrajectory], once: Collection[str] = ()
) -> dict[int, PlacedSequence]:
    """Return what happened in each trajectory, in its order, as finely as others share it.

    Turns that show the same faults as the step before are one step with it. The finest sequence
    has each fault at its first occurrence, and once more (“again”) where it returns after others;
    faults in ``once`` never return, for their system names that itself. Where fewer than three
    trajectories share it, or it has more than six steps, first occurrences alone are told; where
    that is so, too, the first step and the ending.
    """
    levels: list[dict[int, PlacedSequence]] = [
        {pk: _sequence(one, once, again=True) for pk, one in failures.items()},
        {pk: _sequence(one, once, again=False) for pk, one in failures.items()},
    ]
    shared = [Counter(placed.sequence for placed in level.values()) for level in levels]

    def finest(pk: int) -> PlacedSequence:
        for level, counts in zip(levels, shared, strict=True):
            sequence = level[pk].sequence
            if counts[sequence] >= LEAST_ALIKE and len(sequence.steps) <= MOST_STEPS:
                return level[pk]
        (steps, ending, _), turns = levels[-1][pk]
        return PlacedSequence(FaultSequence(steps[:1], ending, len(steps) > 1), turns[:1])

    return {pk: finest(pk) for pk in failures}


def _sequence(one: FailedTrajectory, once: Collection[str], *, again: bool) -> PlacedSequence:
    """Return the events of a trajectory with the turn of each step."""
    steps: list[tuple[FaultEvent, ...]] = []
    turns: list[int | None] = []
    seen: set[str] = set()
    returned: set[str] = set()
    before: Collection[str] = ()
    for faults, turn in one.steps:
        step = []
        for fault in faults:
            if fault not in seen:
                step.append(FaultEvent(fault))
            elif again and not {fault} & {*before, *returned, *once}:
                step.append(FaultEvent(fault, True))
                returned.add(fault)
        seen.update(faults)
        before = faults
        if step:
            steps.append(tuple(step))
            turns.append(turn)
    return PlacedSequence(FaultSequence(tuple(steps), one.ending), tuple(turns))


def median_turns(steps: Sequence[Sequence[int | None]], lengths: Sequence[int]) -> str:
    """Return the median turn of each step of equal sequences and of the last turn: “1 → 3 → 5”."""
    medians = [median(turns) for turns in zip(*steps, strict=True) if None not in turns]
    return " → ".join(f"{turn:g}" for turn in [*medians, median(lengths)])


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
