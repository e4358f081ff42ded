"""Conditions in disjunctive normal form, and the simple effects of actions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.systems.acpbench_hard.pddl.expressions import Expression, PddlError, show

# A ground atom: the predicate, then the objects. An action with its objects has the same form.
Atom = tuple[str, ...]
# A term of a template is a parameter, by its number, or an object, by its name.
Term = int | str
Template = tuple[Any, ...]
Pair = tuple[Term, Term]

MOST_CASES = 1_000


@dataclass(frozen=True)
class Case:
    """One conjunction of a condition: what must hold, what must not, which terms are the same."""

    positive: tuple[Template, ...] = ()
    negative: tuple[Template, ...] = ()
    equal: tuple[Pair, ...] = ()
    different: tuple[Pair, ...] = ()


@dataclass(frozen=True)
class Effects:
    """The atoms that an action adds and deletes. An atom that it does both to holds afterwards."""

    add: tuple[Template, ...] = ()
    delete: tuple[Template, ...] = ()


# Turns the parts of an atom into a template, or raises PddlError.
ReadAtom = Callable[[Expression, str], Template]
ReadTerm = Callable[[Any, str], Term]
_Literal = tuple[str, Template]


def read_condition(
    value: Any, read_atom: ReadAtom, read_term: ReadTerm, where: str
) -> tuple[Case, ...]:
    """Return a condition as cases of which one must hold; without any, it never holds."""
    if value == []:
        return (Case(),)
    return tuple(_case(literals) for literals in _cases(value, True, read_atom, read_term, where))


def _cases(
    value: Any, wanted: bool, read_atom: ReadAtom, read_term: ReadTerm, where: str
) -> list[tuple[_Literal, ...]]:
    if not isinstance(value, list) or not value or not isinstance(value[0], str):
        raise PddlError(f"{where}: expected a condition in parentheses, found {show(value)}")
    head, parts = value[0], value[1:]
    if head in ("forall", "exists", "when", ">", "<", ">=", "<=", "preference"):
        raise PddlError(f"{where}: {head!r} is not supported")
    if head == "not":
        if len(parts) != 1:
            raise PddlError(f"{where}: expected one condition in {show(value)}")
        return _cases(parts[0], not wanted, read_atom, read_term, where)
    if head == "imply":
        if len(parts) != 2:
            raise PddlError(f"{where}: expected two conditions in {show(value)}")
        return _cases(["or", ["not", parts[0]], parts[1]], wanted, read_atom, read_term, where)
    if head in ("and", "or"):
        cases_of_parts = [_cases(part, wanted, read_atom, read_term, where) for part in parts]
        if (head == "or") == wanted:
            return _bounded([case for cases in cases_of_parts for case in cases], where)
        made: list[tuple[_Literal, ...]] = [()]
        for cases in cases_of_parts:
            made = _bounded([one + other for one in made for other in cases], where)
        return made
    if head == "=":
        if len(parts) != 2:
            raise PddlError(f"{where}: expected two terms in {show(value)}")
        pair = tuple(read_term(part, where) for part in parts)
        return [(("equal" if wanted else "different", pair),)]
    return [(("positive" if wanted else "negative", read_atom(value, where)),)]


def _bounded(cases: list[tuple[_Literal, ...]], where: str) -> list[tuple[_Literal, ...]]:
    if len(cases) > MOST_CASES:
        raise PddlError(f"{where}: expected at most {MOST_CASES} alternatives, found more")
    return cases


def _case(literals: tuple[_Literal, ...]) -> Case:
    kinds: dict[str, list[Template]] = {}
    for kind, template in literals:
        kinds.setdefault(kind, []).append(template)
    # Repeated literals say nothing new.
    return Case(**{kind: tuple(dict.fromkeys(of_kind)) for kind, of_kind in kinds.items()})


def read_effects(value: Any, read_atom: ReadAtom, where: str) -> Effects:
    """Return what an action adds and deletes; changes of costs are read past."""
    add: list[Template] = []
    delete: list[Template] = []
    waiting = [value] if value != [] else []
    while waiting:
        effect = waiting.pop()
        if not isinstance(effect, list) or not effect or not isinstance(effect[0], str):
            raise PddlError(f"{where}: expected an effect in parentheses, found {show(effect)}")
        head = effect[0]
        if head == "and":
            waiting.extend(effect[1:])
        elif head == "not" and len(effect) == 2 and isinstance(effect[1], list):
            delete.append(read_atom(effect[1], where))
        elif head == "increase":
            continue
        elif head in (
            "when",
            "forall",
            "or",
            "not",
            "assign",
            "decrease",
            "oneof",
            "probabilistic",
        ):
            raise PddlError(f"{where}: the effect {show(effect)} is not supported")
        else:
            add.append(read_atom(effect, where))
    return Effects(tuple(dict.fromkeys(add)), tuple(dict.fromkeys(delete)))
