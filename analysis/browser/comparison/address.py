"""The query string of the comparison: reading it, and writing those of its links."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from analysis.filters.addresses import Id, Words, write_address

MOST = 8
PORTION = 20
TURNS, VIOLATIONS, SCORES = "turns", "violations", "scores"
BASE, BEFORE, OFF = "base", "before", "off"
START, END = "start", "end"
Ids = Annotated[tuple[Id, ...], AfterValidator(lambda ids: tuple(dict.fromkeys(ids)))]


@dataclass(frozen=True)
class ComparisonAddress:
    """A comparison as its address describes it.

    ``ids`` are trajectories in order. Instead of ids, ``task`` asks for one trajectory of every
    agent on a task, ``like`` for those under the conditions of one trajectory. ``base`` is the
    trajectory that the others are compared with, ``first`` the position of the first turn shown,
    ``column`` the one shown on a phone (0: all), ``dimension`` the one listed turn by turn.
    """

    ids: Annotated[Ids, Field(alias="t")] = ()
    task: Id | None = None
    like: Id | None = None
    base: Id | None = None
    view: Literal["turns", "violations", "scores"] = "turns"
    diff: Literal["base", "before", "off"] = "base"
    align: Literal["start", "end"] = "start"
    first: Annotated[int, Field(alias="from", ge=1, lt=100_000)] = 1
    column: Annotated[int, Field(alias="col", ge=0, lt=100_000)] = 1
    dimension: Annotated[Words, Field(alias="dim")] = ""
    words: Annotated[Words, Field(alias="q")] = ""
    agent: Id | None = None

    def query(self, **changes: Any) -> str:
        """Return the query string with some values changed; defaults are left out."""
        now = replace(self, **changes)
        if now.ids:
            base = None if now.base == now.ids[0] else now.base
            now = replace(now, task=None, like=None, base=base)
        return "?" + write_address(now)

    def without(self, pk: int) -> str:
        """Return the query string without one trajectory; the base may fall to the first left."""
        left = tuple(other for other in self.ids if other != pk)
        return self.query(ids=left, base=None if pk == self.base else self.base, column=1)

    def with_more(self, pk: int) -> str:
        """Return the query string with one more trajectory."""
        return self.query(ids=(*self.ids, pk), words="", agent=None)
