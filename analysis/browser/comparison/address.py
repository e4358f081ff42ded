"""The query string of the comparison: reading it, and writing those of its links."""

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from benchmarks.paging import as_id

MOST = 8
PORTION = 20
TURNS, VIOLATIONS, SCORES = "turns", "violations", "scores"
BASE, BEFORE, OFF = "base", "before", "off"
START, END = "start", "end"
# Values that an address may leave out, the first of each.
VIEWS = (TURNS, VIOLATIONS, SCORES)
DIFFS = (BASE, BEFORE, OFF)
ALIGNS = (START, END)
LONGEST_WORDS = 200


@dataclass(frozen=True)
class ComparisonAddress:
    """A comparison as its address describes it.

    ``ids`` are trajectories in order. Instead of ids, ``task`` asks for one trajectory of every
    agent on a task, ``like`` for those under the conditions of one trajectory. ``base`` is the
    trajectory that the others are compared with, ``first`` the position of the first turn shown,
    ``column`` the one shown on a phone (0: all), ``dimension`` the one listed turn by turn.
    """

    ids: tuple[int, ...] = ()
    task: int | None = None
    like: int | None = None
    base: int | None = None
    view: str = TURNS
    diff: str = BASE
    align: str = START
    first: int = 1
    column: int = 1
    dimension: str = ""
    words: str = ""
    agent: int | None = None

    def query(self, **changes: Any) -> str:
        """Return the query string with some values changed; defaults are left out."""
        now = replace(self, **changes)
        pairs: list[tuple[str, object]] = [("t", pk) for pk in now.ids]
        if not now.ids:
            pairs += [("task", now.task), ("like", now.like)]
        if now.ids[:1] != (now.base,):
            pairs.append(("base", now.base))
        for name, value, usual in (
            ("view", now.view, TURNS),
            ("diff", now.diff, BASE),
            ("align", now.align, START),
            ("from", now.first, 1),
            ("col", now.column, 1),
            ("dim", now.dimension, ""),
            ("q", now.words, ""),
            ("agent", now.agent, None),
        ):
            if value != usual:
                pairs.append((name, value))
        return "?" + urlencode([(name, value) for name, value in pairs if value is not None])

    def without(self, pk: int) -> str:
        """Return the query string without one trajectory; the base may fall to the first left."""
        left = tuple(other for other in self.ids if other != pk)
        return self.query(ids=left, base=None if pk == self.base else self.base, column=1)

    def with_more(self, pk: int) -> str:
        """Return the query string with one more trajectory."""
        return self.query(ids=(*self.ids, pk), words="", agent=None)


def read_address(params: QueryDict) -> ComparisonAddress:
    """Read an address; invalid values are ignored."""
    ids = [pk for text in params.getlist("t") if (pk := as_id(text))]

    def one_of(name: str, known: tuple[str, ...]) -> str:
        value = params.get(name, "")
        return value if value in known else known[0]

    def place(name: str, least: int) -> int:
        position = as_id(params.get(name, ""))
        return position if position is not None and least <= position < 100_000 else 1

    return ComparisonAddress(
        ids=tuple(dict.fromkeys(ids)),
        task=as_id(params.get("task", "")),
        like=as_id(params.get("like", "")),
        base=as_id(params.get("base", "")),
        view=one_of("view", VIEWS),
        diff=one_of("diff", DIFFS),
        align=one_of("align", ALIGNS),
        first=place("from", 1),
        column=place("col", 0),
        dimension=params.get("dim", "")[:LONGEST_WORDS],
        words=params.get("q", "")[:LONGEST_WORDS].strip(),
        agent=as_id(params.get("agent", "")),
    )
