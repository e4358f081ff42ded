"""A problem that is too large to be explored: what questions need is settled by bounded searches.

States lie along plans that a search finds. That something can happen is shown by a plan, that it
never can by a proof: delete relaxation, pairs of facts that never hold together, or a search to its
end. Where a search gives up, ``SpaceUndecided`` says on what, and no question is made of it.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from benchmarks.systems.acpbench_hard.generation.space import (
    LONGER,
    STRAYS,
    SpaceUndecided,
    ground_actions,
    ground_atoms,
)
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.grounding import Ground, ground
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, State, show_atom
from benchmarks.systems.acpbench_hard.search.facts import (
    is_landmark,
    reach_action,
    reach_atom,
    relaxed_landmarks,
)
from benchmarks.systems.acpbench_hard.search.optimal import Distances
from benchmarks.systems.acpbench_hard.search.plans import Pairs, find_plan
from benchmarks.systems.acpbench_hard.search.result import Limits
from benchmarks.systems.acpbench_hard.search.space import Space

MOST_NODES = 5_000
# Of the states of one search: a state costs more in a large problem, and more still where a
# shortest plan is looked for.
MOST_WORK, SHORTEST_SHARE = 4_000_000, 5
# Searches for one question, and the longest shortest plan that is looked for.
MOST_SEARCHES, LONGEST = 500, 100


class SearchedSpace:
    """The facts of a problem that bounded searches show; see ``KnownSpace`` for the methods."""

    patience = 20

    def __init__(self, instance: Instance, nodes: int = MOST_NODES) -> None:
        self.instance, self.nodes = instance, nodes
        self.limits = Limits(nodes=nodes, work=MOST_WORK)
        self.atoms: Sequence[Atom] = ground_atoms(instance)
        self.actions: Sequence[Atom] = ground_actions(instance)
        self.ground = ground(instance)
        self._ways: dict[State, tuple[Atom, ...] | None] = {}
        self._here: tuple[State, _State] | None = None

    @property
    def effort(self) -> Mapping[str, int]:
        return {"nodes": self.nodes}

    @cached_property
    def _space(self) -> Space:
        return Space(self.ground, self.ground.goal)

    def _way(self, state: State) -> tuple[Atom, ...] | None:
        """Return some plan from a state, None if there is none."""
        if state not in self._ways:
            if not self.ground.goal:
                self._ways[state] = None
            else:
                start = self._space.state(self.ground.state(state))
                search = find_plan(self._space, self.limits, start)
                if search.solved is None:
                    raise SpaceUndecided(f"whether there is a plan was {_after(search.nodes)}")
                self._ways[state] = search.plan
        return self._ways[state]

    @property
    def solvable(self) -> bool:
        return self._way(self.instance.init) is not None

    @property
    def performable(self) -> Collection[Atom]:
        return self.ground.names

    def moves_of(self, state: State) -> Mapping[Atom, State]:
        apply = self.instance.apply
        applicable = self.ground.applicable(self.ground.state(state))
        return {action: apply(action, state) for action in applicable}

    def is_goal(self, state: State) -> bool:
        return not self.instance.unmet_goal(state)

    def walk(self, rng: random.Random, start: State) -> tuple[list[Atom], list[State]]:
        way = self._way(start)
        assert way is not None
        most = LONGER * len(way) + LONGER
        plan: list[Atom] = []
        states = [start]
        while not self.is_goal(states[-1]):
            action, *rest = way
            state = self.instance.apply(action, states[-1])
            way = tuple(rest)
            if len(plan) < most and rng.random() < STRAYS:
                action, state, way = self._stray(rng, states[-1]) or (action, state, way)
            plan.append(action)
            states.append(state)
        return plan, states

    def _stray(
        self, rng: random.Random, state: State
    ) -> tuple[Atom, State, tuple[Atom, ...]] | None:
        """Return an applicable action with the state after it and a plan from there, or None."""
        action, after = rng.choice(sorted(self.moves_of(state).items()))
        try:
            way = self._way(after)
        except SpaceUndecided:
            return None
        return None if way is None else (action, after, way)

    def at(self, state: State) -> "_State":
        """Return what is known of a state; that of the last one is kept."""
        if self._here is None or self._here[0] != state:
            self._here = (state, _State(replace(self.instance, init=state), self.limits))
        return self._here[1]

    def distance(self, state: State) -> int | None:
        return self.at(state).distance

    def known_distance(self, state: State) -> int | None:
        return vars(self.at(state)).get("distance")

    def never_atoms(self, state: State) -> list[Atom]:
        return self.at(state).never_atoms(self.atoms)

    def never_actions(self, state: State) -> list[Atom]:
        return self.at(state).never_actions(self.actions)

    def nearer(self, state: State) -> Collection[Atom]:
        return self.at(state).nearer()

    def avoidable(self, atom: Atom, state: State) -> bool:
        return self.at(state).avoidable(atom)


class _State:
    """A problem with the state that is asked about at its beginning."""

    def __init__(self, instance: Instance, limits: Limits) -> None:
        self.instance, self.limits = instance, limits
        self.searches = 0

    @cached_property
    def ground(self) -> Ground:
        return ground(self.instance)

    @cached_property
    def pairs(self) -> Pairs:
        return Pairs(self.ground.operators, self.ground.init, len(self.ground.facts))

    @cached_property
    def landmarks(self) -> frozenset[Atom]:
        return frozenset(relaxed_landmarks(self.ground))

    @cached_property
    def distances(self) -> tuple[Space, Distances]:
        space = Space(self.ground, self.ground.goal)
        return space, Distances(space, replace(self.limits, work=MOST_WORK // SHORTEST_SHARE))

    @cached_property
    def distance(self) -> int | None:
        if not self.ground.goal:
            return None
        space, distances = self.distances
        search = distances.shortest(space.init, LONGEST)
        if search.solved is None or search.proof == "bound":
            raise SpaceUndecided(f"the length of a shortest plan was {_after(search.nodes)}")
        return None if search.plan is None else len(search.plan)

    def nearer(self) -> set[Atom]:
        """Return the applicable actions after which a shortest plan is shorter by one."""
        actions = set()
        length = self.distance
        assert length is not None
        space, distances = self.distances
        for action in self.ground.applicable(self.ground.init):
            after = self.instance.apply(action, self.instance.init)
            result = distances.within(space.state(self.ground.state(after)), length - 1)
            if result.solved is None:
                what = f"whether {show_atom(action)} brings the goal closer"
                raise SpaceUndecided(f"{what} was {_after(result.nodes)}")
            if result.solved:
                actions.add(action)
        return actions

    def never_atoms(self, atoms: Sequence[Atom]) -> list[Atom]:
        """Return the atoms of a list that can never hold."""
        ever, never = set(self.instance.init), []
        for atom in atoms:
            if atom in ever:
                continue
            place = self.ground.index.get(atom)
            if place is None or not self.pairs.reached >> place & 1:
                never.append(atom)
                continue
            self._count()
            search = reach_atom(self.ground, atom, self.limits)
            if search.solved is None:
                what = f"whether {show_atom(atom)} can ever hold"
                raise SpaceUndecided(f"{what} was {_after(search.nodes)}")
            if search.plan is None:
                never.append(atom)
            for state in self._states(search.plan or ()):
                ever |= state
        return never

    def never_actions(self, actions: Sequence[Atom]) -> list[Atom]:
        """Return actions that relaxation and pairs rule out, or else all that never apply."""
        schemas = self.instance.domain.actions
        conditions = {
            one: self.ground.conditions(schemas[one[0]].cases, one[1:]) for one in actions
        }
        never = [
            one for one, cases in conditions.items() if not any(map(self.pairs.may_hold, cases))
        ]
        if never:
            return never
        ever: set[Atom] = set()
        for action in actions:
            if action in ever:
                continue
            self._count()
            search = reach_action(self.ground, action, self.limits)
            if search.solved is None:
                what = f"whether {show_atom(action)} can ever be performed"
                raise SpaceUndecided(f"{what} was {_after(search.nodes)}")
            if search.plan is None:
                never.append(action)
                continue
            for state in self._states(search.plan):
                ever.update(self.ground.applicable(self.ground.state(state)))
        return never

    def avoidable(self, atom: Atom) -> bool:
        """Tell whether some plan never makes an atom true."""
        if atom in self.landmarks:
            return False
        if atom not in self.ground.index:
            return True
        self._count()
        needed = is_landmark(self.ground, atom, self.limits)
        if needed is None:
            raise SpaceUndecided(
                f"whether every plan makes {show_atom(atom)} true was not decided within "
                f"{self.limits.states(len(self.ground.operators)):,} states"
            )
        return not needed

    def _states(self, plan: Sequence[Atom]) -> list[State]:
        states = [self.instance.init]
        for action in plan:
            states.append(self.instance.apply(action, states[-1]))
        return states

    def _count(self) -> None:
        """Count a search; one question must not take very many."""
        self.searches += 1
        if self.searches > MOST_SEARCHES:
            raise SpaceUndecided(f"more than {MOST_SEARCHES} searches were needed")


def _after(nodes: int) -> str:
    return f"not decided within {nodes:,} states"
