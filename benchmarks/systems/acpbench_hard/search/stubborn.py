"""Strong stubborn sets: actions that are enough to look at in a state (Wehrle and Helmert, 2014).

Actions that do not interfere can be applied in any order; looking at one order is enough. A set is
closed in this sense: it begins with actions of which every plan needs one. With an applicable
action it has every action that interferes with it, and with one that is not applicable, every
action that could give it what it lacks. Some shortest plan then begins with one of its applicable
actions.
"""

from collections.abc import Sequence

from benchmarks.systems.acpbench_hard.pddl.grounding import Operator, bits


class StubbornSets:
    """Sets of actions as numbers whose bits are the places of the actions."""

    def __init__(self, operators: Sequence[Operator], width: int) -> None:
        self.operators = operators
        self.needing, self.forbidding = [0] * width, [0] * width
        self.adding, self.deleting = [0] * width, [0] * width
        for place, one in enumerate(operators):
            mark = 1 << place
            for sets, facts in (
                (self.needing, one.pos),
                (self.forbidding, one.neg),
                (self.adding, one.add),
                (self.deleting, one.delete),
            ):
                for fact in bits(facts):
                    sets[fact] |= mark
        self._interfering: dict[int, int] = {}

    def closed(self, state: int, landmark: int) -> int:
        """Return a stubborn set for a state; every plan from it needs an action of ``landmark``."""
        found = waiting = landmark
        while waiting:
            low = waiting & -waiting
            place = low.bit_length() - 1
            one = self.operators[place]
            missing = one.pos & ~state
            if missing:
                new = self.adding[(missing & -missing).bit_length() - 1]
            elif unwanted := one.neg & state:
                new = self.deleting[(unwanted & -unwanted).bit_length() - 1]
            else:
                new = self._interfering.get(place) or self._interference(place, one)
            waiting = (waiting ^ low) | (new & ~found)
            found |= new
        return found

    def _interference(self, place: int, one: Operator) -> int:
        """Return the actions that must not change places with one, and itself."""
        found = 1 << place
        for fact in bits(one.delete):
            found |= self.needing[fact] | self.adding[fact]
        for fact in bits(one.add):
            found |= self.forbidding[fact] | self.deleting[fact]
        for fact in bits(one.pos):
            found |= self.deleting[fact]
        for fact in bits(one.neg):
            found |= self.adding[fact]
        self._interfering[place] = found
        return found
