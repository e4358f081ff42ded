"""The query string of the trajectory list as filters: facets, numbers, search words, order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import Q
from django.http import QueryDict

from analysis.search.matches import find_trajectories, has_words, ignored_words
from analysis.trajectory_index.columns import IndexColumns
from analysis.trajectory_index.facets import AnnotationColumns, IndexFacet, dimension_titles
from analysis.trajectory_index.operators import TypedSearch, operator_rows, read_search
from analysis.trajectory_index.similar_groups import kept_group
from analysis.trajectory_index.table import TrajectoryIndex
from benchmarks.models import Task
from benchmarks.paging import as_id

MOST_IDS = 500
MOST_WORDS = 200
# Means are kept as single-precision numbers.
ALMOST = 1e-5


@dataclass(frozen=True)
class RowFilter:
    """One filter in force: the fields of the form that it comes from, and the rows that pass it.

    ``chips`` are its removable labels, as (field, value, text).
    """

    names: tuple[str, ...]
    rows: Any
    chips: tuple[tuple[str, str, str], ...]
    facet: IndexFacet | None = None


@dataclass
class IndexQuery:
    """The filters that an address sets, and its problems: values that are not available."""

    filters: list[RowFilter] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    chosen: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def chips(self) -> list[tuple[str, str, str]]:
        return [chip for test in self.filters for chip in test.chips]


def read_query(
    params: QueryDict,
    index: TrajectoryIndex,
    facets: Sequence[IndexFacet],
    annotations: AnnotationColumns,
    visible: Any,
) -> IndexQuery:
    """Read the filters of an address. An unknown value is reported as a problem and left out.

    A value that only rows outside ``visible`` have is treated as unknown.
    """
    query = IndexQuery()
    for facet in facets:
        _read_facet(facet, params.getlist(facet.name), query)
    columns = index.columns
    _read_typed(params, columns, facets, annotations, query, visible)
    for name, words, rows in _NUMBERS:
        if (number := _number(params, name, words, query, whole=True)) is not None:
            test = RowFilter(
                (name,), rows(columns, number), ((name, f"{number:g}", f"{words} {number:g}"),)
            )
            query.filters.append(test)
    _read_scores(params, index, query)
    _read_task(params.get("task", ""), columns, query, visible)
    _read_group(params.get("group", ""), index, query, visible)
    _read_ids(params.getlist("ids"), columns, query)
    _read_similar(params.get("similar", ""), columns, query, visible)
    return query


_NUMBERS: tuple[tuple[str, str, Callable[[IndexColumns, float], Any]], ...] = (
    ("min_turns", "Turns from", lambda columns, number: columns.turns >= number),
    ("max_turns", "Turns to", lambda columns, number: columns.turns <= number),
    ("reached_turn", "Reached turn", lambda columns, number: columns.turns >= number),
)


def _read_facet(facet: IndexFacet, given: Sequence[str], query: IndexQuery) -> None:
    words = dict(facet.offers)
    known = tuple(dict.fromkeys(value for value in given if value in words))
    for value in given:
        if value and value not in words:
            query.problems.append(
                f"“{_short(value)}” is no choice of “{facet.title}” and was left out."
            )
    if known:
        chips = tuple((facet.name, value, f"{facet.title}: {words[value]}") for value in known)
        query.filters.append(RowFilter((facet.name,), facet.chosen(known), chips, facet))
        query.chosen[facet.name] = known


def typed_search(params: QueryDict) -> TypedSearch:
    """Return what an address searches for, operators and words."""
    return read_search(params.get("q", "").strip().replace("\x00", "")[:MOST_WORDS])


def _read_typed(
    params: QueryDict,
    columns: IndexColumns,
    facets: Sequence[IndexFacet],
    annotations: AnnotationColumns,
    query: IndexQuery,
    visible: Any,
) -> None:
    """Filter by the words and operators of the search field, which are one filter."""
    search = typed_search(params)
    rows, problems = operator_rows(search, facets, columns, annotations, visible)
    query.problems += [*problems, *ignored_words(search.words)]
    if has_words(search.words):
        rows = rows & np.isin(columns.id, ids_with_words(search.words, columns))
        query.chosen["q"] = (search.words,)
    elif len(problems) == len(search.operators):
        return
    if search.values("ended"):
        # Whoever names an ending may mean trajectories that have not begun.
        query.chosen.setdefault("end", ())
    text = params.get("q", "")
    query.filters.append(RowFilter(("q",), rows, (("q", text, f"Search: {text.strip()}"),)))


def ids_with_words(words: str, columns: IndexColumns) -> Any:
    """Return the ids of trajectories with these words in their texts or in their task.

    Turns are found through the word index: whole words, as far as they are indexed. Names and
    prompts of tasks are searched as plain text.
    """
    matching = Task.objects.filter(Q(external_id__icontains=words) | Q(prompt__icontains=words))
    tasks = np.array(list(matching.order_by().values_list("pk", flat=True)), dtype=np.int64)
    return np.union1d(columns.id[np.isin(columns.task, tasks)], find_trajectories(words=words))


def _read_scores(params: QueryDict, index: TrajectoryIndex, query: IndexQuery) -> None:
    """Filter by the mean score of the last plan: of one dimension, or of all without one."""
    key = params.get("dimension", "")
    titles = dimension_titles(index)
    if key and key not in titles:
        query.problems.append(f"No judge scored a dimension “{_short(key)}”; it was left out.")
        return
    columns = index.columns
    scores = columns.dimension[:, columns.dimensions.index(key)] if key else columns.mean
    title = titles.get(key, "Mean score")
    bounded = False
    for name, words, sign in (("score_at_least", "at least", 1), ("score_at_most", "at most", -1)):
        if (bound := _number(params, name, f"{title} {words}", query)) is not None:
            bounded = True
            chip = (name, params.get(name, ""), f"{title} {words} {bound:g}")
            within = sign * (scores - bound) >= -ALMOST
            query.filters.append(RowFilter((name,), within, (chip,)))
    if key and not bounded:
        chip = ("dimension", key, f"{title}: scored")
        query.filters.append(RowFilter(("dimension",), ~np.isnan(scores), (chip,)))
    if key:
        query.chosen["dimension"] = (key,)


def _read_task(text: str, columns: IndexColumns, query: IndexQuery, visible: Any) -> None:
    if not text:
        return
    number = as_id(text)
    if number is None:
        query.problems.append(f"“{_short(text)}” is no task and was left out.")
        return
    rows = (columns.task == number) & visible
    query.filters.append(RowFilter(("task",), rows, (("task", text, f"Task: {number}"),)))
    query.chosen["task"] = (text,)


def _read_group(text: str, index: TrajectoryIndex, query: IndexQuery, visible: Any) -> None:
    if not text:
        return
    number = as_id(text)
    inside = np.array([number is not None and run.experiment == number for run in index.runs], bool)
    rows = inside[index.run_index] & visible
    if not rows.any():
        query.problems.append(f"There is no group of runs “{_short(text)}”; it was left out.")
        return
    chip = ("group", text, f"Started together: group {number}")
    query.filters.append(RowFilter(("group",), rows, (chip,)))
    query.chosen["group"] = (text,)


def _read_similar(text: str, columns: IndexColumns, query: IndexQuery, visible: Any) -> None:
    if not text:
        return
    group = kept_group(text)
    rows = np.isin(columns.id, np.array(group.ids if group else (), dtype=np.int64))
    # Its title is made from all of its texts, so it is only for readers who may see all of them.
    if group is None or (rows & ~visible).any():
        query.problems.append("There is no such group of similar texts any more: group them anew.")
        return
    query.filters.append(RowFilter(("similar",), rows, (("similar", text, group.title),)))
    query.chosen["similar"] = (text,)


def _read_ids(given: Sequence[str], columns: IndexColumns, query: IndexQuery) -> None:
    texts = [text.strip() for facet in given for text in facet.split(",") if text.strip()]
    if not texts:
        return
    ids = [number for text in texts[:MOST_IDS] if (number := as_id(text)) is not None]
    if len(texts) > MOST_IDS:
        query.problems.append(f"Of {len(texts)} trajectories the first {MOST_IDS} are shown.")
    if not ids:
        query.problems.append(
            "None of the trajectories in the address has a number; they were left out."
        )
        return
    words = f"{len(ids)} picked trajector{'y' if len(ids) == 1 else 'ies'}"
    rows = np.isin(columns.id, np.array(ids, dtype=np.int64))
    # Its value is long, so the chip takes the whole field away.
    query.filters.append(RowFilter(("ids",), rows, (("ids", "", words),)))
    query.chosen["ids"] = tuple(given)


def _number(
    params: QueryDict, name: str, words: str, query: IndexQuery, *, whole: bool = False
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
        query.problems.append(
            f"{words}: “{_short(text)}” is not {kind} up to 1,000 and was left out."
        )
        return None
    query.chosen[name] = (text,)
    return number


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"


@dataclass(frozen=True)
class ListOrder:
    """An order of the list by a measure, rising or falling; equal values come newest first."""

    title: str
    measure: Callable[[IndexColumns, AnnotationColumns], Any] | None = None
    falling: bool = False


def _tokens(columns: IndexColumns, annotations: AnnotationColumns) -> Any:
    return np.where(columns.tokens < 0, np.nan, columns.tokens)


# Rows without the measure come last in either direction.
ORDERS: Mapping[str, ListOrder] = {
    "": ListOrder("Newest first"),
    "oldest": ListOrder("Oldest first"),
    "best": ListOrder("Best result first", lambda columns, people: columns.headline, True),
    "worst": ListOrder("Worst result first", lambda columns, people: columns.headline),
    "lowest": ListOrder("Lowest mean score", lambda columns, people: columns.mean),
    "highest": ListOrder("Highest mean score", lambda columns, people: columns.mean, True),
    "longest": ListOrder("Most turns", lambda columns, people: columns.turns, True),
    "shortest": ListOrder("Fewest turns", lambda columns, people: columns.turns),
    "dearest": ListOrder("Most tokens", _tokens, True),
    "cheapest": ListOrder("Fewest tokens", _tokens),
    "spread": ListOrder("Widest judge spread", lambda columns, people: columns.spread, True),
    "agreed": ListOrder("Narrowest judge spread", lambda columns, people: columns.spread),
    "gap": ListOrder("Widest gap between people and judges",
                 lambda columns, people: np.abs(people.gap), True),
    "people-lower": ListOrder("People lower than judges first", lambda columns, people: people.gap),
    "people-higher": ListOrder("People higher than judges first",
                               lambda columns, people: people.gap, True),
    "violations": ListOrder("Most violations", lambda columns, people: columns.violations, True),
}  # fmt: skip


def in_order(name: str, columns: IndexColumns, annotations: AnnotationColumns) -> tuple[Any, int]:
    """Return the positions of all rows in this order, and how many lack the measure (last)."""
    order = ORDERS[name]
    newest = np.arange(len(columns))[::-1]
    if order.measure is None:
        return (newest[::-1] if name == "oldest" else newest), 0
    values = np.asarray(order.measure(columns, annotations), dtype=np.float64)
    keys = -values if order.falling else values  # NaN comes last either way
    return newest[np.argsort(keys[newest], kind="stable")], int(np.isnan(values).sum())
