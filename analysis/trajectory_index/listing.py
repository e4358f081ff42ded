"""The list of trajectories that an address asks for: which rows, in which order, with counts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from django.http import QueryDict

from analysis.trajectory_index.annotation_columns import what_was_said
from analysis.trajectory_index.columns import STATES
from analysis.trajectory_index.facet_choices import Facet, Offer
from analysis.trajectory_index.facets import Part, Said, all_parts
from analysis.trajectory_index.query import ORDERS, Choice, in_order, read_choice
from analysis.trajectory_index.runs import RunRow
from analysis.trajectory_index.table import Facts, current_facts
from benchmarks.paging import as_id
from benchmarks.visibility import Visibility


@dataclass(frozen=True)
class Drop:
    """Something chosen, in words, and how many rows there would be without it."""

    name: str
    words: str
    count: int


@dataclass(frozen=True)
class State:
    """How complete a list is: how many trajectories are ``missing`` from it of the ``whole``, how
    many are ``behind`` and by how many seconds, and whether a worker has to read some.
    """

    missing: int
    whole: int
    behind: int
    age: float
    unread: bool


@dataclass(frozen=True)
class Slice:
    """One page of the list: ids in order, where it begins (from 0), and what lies beside it."""

    ids: tuple[int, ...]
    start: int
    before: bool
    after: bool


@dataclass(frozen=True)
class Beside:
    """The neighbours of a trajectory in a list, and its place (from 1) where it is in it."""

    previous: int | None
    next: int | None
    place: int | None
    count: int


class Listing:
    """The rows that an address chooses among those that its reader may see.

    What is closed to the reader is out of every count and every facet before anything is counted.
    """

    def __init__(self, params: QueryDict, facts: Facts, said: Said, seen: Visibility) -> None:
        self.facts, self.said, self.seen = facts, said, seen
        columns = facts.columns
        self.visible = _visible(facts, seen)
        self._bases: dict[str, Any] = {}
        found = all_parts(facts, said, params.getlist("violated"))
        self.parts = [self._among_visible(part) if part.named else part for part in found]
        self.choice: Choice = read_choice(params, facts, self.parts, self.visible)
        wanted = params.get("order", "")
        if wanted not in ORDERS:
            self.choice.problems.append(
                f"There is no order “{wanted[:60]}”; the newest come first."
            )
        self.order = wanted if wanted in ORDERS else ""
        # Without a choice of endings, what has not begun, or was given up before, is left out.
        pending, cancelled = STATES.index("pending"), STATES.index("cancelled")
        idle = (columns.state == pending) | ((columns.state == cancelled) & (columns.turns == 0))
        self.begun = self.visible if "end" in self.choice.chosen else self.visible & ~idle
        self._failed = np.zeros(len(columns), dtype=np.int16)
        for test in self.choice.tests:
            self._failed += ~test.rows
        self.rows = self.begun & (self._failed == 0)

    def _among_visible(self, part: Part) -> Part:
        """Without names that only closed rows have: these very names may tell."""
        base = part.count(self.visible)
        kept = np.flatnonzero(base > 0)
        self._bases[part.name] = base[kept]
        return part.only(kept) if len(kept) < len(part.offers) else part

    def _base(self, part: Part) -> Any:
        """How many rows there are of each of a part's names without any choice."""
        if part.name not in self._bases:
            self._bases[part.name] = part.count(self.visible)
        return self._bases[part.name]

    @cached_property
    def state(self) -> State:
        """What the list does not know yet, or not anew, of runs that its reader may see."""
        facts, closed = self.facts, self.seen.closed

        def trajectories(runs: Iterable[RunRow]) -> int:
            return sum(run.trajectories for run in runs if run.pk not in closed)

        missing = trajectories(facts.missing)
        ages = [age for run, age in facts.behind.items() if run.pk not in closed]
        return State(
            missing,
            missing + int(self.visible.sum()),
            trajectories(facts.behind),
            max(ages, default=0.0),
            bool(trajectories(facts.unread)),
        )

    @cached_property
    def count(self) -> int:
        return int(self.rows.sum())

    @cached_property
    def total(self) -> int:
        """How many there are without any choice."""
        return int(self.begun.sum())

    def without(self, names: Sequence[str]) -> Any:
        """The rows that there would be without the tests of these names."""
        mine = [test for test in self.choice.tests if set(test.names) & set(names)]
        if not mine:
            return self.rows
        failed = self._failed - sum((~test.rows).astype(np.int16) for test in mine)
        return self.begun & (failed == 0)

    @cached_property
    def facets(self) -> list[Facet]:
        """The facets in which there is something to choose, with counts."""
        return [self._facet(part) for part in self.parts if self._varies(part)]

    def _varies(self, part: Part) -> bool:
        if part.name in self.choice.chosen:
            return True
        base = self._base(part)
        offers = int((base > 0).sum())
        return offers > 1 or (offers == 1 and part.sparse and base.max() < self.visible.sum())

    def _facet(self, part: Part) -> Facet:
        rows = self.without((part.name,))
        if part.name == "end" and "end" in self.choice.chosen:
            rows = rows & self.visible
        elif part.name == "end":
            # What has not begun would come in by choosing it.
            rows = self.visible & (self._failed == 0)
        counts = part.count(rows).tolist()
        chosen = self.choice.chosen.get(part.name, ())
        base = self._base(part).tolist()
        return Facet(
            part.name,
            part.title,
            part.group,
            part.help,
            tuple(
                Offer(value, label, count, value in chosen, number)
                for number, ((value, label), count, ever) in enumerate(
                    zip(part.offers, counts, base, strict=True)
                )
                if ever or value in chosen
            ),
        )

    @cached_property
    def drops(self) -> list[Drop]:
        """Everything that is chosen, with what there would be without it."""
        return [
            Drop(
                test.names[0],
                "; ".join(words for _, _, words in test.chips),
                int(self.without(test.names).sum()),
            )
            for test in self.choice.tests
        ]

    @cached_property
    def _ordered(self) -> tuple[Any, Any]:
        """The places of the chosen rows in order, and the rank of every row among all."""
        places, _ = in_order(self.order, self.facts.columns, self.said)
        ranks = np.empty(len(places), dtype=np.int64)
        ranks[places] = np.arange(len(places))
        return places[self.rows[places]], ranks

    @cached_property
    def unordered(self) -> int:
        """How many of the chosen rows have nothing to be ordered by, and stand last."""
        measure = ORDERS[self.order].measure
        if measure is None:
            return 0
        values = np.asarray(measure(self.facts.columns, self.said), dtype=np.float64)
        return int(np.isnan(values[self.rows]).sum())

    def _rank(self, pk: int) -> int | None:
        """Where a trajectory stands in the order of all rows; None where it is not known."""
        ids = self.facts.columns.id
        place = int(np.searchsorted(ids, pk))
        if place < len(ids) and ids[place] == pk:
            return int(self._ordered[1][place])
        if self.order == "oldest":
            return place
        return len(ids) - place if self.order == "" else None

    def page(self, params: Mapping[str, str], size: int) -> Slice:
        """The rows after or before the one that the address names; else the first ones."""
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
        found = self.facts.columns.id[places[start : start + size]]
        return Slice(tuple(found.tolist()), start, start > 0, start + len(found) < len(places))

    def beside(self, pk: int) -> Beside:
        """The trajectories next to one in the list, whether or not it is one of them."""
        places, ranks = self._ordered
        rank = self._rank(pk)
        if rank is None:
            return Beside(None, None, None, len(places))
        ids = self.facts.columns.id
        left = int(np.searchsorted(ranks[places], rank, side="left"))
        right = int(np.searchsorted(ranks[places], rank, side="right"))
        here = right > left and int(ids[places[left]]) == pk
        if not here:
            right = left
        return Beside(
            int(ids[places[left - 1]]) if left else None,
            int(ids[places[right]]) if right < len(places) else None,
            left + 1 if here else None,
            len(places),
        )

    def place_of(self, pk: int) -> int:
        """The row of a trajectory that is in the table."""
        return int(np.searchsorted(self.facts.columns.id, pk))


def _visible(facts: Facts, seen: Visibility) -> Any:
    closed = np.array([run.pk in seen.closed for run in facts.runs], dtype=bool)
    visible = ~closed[facts.run_index] if len(facts.runs) else np.zeros(0, dtype=bool)
    if seen.tasks:
        visible &= ~np.isin(facts.columns.task, np.array(sorted(seen.tasks), dtype=np.int64))
    return visible


def listing(params: QueryDict, seen: Visibility) -> Listing:
    """The list that an address asks for, for somebody who may see so much."""
    facts = current_facts()
    return Listing(params, facts, what_was_said(facts, seen.user), seen)
