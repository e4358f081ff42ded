"""The number of units of each kind for every person: an exact solution, or a proof of none.

Units that the same people may judge are interchangeable, so it is enough to decide how many of
each such *kind* a person gets: a flow from kinds to people. Because nobody gets more of a kind
than there are units of it, the numbers can always be turned into units with ``raters`` different
people each (Gale 1957, Ryser 1957). Loads are evened out by moving units along augmenting paths.
Once no path is left, the sum of squared loads is minimal, so loads differ by at most one unit
wherever possible.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnitKind:
    """``count`` interchangeable units, and the people (by index) who may judge them.

    ``label`` is what a person's units should be spread over (a model), ``weight`` the items that
    one unit holds.
    """

    count: int
    allowed: frozenset[int]
    label: str = ""
    weight: int = 1


@dataclass(frozen=True, slots=True)
class LoadBounds:
    """Least and most units of one person."""

    least: int
    most: int


class TooFew(Exception):
    """The units of ``kinds`` go to ``people`` alone: ``need`` assignments, and room for fewer."""

    def __init__(self, kinds: Sequence[int], people: Sequence[int], need: int, room: int) -> None:
        self.kinds, self.people, self.need, self.room = kinds, people, need, room
        super().__init__(f"{need} needed, room for {room}")


class TooMany(Exception):
    """``people`` are to get ``need`` units between them, and only ``room`` may go to them."""

    def __init__(self, people: Sequence[int], need: int, room: int) -> None:
        self.people, self.need, self.room = people, need, room
        super().__init__(f"{need} needed, {room} there are")


class LoadTable:
    """A table kinds × people of units, always with ``raters`` people for each unit.

    ``people`` in the order of their lots, by which ties are broken. Every kind must allow at least
    ``raters`` people.
    """

    def __init__(
        self, *, kinds: Sequence[UnitKind], bounds: Sequence[LoadBounds], raters: int
    ) -> None:
        self.kinds, self.bounds, self.raters = kinds, bounds, raters
        self.given: list[dict[int, int]] = [{} for _ in kinds]
        self.load = [0] * len(bounds)
        self._start()

    def settle(self) -> None:
        """Bring loads within bounds, then as close together as can be. Raises TooFew, TooMany."""
        for person, bound in enumerate(self.bounds):
            while self.load[person] > bound.most:
                self._relieve(person)
        for person, bound in enumerate(self.bounds):
            while self.load[person] < bound.least:
                self._feed(person)
        while any(self._even_from(person) for person in self._from_highest()):
            pass

    def _start(self) -> None:
        """Deal every kind evenly over those allowed; what does not divide, to who has least."""
        by_label: dict[str, list[int]] = {}
        order = sorted(
            range(len(self.kinds)),
            key=lambda k: (len(self.kinds[k].allowed), -self.kinds[k].weight, self.kinds[k].label),
        )
        for number in order:
            kind, row = self.kinds[number], self.given[number]
            of_label = by_label.setdefault(kind.label, [0] * len(self.load))
            each, rest = divmod(kind.count * self.raters, len(kind.allowed))
            people = sorted(kind.allowed, key=lambda p: (self.load[p], of_label[p], p))
            for place, person in enumerate(people):
                units = each + (place < rest)
                if units:
                    row[person] = units
                    self.load[person] += units
                    of_label[person] += units

    def _relieve(self, person: int) -> None:
        surplus = self.load[person] - self.bounds[person].most
        seen, path = self._search(
            person, self._takers, lambda p: self.load[p] < self.bounds[p].most
        )
        if path:
            end = path[-1]
            self._move(path, min(surplus, self.bounds[end].most - self.load[end]))
            return
        people = sorted(seen)
        kinds = [k for k, row in enumerate(self.given) if any(row.get(p) for p in people)]
        raise TooFew(
            kinds, people, sum(self.load[p] for p in people),
            sum(self.bounds[p].most for p in people),
        )  # fmt: skip

    def _feed(self, person: int) -> None:
        wanted = self.bounds[person].least - self.load[person]
        seen, path = self._search(
            person, self._givers, lambda p: self.load[p] > self.bounds[p].least
        )
        if path:
            path.reverse()
            giver = path[0]
            self._move(path, min(wanted, self.load[giver] - self.bounds[giver].least))
            return
        people = sorted(seen)
        raise TooMany(
            people, sum(self.bounds[p].least for p in people), sum(self.load[p] for p in people)
        )

    def _from_highest(self) -> list[int]:
        return sorted(range(len(self.load)), key=lambda p: (-self.load[p], p))

    def _even_from(self, person: int) -> bool:
        """Move units from ``person`` to who has least within reach; whether any moved."""
        load, bounds = self.load, self.bounds
        if load[person] <= bounds[person].least:
            return False
        spare = {p for p in range(len(load)) if load[p] < bounds[p].most}
        lowest = min((load[p] for p in spare), default=load[person])
        for level in sorted({load[p] for p in spare if lowest <= load[p] <= load[person] - 2}):
            wanted = {p for p in spare if load[p] == level}
            _, path = self._search(person, self._takers, wanted.__contains__)
            if path:
                most = min(
                    (load[person] - level) // 2,
                    load[person] - bounds[person].least,
                    bounds[path[-1]].most - level,
                )
                self._move(path, most)
                return True
        return False

    def _search(
        self,
        start: int,
        neighbours: Callable[[int, set[int]], Iterable[int]],
        is_end: Callable[[int], bool],
    ) -> tuple[set[int], list[int]]:
        """Return a shortest path from ``start`` to an end, or everybody who can be reached and
        [].
        """
        came: dict[int, int] = {start: start}
        waiting, unseen = deque([start]), set(range(len(self.load))) - {start}
        while waiting:
            here = waiting.popleft()
            for there in neighbours(here, unseen):
                came[there] = here
                if is_end(there):
                    path = [there]
                    while path[-1] != start:
                        path.append(came[path[-1]])
                    return set(came), path[::-1]
                waiting.append(there)
        return set(came), []

    def _takers(self, giver: int, unseen: set[int]) -> Iterable[int]:
        """Return who could take a unit of ``giver``; they leave ``unseen``."""
        for kind, row in zip(self.kinds, self.given, strict=True):
            if not unseen:
                return
            if row.get(giver):
                for person in sorted(unseen & kind.allowed):
                    if row.get(person, 0) < kind.count:
                        unseen.discard(person)
                        yield person

    def _givers(self, taker: int, unseen: set[int]) -> Iterable[int]:
        """Return who could give ``taker`` a unit; they leave ``unseen``."""
        for kind, row in zip(self.kinds, self.given, strict=True):
            if not unseen:
                return
            if taker in kind.allowed and row.get(taker, 0) < kind.count:
                for person in sorted(unseen & row.keys()):
                    if row[person]:
                        unseen.discard(person)
                        yield person

    def _move(self, path: Sequence[int], most: int) -> None:
        """Move up to ``most`` units along ``path``, each step in the kind that it evens most."""
        steps: list[tuple[dict[int, int], int, int]] = []
        for giver, taker in zip(path, path[1:], strict=False):
            gap, room, kind = max(
                (
                    self.given[k][giver] - self.given[k].get(taker, 0),
                    min(self.given[k][giver], movable.count - self.given[k].get(taker, 0)),
                    -k,
                )
                for k, movable in enumerate(self.kinds)
                if self.given[k].get(giver)
                and taker in movable.allowed
                and self.given[k].get(taker, 0) < movable.count
            )
            steps.append((self.given[-kind], giver, taker))
            most = min(most, room, max(1, (gap + 1) // 2, -(-most // len(self.kinds))))
        for counts, giver, taker in steps:
            counts[giver] -= most
            counts[taker] = counts.get(taker, 0) + most
        self.load[path[0]] -= most
        self.load[path[-1]] += most
