"""A problem in its domain: the objects, the state at the beginning and the goal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from benchmarks.systems.acpbench_hard.pddl.conditions import (
    Atom,
    Case,
    Template,
    Term,
    read_condition,
)
from benchmarks.systems.acpbench_hard.pddl.domain import (
    ActionSchema,
    Domain,
    Types,
    read_define,
    read_domain,
    read_typed,
)
from benchmarks.systems.acpbench_hard.pddl.expressions import (
    Expression,
    PddlError,
    read_expression,
    read_name,
    show,
    text_of,
)

MOST_OBJECTS = 20_000
MOST_REASONS = 3
State = frozenset[Atom]
_ATOM = re.compile(r"\(\s*([^\s()]+(?:\s+[^\s()]+)*)\s*\)")


def parse_atom(text: str) -> Atom:
    """Return ``(at c0 l0)``, with or without parentheses, as an atom in lower case."""
    stripped = text.strip().lower()
    match = _ATOM.fullmatch(stripped)
    return tuple((match.group(1) if match else stripped).split())


def show_atom(atom: Sequence[str]) -> str:
    """Return an atom as text."""
    return f"({' '.join(atom)})"


def parse_plan(text: str) -> tuple[Atom, ...]:
    """Return the actions of a text like ``(a x) (b y)``."""
    return tuple(tuple(inner.lower().split()) for inner in _ATOM.findall(text))


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem. ``goal`` lists conjunctions of which one must hold; all objects have types.

    ``of_domain`` is the domain that the problem names, empty where it names none. ``values`` are
    the values of functions at the beginning, in PDDL; no action is chosen by them.
    """

    domain: Domain
    name: str
    objects: dict[str, Types]
    init: State
    goal: tuple[Case, ...]
    of_domain: str = ""
    values: tuple[str, ...] = ()

    def fault_of_action(self, action: Atom) -> str:
        """Say why a text is no action of this problem; empty where it is one."""
        if not action or action[0] not in self.domain.actions:
            return f"there is no action {action[0] if action else ''!r}"
        known = self.domain.actions[action[0]]
        return self._fault(action, tuple(types for _, types in known.parameters))

    def fault_of_atom(self, atom: Atom) -> str:
        """Say why a text is no proposition of this problem; empty where it is one."""
        if not atom or atom[0] not in self.domain.predicates:
            return f"there is no predicate {atom[0] if atom else ''!r}"
        return self._fault(atom, self.domain.predicates[atom[0]])

    def has_objects(self, atom: Atom) -> bool:
        """Tell whether all objects of an atom or action exist."""
        return all(name in self.objects for name in atom[1:])

    def _fault(self, atom: Atom, wanted: tuple[Types, ...]) -> str:
        if len(atom) - 1 != len(wanted):
            return f"{atom[0]} takes {len(wanted)} objects, not {len(atom) - 1}"
        for name, types in zip(atom[1:], wanted, strict=True):
            if name not in self.objects:
                return f"there is no object {name!r}"
            if not self.domain.is_one_of(self.objects[name], types):
                kind, needed = " or ".join(self.objects[name]), " or ".join(types)
                return f"{name} is of type {kind}, but {needed} is needed"
        return ""

    def unmet(self, action: Atom, state: State) -> str:
        """Say what keeps a well-formed action from being applicable; empty where nothing does."""
        reasons = [_unmet(case, action[1:], state) for case in self._schema(action).cases]
        return "" if "" in reasons else _join(reasons) or "its condition never holds"

    def apply(self, action: Atom, state: State) -> State:
        """Return the state after an action, whether or not it is applicable."""
        effects = self._schema(action).effects
        gone = {_bind(template, action[1:]) for template in effects.delete}
        return state.difference(gone) | {_bind(template, action[1:]) for template in effects.add}

    def unmet_goal(self, state: State) -> str:
        """Say what is missing for the goal; empty where it holds."""
        reasons = [_unmet(case, (), state) for case in self.goal]
        return "" if "" in reasons else _join(reasons) or "the goal never holds"

    def first_inapplicable(self, plan: Sequence[Atom]) -> tuple[int, str]:
        """Return the place of the first action that cannot be applied, from 0, and why.

        It is the length of the plan, with an empty text, where all of them can.
        """
        state = self.init
        for place, action in enumerate(plan):
            why = self.fault_of_action(action) or self.unmet(action, state)
            if why:
                return place, why
            state = self.apply(action, state)
        return len(plan), ""

    def after(self, plan: Sequence[Atom]) -> State:
        """Return the state after a plan of which every action is applicable."""
        state = self.init
        for action in plan:
            state = self.apply(action, state)
        return state

    def fault_of_plan(self, plan: Sequence[Atom]) -> str:
        """Say why a sequence of actions is no plan; empty where it is one."""
        place, why = self.first_inapplicable(plan)
        if why:
            return f"action {place}, {show_atom(plan[place])}, cannot be applied: {why}"
        missing = self.unmet_goal(self.after(plan))
        return f"the goal is not reached: {missing}" if missing else ""

    def _schema(self, action: Atom) -> ActionSchema:
        return self.domain.actions[action[0]]


def _bind(template: Template, arguments: Sequence[str]) -> Atom:
    return tuple(arguments[term] if isinstance(term, int) else term for term in template)


def _join(reasons: Sequence[str]) -> str:
    """Say why every alternative fails; the first few are enough."""
    shown = list(dict.fromkeys(reasons))
    return " and ".join(shown[:MOST_REASONS]) + (" …" if len(shown) > MOST_REASONS else "")


def _unmet(case: Case, arguments: Sequence[str], state: State) -> str:
    for template in case.positive:
        atom = _bind(template, arguments)
        if atom not in state:
            return f"{show_atom(atom)} does not hold"
    for template in case.negative:
        atom = _bind(template, arguments)
        if atom in state:
            return f"{show_atom(atom)} holds"
    for pair in case.equal:
        one, other = _bind(pair, arguments)
        if one != other:
            return f"{one} is not {other}"
    for pair in case.different:
        one, other = _bind(pair, arguments)
        if one == other:
            return f"{one} stands in two places"
    return ""


def read_instance(domain_text: str, problem_text: str) -> Instance:
    """Return a problem with its domain; ``PddlError`` says what is wrong with either."""
    domain = read_domain(domain_text)
    name, sections = read_define(read_expression(problem_text, "problem"), "problem")
    objects = dict(domain.constants)
    atoms: Expression = []
    goal: Any = None
    of_domain = ""
    for section in sections:
        match section[0]:
            case ":objects":
                typed = read_typed(section[1:], domain.ancestors, "problem, :objects")
                for one, types in typed.items():
                    if objects.setdefault(one, types) != types:
                        raise PddlError(f"problem, :objects: {one} has another type as a constant")
            case ":init":
                atoms += section[1:]
            case ":goal":
                if goal is not None or len(section) != 2:
                    raise PddlError("problem: expected one goal of one condition")
                goal = section[1]
            case ":domain":
                of_domain = read_name(section[1] if len(section) == 2 else "", "problem, :domain")
            case ":requirements" | ":metric":
                continue
            case other:
                raise PddlError(f"problem: the section {show(other)} is not supported")
    if goal is None:
        raise PddlError("problem: there is no goal")
    if len(objects) > MOST_OBJECTS:
        raise PddlError(f"problem: expected at most {MOST_OBJECTS} objects, found {len(objects)}")
    predicates = domain.predicates

    def read_term(value: Any, where: str) -> Term:
        if isinstance(value, str) and value in objects:
            return value
        raise PddlError(f"{where}: there is no object {show(value)}")

    def read_atom(value: Expression, where: str) -> Template:
        predicate = read_name(value[0] if value else "", where)
        if predicate not in predicates:
            raise PddlError(f"{where}: the predicate {predicate} is not declared")
        if len(value) - 1 != len(predicates[predicate]):
            wanted = len(predicates[predicate])
            raise PddlError(f"{where}: expected {wanted} objects in {show(value)}")
        for term in value[1:]:
            if not isinstance(term, str) or term not in objects:
                raise PddlError(f"{where}: there is no object {show(term)}")
        return tuple(value)

    init, values = set(), []
    for part in atoms:
        if not isinstance(part, list):
            raise PddlError(f"problem, :init: expected an atom, found {show(part)}")
        # Numbers such as (= (total-cost) 0) belong to costs.
        if part[:1] == ["="]:
            values.append(text_of(part))
        else:
            init.add(read_atom(part, "problem, :init"))
    cases = read_condition(goal, read_atom, read_term, "problem, :goal")
    return Instance(domain, name, objects, frozenset(init), cases, of_domain, tuple(values))


@lru_cache(maxsize=64)
def instance_of(domain_text: str, problem_text: str) -> Instance:
    """Return a problem with its domain; what was read lately is kept."""
    return read_instance(domain_text, problem_text)
