"""The whole state space of a problem, where it is small enough to be known in full.

Questions are generated only where their answers are known. In a space that was explored to its end
everything is: what can be reached, how far the goal is, and what no way to it can avoid. Larger
problems are searched instead (``bounded_space.py``).
"""

import random
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple, Protocol

from benchmarks.core.errors import CoreError
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom, Case, Template
from benchmarks.systems.acpbench_hard.pddl.domain import Types
from benchmarks.systems.acpbench_hard.pddl.grounding import ground
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, State

MOST_STATES = 20_000
MOST_GROUND = 50_000
# Draws, for each action of a domain, of objects with which it is never reached.
NEVER_SEED, NEVER_DRAWS = 1, 200
# Actions that are tried in all states of a space; beyond that, searches are quicker.
MOST_TRIED = 20_000_000
# How often a walk to the goal strays, and how much longer than a shortest plan it may become.
STRAYS, LONGER = 0.3, 2


class TooLarge(CoreError):
    """A problem with more states, actions or propositions than are looked at."""


class SpaceUndecided(CoreError):
    """A fact about a problem that a bounded search could not settle; the text says which."""


class KnownSpace(Protocol):
    """The facts of a problem that questions about its states need.

    ``atoms`` are the well-typed propositions that some action changes, ``actions`` the well-typed
    actions, applicable somewhere or not. A task is asked about a problem no further after
    ``patience`` draws without a new question. Each method may raise ``SpaceUndecided``.
    """

    patience: int

    @property
    def instance(self) -> Instance: ...

    @property
    def atoms(self) -> Sequence[Atom]: ...

    @property
    def actions(self) -> Sequence[Atom]: ...

    @property
    def effort(self) -> Mapping[str, int]:
        """The effort with which the problem was looked at, for the record of a question."""

    @property
    def solvable(self) -> bool:
        """Return whether a plan from the initial state is known."""

    @property
    def performable(self) -> Collection[Atom]:
        """Actions that are likely to be applicable in some reachable state."""

    def moves_of(self, state: State) -> Mapping[Atom, State]:
        """Return every applicable action with the state after it."""

    def is_goal(self, state: State) -> bool:
        """Tell whether the goal holds in a state."""

    def distance(self, state: State) -> int | None:
        """Return the length of a shortest plan; None where there is no plan."""

    def known_distance(self, state: State) -> int | None:
        """Return the same where it is known already, else None."""

    def walk(self, rng: random.Random, start: State) -> tuple[list[Atom], list[State]]:
        """Return a plan from a state, with the states before each of its actions and the last.

        It mostly goes on where the goal comes nearer, strays now and then, and always ends.
        """

    def never_atoms(self, state: State) -> list[Atom]:
        """Return the propositions that hold in no state that can be reached from one."""

    def never_actions(self, state: State) -> list[Atom]:
        """Return actions that are applicable in no such state; none only if all others are."""

    def nearer(self, state: State) -> Collection[Atom]:
        """Return the applicable actions after which a shortest plan is shorter by one."""

    def avoidable(self, atom: Atom, state: State) -> bool:
        """Tell whether the goal can be reached from a state without the atom ever holding."""


class GroundAction(NamedTuple):
    """An action with its objects: in which cases it is applicable, and what it changes."""

    atom: Atom
    cases: tuple[tuple[State, State], ...]
    add: State
    delete: State

    def applicable(self, state: State) -> bool:
        """Return whether it can be performed in a state."""
        return any(wanted <= state and not (kept & state) for wanted, kept in self.cases)

    def after(self, state: State) -> State:
        """Return the state after it; what is both deleted and added holds."""
        return (state - self.delete) | self.add


def typed_objects(instance: Instance, wanted: Types) -> list[str]:
    """Return the objects that may stand where one of these types is wanted, in their order."""
    is_one_of = instance.domain.is_one_of
    return [name for name, types in instance.objects.items() if is_one_of(types, wanted)]


def ground_atoms(instance: Instance) -> list[Atom]:
    """Return every well-typed proposition that some action changes."""
    atoms: list[Atom] = []
    for name, kinds in instance.domain.predicates.items():
        if name in instance.domain.fluents:
            atoms += [(name, *values) for values in _values(instance, kinds, len(atoms))]
    return atoms


def ground_actions(instance: Instance) -> list[Atom]:
    """Return every well-typed action, whether or not it can ever be performed.

    Where there are too many, such as in domains without types, these are the actions that delete
    relaxation reaches, and a sample of those that it does not reach.
    """
    actions: list[Atom] = []
    try:
        for name, action in instance.domain.actions.items():
            kinds = tuple(types for _, types in action.parameters)
            actions += [(name, *values) for values in _values(instance, kinds, len(actions))]
    except TooLarge:
        reached = ground(instance).names
        return sorted(reached | _never_reached(instance, reached))
    return actions


def _never_reached(instance: Instance, reached: frozenset[Atom]) -> set[Atom]:
    """Return some well-typed actions that are not reached.

    Their objects stand at the same places of actions that are, so that they differ from these by
    what never changes, such as the map, and not by what an object is.
    """
    rng = random.Random(NEVER_SEED)
    atoms: set[Atom] = set()
    for name, action in instance.domain.actions.items():
        known = [one[1:] for one in reached if one[0] == name]
        choices = [sorted(set(column)) for column in zip(*known, strict=True)] or [
            typed_objects(instance, types) for _, types in action.parameters
        ]
        if all(choices):
            atoms.update((name, *map(rng.choice, choices)) for _ in range(NEVER_DRAWS))
    return atoms - reached


def _values(instance: Instance, kinds: tuple[Types, ...], so_far: int) -> Iterator[tuple[str, ...]]:
    choices = [typed_objects(instance, kind) for kind in kinds]
    if so_far + prod(map(len, choices)) > MOST_GROUND:
        raise TooLarge(f"{instance.name}: more than {MOST_GROUND:,} actions or propositions")
    return product(*choices)


class StateSpace:
    """All states that can be reached from the initial state of a problem.

    ``TooLarge`` is raised where there are more than ``most``.
    """

    patience = 200

    def __init__(self, instance: Instance, most: int = MOST_STATES) -> None:
        self.instance = instance
        self.atoms = ground_atoms(instance)
        self.actions = ground_actions(instance)
        self._possible = [op for atom in self.actions if (op := _ground(instance, atom)).cases]
        most = min(most, max(1, MOST_TRIED // max(1, len(self._possible))))
        self.moves: dict[State, dict[Atom, State]] = {}
        front = deque([instance.init])
        self.moves[instance.init] = {}
        while front:
            state = front.popleft()
            for op in self._possible:
                if op.applicable(state):
                    child = op.after(state)
                    self.moves[state][op.atom] = child
                    if child not in self.moves:
                        if len(self.moves) >= most:
                            raise TooLarge(f"{instance.name}: more than {most:,} states")
                        self.moves[child] = {}
                        front.append(child)

    @property
    def effort(self) -> Mapping[str, int]:
        return {"states": len(self.moves)}

    @property
    def solvable(self) -> bool:
        return self.instance.init in self.distances

    @cached_property
    def performable(self) -> Collection[Atom]:
        return {action for one in self.moves.values() for action in one}

    def moves_of(self, state: State) -> Mapping[Atom, State]:
        return self.moves[state]

    def is_goal(self, state: State) -> bool:
        return state in self.goals

    def distance(self, state: State) -> int | None:
        return self.distances.get(state)

    known_distance = distance

    def walk(self, rng: random.Random, start: State) -> tuple[list[Atom], list[State]]:
        distances = self.distances
        most = LONGER * distances[start] + LONGER
        plan: list[Atom] = []
        states = [start]
        while states[-1] not in self.goals:
            here = states[-1]
            moves = sorted(self.moves[here].items())
            nearer = [move for move in moves if distances.get(move[1], most) < distances[here]]
            known = [move for move in moves if move[1] in distances]
            stray = len(plan) < most and rng.random() < STRAYS
            action, state = rng.choice(known if stray else nearer)
            plan.append(action)
            states.append(state)
        return plan, states

    def never_atoms(self, state: State) -> list[Atom]:
        ever: set[Atom] = set().union(*self.reachable(state))
        return [atom for atom in self.atoms if atom not in ever]

    def never_actions(self, state: State) -> list[Atom]:
        ever = {action for one in self.reachable(state) for action in self.moves[one]}
        return [action for action in self.actions if action not in ever]

    def nearer(self, state: State) -> Collection[Atom]:
        distances = self.distances
        wanted = distances[state] - 1
        return {one for one, child in self.moves[state].items() if distances.get(child) == wanted}

    @cached_property
    def goals(self) -> frozenset[State]:
        """The states in which the goal holds."""
        return frozenset(state for state in self.moves if not self.instance.unmet_goal(state))

    @cached_property
    def distances(self) -> dict[State, int]:
        """The length of a shortest plan from each state; states without a plan have none."""
        before: dict[State, list[State]] = {}
        for state, moves in self.moves.items():
            for child in moves.values():
                before.setdefault(child, []).append(state)
        steps = dict.fromkeys(self.goals, 0)
        front = deque(steps)
        while front:
            state = front.popleft()
            for parent in before.get(state, ()):
                if parent not in steps:
                    steps[parent] = steps[state] + 1
                    front.append(parent)
        return steps

    def reachable(self, start: State) -> set[State]:
        """Return all states that can be reached from one of them."""
        seen = {start}
        front = [start]
        while front:
            for child in self.moves[front.pop()].values():
                if child not in seen:
                    seen.add(child)
                    front.append(child)
        return seen

    def avoidable(self, atom: Atom, start: State) -> bool:
        """Return whether the goal can be reached from a state without the atom ever holding."""
        distances, seen, front = self.distances, {start}, [start]
        while front:
            state = front.pop()
            if state in self.goals:
                return True
            children = {
                child
                for child in self.moves[state].values()
                if child in distances and child not in seen and atom not in child
            }
            seen |= children
            # The nearest to the goal is looked at first; the order of equal ones changes nothing.
            front += sorted(children, key=lambda child: -distances[child])
        return False


def _ground(instance: Instance, atom: Atom) -> GroundAction:
    """Return an action with its objects, without cases that what never changes rules out."""
    action = instance.domain.actions[atom[0]]
    values = atom[1:]
    cases = [case for one in action.cases if (case := _case(instance, one, values)) is not None]
    return GroundAction(
        atom,
        tuple(cases),
        frozenset(_bind(template, values) for template in action.effects.add),
        frozenset(_bind(template, values) for template in action.effects.delete),
    )


def _case(instance: Instance, case: Case, values: Atom) -> tuple[State, State] | None:
    if any(len(set(_bind(pair, values))) > 1 for pair in case.equal):
        return None
    if any(len(set(_bind(pair, values))) == 1 for pair in case.different):
        return None
    wanted = {_bind(template, values) for template in case.positive}
    kept = {_bind(template, values) for template in case.negative}
    fluents = instance.domain.fluents
    fixed = {atom for atom in wanted if atom[0] not in fluents}
    if not fixed <= instance.init or any(
        atom in instance.init for atom in kept if atom[0] not in fluents
    ):
        return None
    return frozenset(wanted - fixed), frozenset(kept)


def _bind(template: Template, values: Atom) -> Atom:
    return tuple(values[term] if isinstance(term, int) else term for term in template)
