"""Pairs of facts that never hold together (the heuristic h2 as a proof of unreachability).

Starting from the pairs of a state, an action adds pairs only where all pairs of its preconditions
have been reached (Haslum and Geffner, 2000). A pair that is never reached is a mutex.
"""

from collections.abc import Sequence

from benchmarks.systems.acpbench_hard.pddl.grounding import Condition, Operator, bits


class Pairs:
    """The pairs of facts that may hold together in states reached from ``state``."""

    def __init__(self, operators: Sequence[Operator], state: int, width: int) -> None:
        # For each fact, the facts that may hold together with it, itself included.
        self.along = [0] * width
        for fact in bits(state):
            self.along[fact] = state
        self.reached = state
        self._close(operators)

    def _close(self, operators: Sequence[Operator]) -> None:
        along = self.along
        changed = True
        while changed:
            changed = False
            for one in operators:
                pos = one.pos
                if pos & ~self.reached:
                    continue
                # Facts that may hold beside the preconditions, and stay.
                beside = self.reached
                possible = True
                for fact in one.pre:
                    if pos & ~along[fact]:
                        possible = False
                        break
                    beside &= along[fact]
                if not possible:
                    continue
                kept = beside & ~one.delete
                together = kept | one.add
                # A negated precondition rules nothing out here, which keeps the proof sound.
                waiting = one.add
                while waiting:
                    low = waiting & -waiting
                    waiting ^= low
                    fact = low.bit_length() - 1
                    new = together & ~along[fact]
                    if new:
                        changed = True
                        along[fact] |= new
                        self.reached |= low
                        while new:
                            other = new & -new
                            new ^= other
                            along[other.bit_length() - 1] |= low

    def may_hold(self, condition: Condition) -> bool:
        """Tell whether no pair of a condition is ruled out."""
        pos = condition.pos
        return not pos & ~self.reached and not any(pos & ~self.along[fact] for fact in bits(pos))
