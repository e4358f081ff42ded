"""Facts about a problem for making questions: plans, landmarks, the unreachable."""

from collections.abc import Iterator
from itertools import product

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom, Case
from benchmarks.systems.acpbench_hard.pddl.domain import Types
from benchmarks.systems.acpbench_hard.pddl.grounding import Ground
from benchmarks.systems.acpbench_hard.pddl.instance import Instance
from benchmarks.systems.acpbench_hard.pddl.operators import bits
from benchmarks.systems.acpbench_hard.search.optimal import Distances
from benchmarks.systems.acpbench_hard.search.plans import find_plan
from benchmarks.systems.acpbench_hard.search.result import DEFAULTS, Limits, SearchResult
from benchmarks.systems.acpbench_hard.search.space import Space

_UNREACHED = SearchResult("unsolvable", None, "relaxation")


def plan(ground: Ground, limits: Limits = DEFAULTS) -> SearchResult:
    """Return a plan for the goal, which need not be a shortest one."""
    return find_plan(Space(ground, ground.goal), limits) if ground.goal else _UNREACHED


def shortest_plan(ground: Ground, limits: Limits = DEFAULTS, at_most: int = 100) -> SearchResult:
    """Return a shortest plan for the goal; beyond ``at_most`` actions it counts as given up."""
    if not ground.goal:
        return _UNREACHED
    space = Space(ground, ground.goal)
    search = Distances(space, limits).shortest(space.init, at_most)
    beyond = search.outcome == "unsolvable" and search.proof == "bound"
    return SearchResult("gave_up", nodes=search.nodes) if beyond else search


def reach_atom(ground: Ground, atom: Atom, limits: Limits = DEFAULTS) -> SearchResult:
    """Return a plan after which an atom holds, or a proof that it never does."""
    return _reach(ground, (Case(positive=(atom,)),), (), limits)


def reach_action(ground: Ground, action: Atom, limits: Limits = DEFAULTS) -> SearchResult:
    """Return a plan after which a well-formed action is applicable, or a proof that it never is."""
    cases = ground.instance.domain.actions[action[0]].cases
    return _reach(ground, cases, action[1:], limits)


def _reach(
    ground: Ground, cases: tuple[Case, ...], objects: tuple[str, ...], limits: Limits
) -> SearchResult:
    goal = ground.conditions(cases, objects)
    return find_plan(Space(ground, goal), limits) if goal else _UNREACHED


def is_landmark(ground: Ground, atom: Atom, limits: Limits = DEFAULTS) -> bool | None:
    """Tell whether every plan makes an atom true at some time; None where the search gave up.

    It is one where the goal cannot be reached without the actions that add it, or where it holds at
    the beginning. Of a problem without plans every atom is a landmark.
    """
    if atom in ground.instance.init:
        return True
    place = ground.index.get(atom)
    without = 0 if place is None else 1 << place
    if not ground.goal:
        return True
    space = Space(ground, ground.goal, without)
    solved = find_plan(space, limits).solved
    return None if solved is None else not solved


def relaxed_landmarks(ground: Ground) -> tuple[Atom, ...]:
    """Return the facts that every plan makes true even if nothing were ever lost.

    They are landmarks of the problem, though not all of them. What holds at the beginning is left
    out. Each fact is labelled with what must have been true by the time that it is (Zhu and Givan,
    2003); an action that is needed also makes its other effects true.
    """
    everything = (1 << len(ground.facts)) - 1
    labels = [
        1 << place if ground.init >> place & 1 else everything for place in range(len(ground.facts))
    ]
    reached = ground.init
    changed = True
    while changed:
        changed = False
        for one in ground.operators:
            if one.pos & ~reached:
                continue
            label = one.add
            for place in one.pre:
                label |= labels[place]
            for place in bits(one.add & ~ground.init):
                new = labels[place] & label
                if new != labels[place] or not reached >> place & 1:
                    labels[place] = new
                    reached |= 1 << place
                    changed = True
    needed = everything
    for goal in ground.goal:
        union = 0
        for place in bits(goal.pos):
            union |= labels[place]
        needed &= union
    return ground.atoms(needed & ~ground.init) if ground.goal else ()


def first_unreached_atom(ground: Ground) -> Atom | None:
    """Return a well-typed proposition that delete relaxation never reaches, if there is one."""
    return next((atom for atom in all_atoms(ground.instance) if atom not in ground.index), None)


def first_unreached_action(ground: Ground) -> Atom | None:
    """Return a well-typed action that delete relaxation never reaches, if there is one."""
    names = ground.names
    return next((one for one in all_actions(ground.instance) if one not in names), None)


def all_atoms(instance: Instance) -> Iterator[Atom]:
    """Yield every well-typed proposition that some action may change, in a fixed order."""
    for name, wanted in sorted(instance.domain.predicates.items()):
        if name in instance.domain.fluents:
            yield from _instances(instance, name, wanted)


def all_actions(instance: Instance) -> Iterator[Atom]:
    """Yield every well-typed action with its objects, applicable or not, in a fixed order."""
    for name, action in sorted(instance.domain.actions.items()):
        yield from _instances(instance, name, tuple(types for _, types in action.parameters))


def _instances(instance: Instance, name: str, wanted: tuple[Types, ...]) -> Iterator[Atom]:
    domain, objects = instance.domain, instance.objects
    fitting = [
        sorted(one for one, given in objects.items() if domain.is_one_of(given, types))
        for types in wanted
    ]
    return ((name, *chosen) for chosen in product(*fitting))
