"""Existence of a plan: a greedy search that finds plans quickly, then proofs that there is none.

The greedy search follows relaxed plans, in which nothing is ever lost: from each state it applies
as much of the relaxed plan as it can (the lookahead of Vidal, 2004). Where that does not find a
plan soon, pairs of facts are computed, which prove most of what is impossible; what is left is
searched exhaustively.

Pairs of facts that never hold together are the heuristic h2 as a proof: starting from the pairs of
a state, an action adds pairs only where all pairs of its preconditions have been reached (Haslum
and Geffner, 2000).
"""

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.operators import Operator, OperatorCondition, bits
from benchmarks.systems.acpbench_hard.search.result import DEFAULTS, Limits, Proof, SearchResult
from benchmarks.systems.acpbench_hard.search.space import Space

# Greedy steps before pairs are computed, which cost about as much.
FIRST_NODES = 30
# Of all states that a search may visit, the share that the greedy one may.
GREEDY_SHARE = 4

# How a state was reached: the link of the state before it, and the actions from there.
Link = tuple[Any, tuple[Operator, ...]] | None


def find_plan(space: Space, limits: Limits = DEFAULTS, state: int | None = None) -> SearchResult:
    """Return a plan from a state of the space (its first by default), or a proof that none exists.

    The plan need not be a shortest one.
    """
    start = space.init if state is None else state
    nodes = limits.states(len(space.operators))
    if space.is_goal(start):
        return SearchResult("solved", (), "state")
    greedy = _Greedy(space, start)
    search = greedy.run(FIRST_NODES)
    if search is None:
        pairs = Pairs(space.operators, start, space.width)
        if not any(pairs.may_hold(goal) for goal in space.goal):
            return SearchResult("unsolvable", None, "pairs", greedy.nodes)
        search = greedy.run(max(FIRST_NODES, nodes // GREEDY_SHARE))
    return search or _exhaust(space, start, nodes)


class _Greedy:
    def __init__(self, space: Space, start: int) -> None:
        self.space, self.nodes, self.made = space, 0, 0
        self.relaxation = _Relaxation(space.operators, space.goal)
        self.open: list[tuple[int, int, int, Link]] = [(0, 0, start, None)]
        self.seen = {space.key(start)}

    def run(self, nodes: int) -> SearchResult | None:
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
            solved = self._look_ahead(state, link, relaxed) or self._expand(state, link, relaxed)
            if solved:
                return solved
        proof: Proof = "relaxation" if self.nodes == 1 and self.made == 0 else "search"
        return SearchResult("unsolvable", None, proof, self.nodes)

    def _look_ahead(self, state: int, link: Link, relaxed: list[Operator]) -> SearchResult | None:
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
            return SearchResult("solved", plan_of(here), "plan", self.nodes)
        self._push(len(waiting), state, here)
        return None

    def _expand(self, state: int, link: Link, relaxed: list[Operator]) -> SearchResult | None:
        helpful = {id(one) for one in relaxed}
        for one in self.space.applicable(state):
            after = one.apply(state)
            here: Link = (link, (one,))
            if self.space.is_goal(after):
                return SearchResult("solved", plan_of(here), "plan", self.nodes)
            self._push(2 * len(relaxed) - (id(one) in helpful), after, here)
        return None

    def _push(self, rank: int, state: int, link: Link) -> None:
        key = self.space.key(state)
        if key not in self.seen:
            self.seen.add(key)
            self.made += 1
            heappush(self.open, (rank, -self.made, state, link))


def _exhaust(space: Space, start: int, nodes: int) -> SearchResult:
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
                    return SearchResult("solved", plan_of(here), "plan", len(seen))
                below.append((after, here))
            if len(seen) > nodes:
                return SearchResult("gave_up", nodes=len(seen))
        level = below
    return SearchResult("unsolvable", None, "search", len(seen))


def plan_of(link: Link) -> tuple[Atom, ...]:
    """Return the actions by which a state was reached."""
    actions: list[Atom] = []
    while link is not None:
        link, applied = link
        actions.extend(one.name for one in reversed(applied))
    return tuple(reversed(actions))


class _Relaxation:
    """Relaxed plans for one goal; negated preconditions are ignored, which keeps proofs sound."""

    def __init__(self, operators: Sequence[Operator], goal: Sequence[OperatorCondition]) -> None:
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
        helpful = sorted(chosen.values(), key=lambda pair: pair[0])
        return [one for _, one in helpful]


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

    def may_hold(self, condition: OperatorCondition) -> bool:
        """Tell whether no pair of a condition is ruled out."""
        pos = condition.pos
        return not pos & ~self.reached and not any(pos & ~self.along[fact] for fact in bits(pos))
