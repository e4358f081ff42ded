"""Shortest plans: whether one exists within a bound, and how long a shortest one is.

Actions that do not interfere can be applied in any order; looking at one order is enough. So only
the actions of a strong stubborn set are looked at in a state (Wehrle and Helmert, 2014). A set is
closed in this sense: it begins with actions of which every plan needs one. With an applicable
action it has every action that interferes with it, and with one that is not applicable, every
action that could give it what it lacks. Some shortest plan then begins with one of its applicable
actions.
"""

from collections.abc import Sequence
from heapq import heappop, heappush

from benchmarks.systems.acpbench_hard.pddl.operators import Operator, bits
from benchmarks.systems.acpbench_hard.search.landmark_cut import LandmarkCut
from benchmarks.systems.acpbench_hard.search.plans import Link, plan_of
from benchmarks.systems.acpbench_hard.search.result import DEFAULTS, Limits, SearchResult
from benchmarks.systems.acpbench_hard.search.space import Space


class Distances:
    """Searches for shortest plans in one space."""

    def __init__(self, space: Space, limits: Limits = DEFAULTS) -> None:
        self.space, self.nodes = space, limits.states(len(space.operators))
        self.cuts = LandmarkCut(space.operators, space.goal, space.width)
        self.stubborn = _StubbornSets(space.operators, space.width)
        self.places = {id(one): 1 << place for place, one in enumerate(space.operators)}

    def within(self, state: int, bound: int) -> SearchResult:
        """Return a plan of at most ``bound`` actions from a state, or a proof that there is none.

        States are looked at by their lower bound, the nearest to the goal first, and left out where
        that exceeds what is left of ``bound``.
        """
        space, key, places = self.space, self.space.key, self.places
        if space.is_goal(state):
            return SearchResult("solved" if bound >= 0 else "unsolvable", (), "state")
        queue: list[tuple[int, int, int, int, Link, list[int]]] = [(0, 0, 0, state, None, [])]
        best: dict[object, int] = {key(state): 0}
        made = looked = 0
        while queue:
            _, _, depth, here, link, kept = heappop(queue)
            if best[key(here)] < depth:
                continue
            looked += 1
            cuts = self.cuts.cuts(here, kept, bound - depth)
            if cuts is None or depth + len(cuts) > bound:
                continue
            if looked > self.nodes:
                return SearchResult("gave_up", nodes=looked)
            below = depth + 1
            # Every plan needs an action of each cut. Without cuts, all that is missing is what
            # negated conditions ask for, of which the cuts know nothing.
            enough = -1
            if cuts:
                enough = self.stubborn.closed(here, min(cuts, key=int.bit_count))
            for one in space.applicable(here):
                mark = places[id(one)]
                if not mark & enough:
                    continue
                left = [cut for cut in cuts if not cut & mark]
                if below + len(left) > bound:
                    continue
                after = one.apply(here)
                alike = key(after)
                if best.get(alike, below + 1) <= below:
                    continue
                best[alike] = below
                there: Link = (link, (one,))
                if space.is_goal(after):
                    return SearchResult("solved", plan_of(there), "plan", looked)
                made += 1
                heappush(queue, (len(left), -made, below, after, there, left))
        return SearchResult("unsolvable", None, "bound", looked)

    def shortest(self, state: int, at_most: int) -> SearchResult:
        """Return a shortest plan of at most so many actions, or a proof that there is none."""
        root = self.cuts.cuts(state, (), at_most)
        if root is None:
            return SearchResult("unsolvable", None, "relaxation")
        looked = 0
        for bound in range(len(root), at_most + 1):
            search = self.within(state, bound)
            looked += search.nodes
            if search.outcome != "unsolvable":
                return SearchResult(search.outcome, search.plan, search.proof, looked)
        return SearchResult("unsolvable", None, "bound", looked)


class _StubbornSets:
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
        closure = waiting = landmark
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
            waiting = (waiting ^ low) | (new & ~closure)
            closure |= new
        return closure

    def _interference(self, place: int, one: Operator) -> int:
        """Return the actions that must not change places with one, and itself."""
        interfering = 1 << place
        for fact in bits(one.delete):
            interfering |= self.needing[fact] | self.adding[fact]
        for fact in bits(one.add):
            interfering |= self.forbidding[fact] | self.deleting[fact]
        for fact in bits(one.pos):
            interfering |= self.deleting[fact]
        for fact in bits(one.neg):
            interfering |= self.adding[fact]
        self._interfering[place] = interfering
        return interfering
