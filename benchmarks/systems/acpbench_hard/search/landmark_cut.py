"""The heuristic LM-cut (Helmert and Domshlak, 2009) with cuts that a successor takes over.

A cut is a set of actions of which every plan needs one; cuts that share no action add up to a lower
bound on the length of a plan. After an action, all cuts without it still hold, so that only the
missing ones are computed anew (Pommerening and Helmert, 2013). Negated preconditions are ignored,
which keeps the bound a bound.
"""

from collections.abc import Sequence

from benchmarks.systems.acpbench_hard.pddl.operators import Operator, OperatorCondition, bits

_FAR = 1 << 30


class LandmarkCut:
    """Cuts for one goal. A cut is a number whose bits are the places of its actions."""

    def __init__(
        self, operators: Sequence[Operator], goal: Sequence[OperatorCondition], width: int
    ) -> None:
        # Two facts of its own: one that always holds, and one that stands for the goal.
        self.start, self.goal = width, width + 1
        self.facts = width + 2
        pre = [one.pre or (self.start,) for one in operators]
        self.adds = [bits(one.add) for one in operators]
        for one in goal:
            pre.append(bits(one.pos) or (self.start,))
            self.adds.append((self.goal,))
        self.actions = len(operators)
        self.counts = [len(facts) for facts in pre]
        self.needing: list[list[int]] = [[] for _ in range(self.facts)]
        self.adding: list[list[int]] = [[] for _ in range(self.facts)]
        for place, facts in enumerate(pre):
            for fact in facts:
                self.needing[fact].append(place)
        for place, facts in enumerate(self.adds):
            for fact in facts:
                self.adding[fact].append(place)

    def cuts(self, state: int, kept: Sequence[int], most: int) -> list[int] | None:
        """Return disjoint cuts for a state, or None where no plan exists.

        ``kept`` are cuts that hold already. It stops when there are more than ``most``.
        """
        cost = [1] * self.actions + [0] * (len(self.counts) - self.actions)
        cuts = list(kept)
        for cut in cuts:
            for place in bits(cut):
                cost[place] = 0
        facts = [*bits(state), self.start]
        while True:
            distance, support = self._distances(facts, cost)
            if distance == _FAR:
                return None
            if distance == 0:
                return cuts
            cut = self._cut(facts, cost, support)
            cuts.append(cut)
            if len(cuts) > most:
                return cuts
            for place in bits(cut):
                cost[place] = 0

    def _distances(self, facts: list[int], cost: list[int]) -> tuple[int, list[int]]:
        """Return the distance of the goal where a conjunction costs as much as its dearest part.

        Beside it, for each action, the dearest of its preconditions, or -1 where out of reach.
        """
        value = [_FAR] * self.facts
        done = bytearray(self.facts)
        unmet = self.counts[:]
        support = [-1] * len(unmet)
        needing, adds = self.needing, self.adds
        current = facts[:]
        for fact in current:
            value[fact] = 0
        level = 0
        while current:
            later: list[int] = []
            while current:
                fact = current.pop()
                if done[fact]:
                    continue
                done[fact] = 1
                for place in needing[fact]:
                    left = unmet[place] - 1
                    unmet[place] = left
                    if left:
                        continue
                    support[place] = fact
                    if cost[place]:
                        for added in adds[place]:
                            if value[added] > level + 1:
                                value[added] = level + 1
                                later.append(added)
                    else:
                        for added in adds[place]:
                            if value[added] > level:
                                value[added] = level
                                current.append(added)
            current = later
            level += 1
        return value[self.goal], support

    def _cut(self, facts: list[int], cost: list[int], support: list[int]) -> int:
        # From here the goal is reached without cost.
        near = bytearray(self.facts)
        near[self.goal] = 1
        waiting = [self.goal]
        while waiting:
            for place in self.adding[waiting.pop()]:
                fact = support[place]
                if fact >= 0 and not cost[place] and not near[fact]:
                    near[fact] = 1
                    waiting.append(fact)
        cut = 0
        seen = near[:]
        waiting = []
        for fact in facts:
            if not seen[fact]:
                seen[fact] = 1
                waiting.append(fact)
        while waiting:
            fact = waiting.pop()
            for place in self.needing[fact]:
                if support[place] != fact:
                    continue
                for added in self.adds[place]:
                    if near[added]:
                        cut |= 1 << place
                    elif not seen[added]:
                        seen[added] = 1
                        waiting.append(added)
        return cut
