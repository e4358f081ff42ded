"""A planning domain: types, predicates, constants and actions."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from benchmarks.systems.acpbench_hard.pddl.conditions import (
    Case,
    Effects,
    Template,
    Term,
    read_condition,
    read_effects,
)
from benchmarks.systems.acpbench_hard.pddl.expressions import (
    Expression,
    PddlError,
    read_expression,
    read_name,
    show,
)

OBJECT = "object"
# The types of which a parameter or object may be one; more than one is PDDL's ``either``.
Types = tuple[str, ...]


class ActionSchema(NamedTuple):
    """An action: its parameters with their types, when it is applicable, and what it changes."""

    name: str
    parameters: tuple[tuple[str, Types], ...]
    cases: tuple[Case, ...]
    effects: Effects


@dataclass(frozen=True)
class Domain:
    """A domain. ``ancestors`` has for each type that type and all types above it."""

    name: str
    ancestors: dict[str, frozenset[str]]
    predicates: dict[str, tuple[Types, ...]]
    constants: dict[str, Types]
    actions: dict[str, ActionSchema]
    # Predicates that some action changes; all others stay as they are at the beginning.
    fluents: frozenset[str]

    def is_one_of(self, given: Types, wanted: Types) -> bool:
        """Tell whether an object of these types may stand where one of those is wanted."""
        above = self.ancestors
        return any(not above[one].isdisjoint(wanted) for one in given)


@lru_cache(maxsize=32)
def read_domain(text: str) -> Domain:
    """Return the domain of a PDDL text; ``PddlError`` says what is wrong with it."""
    expression = read_expression(text, "domain")
    name, sections = read_define(expression, "domain")
    types: Expression = []
    constants: Expression = []
    predicates: Expression = []
    actions: list[Expression] = []
    for section in sections:
        match section[0]:
            case ":types":
                types += section[1:]
            case ":constants":
                constants += section[1:]
            case ":predicates":
                predicates += section[1:]
            case ":action":
                actions.append(section)
            case ":requirements" | ":functions":
                continue
            case other:
                raise PddlError(f"domain {name}: the section {show(other)} is not supported")
    ancestors = _read_types(types)
    known = read_typed(constants, ancestors, "domain, :constants")
    declared = _read_predicates(predicates, ancestors)
    read: dict[str, ActionSchema] = {}
    for section in actions:
        action = _read_action(section, ancestors, declared, known)
        if action.name in read:
            raise PddlError(f"action {action.name}: declared twice")
        read[action.name] = action
    changed = frozenset(
        template[0] for action in read.values() for template in _changes(action.effects)
    )
    return Domain(name, ancestors, declared, known, read, changed)


def _changes(effects: Effects) -> tuple[Template, ...]:
    return effects.add + effects.delete


def read_define(expression: Expression, kind: str) -> tuple[str, list[Expression]]:
    """Return the name and the sections of a definition."""
    if len(expression) < 2 or expression[0] != "define":
        raise PddlError(f"{kind}: expected (define ({kind} …) …), found {show(expression)}")
    head = expression[1]
    if not isinstance(head, list) or len(head) != 2 or head[0] != kind:
        raise PddlError(f"{kind}: expected ({kind} NAME), found {show(head)}")
    for section in expression[2:]:
        if not isinstance(section, list) or not section or not isinstance(section[0], str):
            raise PddlError(f"{kind}: expected a section such as (:init …), found {show(section)}")
    return read_name(head[1], kind), expression[2:]


def _read_list(parts: Expression, where: str) -> list[tuple[str, Types]]:
    """Return the names of a list like ``a b - t c - (either t u)``, each with its types."""
    typed: list[tuple[str, Types]] = []
    waiting: list[str] = []
    index = 0
    while index < len(parts):
        part = parts[index]
        if part != "-":
            waiting.append(part if isinstance(part, str) else read_name(part, where))
            index += 1
            continue
        if index + 1 == len(parts):
            raise PddlError(f"{where}: expected a type after '-'")
        kind = parts[index + 1]
        if isinstance(kind, list):
            if len(kind) < 2 or kind[0] != "either":
                raise PddlError(f"{where}: expected a type, found {show(kind)}")
            types: Types = tuple(read_name(one, where) for one in kind[1:])
        else:
            types = (read_name(kind, where),)
        typed += [(name, types) for name in waiting]
        waiting = []
        index += 2
    return typed + [(name, (OBJECT,)) for name in waiting]


def _read_types(parts: Expression) -> dict[str, frozenset[str]]:
    parents: dict[str, set[str]] = {OBJECT: set()}
    for name, above in _read_list(parts, "domain, :types"):
        read_name(name, "domain, :types")
        if name != OBJECT:
            parents.setdefault(name, set()).update(above)
        for one in above:
            parents.setdefault(one, {OBJECT} if one != OBJECT else set())
    ancestors: dict[str, frozenset[str]] = {}
    for name in parents:
        seen: set[str] = set()
        waiting = list(parents[name])
        while waiting:
            above_it = waiting.pop()
            if above_it not in seen:
                seen.add(above_it)
                waiting.extend(parents[above_it])
        if name in seen:
            raise PddlError(f"domain, :types: the type {name} is above itself")
        ancestors[name] = frozenset(seen | {name, OBJECT})
    return ancestors


def read_typed(
    parts: Expression, ancestors: dict[str, frozenset[str]], where: str
) -> dict[str, Types]:
    """Return declared names with their types, in the order in which they stand."""
    by_name: dict[str, Types] = {}
    checked: set[Types] = set()
    for name, types in _read_list(parts, where):
        if types not in checked:
            for one in types:
                if one not in ancestors:
                    raise PddlError(f"{where}: the type {one} of {name} is not declared")
            checked.add(types)
        if by_name.setdefault(name, types) != types:
            raise PddlError(f"{where}: {name} is declared twice with different types")
    return by_name


def _read_predicates(
    parts: Expression, ancestors: dict[str, frozenset[str]]
) -> dict[str, tuple[Types, ...]]:
    by_name: dict[str, tuple[Types, ...]] = {}
    for part in parts:
        if not isinstance(part, list) or not part:
            raise PddlError(f"domain, :predicates: expected (NAME …), found {show(part)}")
        name = read_name(part[0], "domain, :predicates")
        where = f"predicate {name}"
        # A predicate may repeat a variable: only the number and types of its places count.
        wanted = tuple(types for _, types in _read_variables(part[1:], ancestors, where))
        if by_name.setdefault(name, wanted) != wanted:
            raise PddlError(f"{where}: declared twice with different parameters")
    return by_name


def _read_variables(
    parts: Expression, ancestors: dict[str, frozenset[str]], where: str
) -> list[tuple[str, Types]]:
    """Return variables with their types."""
    variables = _read_list(parts, where)
    for variable, types in variables:
        if not variable.startswith("?") or len(variable) == 1:
            raise PddlError(f"{where}: expected a variable such as ?x, found {variable}")
        for one in types:
            if one not in ancestors:
                raise PddlError(f"{where}: the type {one} of {variable} is not declared")
    return variables


def _read_action(
    section: Expression,
    ancestors: dict[str, frozenset[str]],
    predicates: dict[str, tuple[Types, ...]],
    constants: dict[str, Types],
) -> ActionSchema:
    if len(section) < 2:
        raise PddlError("domain: an action without a name")
    name = read_name(section[1], "action")
    where = f"action {name}"
    parts: dict[str, Any] = {}
    rest = section[2:]
    if len(rest) % 2:
        raise PddlError(f"{where}: expected pairs such as :effect (…), found {show(rest[-1])}")
    for key, value in zip(rest[::2], rest[1::2], strict=True):
        if key not in (":parameters", ":precondition", ":effect"):
            raise PddlError(f"{where}: {show(key)} is not supported")
        if key in parts:
            raise PddlError(f"{where}: {key} stands there twice")
        parts[key] = value
    given = parts.get(":parameters", [])
    if not isinstance(given, list):
        raise PddlError(f"{where}: expected parameters in parentheses, found {show(given)}")
    parameters = tuple(_read_variables(given, ancestors, where))
    if len(dict(parameters)) != len(parameters):
        raise PddlError(f"{where}: a variable is declared twice")
    numbers = {variable: number for number, (variable, _) in enumerate(parameters)}

    def read_term(value: Any, place: str) -> Term:
        if isinstance(value, str):
            if value in numbers:
                return numbers[value]
            if value in constants:
                return value
        raise PddlError(f"{place}: {show(value)} is no parameter and no constant")

    def read_atom(value: Expression, place: str) -> Template:
        predicate = read_name(value[0] if value else "", place)
        if predicate not in predicates:
            raise PddlError(f"{place}: the predicate {predicate} is not declared")
        if len(value) - 1 != len(predicates[predicate]):
            wanted = len(predicates[predicate])
            raise PddlError(f"{place}: expected {wanted} terms in {show(value)}")
        return (predicate, *(read_term(term, place) for term in value[1:]))

    cases = read_condition(parts.get(":precondition", []), read_atom, read_term, where)
    return ActionSchema(
        name, parameters, cases, read_effects(parts.get(":effect", []), read_atom, where)
    )
