"""Facts as bits: conditions and ground actions as whole numbers."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom


@dataclass(frozen=True, slots=True)
class OperatorCondition:
    """The atoms that must hold and those that must not, as bit sets."""

    pos: int
    neg: int = 0

    def holds(self, state: int) -> bool:
        """Tell whether the condition holds in a state."""
        return state & self.pos == self.pos and not state & self.neg


class Operator:
    """A ground action. Its name is the action with its objects; alternatives share a name."""

    __slots__ = ("add", "delete", "name", "neg", "pos", "pre")

    def __init__(self, name: Atom, pos: int, neg: int, add: int, delete: int) -> None:
        self.name, self.pos, self.neg, self.add, self.delete = name, pos, neg, add, delete
        self.pre = bits(pos)

    def applicable(self, state: int) -> bool:
        """Tell whether the action can be applied in a state."""
        return state & self.pos == self.pos and not state & self.neg

    def apply(self, state: int) -> int:
        """Return the state after the action."""
        return state & ~self.delete | self.add


def bits(value: int) -> tuple[int, ...]:
    """Return the places of the bits of a number, the lowest first."""
    places = []
    while value:
        low = value & -value
        places.append(low.bit_length() - 1)
        value ^= low
    return tuple(places)


class Index:
    """Actions by one of their preconditions, the rarest, so that few are tried in a state."""

    def __init__(self, operators: Sequence[Operator], width: int) -> None:
        counts = [0] * width
        for one in operators:
            for fact in one.pre:
                counts[fact] += 1
        self._free: list[Operator] = []
        under: dict[int, list[Operator]] = defaultdict(list)
        for one in operators:
            if one.pre:
                under[min(one.pre, key=lambda fact: (counts[fact], fact))].append(one)
            else:
                self._free.append(one)
        self._under = [
            (1 << fact, operators_under) for fact, operators_under in sorted(under.items())
        ]

    def applicable(self, state: int) -> list[Operator]:
        """Return the actions that can be applied in a state, in a fixed order."""
        usable = [one for one in self._free if one.applicable(state)]
        for fact, operators in self._under:
            if state & fact:
                for one in operators:
                    if state & one.pos == one.pos and not state & one.neg:
                        usable.append(one)
        return usable
