"""Equitable edge colouring of a bipartite multigraph, used to balance orders.

Colours stand for rows of a square or for blocks. At every vertex, and in total, the counts of the
colours differ by at most one (de Werra 1971). Vertices are split into parts of at most as many
edges as there are colours; such a graph has a proper colouring (König 1916), found edge by edge
with alternating paths.
"""

import random
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Coloured:
    """The colour of every edge, and the part of its right vertex to which it belongs.

    Within a full part (as many edges as colours) every colour occurs exactly once.
    """

    colours: tuple[int, ...]
    parts: tuple[int, ...]


def colour_edges(
    *, edges: Sequence[tuple[Hashable, Hashable]], colours: int, chance: random.Random
) -> Coloured:
    """Colour ``edges`` (left vertex, right vertex) with 0 … ``colours`` − 1, equitably."""
    degree: dict[tuple[int, Hashable], int] = {}
    numbers: dict[tuple[int, Hashable, int], int] = {}
    ends: list[tuple[int, int]] = []
    parts: list[int] = []
    for left, right in edges:
        pair = []
        for side, vertex in enumerate((left, right)):
            had = degree.get((side, vertex), 0)
            degree[side, vertex] = had + 1
            pair.append(numbers.setdefault((side, vertex, had // colours), len(numbers)))
        ends.append((pair[0], pair[1]))
        parts.append(had // colours)
    graph = _Graph(ends, len(numbers), colours, chance)
    for edge in range(len(ends)):
        graph.add(edge)
    graph.even_out()
    return Coloured(tuple(graph.colour), tuple(parts))


class _Graph:
    """Edges between numbered parts, no two of one colour at any part."""

    def __init__(
        self, ends: Sequence[tuple[int, int]], parts: int, colours: int, chance: random.Random
    ) -> None:
        self.ends, self.colours = ends, colours
        self.colour = [-1] * len(ends)
        self.at: list[dict[int, int]] = [{} for _ in range(parts)]
        self.next = [chance.randrange(colours) for _ in range(parts)]

    def add(self, edge: int) -> None:
        left, right = self.ends[edge]
        colour = self._free(left)
        if colour in self.at[right]:
            other = self._free(right)
            if other in self.at[left]:
                # In a bipartite graph this path cannot end at ``left``: it would come in by
                # ``colour``, which is free there.
                self._swap(self._path(right, colour, other), colour, other)
            else:
                colour = other
        self._paint(edge, colour)

    def even_out(self) -> None:
        """Exchange colours along paths until no colour has two edges more than another."""
        while True:
            classes: list[list[int]] = [[] for _ in range(self.colours)]
            for edge, colour in enumerate(self.colour):
                classes[colour].append(edge)
            order = sorted(range(self.colours), key=lambda c: (len(classes[c]), c))
            moved = False
            for rare, common in zip(order, reversed(order), strict=True):
                surplus = (len(classes[common]) - len(classes[rare])) // 2
                if surplus < 1:
                    break
                moved = True
                self._thin(classes[common], common, rare, surplus)
            if not moved:
                return

    def _thin(self, edges: Sequence[int], common: int, rare: int, surplus: int) -> None:
        """Give ``surplus`` edges more the colour ``rare``, by swaps of odd paths."""
        for edge in edges:
            for part in self.ends[edge]:
                if self.colour[edge] == common and rare not in self.at[part]:
                    path = self._path(part, common, rare)
                    if len(path) % 2:
                        self._swap(path, common, rare)
                        surplus -= 1
                        if not surplus:
                            return

    def _free(self, part: int) -> int:
        """Return a colour that no edge at ``part`` has; the search goes on where it last ended."""
        used, colour = self.at[part], self.next[part]
        while colour in used:
            colour = (colour + 1) % self.colours
        self.next[part] = colour
        return colour

    def _paint(self, edge: int, colour: int) -> None:
        self.colour[edge] = colour
        for part in self.ends[edge]:
            self.at[part][colour] = edge

    def _path(self, start: int, first: int, second: int) -> list[int]:
        """Return the edges from ``start`` (which has no edge of ``second``), in the two colours
        by turns.
        """
        path: list[int] = []
        here, colour, other = start, first, second
        while (edge := self.at[here].get(colour)) is not None:
            path.append(edge)
            left, right = self.ends[edge]
            here = right if here == left else left
            colour, other = other, colour
        return path

    def _swap(self, path: Sequence[int], first: int, two: int) -> None:
        """Exchange the two colours along ``path``."""
        for edge in path:
            for part in self.ends[edge]:
                self.at[part].pop(self.colour[edge], None)
        for edge in path:
            self._paint(edge, two if self.colour[edge] == first else first)
