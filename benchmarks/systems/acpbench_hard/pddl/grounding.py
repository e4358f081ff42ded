"""Grounding: the actions and facts that delete relaxation can reach, as bit sets.

A fact is a bit; a state, a precondition or an effect is a whole number. Only facts that some action
changes have bits: those that never change are checked once, while grounding.

Actions are found by joining their positive preconditions over the facts reached so far, each fact
once, in the order in which facts are reached (the semi-naive evaluation of Datalog).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchmarks.core.errors import CoreError
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom, Case, Template
from benchmarks.systems.acpbench_hard.pddl.domain import ActionSchema
from benchmarks.systems.acpbench_hard.pddl.instance import Instance
from benchmarks.systems.acpbench_hard.pddl.operators import Index, Operator, OperatorCondition, bits

Binding = list[str]

MOST_OPERATORS, MOST_STEPS = 30_000, 3_000_000


class Declined(CoreError):
    """A problem that is too large; the text says which limit it exceeds."""


@dataclass(frozen=True, eq=False)
class Ground:
    """A grounded problem.

    ``facts`` are the atoms of the bits. ``always`` are facts that hold and never change. ``goal``
    are alternatives; none means that delete relaxation already rules the goal out.
    """

    instance: Instance
    facts: tuple[Atom, ...]
    index: dict[Atom, int]
    always: frozenset[Atom]
    operators: tuple[Operator, ...]
    init: int

    @cached_property
    def goal(self) -> tuple[OperatorCondition, ...]:
        """The goal of the problem, as alternatives."""
        return self.conditions(self.instance.goal)

    @cached_property
    def names(self) -> frozenset[Atom]:
        """Every action that delete relaxation can reach, with its objects."""
        return frozenset(operator.name for operator in self.operators)

    def conditions(
        self, cases: Iterable[Case], objects: Sequence[str] = ()
    ) -> tuple[OperatorCondition, ...]:
        """Return those alternatives that delete relaxation can reach."""
        conditions = (self._condition(case, objects) for case in cases)
        return tuple(dict.fromkeys(one for one in conditions if one is not None))

    def _condition(self, case: Case, objects: Sequence[str]) -> OperatorCondition | None:
        for one, other in (_bind(pair, objects) for pair in case.equal):
            if one != other:
                return None
        for one, other in (_bind(pair, objects) for pair in case.different):
            if one == other:
                return None
        pos = neg = 0
        for atom in (_bind(template, objects) for template in case.positive):
            if atom in self.index:
                pos |= 1 << self.index[atom]
            elif atom not in self.always:
                return None
        for atom in (_bind(template, objects) for template in case.negative):
            if atom in self.index:
                neg |= 1 << self.index[atom]
            elif atom in self.always:
                return None
        return None if pos & neg else OperatorCondition(pos, neg)

    def state(self, atoms: Iterable[Atom]) -> int:
        """Return the bits of a state; atoms without a bit are left out."""
        return sum(1 << self.index[atom] for atom in set(atoms) if atom in self.index)

    def atoms(self, state: int) -> tuple[Atom, ...]:
        """Return the atoms of the bits of a state."""
        return tuple(self.facts[place] for place in bits(state))

    @cached_property
    def _index(self) -> Index:
        return Index(self.operators, len(self.facts))

    def applicable(self, state: int) -> tuple[Atom, ...]:
        """Return the actions that can be applied in a state, each once, in a fixed order."""
        return tuple(dict.fromkeys(one.name for one in self._index.applicable(state)))


def _bind(template: Template, objects: Sequence[str]) -> Atom:
    return tuple(objects[term] if isinstance(term, int) else term for term in template)


class _Step:
    """One precondition of a join, where some of its terms are known already.

    ``key`` are the terms that are known, ``new`` places in the atom with the parameters that they
    give, ``same`` pairs of places that must agree.
    """

    __slots__ = ("key", "new", "pattern", "same", "table")

    def __init__(self, template: Template, known: set[int]) -> None:
        self.key: list[int | str] = []
        self.new: list[tuple[int, int]] = []
        self.same: list[tuple[int, int]] = []
        places = []
        first: dict[int, int] = {}
        for place, term in enumerate(template[1:], 1):
            if isinstance(term, str) or term in known:
                places.append(place)
                self.key.append(term)
            elif term in first:
                self.same.append((first[term], place))
            else:
                first[term] = place
                self.new.append((place, term))
        self.pattern = (template[0], tuple(places))
        self.table: dict[Atom, list[Atom]] = {}


class _Trigger:
    """The plan by which an action is grounded once one of its preconditions is reached."""

    __slots__ = ("allowed", "case", "first", "free", "schema", "steps")

    def __init__(
        self,
        schema: ActionSchema,
        case: Case,
        first: Template | None,
        fluents: frozenset[str],
        allowed: list[frozenset[str]],
    ) -> None:
        self.schema, self.case, self.allowed = schema, case, allowed
        known: set[int] = set()
        self.first = None if first is None else _Step(first, known)
        if first is not None:
            known.update(term for term in first[1:] if isinstance(term, int))
        rest = [template for template in case.positive if template is not first]
        self.steps: list[_Step] = []
        while rest:
            chosen = min(rest, key=lambda template: _cost(template, known, fluents))
            rest.remove(chosen)
            self.steps.append(_Step(chosen, known))
            known.update(term for term in chosen[1:] if isinstance(term, int))
        self.free = [number for number in range(len(schema.parameters)) if number not in known]


def _cost(template: Template, known: set[int], fluents: frozenset[str]) -> tuple[int, int, bool]:
    terms = [term for term in template[1:] if isinstance(term, int)]
    unknown = len({term for term in terms if term not in known})
    # An unconnected precondition multiplies; one without unknown terms only filters.
    connected = unknown < len(set(terms)) or not terms
    return (0 if unknown == 0 else 1 if connected else 2, unknown, template[0] in fluents)


class _Grounding:
    def __init__(self, instance: Instance, operators: int, steps: int) -> None:
        self.instance, self.most_operators, self.most_steps = instance, operators, steps
        self.steps = 0
        self.tables: dict[str, list[tuple[tuple[int, ...], dict[Atom, list[Atom]]]]] = {}
        self.triggers: dict[str, list[_Trigger]] = {}
        self.untriggered: list[_Trigger] = []
        self.by_type: dict[tuple[str, ...], frozenset[str]] = {}
        self.fluents = instance.domain.fluents
        # Every action found, with the case of its condition that holds.
        self.found: dict[tuple[int, Atom], tuple[ActionSchema, Case]] = {}
        self._prepare()

    def _prepare(self) -> None:
        known: dict[tuple[str, tuple[int, ...]], dict[Atom, list[Atom]]] = {}
        for schema in self.instance.domain.actions.values():
            allowed = [self._objects(types) for _, types in schema.parameters]
            for case in schema.cases:
                moving: list[Template | None] = [
                    one for one in case.positive if one[0] in self.fluents
                ]
                for first in moving or [None]:
                    trigger = _Trigger(schema, case, first, self.fluents, allowed)
                    if first is None:
                        self.untriggered.append(trigger)
                    else:
                        self.triggers.setdefault(first[0], []).append(trigger)
                    for step in trigger.steps:
                        step.table = known.setdefault(step.pattern, {})
        for (predicate, places), table in known.items():
            self.tables.setdefault(predicate, []).append((places, table))

    def _objects(self, types: tuple[str, ...]) -> frozenset[str]:
        if types not in self.by_type:
            domain, objects = self.instance.domain, self.instance.objects
            self.by_type[types] = frozenset(
                name for name, given in objects.items() if domain.is_one_of(given, types)
            )
        return self.by_type[types]

    def run(self) -> tuple[list[Atom], dict[Atom, int]]:
        """Return the reached facts that actions change, and their places."""
        init = sorted(self.instance.init)
        reached: dict[Atom, int] = {}
        queue: list[Atom] = []
        for atom in init:
            if atom[0] in self.fluents:
                reached[atom] = len(queue)
                queue.append(atom)
            else:
                self._store(atom)
        for trigger in self.untriggered:
            self._complete(trigger, [[""] * len(trigger.schema.parameters)], reached, queue)
        place = 0
        while place < len(queue):
            atom = queue[place]
            place += 1
            self._store(atom)
            for trigger in self.triggers.get(atom[0], ()):
                binding = self._match(trigger, atom)
                if binding is not None:
                    self._complete(trigger, [binding], reached, queue)
        return queue, reached

    def _store(self, atom: Atom) -> None:
        for places, table in self.tables.get(atom[0], ()):
            key = tuple([atom[place] for place in places])
            if key in table:
                table[key].append(atom)
            else:
                table[key] = [atom]

    def _match(self, trigger: _Trigger, atom: Atom) -> Binding | None:
        step, allowed = trigger.first, trigger.allowed
        if step is None:
            return None
        # Nothing is known before the first precondition, so its key holds constants alone.
        for place, term in zip(step.pattern[1], step.key, strict=True):
            if atom[place] != term:
                return None
        for one, other in step.same:
            if atom[one] != atom[other]:
                return None
        binding = [""] * len(trigger.schema.parameters)
        for place, parameter in step.new:
            if atom[place] not in allowed[parameter]:
                return None
            binding[parameter] = atom[place]
        return binding

    def _complete(
        self,
        trigger: _Trigger,
        bindings: list[Binding],
        reached: dict[Atom, int],
        queue: list[Atom],
    ) -> None:
        allowed = trigger.allowed
        for step in trigger.steps:
            longer: list[Binding] = []
            for binding in bindings:
                key = tuple([binding[term] if isinstance(term, int) else term for term in step.key])
                matches = step.table.get(key)
                if not matches:
                    continue
                if not step.new:
                    longer.append(binding)
                    continue
                for atom in matches:
                    if any(atom[one] != atom[other] for one, other in step.same):
                        continue
                    made = binding.copy()
                    for place, parameter in step.new:
                        name = atom[place]
                        if name not in allowed[parameter]:
                            break
                        made[parameter] = name
                    else:
                        longer.append(made)
            bindings = longer
            self._count(len(bindings) + 1)
            if not bindings:
                return
        for parameter in trigger.free:
            names = sorted(allowed[parameter])
            self._count(len(bindings) * len(names))
            bindings = [
                [*one[:parameter], name, *one[parameter + 1 :]]
                for one in bindings
                for name in names
            ]
        for binding in bindings:
            self._add(trigger, binding, reached, queue)

    def _count(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.most_steps:
            raise Declined(f"grounding takes more than {self.most_steps} steps")

    def _add(
        self, trigger: _Trigger, binding: Binding, reached: dict[Atom, int], queue: list[Atom]
    ) -> None:
        name = (trigger.schema.name, *binding)
        key = (id(trigger.case), name)
        case = trigger.case
        if key in self.found or not self._may_hold(case, binding):
            return
        self.found[key] = (trigger.schema, case)
        if len(self.found) > self.most_operators:
            raise Declined(f"the problem has more than {self.most_operators} ground actions")
        for template in trigger.schema.effects.add:
            atom = _bind(template, binding)
            if atom not in reached:
                reached[atom] = len(queue)
                queue.append(atom)

    def _may_hold(self, case: Case, binding: Binding) -> bool:
        """Check what never changes: equality, and negated facts that no action changes."""
        for pair in case.equal:
            one, other = _bind(pair, binding)
            if one != other:
                return False
        for pair in case.different:
            one, other = _bind(pair, binding)
            if one == other:
                return False
        return not any(
            template[0] not in self.fluents and _bind(template, binding) in self.instance.init
            for template in case.negative
        )


def ground(instance: Instance, operators: int = MOST_OPERATORS, steps: int = MOST_STEPS) -> Ground:
    """Return the grounded problem.

    ``Declined`` is raised where it has more ground actions than ``operators``, or where finding
    them takes more ``steps`` of joining atoms.
    """
    grounding = _Grounding(instance, operators, steps)
    queue, reached = grounding.run()
    fluents = instance.domain.fluents
    always = frozenset(atom for atom in instance.init if atom[0] not in fluents)

    def mask(templates: Iterable[Template], binding: Sequence[str]) -> int:
        value = 0
        for template in templates:
            place = reached.get(_bind(template, binding))
            if place is not None:
                value |= 1 << place
        return value

    def operators_found() -> Iterator[Operator]:
        for (_, name), (schema, case) in grounding.found.items():
            objects = name[1:]
            pos, neg = mask(case.positive, objects), mask(case.negative, objects)
            add = mask(schema.effects.add, objects)
            # What is both added and deleted holds afterwards.
            delete = mask(schema.effects.delete, objects) & ~add
            if not pos & neg:
                yield Operator(name, pos, neg, add, delete)

    init = sum(1 << reached[atom] for atom in instance.init if atom in reached)
    return Ground(instance, tuple(queue), reached, always, tuple(operators_found()), init)
