"""Operators in the search of trajectories: ``agent:"Last word" ended:valid score:<3 "two words"``.

An operator is a filter of the list by its name; everything else is searched for as words
(`analysis.search.query`). Several values of one operator are alternatives, different operators
hold together, and a minus excludes. The page and the HTTP API read their ``q`` by this module, so
the same text finds the same trajectories.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Q

from analysis.trajectory_index.columns import NONE, IndexColumns
from analysis.trajectory_index.facets import AnnotationColumns, IndexFacet
from benchmarks.models import Task
from benchmarks.paging import as_id

# Operators by the names of their facets, in the order in which the help lists them.
FACETS: Mapping[str, str] = {
    "agent": "agent",
    "dataset": "dataset",
    "run": "run",
    "level": "level",
    "condition": "condition",
    "system": "system",
    "ended": "end",
    "result": "result",
    "valid": "valid",
    "accurate": "accurate",
    "reward": "reward",
    "failure": "failure",
    "violated": "violated",
    "repeated": "repeated",
    "unscored": "unscored",
    "label": "label",
    "asked": "asked",
    "study": "study",
    "flagged": "flagged",
    "adjudicated": "adjudicated",
}


def _known(counts: Any) -> Any:
    return np.where(counts == NONE, np.nan, counts)


NUMBERS: Mapping[str, Callable[[IndexColumns, AnnotationColumns], Any]] = {
    "score": lambda columns, people: columns.mean,
    "turns": lambda columns, people: columns.turns,
    "tokens": lambda columns, people: _known(columns.tokens),
    "violations": lambda columns, people: columns.violations,
    "spread": lambda columns, people: columns.spread,
    "gap": lambda columns, people: people.gap,
}
TASK = "task"
OPERATORS = (TASK, *FACETS, *NUMBERS)
# Operators elsewhere: searched for as words, “NOT” would find the reverse of what is meant.
CONNECTIVES = ("AND", "OR", "NOT")
# So many values are named in a refusal.
MOST_NAMED = 8
# Scores are kept as single-precision numbers.
ALMOST = 1e-5
_TOKEN = re.compile(r'[^\s"]*"[^"]*(?:"\*?|$)|[^\s"]+')
_NUMBER = re.compile(r"\A(<=|>=|<|>|=)?(-?\d{1,9}(?:\.\d{1,6})?)\Z")
_RANGE = re.compile(r"\A(-?\d{1,9}(?:\.\d{1,6})?)\.\.(-?\d{1,9}(?:\.\d{1,6})?)\Z")
_BOUNDS: Mapping[str, Callable[[Any, float], Any]] = {
    "<": lambda values, bound: values < bound - ALMOST,
    "<=": lambda values, bound: values <= bound + ALMOST,
    ">": lambda values, bound: values > bound + ALMOST,
    ">=": lambda values, bound: values >= bound - ALMOST,
    "=": lambda values, bound: np.abs(values - bound) <= ALMOST,
}


@dataclass(frozen=True)
class SearchOperator:
    """An operator as it was typed: ``excluded`` by a minus before it."""

    name: str
    value: str
    excluded: bool
    typed: str


@dataclass(frozen=True)
class TypedSearch:
    """What was typed, taken apart: ``words`` are what is left without operators."""

    operators: tuple[SearchOperator, ...]
    words: str

    def values(self, name: str) -> list[str]:
        """Return the values of one operator."""
        return [one.value for one in self.operators if one.name == name]


def read_search(typed: str) -> TypedSearch:
    """Take apart what was typed. Never raises: `operator_rows` says what cannot be searched for."""
    operators, words = [], []
    for token in _TOKEN.findall(typed):
        body = token.removeprefix("-")
        name, colon, value = body.partition(":")
        if (colon and name.isascii() and name.isalpha()) or token in CONNECTIVES:
            operator = SearchOperator(name.lower(), value.strip('"*'), body != token, token)
            operators.append(operator)
        else:
            words.append(token)
    return TypedSearch(tuple(operators), " ".join(words))


def operator_rows(
    search: TypedSearch,
    facets: Sequence[IndexFacet],
    columns: IndexColumns,
    annotations: AnnotationColumns,
    visible: Any,
) -> tuple[Any, list[str]]:
    """Return which rows the operators select, and a sentence on each that says nothing.

    The latter are left out. Values that only rows outside ``visible`` have are unknown.
    """
    by_name = {facet.name: facet for facet in facets}
    wanted: dict[str, Any] = {}
    rows, problems = np.ones(len(columns), dtype=bool), []
    for one in search.operators:
        try:
            matching = _matching(one, by_name, columns, annotations, visible)
        except ValueError as refusal:
            problems.append(f"“{one.typed[:60]}” was left out: {refusal}")
            continue
        if one.excluded:
            rows &= ~matching
        else:
            wanted[one.name] = wanted.get(one.name, False) | matching
    for matching in wanted.values():
        rows &= matching
    return rows, problems


def _matching(
    one: SearchOperator,
    facets: Mapping[str, IndexFacet],
    columns: IndexColumns,
    annotations: AnnotationColumns,
    visible: Any,
) -> Any:
    """Return the rows that an operator selects. Raise `ValueError` where it says nothing."""
    if one.typed in CONNECTIVES:
        raise ValueError(
            "words and different operators hold together, several values of one operator are "
            "alternatives, and “-” before a word or an operator excludes it. "
            "Write it in small letters to search for the word."
        )
    if one.name not in OPERATORS:
        known = ", ".join(f"{name}:" for name in OPERATORS)
        raise ValueError(
            f"there is no operator “{one.name}:”. Known are {known}. "
            "Put it in quotes to search for it as words."
        )
    if not one.value:
        raise ValueError(f"write a value after “{one.name}:”.")
    if one.name in NUMBERS:
        return _in_bounds(one, NUMBERS[one.name](columns, annotations))
    if one.name == TASK:
        return _of_tasks(one.value, columns, visible)
    facet = facets.get(FACETS[one.name])
    offers = facet.offers if facet is not None else ()
    values = _values(one.value, offers)
    if facet is None or not values:
        named = [f"“{label}”" for _, label in offers[:MOST_NAMED]]
        more = f" and {len(offers) - MOST_NAMED:,} more" if len(offers) > MOST_NAMED else ""
        there = f"Known are {', '.join(named)}{more}." if named else "There is none here."
        raise ValueError(f"no value of “{one.name}:” matches “{one.value[:60]}”. {there}")
    return facet.chosen(values)


def _values(text: str, offers: Sequence[tuple[str, str]]) -> list[str]:
    """Return the value that is or is called so, else all whose name contains the text."""
    wanted = text.casefold()
    exact = [value for value, label in offers if wanted in (value.casefold(), label.casefold())]
    return exact or [value for value, label in offers if wanted in label.casefold()]


def _in_bounds(one: SearchOperator, values: Any) -> Any:
    if bounds := _RANGE.match(one.value):
        low, high = map(float, bounds.groups())
        return _BOUNDS[">="](values, low) & _BOUNDS["<="](values, high)
    if bound := _NUMBER.match(one.value):
        return _BOUNDS[bound[1] or "="](values, float(bound[2]))
    raise ValueError(
        f"“{one.name}:” takes a number, a range or a bound, such as {one.name}:3, "
        f"{one.name}:2..4, {one.name}:<3 or {one.name}:>=4."
    )


def _of_tasks(text: str, columns: IndexColumns, visible: Any) -> Any:
    """Return the rows of the tasks with this number or a part of this name."""
    named = Q(external_id__icontains=text)
    if (number := as_id(text)) is not None:
        named |= Q(pk=number)
    tasks = Task.objects.filter(named).order_by().values_list("pk", flat=True)
    rows = np.isin(columns.task, np.array(list(tasks), dtype=np.int64)) & visible
    if not rows.any():
        raise ValueError(f"no trajectory here has a task named or numbered “{text[:60]}”.")
    return rows
