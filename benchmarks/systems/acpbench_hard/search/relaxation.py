"""Delete relaxation: what can be reached when nothing is ever lost, and how."""

from collections.abc import Sequence

from benchmarks.systems.acpbench_hard.pddl.grounding import Condition, Operator


class Relaxation:
    """Relaxed plans for one goal; negated preconditions are ignored, which keeps proofs sound."""

    def __init__(self, operators: Sequence[Operator], goal: Sequence[Condition]) -> None:
        self.rows = [(one.pos, one.add, one) for one in operators]
        self.goals = [one.pos for one in goal]

    def plan(self, state: int) -> list[Operator] | None:
        """Return a relaxed plan in an order in which it can be applied, or None if there is none.

        It need not be a shortest one.
        """
        reached = state
        support: dict[int, Operator] = {}
        rows = self.rows
        ranks: dict[int, int] = {}
        rank = 0
        while True:
            for goal in self.goals:
                if not goal & ~reached:
                    return self._extract(state, goal, support, ranks)
            new = 0
            waiting = []
            missing = ~reached
            for row in rows:
                if row[0] & missing:
                    waiting.append(row)
                else:
                    added = row[1] & missing & ~new
                    if added:
                        new |= added
                        while added:
                            low = added & -added
                            support[low] = row[2]
                            ranks[low] = rank
                            added ^= low
            if not new:
                return None
            reached |= new
            rows = waiting
            rank += 1

    def _extract(
        self, state: int, goal: int, support: dict[int, Operator], ranks: dict[int, int]
    ) -> list[Operator]:
        chosen: dict[int, tuple[int, Operator]] = {}
        done = state
        waiting = goal & ~done
        while waiting:
            low = waiting & -waiting
            waiting ^= low
            done |= low
            one = support[low]
            if id(one) not in chosen:
                chosen[id(one)] = (ranks[low], one)
                waiting |= one.pos & ~done
        found = sorted(chosen.values(), key=lambda pair: pair[0])
        return [one for _, one in found]
