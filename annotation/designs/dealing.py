"""Assign items to lists: a fixed number of raters each, never an item that its account played in.

``loads`` decides exactly whether this is possible. The seed decides which of several
interchangeable items a person gets.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from annotation.designs.loads import LoadBounds, LoadTable, TooFew, TooMany, UnitKind
from annotation.designs.packing import PackingUndecided, even_items, pack_kinds
from annotation.designs.types import Allocation, DesignError, DesignOption, index_options, name_some
from benchmarks.core.digests import derive_seed

Unit = Literal["item", "task"]


@dataclass(frozen=True, slots=True)
class ItemLimits:
    """Least and most items of one annotator; ``most`` None is no limit."""

    least: int = 0
    most: int | None = None


@dataclass(slots=True)
class _Unit:
    """A unit that is dealt as one: an option, or all options of a task."""

    name: str
    options: list[DesignOption]
    barred: frozenset[int]


def deal_options(
    *,
    options: Iterable[DesignOption],
    annotators: Sequence[str],
    raters: int,
    seed: int,
    unit: Unit = "item",
    exclusions: Mapping[str, Collection[int]] | None = None,
    capacities: Mapping[str, ItemLimits] | None = None,
) -> Allocation:
    """Give every option ``raters`` different annotators, with loads as equal as can be.

    ``exclusions``: annotator → ids of options that they must not get (names and ids that are not
    part of the study do no harm); a whole task is barred by any of its options. ``capacities``
    are in items. Everybody's items come by id: ``orders.order_options`` puts them in order.
    Raises DesignError with the items that cannot be placed, and why.
    """
    known = index_options(options)
    capacities = capacities or {}
    _check(known, annotators, raters, capacities)
    people = sorted(annotators)
    random.Random(derive_seed(seed, "annotators")).shuffle(people)
    units = _make_units(known, unit, _barred(known, people, exclusions or {}))
    _check_enough(units, people, raters)
    grouped: dict[tuple[frozenset[int], str, int], list[_Unit]] = {}
    for bundle in units:
        label = bundle.options[0].model if unit == "item" else ""
        grouped.setdefault((bundle.barred, label, len(bundle.options)), []).append(bundle)
    everyone = frozenset(range(len(people)))
    order = sorted(grouped, key=lambda key: (sorted(key[0]), *key[1:]))
    kinds = [UnitKind(len(grouped[key]), everyone - key[0], *key[1:]) for key in order]
    members = [grouped[key] for key in order]
    given = _share(kinds, members, people, raters, capacities, unit)
    orders: dict[str, list[int]] = {name: [] for name in people}
    chance = random.Random(derive_seed(seed, "units"))
    draw = Draw(people=len(people), raters=raters, chance=chance)
    for group, row in zip(members, given, strict=True):
        chance.shuffle(group)
        chosen_for = draw.people_for(tasks=[bundle.options[0].task for bundle in group], quotas=row)
        for bundle, chosen in zip(group, chosen_for, strict=True):
            for person in chosen:
                orders[people[person]] += [option.id for option in bundle.options]
    loads = [sum(row.get(person, 0) for row in given) for person in range(len(people))]
    return Allocation(
        orders={name: tuple(sorted(orders[name])) for name in sorted(orders)},
        options=tuple(known.values()),
        method=f"deal {unit} × {raters}",
        seed=seed,
        warnings=_unequal(
            people, loads, unit, proven=not capacities or len({kind.weight for kind in kinds}) == 1
        ),
    )


def _check(
    known: Mapping[int, DesignOption],
    annotators: Sequence[str],
    raters: int,
    capacities: Mapping[str, ItemLimits],
) -> None:
    if not known:
        raise DesignError("options", "there is nothing to deal")
    if not annotators or len(set(annotators)) != len(annotators):
        raise DesignError("annotators", "name at least one annotator, and nobody twice")
    if not 1 <= raters <= len(annotators):
        raise DesignError(
            "raters",
            f"an item can have 1 to {len(annotators)} raters, as many as are named, not {raters}",
        )
    unknown = sorted(set(capacities) - set(annotators))
    if unknown:
        raise DesignError("capacities", f"limits are set for {name_some(unknown)}, not named here")
    for name, limit in sorted(capacities.items()):
        if limit.least < 0 or (limit.most is not None and limit.most < limit.least):
            raise DesignError(
                "capacities", f"{name}: the least ({limit.least}) must lie from 0 to the most"
            )


def _barred(
    known: Mapping[int, DesignOption],
    people: Sequence[str],
    exclusions: Mapping[str, Collection[int]],
) -> dict[int, set[int]]:
    barred: dict[int, set[int]] = {}
    for person, name in enumerate(people):
        for pk in exclusions.get(name, ()):
            if pk in known:
                barred.setdefault(pk, set()).add(person)
    return barred


def _make_units(
    known: Mapping[int, DesignOption], unit: Unit, barred: Mapping[int, set[int]]
) -> list[_Unit]:
    nobody: frozenset[int] = frozenset()
    if unit == "item":
        return [
            _Unit(str(pk), [option], frozenset(barred[pk]) if pk in barred else nobody)
            for pk, option in known.items()
        ]
    tasks: dict[str, list[DesignOption]] = {}
    for option in known.values():
        tasks.setdefault(option.task, []).append(option)
    return [
        _Unit(task, members, nobody.union(*(barred.get(option.id, ()) for option in members)))
        for task, members in sorted(tasks.items())
    ]


def _ids(units: Iterable[_Unit]) -> list[int]:
    return sorted(option.id for unit in units for option in unit.options)


def _check_enough(units: Sequence[_Unit], people: Sequence[str], raters: int) -> None:
    """Refuse when so many are excluded from one unit that ``raters`` people are not left."""
    poor = [unit for unit in units if len(people) - len(unit.barred) < raters]
    if poor:
        raise DesignError(
            "exclusions",
            [
                f"{_describe([unit])} needs {raters} rater{'s' * (raters != 1)}, and "
                f"{len(people) - len(unit.barred)} may judge it (excluded: "
                f"{name_some(sorted(people[person] for person in unit.barred))})"
                for unit in poor[:20]
            ]
            + ([f"and {len(poor) - 20:,} more"] if len(poor) > 20 else []),
            options=_ids(poor),
        )


def _describe(units: Sequence[_Unit]) -> str:
    """Return the units in words: items by id, tasks by name."""
    single = all(unit.name == str(unit.options[0].id) for unit in units)
    noun = "item" if single else "task"
    many = len(units) != 1
    return (f"{len(units):,} " if many else "") + (
        f"{noun}{'s' * many} {'(' * many}{name_some(unit.name for unit in units)}{')' * many}"
    )


def _share(
    kinds: Sequence[UnitKind],
    members: Sequence[Sequence[_Unit]],
    people: Sequence[str],
    raters: int,
    capacities: Mapping[str, ItemLimits],
    unit: Unit,
) -> list[dict[int, int]]:
    """Return the units per kind and person, or a DesignError that says what cannot be placed."""
    sizes = {kind.weight for kind in kinds}
    total = sum(kind.count * kind.weight for kind in kinds) * raters
    limits = [capacities.get(name, ItemLimits()) for name in people]
    in_items = [LoadBounds(c.least, total if c.most is None else c.most) for c in limits]
    if len(sizes) > 1 and capacities:
        return _pack(kinds, members, in_items, raters)
    size = max(sizes) if capacities else 1
    bounds = [LoadBounds(-(-b.least // size), b.most // size) for b in in_items]
    for name, bound, limit in zip(people, bounds, limits, strict=True):
        if bound.least > bound.most:
            raise DesignError(
                "capacities",
                f"{name}: no number of whole tasks of {size} items lies from {limit.least} to "
                f"{limit.most} items",
            )
    loads = LoadTable(kinds=kinds, bounds=bounds, raters=raters)
    noun = "items" if unit == "item" else "tasks"
    try:
        loads.settle()
    except TooFew as error:
        affected = [member for kind in error.kinds for member in members[kind]]
        others = len(error.people) < len(people)
        raise DesignError(
            "capacities",
            f"{_describe(affected)} need {error.need:,} ratings of "
            f"{name_some(sorted(people[p] for p in error.people))}, who may take "
            f"{error.room:,} {noun} in all"
            + (" (nobody else may take more of these)" if others else "")
            + "; raise their limits, name more annotators, or choose fewer items or raters",
            options=_ids(affected),
        ) from None
    except TooMany as error:
        raise DesignError(
            "capacities",
            f"{name_some(sorted(people[p] for p in error.people))} are to get at least "
            f"{error.need:,} {noun}, and only {error.room:,} can go to them; lower their least, "
            "or choose more items or raters",
        ) from None
    if len(sizes) > 1:
        even_items(kinds=kinds, given=loads.given, people=len(people))
    return loads.given


def _pack(
    kinds: Sequence[UnitKind],
    members: Sequence[Sequence[_Unit]],
    bounds: Sequence[LoadBounds],
    raters: int,
) -> list[dict[int, int]]:
    sizes = name_some(sorted({kind.weight for kind in kinds}))
    way_out = "widen the limits, or deal single items"
    try:
        given = pack_kinds(kinds=kinds, bounds=bounds, raters=raters)
    except PackingUndecided:
        raise DesignError(
            "capacities",
            f"no way was found to fit whole tasks of {sizes} items into the limits, and none was "
            f"ruled out; {way_out}",
        ) from None
    if given is None:
        raise DesignError(
            "capacities",
            f"whole tasks of {sizes} items cannot be fitted into the limits; {way_out}",
            options=_ids(unit for group in members for unit in group),
        )
    even_items(kinds=kinds, given=given, people=len(bounds), bounds=bounds)
    return given


def _unequal(
    people: Sequence[str], loads: Sequence[int], unit: Unit, *, proven: bool
) -> tuple[str, ...]:
    low, high = min(loads), max(loads)
    if high - low <= 1:
        return ()
    least = name_some(sorted(people[p] for p, load in enumerate(loads) if load == low))
    most = name_some(sorted(people[p] for p, load in enumerate(loads) if load == high))
    return (
        f"loads differ by {high - low:,} {unit}s ({low:,} for {least}, {high:,} for {most}): "
        + (
            "exclusions and limits allow no less"
            if proven
            else "limits and whole tasks of unequal size left no better exchange"
        ),
    )


def deal_queries(
    *,
    annotators: Sequence[str],
    queries: Mapping[int, Sequence[int]],
    each: int,
    seed: int,
    raters: int = 1,
) -> dict[str, list[int]]:
    """Return the paper's design: every annotator gets all trajectories of up to ``each`` queries.

    ``queries`` maps a query to its trajectories (one per agent). A query goes to ``raters``
    annotators: to one in the paper, to more where people are to be compared with each other.
    Queries are dealt round by round, so that nobody has two more than another where there are too
    few; each annotator's trajectories come in an order of their own. The result depends on names,
    ids and seed alone, not on the order in which they are given.
    """
    if not 1 <= raters <= max(1, len(annotators)):
        raise ValueError(f"{len(annotators)} annotators cannot give a query {raters} of them")
    people, stock = sorted(annotators), sorted(queries)
    random.Random(derive_seed(seed, "queries")).shuffle(stock)
    random.Random(derive_seed(seed, "annotators")).shuffle(people)
    dealt: dict[str, list[int]] = {name: [] for name in annotators}
    repeated = [query for query in stock for _ in range(raters)]
    most = each * len(people) // raters * raters
    for place, query in enumerate(repeated[:most]):
        dealt[people[place % len(people)]] += sorted(queries[query])
    for name, items in dealt.items():
        random.Random(derive_seed(seed, "order", name)).shuffle(items)
    return dealt


# A person has met nobody this often, so that a cost compares tasks before meetings.
TASK = 10**9


class Draw:
    """Draws people kind by kind, and remembers who had which task and who judged with whom."""

    def __init__(self, *, people: int, raters: int, chance: random.Random) -> None:
        self.raters, self.chance = raters, chance
        self.of_task: dict[str, list[int]] = {}
        self.met = [[0] * people for _ in range(people)]

    def people_for(self, *, tasks: Sequence[str], quotas: Mapping[int, int]) -> Iterator[list[int]]:
        """Yield people for each unit of one kind, given its tasks, with ``quotas`` units per
        person.

        First comes who has fewest of the unit's task, then who has most left to get, then who met
        the unit's other raters least, then the lot. Only the two levels of people with most left
        are looked at, and who has as many left as there are units must be chosen, so the draw
        never runs into a dead end. The quotas add up to units × raters, none above the units.
        """
        levels: dict[int, list[int]] = {}
        for person in sorted(quotas):
            if quotas[person]:
                levels.setdefault(quotas[person], []).append(person)
        for there in levels.values():
            self.chance.shuffle(there)
        for done, task in enumerate(tasks):
            had = self.of_task.setdefault(task, [0] * len(self.met))
            costs = [TASK * times for times in had] if any(had) else None
            chosen: list[tuple[int, int]] = []
            while len(chosen) < self.raters:
                top = max(levels)
                two = (top,) if top == len(tasks) - done else (top, top - 1)
                person, level = _cheapest(levels, two, costs)
                levels[level].remove(person)
                if not levels[level]:
                    del levels[level]
                chosen.append((person, level))
                if len(chosen) < self.raters:
                    met = self.met[person]
                    costs = [a + b for a, b in zip(costs, met, strict=True)] if costs else met
            for person, level in chosen:
                had[person] += 1
                row = self.met[person]
                for other, _ in chosen:
                    row[other] += 1
                if level > 1:
                    there = levels.setdefault(level - 1, [])
                    there.insert(int(self.chance.random() * (len(there) + 1)), person)
            yield [person for person, _ in chosen]


def _cheapest(
    levels: Mapping[int, Sequence[int]], two: Sequence[int], costs: Sequence[int] | None
) -> tuple[int, int]:
    """Return the person to take and their level; of equals the first of the higher level."""
    if costs is None:
        return levels[two[0]][0], two[0]
    best: tuple[int, int, int] | None = None
    for level in two:
        if there := levels.get(level):
            person = min(there, key=costs.__getitem__)
            if best is None or costs[person] // TASK < best[0]:
                best = costs[person] // TASK, person, level
            if not best[0]:
                break
    if best is None:
        raise AssertionError("there are fewer people left than quotas promise")
    return best[1], best[2]
