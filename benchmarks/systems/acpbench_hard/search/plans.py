"""Is there a plan at all? A greedy search that finds plans quickly, then proofs that there is none.

The greedy search follows relaxed plans: from each state it applies as much of the relaxed plan as
it can (the lookahead of Vidal, 2004). Where that does not find a plan soon, pairs of facts are
computed, which prove most of what is impossible; what is left is searched exhaustively.
"""

from heapq import heappop, heappush
from typing import Any

from benchmarks.systems.acpbench_hard.limits import DEFAULTS, Limits
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.grounding import Operator
from benchmarks.systems.acpbench_hard.search.pairs import Pairs
from benchmarks.systems.acpbench_hard.search.relaxation import Relaxation
from benchmarks.systems.acpbench_hard.search.result import Proof, Result
from benchmarks.systems.acpbench_hard.search.space import Space

# Greedy steps before pairs are computed, which cost about as much.
FIRST_NODES = 30
# Of all states that a search may visit, the share that the greedy one may.
GREEDY_SHARE = 4

# How a state was reached: the link of the state before it, and the actions from there.
Link = tuple[Any, tuple[Operator, ...]] | None


def find_plan(space: Space, limits: Limits = DEFAULTS, state: int | None = None) -> Result:
    """Return a plan from a state of the space (its first by default), or a proof that none exists.

    The plan need not be a shortest one.
    """
    start = space.init if state is None else state
    nodes = limits.states(len(space.operators))
    if space.is_goal(start):
        return Result("solved", (), "state")
    greedy = _Greedy(space, start)
    found = greedy.run(FIRST_NODES)
    if found is None:
        pairs = Pairs(space.operators, start, space.width)
        if not any(pairs.may_hold(goal) for goal in space.goal):
            return Result("unsolvable", None, "pairs", greedy.nodes)
        found = greedy.run(max(FIRST_NODES, nodes // GREEDY_SHARE))
    return found or _exhaust(space, start, nodes)


class _Greedy:
    def __init__(self, space: Space, start: int) -> None:
        self.space, self.nodes, self.made = space, 0, 0
        self.relaxation = Relaxation(space.operators, space.goal)
        self.open: list[tuple[int, int, int, Link]] = [(0, 0, start, None)]
        self.seen = {space.key(start)}

    def run(self, nodes: int) -> Result | None:
        """Go on until this many states were looked at; None where nothing is known then."""
        while self.open:
            if self.nodes >= nodes:
                return None
            _, _, state, link = heappop(self.open)
            self.nodes += 1
            relaxed = self.relaxation.plan(state)
            if relaxed is None:
                # No plan from a state that delete relaxation rules out.
                continue
            found = self._look_ahead(state, link, relaxed) or self._expand(state, link, relaxed)
            if found:
                return found
        proof: Proof = "relaxation" if self.nodes == 1 and self.made == 0 else "search"
        return Result("unsolvable", None, proof, self.nodes)

    def _look_ahead(self, state: int, link: Link, relaxed: list[Operator]) -> Result | None:
        applied: list[Operator] = []
        waiting = relaxed
        while waiting:
            left = []
            for one in waiting:
                if one.applicable(state):
                    state = one.apply(state)
                    applied.append(one)
                else:
                    left.append(one)
            if len(left) == len(waiting):
                break
            waiting = left
        if not applied:
            return None
        here: Link = (link, tuple(applied))
        if self.space.is_goal(state):
            return Result("solved", plan_of(here), "plan", self.nodes)
        self._push(len(waiting), state, here)
        return None

    def _expand(self, state: int, link: Link, relaxed: list[Operator]) -> Result | None:
        helpful = {id(one) for one in relaxed}
        for one in self.space.applicable(state):
            after = one.apply(state)
            here: Link = (link, (one,))
            if self.space.is_goal(after):
                return Result("solved", plan_of(here), "plan", self.nodes)
            self._push(2 * len(relaxed) - (id(one) in helpful), after, here)
        return None

    def _push(self, rank: int, state: int, link: Link) -> None:
        key = self.space.key(state)
        if key not in self.seen:
            self.seen.add(key)
            self.made += 1
            heappush(self.open, (rank, -self.made, state, link))


def _exhaust(space: Space, start: int, nodes: int) -> Result:
    """Visit every state, breadth first."""
    key = space.key
    seen = {key(start)}
    level: list[tuple[int, Link]] = [(start, None)]
    while level:
        below = []
        for state, link in level:
            for one in space.applicable(state):
                after = one.apply(state)
                alike = key(after)
                if alike in seen:
                    continue
                seen.add(alike)
                here: Link = (link, (one,))
                if space.is_goal(after):
                    return Result("solved", plan_of(here), "plan", len(seen))
                below.append((after, here))
            if len(seen) > nodes:
                return Result("gave_up", nodes=len(seen))
        level = below
    return Result("unsolvable", None, "search", len(seen))


def plan_of(link: Link) -> tuple[Atom, ...]:
    """Return the actions by which a state was reached."""
    found: list[Atom] = []
    while link is not None:
        link, applied = link
        found.extend(one.name for one in reversed(applied))
    return tuple(reversed(found))
