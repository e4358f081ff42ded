"""From the words of an address to what it chooses: facets, numbers, words, an order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import Q
from django.http import QueryDict

from analysis.browser.groups.similar import kept_group
from analysis.browser.search.matches import find_trajectories, has_words, ignored_words
from analysis.trajectory_index.columns import Columns
from analysis.trajectory_index.facets import Part, Said, dimension_titles
from analysis.trajectory_index.table import Facts
from benchmarks.models import Task
from benchmarks.paging import as_id

MOST_IDS = 500
MOST_WORDS = 200
# Means are kept as single-precision numbers.
ALMOST = 1e-5


@dataclass(frozen=True)
class Test:
    """One thing that rows are chosen by: the names of its fields, and which rows it leaves.

    ``chips`` say it in words, as (field, value, words) for each that can be taken away.
    """

    names: tuple[str, ...]
    rows: Any
    chips: tuple[tuple[str, str, str], ...]
    part: Part | None = None


@dataclass
class Choice:
    """What an address chooses, and what it asks for that is not there."""

    tests: list[Test] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        return [chip for test in self.tests for chip in test.chips]


def read_choice(params: QueryDict, facts: Facts, parts: Sequence[Part], visible: Any) -> Choice:
    """What the address chooses. A value that is not on offer is named and left out.

    What only rows have that are not ``visible`` is treated as what is not there.
    """
    choice = Choice()
    for part in parts:
        _read_part(part, params.getlist(part.name), choice)
    columns = facts.columns
    _read_words(params.get("q", ""), columns, choice)
    for name, words, rows in _NUMBERS:
        if (number := _number(params, name, words, choice, whole=True)) is not None:
            test = Test(
                (name,), rows(columns, number), ((name, f"{number:g}", f"{words} {number:g}"),)
            )
            choice.tests.append(test)
    _read_scores(params, facts, choice)
    _read_task(params.get("task", ""), columns, choice, visible)
    _read_group(params.get("group", ""), facts, choice, visible)
    _read_ids(params.getlist("ids"), columns, choice)
    _read_similar(params.get("similar", ""), columns, choice, visible)
    return choice


_NUMBERS: tuple[tuple[str, str, Callable[[Columns, float], Any]], ...] = (
    ("min_turns", "Turns from", lambda columns, number: columns.turns >= number),
    ("max_turns", "Turns to", lambda columns, number: columns.turns <= number),
    ("reached_turn", "Reached turn", lambda columns, number: columns.turns >= number),
)


def _read_part(part: Part, given: Sequence[str], choice: Choice) -> None:
    words = dict(part.offers)
    known = tuple(dict.fromkeys(value for value in given if value in words))
    for value in given:
        if value and value not in words:
            choice.problems.append(
                f"“{_short(value)}” is no choice of “{part.title}” and was left out."
            )
    if known:
        chips = tuple((part.name, value, f"{part.title}: {words[value]}") for value in known)
        choice.tests.append(Test((part.name,), part.chosen(known), chips, part))
        choice.chosen[part.name] = known


def _read_words(text: str, columns: Columns, choice: Choice) -> None:
    words = text.strip().replace("\x00", "")[:MOST_WORDS]
    choice.problems += ignored_words(words)
    if has_words(words):
        rows = np.isin(columns.id, ids_with_words(words, columns))
        choice.tests.append(Test(("q",), rows, (("q", text, f"Words: {words}"),)))
        choice.chosen["q"] = (words,)


def ids_with_words(words: str, columns: Columns) -> Any:
    """The trajectories with these words in their texts, or all of this in their task, as ids.

    The index knows whole words and what has been indexed; the names and texts of tasks are looked
    through as they are.
    """
    found = Task.objects.filter(Q(external_id__icontains=words) | Q(prompt__icontains=words))
    tasks = np.array(list(found.order_by().values_list("pk", flat=True)), dtype=np.int64)
    return np.union1d(columns.id[np.isin(columns.task, tasks)], find_trajectories(words=words))


def _read_scores(params: QueryDict, facts: Facts, choice: Choice) -> None:
    """A dimension's mean on the last plan, or without a dimension that of all, within bounds."""
    key = params.get("dimension", "")
    titles = dimension_titles(facts)
    if key and key not in titles:
        choice.problems.append(f"No judge scored a dimension “{_short(key)}”; it was left out.")
        return
    columns = facts.columns
    scores = columns.dimension[:, columns.dimensions.index(key)] if key else columns.mean
    title = titles.get(key, "Mean score")
    bounded = False
    for name, words, sign in (("score_at_least", "at least", 1), ("score_at_most", "at most", -1)):
        if (bound := _number(params, name, f"{title} {words}", choice)) is not None:
            bounded = True
            chip = (name, params.get(name, ""), f"{title} {words} {bound:g}")
            within = sign * (scores - bound) >= -ALMOST
            choice.tests.append(Test((name,), within, (chip,)))
    if key and not bounded:
        chip = ("dimension", key, f"{title}: scored")
        choice.tests.append(Test(("dimension",), ~np.isnan(scores), (chip,)))
    if key:
        choice.chosen["dimension"] = (key,)


def _read_task(text: str, columns: Columns, choice: Choice, visible: Any) -> None:
    if not text:
        return
    number = as_id(text)
    if number is None:
        choice.problems.append(f"“{_short(text)}” is no task and was left out.")
        return
    rows = (columns.task == number) & visible
    choice.tests.append(Test(("task",), rows, (("task", text, f"Task: {number}"),)))
    choice.chosen["task"] = (text,)


def _read_group(text: str, facts: Facts, choice: Choice, visible: Any) -> None:
    if not text:
        return
    number = as_id(text)
    inside = np.array([number is not None and run.experiment == number for run in facts.runs], bool)
    rows = inside[facts.run_index] & visible
    if not rows.any():
        choice.problems.append(f"There is no group of runs “{_short(text)}”; it was left out.")
        return
    chip = ("group", text, f"Started together: group {number}")
    choice.tests.append(Test(("group",), rows, (chip,)))
    choice.chosen["group"] = (text,)


def _read_similar(text: str, columns: Columns, choice: Choice, visible: Any) -> None:
    if not text:
        return
    group = kept_group(text)
    rows = np.isin(columns.id, np.array(group.ids if group else (), dtype=np.int64))
    # Its words come from all of its texts, so it is for those who may see all of them.
    if group is None or (rows & ~visible).any():
        choice.problems.append("There is no such group of similar texts any more: group them anew.")
        return
    choice.tests.append(Test(("similar",), rows, (("similar", text, group.title),)))
    choice.chosen["similar"] = (text,)


def _read_ids(given: Sequence[str], columns: Columns, choice: Choice) -> None:
    texts = [text.strip() for part in given for text in part.split(",") if text.strip()]
    if not texts:
        return
    ids = [number for text in texts[:MOST_IDS] if (number := as_id(text)) is not None]
    if len(texts) > MOST_IDS:
        choice.problems.append(f"Of {len(texts)} trajectories the first {MOST_IDS} are shown.")
    if not ids:
        choice.problems.append(
            "None of the trajectories in the address has a number; they were left out."
        )
        return
    words = f"{len(ids)} picked trajector{'y' if len(ids) == 1 else 'ies'}"
    rows = np.isin(columns.id, np.array(ids, dtype=np.int64))
    # Its value is long, so the chip takes the whole field away.
    choice.tests.append(Test(("ids",), rows, (("ids", "", words),)))
    choice.chosen["ids"] = tuple(given)


def _number(
    params: QueryDict, name: str, words: str, choice: Choice, *, whole: bool = False
) -> float | None:
    text = params.get(name, "").strip()
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not abs(number) <= 1000 or (whole and (number < 0 or number != int(number))):
        kind = "a whole number" if whole else "a number"
        choice.problems.append(
            f"{words}: “{_short(text)}” is not {kind} up to 1,000 and was left out."
        )
        return None
    choice.chosen[name] = (text,)
    return number


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


@dataclass(frozen=True)
class Order:
    """An order of the list: by a measure, one way or the other; equal ones newest first."""

    title: str
    measure: Callable[[Columns, Said], Any] | None = None
    falling: bool = False


def _tokens(columns: Columns, said: Said) -> Any:
    return np.where(columns.tokens < 0, np.nan, columns.tokens)


# What has no such measure stands last, whichever way the others are ordered.
ORDERS: Mapping[str, Order] = {
    "": Order("Newest first"),
    "oldest": Order("Oldest first"),
    "lowest": Order("Lowest mean score", lambda columns, said: columns.mean),
    "highest": Order("Highest mean score", lambda columns, said: columns.mean, True),
    "longest": Order("Most turns", lambda columns, said: columns.turns, True),
    "shortest": Order("Fewest turns", lambda columns, said: columns.turns),
    "dearest": Order("Most tokens", _tokens, True),
    "cheapest": Order("Fewest tokens", _tokens),
    "spread": Order("Widest judge spread", lambda columns, said: columns.spread, True),
    "agreed": Order("Narrowest judge spread", lambda columns, said: columns.spread),
    "gap": Order("Widest gap between people and judges",
                 lambda columns, said: np.abs(said.gap), True),
    "people-lower": Order("People lower than judges first", lambda columns, said: said.gap),
    "people-higher": Order("People higher than judges first", lambda columns, said: said.gap, True),
    "violations": Order("Most violations", lambda columns, said: columns.violations, True),
}  # fmt: skip


def in_order(name: str, columns: Columns, said: Said) -> tuple[Any, int]:
    """The places of all rows in this order, and how many have no such measure and stand last."""
    order = ORDERS[name]
    newest = np.arange(len(columns))[::-1]
    if order.measure is None:
        return (newest[::-1] if name == "oldest" else newest), 0
    values = np.asarray(order.measure(columns, said), dtype=np.float64)
    keys = -values if order.falling else values  # NaN comes last either way
    return newest[np.argsort(keys[newest], kind="stable")], int(np.isnan(values).sum())
