"""A grounded problem prepared for a search: what matters to its goal, and which states are alike.

Actions and facts that cannot matter to the goal are left out. Objects that nothing tells apart but
the state (cars with the same destination) are interchangeable: states that differ only in which of
them is where have the same key, and a search visits one of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.grounding import Ground
from benchmarks.systems.acpbench_hard.pddl.operators import Index, Operator, OperatorCondition, bits

_SELF = "*"


class Space:
    """The part of a grounded problem that matters to a goal.

    States have other bits than in the grounded problem; ``state`` translates. ``goal`` are
    alternatives. ``without`` has facts of the grounded problem that no action may add.
    """

    def __init__(self, ground: Ground, goal: Sequence[OperatorCondition], without: int = 0) -> None:
        self.ground = ground
        allowed = [one for one in ground.operators if not one.add & without]
        relevant, facts = _relevant(allowed, goal)
        # The alternatives of one condition may have the same effects; both stay.
        self.classes, order = _layout(ground, goal, facts, without)
        self.place = {fact: place for place, fact in enumerate(order) if fact >= 0}
        self.width = len(order)
        self.goal = tuple(
            OperatorCondition(self.state(one.pos), self.state(one.neg)) for one in goal
        )
        self.operators = tuple(self._translated(relevant))

    def _translated(self, operators: Iterable[Operator]) -> Iterable[Operator]:
        seen = set()
        for one in operators:
            parts = tuple(map(self.state, (one.pos, one.neg, one.add, one.delete)))
            # Actions that differ only in what does not matter are one.
            if parts not in seen and (parts[2] & ~parts[0] or parts[3]):
                seen.add(parts)
                yield Operator(one.name, *parts)

    def state(self, ground_state: int) -> int:
        """Return a state, or any set of facts, of the grounded problem in this space's bits."""
        value = 0
        place = self.place
        for fact in bits(ground_state):
            if fact in place:
                value |= 1 << place[fact]
        return value

    @cached_property
    def init(self) -> int:
        """The state at the beginning."""
        return self.state(self.ground.init)

    def is_goal(self, state: int) -> bool:
        """Tell whether the goal holds in a state."""
        return any(one.holds(state) for one in self.goal)

    @cached_property
    def _index(self) -> Index:
        return Index(self.operators, self.width)

    def applicable(self, state: int) -> list[Operator]:
        """Return the actions that can be applied in a state."""
        return self._index.applicable(state)

    @cached_property
    def key(self) -> Callable[[int], object]:
        """The part that is equal for states that are alike."""
        if not self.classes:
            return lambda state: state
        rest = (1 << self.width) - 1
        for width, starts in self.classes:
            for start in starts:
                rest &= ~(((1 << width) - 1) << start)
        parts = [((1 << width) - 1, starts) for width, starts in self.classes]

        def key(state: int) -> object:
            kept_parts: list[object] = [state & rest]
            for mask, starts in parts:
                kept_parts.append(tuple(sorted([state >> start & mask for start in starts])))
            return tuple(kept_parts)

        return key


def _relevant(
    operators: Sequence[Operator], goal: Sequence[OperatorCondition]
) -> tuple[list[Operator], int]:
    """Return the actions that may help to reach the goal, and the facts that they rest on."""
    wanted = unwanted = 0
    for condition in goal:
        wanted |= condition.pos
        unwanted |= condition.neg
    relevant: list[Operator] = []
    waiting = list(operators)
    while True:
        rest = []
        for one in waiting:
            if one.add & wanted or one.delete & unwanted:
                relevant.append(one)
                wanted |= one.pos
                unwanted |= one.neg
            else:
                rest.append(one)
        if len(rest) == len(waiting):
            break
        waiting = rest
    kept = {id(one) for one in relevant}
    return [one for one in operators if id(one) in kept], wanted | unwanted


def _layout(
    ground: Ground, goal: Sequence[OperatorCondition], facts: int, without: int
) -> tuple[list[tuple[int, list[int]]], list[int]]:
    """Return classes of interchangeable objects, and the facts in the order of their new bits.

    A class is the number of bits that an object has, and where those of each object begin. In the
    order, -1 is a bit that no fact has.
    """
    places = bits(facts)
    order: list[int] = []
    classes: list[tuple[int, list[int]]] = []
    placed: set[int] = set()
    for names in _interchangeable(ground, goal, places, without):
        of = {name: dict[Atom, int]() for name in names}
        whole = True
        for fact in places:
            atom = ground.facts[fact]
            inside = [name for name in atom[1:] if name in of]
            if not inside:
                continue
            if len(inside) > 1 or fact in placed:
                whole = False
                break
            slot = tuple(_SELF if name == inside[0] else name for name in atom)
            of[inside[0]][slot] = fact
        slots = sorted({slot for slots_of in of.values() for slot in slots_of})
        if not whole or not slots:
            continue
        starts = []
        for slots_of in of.values():
            starts.append(len(order))
            order += [slots_of.get(slot, -1) for slot in slots]
            placed.update(slots_of.values())
        classes.append((len(slots), starts))
    order += [fact for fact in places if fact not in placed]
    return classes, order


def _interchangeable(
    ground: Ground, goal: Sequence[OperatorCondition], places: Sequence[int], without: int
) -> list[list[str]]:
    """Return groups of objects that nothing tells apart.

    That is, neither static facts nor the goal, the domain, or facts that no action may add.
    """
    instance = ground.instance
    marks: dict[str, list[Atom]] = {name: [] for name in instance.objects}

    def mark(atom: Atom, kind: str) -> None:
        for name in set(atom[1:]):
            marks[name].append((kind, *(_SELF if one == name else one for one in atom)))

    for atom in ground.always:
        mark(atom, "always")
    for number, one in enumerate(goal):
        for fact in bits(one.pos):
            mark(ground.facts[fact], f"+{number}")
        for fact in bits(one.neg):
            mark(ground.facts[fact], f"-{number}")
    for atom in ground.atoms(without):
        mark(atom, "without")
    groups: dict[object, list[str]] = defaultdict(list)
    used = {name for fact in places for name in ground.facts[fact][1:]}
    for name, types in instance.objects.items():
        if name in used and name not in instance.domain.constants:
            groups[types, tuple(sorted(marks[name]))].append(name)
    alike = [names for names in groups.values() if len(names) > 1]
    return sorted(alike, key=lambda names: (-len(names), names))
