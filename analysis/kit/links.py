"""Drill-down links of a page's numbers, to the trajectories that they count, by ids.

Rows of tables and marks of figures say by a `Link` what they are about; `Links` turns that into the
address of a list. Nothing is guessed from the words that a page shows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from analysis.filters.selection import Selection
from analysis.reports import addresses


@dataclass(frozen=True)
class Link:
    """The link of a number: what it is about. Without ids it is about everything on the page.

    ``runs`` and ``dimension`` narrow that; ``more`` are further filters of the list, such as the
    least number of turns. ``url`` is another page than a list of trajectories, such as two runs
    task by task.
    """

    runs: tuple[int, ...] = ()
    dimension: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)
    url: str = ""


class Addresses(Protocol):
    """Knows the address of what a number is about."""

    def url(self, link: Link) -> str:
        """Return it; empty where there is none."""


class OneAddress(NamedTuple):
    """One address for every number that has none of its own, such as the items of a study."""

    address: str

    def url(self, link: Link) -> str:
        """Return the address of what a number is about."""
        return link.url or self.address


class Links:
    """The addresses of lists of trajectories on the page of a selection."""

    def __init__(self, selection: Selection) -> None:
        self._study = selection.study.pk if selection.study is not None else None
        # A study may have items of runs alone that the page shows.
        whole = self._study is not None and not selection.filters.agents
        self._all = () if whole else tuple(run.pk for run in selection.runs)
        self._runs = selection.runs
        # What people said of something else than trajectories.
        self._items = (
            addresses.address("annotation:study_items", pk=self._study)
            if self._study is not None and not selection.runs
            else ""
        )
        self._known: dict[tuple[Any, ...], str] = {}

    def url(self, link: Link) -> str:
        """Return the address of the list of what a number is about."""
        if link.url or self._items:
            return link.url or self._items
        key = (link.runs, link.dimension, str(link.more))
        if key not in self._known:
            self._known[key] = self._list(link)
        return self._known[key]

    def _list(self, link: Link) -> str:
        query: dict[str, Any] = {}
        if link.runs or self._all:
            pks = link.runs or self._all
            query["run"] = list(pks)
            query |= addresses.usable_alone(run for run in self._runs if run.pk in pks)
        if self._study is not None:
            query["study"] = self._study
        if link.dimension:
            query["dimension"] = link.dimension
        return addresses.trajectories({**query, **link.more})
