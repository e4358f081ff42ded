"""The balance certificate: counts of what each person judges, and a fingerprint of the design.

Counts are of the items to judge, in their order; training and gold items are listed apart. The
certificate depends only on names, ids and the seed, so anybody who has these can reproduce it.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any

from annotation.designs.balance import Balance, count_pairs
from annotation.designs.placement import ItemLists
from annotation.designs.types import (
    GOLD,
    ITEM,
    TRAINING,
    Allocation,
    DesignError,
    DesignOption,
    ListEntry,
)
from benchmarks.core.digests import canonical_json

# Of the certificate's form and of what is digested.
# The key of assignments in stored certificates, in their files, and in what is digested.
ASSIGNMENTS = "seats"
VERSION = 1
THIRDS = ("first third", "middle third", "last third")
Row = tuple[str, str, str, int | str, float | str]
# Annotator → option → whether they see the judges' marks on it.
Marks = Mapping[str, Mapping[int, bool]]
SEEN, WITHHELD = "marks seen", "marks withheld"
HEADER: Row = ("table", "row", "column", "count", "expected")


@dataclass(frozen=True, slots=True)
class Certificate:
    """Balance of a design.

    ``raters_given``: number of raters → items with so many; ``raters_off``: items whose number is
    not the one wanted. ``exclusions_broken``: pairs (annotator, option) that must not have been.
    ``training`` and ``gold``: annotator → places in their list, from 1. ``trained_on``: training
    items that anybody judges for the count, too: none in a sound design.
    """

    method: str
    seed: int
    annotators: int
    items: int
    assignments: int
    tables: tuple[Balance, ...]
    raters_wanted: int
    raters_given: Mapping[int, int]
    raters_off: tuple[int, ...]
    exclusions_checked: int
    exclusions_broken: tuple[tuple[str, int], ...]
    training: Mapping[str, tuple[int, ...]]
    gold: Mapping[str, tuple[int, ...]]
    trained_on: tuple[int, ...]
    warnings: tuple[str, ...]
    sha256: str

    def as_rows(self) -> Iterator[Row]:
        """Yield rows for CSV, the header first: facts, then every cell of every table."""
        yield HEADER
        facts: list[tuple[str, str, int | str]] = [
            ("version", "", VERSION),
            ("method", "", self.method),
            ("seed", "", self.seed),
            ("sha256", "", self.sha256),
            ("annotators", "", self.annotators),
            ("items", "", self.items),
            (ASSIGNMENTS, "", self.assignments),
            ("raters wanted", "", self.raters_wanted),
            *(("items by raters", str(n), items) for n, items in self.raters_given.items()),
            ("exclusions checked", "", self.exclusions_checked),
            *(("exclusion broken", name, pk) for name, pk in self.exclusions_broken),
            *(("training places", name, _listed(p)) for name, p in self.training.items()),
            *(("gold places", name, _listed(p)) for name, p in self.gold.items()),
            ("training items that count", "", _listed(self.trained_on)),
            *(("warning", "", words) for words in self.warnings),
        ]
        for name, detail, value in facts:
            yield ("design", name, detail, value, "")
        for table in self.tables:
            for cell in table.cells():
                yield (table.name, cell.row, cell.column, cell.count, round(cell.expected, 4))

    def as_json(self) -> dict[str, Any]:
        """Return the certificate as JSON; of the tables the cells above 0 (all others are 0)."""
        return {
            "version": VERSION,
            "method": self.method,
            "seed": self.seed,
            "sha256": self.sha256,
            "annotators": self.annotators,
            "items": self.items,
            ASSIGNMENTS: self.assignments,
            "raters": {
                "wanted": self.raters_wanted,
                "items_by_raters": {str(n): items for n, items in self.raters_given.items()},
                "off": list(self.raters_off),
            },
            "exclusions": {
                "checked": self.exclusions_checked,
                "broken": [list(pair) for pair in self.exclusions_broken],
            },
            "training": {name: list(places) for name, places in self.training.items()},
            "gold": {name: list(places) for name, places in self.gold.items()},
            "trained_on": list(self.trained_on),
            "warnings": list(self.warnings),
            "tables": [_table_json(table) for table in self.tables],
        }


def certify_design(
    *,
    design: Allocation | ItemLists,
    raters: int,
    exclusions: Mapping[str, Collection[int]] | None = None,
    marks: Marks | None = None,
) -> Certificate:
    """Count what ``design`` gives each person; ``raters`` is the number wanted for each item.

    ``marks`` where the judges' marks are withheld at random.

    Raises DesignError where the design names an item that is not among its options, or gives a
    person one twice: then it is no design.
    """
    dealt = design.dealt if isinstance(design, ItemLists) else design
    known = {option.id: option for option in dealt.options}
    lists = _lists(design)
    _check(lists, known)
    orders = {
        name: [known[entry.option] for entry in entries if entry.part == ITEM]
        for name, entries in lists.items()
    }
    times = Counter(option.id for order in orders.values() for option in order)
    given = {pk: times[pk] for pk in known}
    barred = {name: set((exclusions or {}).get(name, ())) for name in lists}
    return Certificate(
        method=dealt.method,
        seed=dealt.seed,
        annotators=len(lists),
        items=len(known),
        assignments=times.total(),
        tables=(*_tables(orders, dealt.options), *_arms(orders, marks or {})),
        raters_wanted=raters,
        raters_given=dict(sorted(Counter(given.values()).items())),
        raters_off=tuple(sorted(pk for pk, count in given.items() if count != raters)),
        exclusions_checked=sum(len(ids) for ids in barred.values()),
        exclusions_broken=tuple(
            sorted(
                (name, entry.option)
                for name, entries in lists.items()
                for entry in entries
                if entry.option in barred[name]
            )
        ),
        training=_places(lists, TRAINING),
        gold=_places(lists, GOLD),
        trained_on=_trained_on(lists),
        warnings=dealt.warnings + (design.warnings if isinstance(design, ItemLists) else ()),
        sha256=digest_design(design),
    )


def digest_design(design: Allocation | ItemLists) -> str:
    """Return the SHA-256 of the canonical JSON of version, method, seed, and everybody's list in
    order.

    {"method": …, "seats": {annotator: [[option, part], …]}, "seed": …, "version": …}: sorted keys,
    no spaces, UTF-8.
    """
    dealt = design.dealt if isinstance(design, ItemLists) else design
    text = canonical_json(
        {
            "version": VERSION,
            "method": dealt.method,
            "seed": dealt.seed,
            ASSIGNMENTS: {
                name: [[entry.option, entry.part] for entry in entries]
                for name, entries in _lists(design).items()
            },
        }
    )
    return hashlib.sha256(text.encode()).hexdigest()


def main_orders(design: Allocation | ItemLists) -> dict[str, list[int]]:
    """Return each list without its training: what is counted, gold among it, in order."""
    return {
        name: [entry.option for entry in entries if entry.part != TRAINING]
        for name, entries in _lists(design).items()
    }


def _lists(design: Allocation | ItemLists) -> dict[str, tuple[ListEntry, ...]]:
    if isinstance(design, ItemLists):
        return dict(sorted(design.lists.items()))
    return {
        name: tuple(ListEntry(pk, place) for place, pk in enumerate(order, 1))
        for name, order in sorted(design.orders.items())
    }


def _trained_on(lists: Mapping[str, tuple[ListEntry, ...]]) -> tuple[int, ...]:
    """Return the options that are training items of somebody and counted items of anybody."""
    entries = [entry for order in lists.values() for entry in order]
    lessons = {entry.option for entry in entries if entry.part == TRAINING}
    return tuple(sorted(lessons & {entry.option for entry in entries if entry.part != TRAINING}))


def _check(lists: Mapping[str, tuple[ListEntry, ...]], known: Mapping[int, DesignOption]) -> None:
    for name, entries in lists.items():
        unknown = [s.option for s in entries if s.part == ITEM and s.option not in known]
        if unknown:
            raise DesignError("options", f"{name} has items that are not among the options used")
        if len({entry.option for entry in entries}) != len(entries):
            raise DesignError("options", f"{name} has the same item twice")


def _tables(
    orders: Mapping[str, list[DesignOption]], options: tuple[DesignOption, ...]
) -> Iterator[Balance]:
    models = {option.model for option in options}
    sizes = Counter(option.task for option in options)
    yield count_pairs(
        "annotator × model",
        ((name, option.model) for name, order in orders.items() for option in order),
        rows=orders,
        columns=models,
    )
    of_task = Counter((name, option.task) for name, order in orders.items() for option in order)
    whole = max(sizes.values(), default=0) > 1 and all(
        count == sizes[task] for (_, task), count in of_task.items()
    )
    yield count_pairs(
        "annotator × task",
        of_task.elements(),
        rows=orders,
        columns=sizes,
        whole_tasks=whole,
    )
    yield count_pairs(
        "model × third",
        (
            (option.model, THIRDS[place * 3 // len(order)])
            for order in orders.values()
            for place, option in enumerate(order)
        ),
        rows=models,
        columns=THIRDS,
    )
    yield count_pairs(
        "model × position",
        (
            (option.model, str(place))
            for order in orders.values()
            for place, option in enumerate(order, 1)
        ),
        rows=models,
    )
    yield count_pairs("model × place in task", _places_in_tasks(orders), rows=models)
    followed = [
        (after.model, before.model)
        for order in orders.values()
        for before, after in pairwise(order)
    ]
    own = sum(after == before for after, before in followed)
    yield count_pairs(
        "model × predecessor",
        ((after, before) for after, before in followed if after != before),
        rows=models,
        columns=models,
        off_diagonal=True,
        note=f"a model follows itself: {own:,}" if own and len(models) > 1 else "",
    )
    together = list(_together(orders))
    if together:
        yield count_pairs(
            "annotator × annotator", together, rows=orders, columns=orders, off_diagonal=True
        )


def _arms(orders: Mapping[str, list[DesignOption]], marks: Marks) -> Iterator[Balance]:
    """Count with and without marks by annotator and by model."""
    if not marks:
        return
    drawn = [
        (name, option.model, SEEN if marks[name][option.id] else WITHHELD)
        for name, order in orders.items()
        for option in order
        if option.id in marks.get(name, {})
    ]
    for place, row in enumerate(("annotator", "model")):
        pairs = [(one[place], one[2]) for one in drawn]
        yield count_pairs(f"{row} × judges’ marks", pairs, columns=(SEEN, WITHHELD))


def _places_in_tasks(orders: Mapping[str, list[DesignOption]]) -> Iterator[tuple[str, str]]:
    """Return the model, and the position of each item among its task's items for the person."""
    for order in orders.values():
        seen: Counter[str] = Counter()
        for option in order:
            seen[option.task] += 1
            yield option.model, str(seen[option.task])


def _together(orders: Mapping[str, list[DesignOption]]) -> Iterator[tuple[str, str]]:
    """Count pairs of people for every item that both judge, both ways round."""
    raters: dict[int, list[str]] = defaultdict(list)
    for name, order in orders.items():
        for option in order:
            raters[option.id].append(name)
    for names in raters.values():
        for first, two in combinations(names, 2):
            yield first, two
            yield two, first


def _places(lists: Mapping[str, tuple[ListEntry, ...]], part: str) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple(entry.position for entry in entries if entry.part == part)
        for name, entries in lists.items()
    }


def _listed(places: tuple[int, ...]) -> str:
    return " ".join(map(str, places))


def _table_json(table: Balance) -> dict[str, Any]:
    summary = table.summary()
    worst = summary.pop("worst")
    counts: dict[str, dict[str, int]] = {}
    for (row, column), count in table.counts.items():
        counts.setdefault(row, {})[column] = count
    return {
        "name": table.name,
        **summary,
        "worst": None if worst is None else asdict(worst),
        "rows": list(table.rows),
        "columns": list(table.columns),
        "off_diagonal": table.off_diagonal,
        "counts": counts,
    }
