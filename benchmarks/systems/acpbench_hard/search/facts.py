"""What is true of a problem, from which questions are made: plans, landmarks, the unreachable."""

from collections.abc import Iterator
from itertools import product

from benchmarks.systems.acpbench_hard.limits import DEFAULTS, Limits
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom, Case
from benchmarks.systems.acpbench_hard.pddl.domain import Types
from benchmarks.systems.acpbench_hard.pddl.grounding import Ground
from benchmarks.systems.acpbench_hard.pddl.instance import Instance
from benchmarks.systems.acpbench_hard.search.optimal import Distances
from benchmarks.systems.acpbench_hard.search.plans import find_plan
from benchmarks.systems.acpbench_hard.search.result import Result
from benchmarks.systems.acpbench_hard.search.space import Space

_UNREACHED = Result("unsolvable", None, "relaxation")


def plan(ground: Ground, limits: Limits = DEFAULTS) -> Result:
    """Return a plan for the goal, which need not be a shortest one."""
    return find_plan(Space(ground, ground.goal), nodes=limits.nodes) if ground.goal else _UNREACHED


def shortest_plan(ground: Ground, limits: Limits = DEFAULTS, at_most: int = 100) -> Result:
    """Return a shortest plan for the goal; beyond ``at_most`` actions it counts as given up."""
    if not ground.goal:
        return _UNREACHED
    space = Space(ground, ground.goal)
    found = Distances(space, limits.nodes).shortest(space.init, at_most)
    beyond = found.outcome == "unsolvable" and found.proof == "bound"
    return Result("gave_up", nodes=found.nodes) if beyond else found


def reach_atom(ground: Ground, atom: Atom, limits: Limits = DEFAULTS) -> Result:
    """Return a plan after which an atom holds, or a proof that it never does."""
    return _reach(ground, (Case(positive=(atom,)),), (), limits)


def reach_action(ground: Ground, action: Atom, limits: Limits = DEFAULTS) -> Result:
    """Return a plan after which a well-formed action is applicable, or a proof that it never is."""
    cases = ground.instance.domain.actions[action[0]].cases
    return _reach(ground, cases, action[1:], limits)


def _reach(
    ground: Ground, cases: tuple[Case, ...], objects: tuple[str, ...], limits: Limits
) -> Result:
    goal = ground.conditions(cases, objects)
    return find_plan(Space(ground, goal), nodes=limits.nodes) if goal else _UNREACHED


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
    solved = find_plan(space, nodes=limits.nodes).solved
    return None if solved is None else not solved


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
