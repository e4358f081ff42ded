"""A facet of a list as a page shows it: its choices, each with how many rows there would be."""

from dataclasses import dataclass
from functools import cached_property

# Facets that stand open, and how many choices of one are listed at once and at most.
OPEN = ("dataset", "agent", "end", "accurate")
FIRST, REST = 8, 108


@dataclass(frozen=True)
class Offer:
    """A choice of a facet; ``count`` is how many rows there would be with it."""

    value: str
    label: str
    count: int
    chosen: bool
    number: int = 0


@dataclass(frozen=True)
class Facet:
    """A facet with its choices. Where there are many, those in force and the commonest stand
    ``first``; ``cut`` are so many that are not listed at all.
    """

    name: str
    title: str
    group: str
    help: str
    offers: tuple[Offer, ...]

    @property
    def chosen(self) -> int:
        return sum(offer.chosen for offer in self.offers)

    @property
    def opened(self) -> bool:
        """Whether it stands open before anybody has opened it."""
        return bool(self.chosen) or self.name in OPEN

    @cached_property
    def _listed(self) -> list[Offer]:
        if len(self.offers) <= FIRST:
            return list(self.offers)
        return sorted(self.offers, key=lambda offer: (not offer.chosen, -offer.count))

    @property
    def first(self) -> list[Offer]:
        return self._listed[: max(FIRST, self.chosen)]

    @property
    def rest(self) -> list[Offer]:
        return self._listed[len(self.first) : REST]

    @property
    def cut(self) -> int:
        return max(0, len(self.offers) - REST)
