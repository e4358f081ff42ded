"""Everything about a small problem by trying it: every binding of every action in every state.

States are sets of tuples. Of the product only the reading of PDDL and the meaning of one action in
one state are used; grounding, search and proofs are not.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import product

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, State

FAR = 10**9


class BruteForce:
    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def instances(self, name: str, wanted: Sequence[tuple[str, ...]]) -> list[Atom]:
        objects, domain = self.instance.objects, self.instance.domain
        fitting = [
            [one for one, given in objects.items() if domain.is_one_of(given, types)]
            for types in wanted
        ]
        return [(name, *chosen) for chosen in product(*fitting)]

    @cached_property
    def actions(self) -> list[Atom]:
        schemas = self.instance.domain.actions.values()
        return [
            action
            for schema in schemas
            for action in self.instances(schema.name, [types for _, types in schema.parameters])
        ]

    @cached_property
    def atoms(self) -> list[Atom]:
        domain = self.instance.domain
        return [
            atom
            for name, wanted in domain.predicates.items()
            if name in domain.fluents
            for atom in self.instances(name, wanted)
        ]

    def applicable(self, state: State) -> list[Atom]:
        return [action for action in self.actions if not self.instance.unmet(action, state)]

    @cached_property
    def after(self) -> dict[State, dict[Atom, State]]:
        """Every reachable state, with the state after each applicable action."""
        found: dict[State, dict[Atom, State]] = {}
        waiting = [self.instance.init]
        while waiting:
            state = waiting.pop()
            if state in found:
                continue
            apply = self.instance.apply
            found[state] = {action: apply(action, state) for action in self.applicable(state)}
            waiting.extend(found[state].values())
        return found

    @cached_property
    def distance(self) -> dict[State, int]:
        """Return the length of a shortest plan from every reachable state."""
        met = [state for state in self.after if not self.instance.unmet_goal(state)]
        before: dict[State, set[State]] = {state: set() for state in self.after}
        for state, others in self.after.items():
            for other in others.values():
                before[other].add(state)
        found = dict.fromkeys(met, 0)
        level = met
        while level:
            level = [
                found.setdefault(state, found[near] + 1) and state
                for near in level
                for state in before[near]
                if state not in found
            ]
        return {state: found.get(state, FAR) for state in self.after}

    def is_landmark(self, atom: Atom) -> bool:
        """Return whether no path without the atom leads to the goal."""
        if atom in self.instance.init:
            return True
        seen, waiting = {self.instance.init}, [self.instance.init]
        while waiting:
            state = waiting.pop()
            if not self.instance.unmet_goal(state):
                return False
            for other in self.after[state].values():
                if atom not in other and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return True
