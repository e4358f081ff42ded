"""Fit whole tasks of unequal size into limits counted in items, and even out the loads.

This is bin packing, so an integer program (HiGHS, through scipy) meets the limits. Exchanges of
two tasks then even out the loads until no exchange brings two people closer.
"""

from collections.abc import Sequence
from itertools import permutations

from annotation.designs.loads import LoadBounds, UnitKind

# Deterministic, unlike a limit in seconds; small programs need a handful of nodes.
NODES = 20_000


class PackingUndecided(Exception):
    """The search ended without an answer either way."""


def pack_kinds(
    *, kinds: Sequence[UnitKind], bounds: Sequence[LoadBounds], raters: int
) -> list[dict[int, int]] | None:
    """Return units per kind and person within ``bounds`` (in items), or None where there is no way.

    Raises PackingUndecided when the search gives up.
    """
    import numpy as np  # slow to import, and few designs need them
    from scipy.optimize import Bounds as Limits
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csr_array

    cells = [(k, p) for k, kind in enumerate(kinds) for p in sorted(kind.allowed)]
    rows = [k for k, _ in cells] + [len(kinds) + p for _, p in cells]
    values = [1] * len(cells) + [kinds[k].weight for k, _ in cells]
    table = csr_array(
        (values, (rows, [*range(len(cells))] * 2)), shape=(len(kinds) + len(bounds), len(cells))
    )
    needed = [kind.count * raters for kind in kinds]
    solution = milp(
        np.zeros(len(cells)),
        integrality=np.ones(len(cells), dtype=np.int64),
        bounds=Limits(0, np.array([kinds[k].count for k, _ in cells])),
        constraints=LinearConstraint(
            table, needed + [b.least for b in bounds], needed + [b.most for b in bounds]
        ),
        options={"node_limit": NODES},
    )
    if solution.status == 2:
        return None
    if solution.x is None:
        raise PackingUndecided
    given: list[dict[int, int]] = [{} for _ in kinds]
    for (kind, person), units in zip(cells, solution.x, strict=True):
        if round(units):
            given[kind][person] = round(units)
    return given


def even_items(
    *,
    kinds: Sequence[UnitKind],
    given: Sequence[dict[int, int]],
    people: int,
    bounds: Sequence[LoadBounds] | None = None,
) -> list[int]:
    """Exchange units between people until no exchange evens out their items; returns the items.

    Without ``bounds`` everybody keeps as many units as they have, one is given for another. With
    ``bounds`` (in items) units are given without return too.
    """
    load = [0] * people
    for kind, row in zip(kinds, given, strict=True):
        for person, units in row.items():
            load[person] += units * kind.weight
    moved = True
    while moved:
        moved = False
        for high, low in permutations(sorted(range(people), key=lambda p: (-load[p], p)), 2):
            step = _best_step(kinds, given, high, low, load[high] - load[low], bounds is not None)
            if step is None:
                continue
            out, back = step
            change = kinds[out].weight - (0 if back is None else kinds[back].weight)
            if bounds and (
                load[high] - change < bounds[high].least or load[low] + change > bounds[low].most
            ):
                continue
            _hand_over(given[out], high, low)
            if back is not None:
                _hand_over(given[back], low, high)
            load[high] -= change
            load[low] += change
            moved = True
    return load


def _best_step(
    kinds: Sequence[UnitKind],
    given: Sequence[dict[int, int]],
    high: int,
    low: int,
    gap: int,
    alone: bool,
) -> tuple[int, int | None] | None:
    """Return the kind that ``high`` gives, and the one given back, so that the two come closest."""
    out = _movable(kinds, given, high, low)
    back = _movable(kinds, given, low, high)
    steps: list[tuple[int, int, int, int | None]] = []
    for weight, kind in out.items():
        if alone and 0 < weight < gap:
            steps.append((abs(gap - 2 * weight), weight, kind, None))
        for other, returned in back.items():
            if 0 < weight - other < gap:
                steps.append((abs(gap - 2 * (weight - other)), weight, kind, returned))
    if not steps:
        return None
    best = min(steps, key=lambda step: step[:2])
    return best[2], best[3]


def _movable(
    kinds: Sequence[UnitKind], given: Sequence[dict[int, int]], giver: int, taker: int
) -> dict[int, int]:
    """Return for each weight a kind of which ``giver`` could hand a unit to ``taker``."""
    movable: dict[int, int] = {}
    for number, (kind, row) in enumerate(zip(kinds, given, strict=True)):
        if row.get(giver) and taker in kind.allowed and row.get(taker, 0) < kind.count:
            movable.setdefault(kind.weight, number)
    return movable


def _hand_over(row: dict[int, int], giver: int, taker: int) -> None:
    row[giver] -= 1
    row[taker] = row.get(taker, 0) + 1
