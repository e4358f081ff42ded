"""The trajectory list that an address asks for: its rows in order, and its facets with counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.http import QueryDict

from analysis.trajectory_index.annotations import annotation_columns
from analysis.trajectory_index.columns import STATES
from analysis.trajectory_index.facets import AnnotationColumns, IndexFacet, all_facets
from analysis.trajectory_index.query import (
    ORDERS,
    IndexQuery,
    in_order,
    read_query,
    typed_search,
)
from analysis.trajectory_index.runs import IndexedRunRow
from analysis.trajectory_index.table import TrajectoryIndex, current_index
from benchmarks.core.errors import CoreError
from benchmarks.paging import as_id
from benchmarks.visibility import Visibility

# Facets that stand open, and how many choices of one are listed at once and at most.
OPEN = ("dataset", "agent", "end", "accurate", "result")
FIRST, REST = 8, 108


@dataclass(frozen=True)
class FacetChoice:
    """A choice of a facet as a page shows it; ``count``: the rows it would leave."""

    value: str
    label: str
    count: int
    chosen: bool
    number: int = 0


@dataclass(frozen=True)
class FacetView:
    """A facet as a page shows it. Of many choices, the selected and the commonest come ``first``,
    ``rest`` is folded, and ``cut`` counts those that are not listed at all.
    """

    name: str
    title: str
    group: str
    help: str
    offers: tuple[FacetChoice, ...]

    @property
    def chosen(self) -> int:
        return sum(offer.chosen for offer in self.offers)

    @property
    def opened(self) -> bool:
        """Return whether it is unfolded when the page loads."""
        return bool(self.chosen) or self.name in OPEN

    @cached_property
    def _listed(self) -> list[FacetChoice]:
        if len(self.offers) <= FIRST:
            return list(self.offers)
        return sorted(self.offers, key=lambda offer: (not offer.chosen, -offer.count))

    @property
    def first(self) -> list[FacetChoice]:
        return self._listed[: max(FIRST, self.chosen)]

    @property
    def rest(self) -> list[FacetChoice]:
        return self._listed[len(self.first) : REST]

    @property
    def cut(self) -> int:
        return max(0, len(self.offers) - REST)


@dataclass(frozen=True)
class RemovableFilter:
    """A filter in force, and how many rows the list would have without it."""

    name: str
    words: str
    count: int


@dataclass(frozen=True)
class ListCompleteness:
    """The completeness of a list.

    Of the ``whole`` trajectories ``missing`` are not in the index yet; ``behind`` have changed
    since they were read, at most ``age`` seconds ago; ``unread``: a worker has to read some.
    """

    missing: int
    whole: int
    behind: int
    age: float
    unread: bool


@dataclass(frozen=True)
class ListPage:
    """One page of the list: ids in order, its offset, and whether pages precede and follow it."""

    ids: tuple[int, ...]
    start: int
    before: bool
    after: bool


@dataclass(frozen=True)
class ListNeighbours:
    """The neighbours of a trajectory in the list, and its position (from 1) if it is listed."""

    previous: int | None
    next: int | None
    place: int | None
    count: int


class Listing:
    """The rows that an address selects among those that its reader may see.

    Rows hidden from the reader are removed before anything is counted.
    """

    def __init__(
        self,
        params: QueryDict,
        index: TrajectoryIndex,
        annotations: AnnotationColumns,
        seen: Visibility,
    ) -> None:
        self.index, self.annotations, self.seen = index, annotations, seen
        columns = index.columns
        self.visible = _visible(index, seen)
        self._bases: dict[str, Any] = {}
        violated = [*params.getlist("violated"), *typed_search(params).values("violated")]
        facets = all_facets(index, annotations, violated, _systems(params, index, seen))
        self.index_facets = [
            self._among_visible(facet) if facet.named else facet for facet in facets
        ]
        self.query: IndexQuery = read_query(
            params, index, self.index_facets, annotations, self.visible
        )
        wanted = params.get("order", "")
        if wanted not in ORDERS:
            self.query.problems.append(f"There is no order “{wanted[:60]}”; the newest come first.")
        self.order = wanted if wanted in ORDERS else ""
        # Unless an ending is selected, trajectories without a turn are left out.
        pending, cancelled = STATES.index("pending"), STATES.index("cancelled")
        idle = (columns.state == pending) | ((columns.state == cancelled) & (columns.turns == 0))
        self.begun = self.visible if "end" in self.query.chosen else self.visible & ~idle
        self._failed = np.zeros(len(columns), dtype=np.int16)
        for test in self.query.filters:
            self._failed += ~test.rows
        self.rows = self.begun & (self._failed == 0)

    def _among_visible(self, facet: IndexFacet) -> IndexFacet:
        """Drop the choices that only hidden rows have: their very names may give something away."""
        base = facet.count(self.visible)
        kept = np.flatnonzero(base > 0)
        self._bases[facet.name] = base[kept]
        return facet.only(kept) if len(kept) < len(facet.offers) else facet

    def _base(self, facet: IndexFacet) -> Any:
        """Count the visible rows of each choice of a facet, before any filter."""
        if facet.name not in self._bases:
            self._bases[facet.name] = facet.count(self.visible)
        return self._bases[facet.name]

    @cached_property
    def state(self) -> ListCompleteness:
        """The completeness of the list, over the runs that its reader may see."""
        index, closed = self.index, self.seen.closed

        def trajectories(runs: Iterable[IndexedRunRow]) -> int:
            return sum(run.trajectories for run in runs if run.pk not in closed)

        missing = trajectories(index.missing)
        ages = [age for run, age in index.behind.items() if run.pk not in closed]
        return ListCompleteness(
            missing,
            missing + int(self.visible.sum()),
            trajectories(index.behind),
            max(ages, default=0.0),
            bool(trajectories(index.unread)),
        )

    @cached_property
    def count(self) -> int:
        return int(self.rows.sum())

    @cached_property
    def finished(self) -> Any:
        """The listed rows whose trajectories had ended when they were read."""
        return self.rows & (self.index.columns.state == STATES.index("done"))

    @property
    def ids(self) -> list[int]:
        """The ids of the listed rows, the newest first."""
        ids: list[int] = sorted(self.index.columns.id[self.rows].tolist(), reverse=True)
        return ids

    @property
    def finished_ids(self) -> list[int]:
        """The ids of these trajectories, the oldest first."""
        ids: list[int] = self.index.columns.id[self.finished].tolist()
        return ids

    @property
    def finished_runs(self) -> int:
        """The number of runs that these trajectories are of."""
        return len(np.unique(self.index.run_index[self.finished]))

    @cached_property
    def knows_tokens(self) -> bool:
        """Return whether it is known of any of the rows how many tokens its calls took."""
        return bool((self.index.columns.tokens[self.rows] >= 0).any())

    @cached_property
    def total(self) -> int:
        """The number of rows without any filter."""
        return int(self.begun.sum())

    def without(self, names: Sequence[str]) -> Any:
        """Return the rows that the list would have without the filters of these fields."""
        mine = [test for test in self.query.filters if set(test.names) & set(names)]
        if not mine:
            return self.rows
        failed = self._failed - sum((~test.rows).astype(np.int16) for test in mine)
        return self.begun & (failed == 0)

    @cached_property
    def facets(self) -> list[FacetView]:
        """The facets that offer a choice, with counts."""
        return [self._facet(facet) for facet in self.index_facets if self._varies(facet)]

    def _varies(self, facet: IndexFacet) -> bool:
        if facet.name in self.query.chosen:
            return True
        base = self._base(facet)
        offers = int((base > 0).sum())
        return offers > 1 or (offers == 1 and facet.sparse and base.max() < self.visible.sum())

    def _facet(self, facet: IndexFacet) -> FacetView:
        rows = self.without((facet.name,))
        if facet.name == "end" and "end" in self.query.chosen:
            rows = rows & self.visible
        elif facet.name == "end":
            # Selecting "pending" brings in trajectories that are otherwise left out.
            rows = self.visible & (self._failed == 0)
        counts = facet.count(rows).tolist()
        chosen = self.query.chosen.get(facet.name, ())
        base = self._base(facet).tolist()
        return FacetView(
            facet.name,
            facet.title,
            facet.group,
            facet.help,
            tuple(
                FacetChoice(value, label, count, value in chosen, number)
                for number, ((value, label), count, ever) in enumerate(
                    zip(facet.offers, counts, base, strict=True)
                )
                if ever or value in chosen
            ),
        )

    @cached_property
    def removable_filters(self) -> list[RemovableFilter]:
        """Every filter in force, with the number of rows without it."""
        return [
            RemovableFilter(
                test.names[0],
                "; ".join(words for _, _, words in test.chips),
                int(self.without(test.names).sum()),
            )
            for test in self.query.filters
        ]

    @cached_property
    def _ordered(self) -> tuple[Any, Any]:
        """The positions of the listed rows in order, and the rank of every row among all rows."""
        places, _ = in_order(self.order, self.index.columns, self.annotations)
        ranks = np.empty(len(places), dtype=np.int64)
        ranks[places] = np.arange(len(places))
        return places[self.rows[places]], ranks

    @cached_property
    def unordered(self) -> int:
        """The number of listed rows that lack the measure of the order, and come last."""
        measure = ORDERS[self.order].measure
        if measure is None:
            return 0
        values = np.asarray(measure(self.index.columns, self.annotations), dtype=np.float64)
        return int(np.isnan(values[self.rows]).sum())

    def _rank(self, pk: int) -> int | None:
        """Return the rank of a trajectory among all rows; None where it is not in the index."""
        ids = self.index.columns.id
        place = int(np.searchsorted(ids, pk))
        if place < len(ids) and ids[place] == pk:
            return int(self._ordered[1][place])
        if self.order == "oldest":
            return place
        return len(ids) - place if self.order == "" else None

    def page(self, params: Mapping[str, str], size: int) -> ListPage:
        """Return the page after or before the trajectory that the address names; else the first."""
        places, ranks = self._ordered
        after, before = as_id(params.get("after", "")), as_id(params.get("before", ""))
        anchor = before if before is not None else after
        rank = self._rank(anchor) if anchor is not None else None
        start = 0
        if rank is not None and before is not None:
            end = int(np.searchsorted(ranks[places], rank, side="left"))
            start, size = max(0, end - size), min(size, end)
        elif rank is not None:
            start = int(np.searchsorted(ranks[places], rank, side="right"))
        shown = self.index.columns.id[places[start : start + size]]
        return ListPage(tuple(shown.tolist()), start, start > 0, start + len(shown) < len(places))

    def neighbours(self, pk: int) -> ListNeighbours:
        """Return the neighbours of a trajectory in the list, whether or not it is listed itself."""
        places, ranks = self._ordered
        rank = self._rank(pk)
        if rank is None:
            return ListNeighbours(None, None, None, len(places))
        ids = self.index.columns.id
        left = int(np.searchsorted(ranks[places], rank, side="left"))
        right = int(np.searchsorted(ranks[places], rank, side="right"))
        here = right > left and int(ids[places[left]]) == pk
        if not here:
            right = left
        return ListNeighbours(
            int(ids[places[left - 1]]) if left else None,
            int(ids[places[right]]) if right < len(places) else None,
            left + 1 if here else None,
            len(places),
        )

    def place_of(self, pk: int) -> int:
        """Return the row of a trajectory that is in the index."""
        return int(np.searchsorted(self.index.columns.id, pk))


def _systems(params: QueryDict, index: TrajectoryIndex, seen: Visibility) -> list[str]:
    """Return the systems of the runs that an address chooses: facets speak their words."""
    chosen = [
        run
        for run in index.runs
        if run.pk not in seen.closed
        and all(
            not params.getlist(name) or str(value) in params.getlist(name)
            for name, value in (("system", run.system), ("dataset", run.dataset), ("run", run.pk))
        )
    ]
    return list(dict.fromkeys(run.system for run in chosen))


def _visible(index: TrajectoryIndex, seen: Visibility) -> Any:
    closed = np.array([run.pk in seen.closed for run in index.runs], dtype=bool)
    visible = ~closed[index.run_index] if len(index.runs) else np.zeros(0, dtype=bool)
    if seen.tasks:
        visible &= ~np.isin(index.columns.task, np.array(sorted(seen.tasks), dtype=np.int64))
    return visible


def searched_ids(text: str, seen: Visibility) -> list[int] | None:
    """Return the ids that the list finds by this text; None where the list is not narrowed.

    Raise `CoreError` with the sentences of the page where an operator says nothing, or where no
    word can be searched for.
    """
    params = QueryDict(mutable=True)
    params["q"] = text
    listed = listing(params, seen)
    problems = listed.query.problems
    if problems and (typed_search(params).operators or not listed.query.filters):
        raise CoreError(" ".join(problems))
    if not listed.query.filters:
        return None
    ids: list[int] = listed.index.columns.id[listed.rows].tolist()
    return ids


def listing(params: QueryDict, seen: Visibility) -> Listing:
    """Return the list that an address asks for, for a reader with this visibility."""
    index, blind = current_index(), bool(seen.closed or seen.tasks)
    return Listing(params, index, annotation_columns(index, seen.user, blind=blind), seen)
