"""Noisy siblings: which of the tools that only look like the right one are shown beside it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from random import Random

from benchmarks.systems.planbench_xl.catalogue import BLOCKER, Tool, World

# So many siblings does a group get before the groups that are blocked get any.
_FIRST = 2


@dataclass
class _Group:
    """The tools found for one baseline tool, the siblings that it may get, and those it got."""

    source: str
    primaries: list[Tool] = field(default_factory=list)
    pool: list[Tool] = field(default_factory=list)
    chosen: list[Tool] = field(default_factory=list)

    @property
    def blocked(self) -> bool:
        return any(tool.kind == BLOCKER for tool in self.primaries)

    @property
    def label(self) -> str:
        state = "blocked" if self.blocked else "baseline"
        return f"{self.source}:{state}:{len(self.primaries)}"


def with_siblings(world: World, found: Iterable[Tool], most: int | None) -> list[Tool]:
    """The tools found, each followed by siblings, ``most`` tools in all (None: without limit).

    The draw depends on the tools alone, not on the query. Tools that were found are never dropped.
    """
    primaries = list({tool.name: tool for tool in found}.values())
    groups: dict[str, _Group] = {}
    for tool in primaries:
        groups.setdefault(tool.source, _Group(tool.source)).primaries.append(tool)
    seen = {tool.name for tool in primaries}
    for group in groups.values():
        group.pool = [t for t in world.siblings.get(group.source, ()) if t.name not in seen]
        seen.update(tool.name for tool in group.pool)
    budget = sum(len(group.pool) for group in groups.values())
    if most is not None:
        budget = min(budget, max(0, most - len(primaries)))
    if not budget:
        return primaries
    _draw(list(groups.values()), budget, _rng(world.domain, budget, groups.values()))
    return [tool for group in groups.values() for tool in (*group.primaries, *group.chosen)]


def _rng(domain: str, budget: int, groups: Iterable[_Group]) -> Random:
    label = "||".join([domain, str(budget), *(group.label for group in groups)])
    return Random(int.from_bytes(blake2b(label.encode(), digest_size=16).digest(), "big"))


def _draw(groups: Sequence[_Group], budget: int, rng: Random) -> None:
    """Move siblings from the groups' pools to what they show."""
    for group in groups:
        rng.shuffle(group.pool)
    free = [group for group in groups if not group.blocked]
    first = min(budget, _FIRST * len(free))
    spent = 0
    while spent < first:
        eligible = [group for group in free if group.pool and len(group.chosen) < _FIRST]
        if not eligible:
            break
        spent += _round(eligible, first - spent, rng)
    while spent < budget:
        waiting = [group for group in groups if group.pool]
        if not waiting:
            break
        fewest = min(len(group.chosen) for group in waiting)
        eligible = [group for group in waiting if len(group.chosen) == fewest]
        spent += _round(eligible, budget - spent, rng)


def _round(groups: list[_Group], budget: int, rng: Random) -> int:
    """One tool for each group, in chance order, as far as the budget goes."""
    rng.shuffle(groups)
    for group in groups[:budget]:
        group.chosen.append(group.pool.pop())
    return min(budget, len(groups))
