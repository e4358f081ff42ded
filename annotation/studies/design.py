"""The design of a stored study: its current balance, and what was planned."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotation.designs.balance import Balance
from annotation.designs.certificate import Certificate, Marks, certify_design
from annotation.designs.hold_out import sees_marks
from annotation.designs.orders import POOL
from annotation.designs.pairs import pair_id
from annotation.designs.placement import ItemLists
from annotation.designs.types import GOLD, ITEM, TRAINING, Allocation, DesignOption, ListEntry, Part
from annotation.models import Assignment, Item, Study
from annotation.plans.plan_files import read_document
from annotation.plans.study_plan import ORDERS, PlanError, StudyPlan
from annotation.studies.places import free_places, left_items, place_name
from benchmarks.models import Agent

Use = Item.Use
# In the record: the probability with which each unit of the source was drawn.
DRAWN = "drawn"
PARTS: Mapping[str, Part] = {Use.MAIN: ITEM, Use.GOLD: GOLD, Use.TRAINING: TRAINING}


@dataclass(frozen=True)
class StudyDesign:
    """The design of a study as far as it is known; ``record`` was kept when it was made."""

    study: Study
    record: Mapping[str, Any]

    @cached_property
    def plan(self) -> StudyPlan | None:
        """The plan, where the study was made from one that can still be read."""
        try:
            return read_document(self.record["plan"]) if "plan" in self.record else None
        except PlanError:
            return None

    @property
    def has_places(self) -> bool:
        """Return whether lists were dealt to places; in older studies to accounts, by name."""
        return bool(self.record.get("places"))

    @property
    def planned_digest(self) -> str:
        return str(self.record.get("sha256", ""))

    @property
    def raters(self) -> int:
        return int(self.record.get("raters") or 1)

    @property
    def pooled(self) -> bool:
        return self.study.dealing == Study.Dealing.POOL

    @property
    def words(self) -> str:
        """The design in a few words, such as ``3 queries each``."""
        each = self.record.get("queries_each") or (self.plan.queries_each if self.plan else None)
        if each:
            return f"{each} quer{'y' if each == 1 else 'ies'} each"
        if self.pooled:
            return "Taken from a pool"
        order = self.plan.order if self.plan else ""
        return ORDERS[order].partition(":")[0] if order in ORDERS else "Dealt beforehand"

    @property
    def detail(self) -> str:
        """The number of annotators of an item, and the seed."""
        people = f"{self.raters} annotator{'s' * (self.raters != 1)} for each item"
        return f"{people}, seed {self.study.seed}"


METHOD = re.compile(r"(?:deal (\w+) × (\d+)(?:, (\d+) each)?|pool)(?:, order (\w+))?")
ORDER_WORDS = {
    "random": "in random order", "blocks": "in balanced blocks", "latin": "in a Latin square",
}  # fmt: skip


def method_words(method: str) -> str:
    """Return how a design was dealt as a sentence without its full stop, from the short form that
    certificates keep.
    """
    match = METHOD.fullmatch(method)
    if match is None:
        return method
    unit, raters, each, order = match.groups()
    people = f"{raters} annotator{'s' * (raters != '1')}"
    if unit is None:
        words = "Whoever is free takes the next item"
    elif each:
        words = f"Each annotator gets all items of {each} quer{'y' if each == '1' else 'ies'}"
        words += f", each query goes to {people}" if raters != "1" else ""
    else:
        words = f"Each {unit} goes to {people}"
    return f"{words}, {ORDER_WORDS.get(order, order)}" if order else words


def study_design(study: Study) -> StudyDesign:
    """Return the design of a study; asks the database nothing."""
    return StudyDesign(study, study.settings.get("design", {}))


def study_certificate(study: Study) -> Certificate:
    """Return the balance of a study as its items are dealt now, counted anew.

    Its fingerprint is that of the plan as long as nothing was added, moved or given back.
    """
    design = study_design(study)
    items = {
        item["pk"]: item
        for item in study.items.filter(use__in=PARTS)
        .order_by("rank")
        .values("pk", "use", "rank", "trajectory", "task", "task__external_id",
                "task__dataset__name", "task__dataset__version", "trajectory__run__agent__name",
                "other", "other__run__agent__name")
    }  # fmt: skip
    several = len({_dataset(item) for item in items.values()}) > 1
    options = {pk: _option(item, several) for pk, item in items.items()}
    assignments = _pool(items, options) if design.pooled else _lists(design, items, options)
    main = tuple(options[pk] for pk, item in items.items() if item["use"] == Use.MAIN)
    dealt = Allocation(
        orders={
            n: tuple(s.option for s in row if s.part == ITEM) for n, row in assignments.items()
        },
        options=tuple(sorted(main, key=lambda option: option.id)),
        method=str(design.record.get("method", "")) or str(design.record.get("kind", "")),
        seed=study.seed,
        warnings=tuple(design.record.get("warnings", ())),
    )
    return certify_design(
        design=ItemLists(lists=assignments, dealt=dealt),
        raters=1 if design.pooled else design.raters,
        exclusions=design.record.get("exclusions", {}),
        marks=_marks(design, items, options, assignments),
    )


def _marks(
    design: StudyDesign,
    items: Mapping[int, Mapping[str, Any]],
    options: Mapping[int, DesignOption],
    lists: Mapping[str, tuple[ListEntry, ...]],
) -> Marks | None:
    """Return who sees the judges' marks on what, where these are withheld at random.

    Of items that were opened, what was shown; of others, what will be.
    """
    study = design.study
    if study.verdicts != Study.Verdicts.RANDOM or design.pooled:
        return None
    rows = Assignment.objects.filter(study=study, part=Assignment.Part.MAIN)
    rows = rows.exclude(state__in=(Assignment.State.RETURNED, Assignment.State.VOIDED))
    numbers = dict(study.participants.values_list("user", "number"))
    names = _names(design)
    marks: dict[str, dict[int, bool]] = {name: {} for name in lists}
    for row in rows.only("annotator", "item", "position", "opened_at", "verdicts"):
        if row.item_id in items:
            seen = row.verdicts != Study.Verdicts.NONE
            if row.opened_at is None:
                number = numbers[row.annotator_id]
                seen = sees_marks(seed=study.seed, number=number, position=row.position)
            marks[names[row.annotator_id]][options[row.item_id].id] = seen
    for place in free_places(study) if design.has_places else ():
        entries = [one for one in lists[place_name(place.number)] if one.part != TRAINING]
        for position, entry in enumerate(entries, 1):
            marks[place_name(place.number)].setdefault(
                entry.option,
                sees_marks(seed=study.seed, number=place.number, position=position),
            )
    return marks


def _dataset(item: Mapping[str, Any]) -> str:
    return f"{item['task__dataset__name']} {item['task__dataset__version']}"


def _option(item: Mapping[str, Any], several: bool) -> DesignOption:
    name = item["task__external_id"]
    label = f"{_dataset(item)}/{name}" if several else name
    key = item["task"] if item["trajectory"] is None else item["trajectory"]
    agents = [item["trajectory__run__agent__name"] or ""]
    if item["other"] is not None:
        key = pair_id(item["trajectory"], item["other"])
        agents = sorted([*agents, item["other__run__agent__name"]])
    return DesignOption(key, label, " – ".join(agents))


def _pool(
    items: Mapping[int, Mapping[str, Any]], options: Mapping[int, DesignOption]
) -> dict[str, tuple[ListEntry, ...]]:
    return {POOL: _numbered([(options[pk].id, PARTS[item["use"]]) for pk, item in items.items()])}


def _lists(
    design: StudyDesign,
    items: Mapping[int, Mapping[str, Any]],
    options: Mapping[int, DesignOption],
) -> dict[str, tuple[ListEntry, ...]]:
    """Return each list: the training first, then the rest by position."""
    study = design.study
    lists: dict[str, dict[str, list[tuple[int, Part]]]] = defaultdict(lambda: defaultdict(list))
    names = _names(design)
    for name in names.values():
        lists[name] = defaultdict(list)
    rows = Assignment.objects.filter(study=study).exclude(part=Assignment.Part.BACKGROUND)
    rows = rows.exclude(state__in=(Assignment.State.RETURNED, Assignment.State.VOIDED)).order_by(
        "annotator", "part", "position"
    )
    seen: set[tuple[str, int]] = set()
    for user, item, part in rows.values_list("annotator", "item", "part").iterator():
        name = names[user]
        if item in items and (name, item) not in seen:  # a training may be repeated
            seen.add((name, item))
            lists[name][part].append((options[item].id, PARTS[items[item]["use"]]))
    if design.has_places:
        _add_free(study, lists, items, options, seen)
    numbered = {}
    for name, parts in lists.items():
        main = parts[Assignment.Part.MAIN]
        # Whoever judges nothing has no list.
        numbered[name] = _numbered([*parts[Assignment.Part.TRAINING], *main] if main else [])
    return numbered


def _names(design: StudyDesign) -> dict[int, str]:
    """Return the name of each participant's list, by user."""
    people = design.study.participants.order_by("number")
    return {
        user: place_name(number) if design.has_places else username
        for user, number, username in people.values_list("user", "number", "user__username")
    }


def _add_free(
    study: Study,
    lists: dict[str, dict[str, list[tuple[int, Part]]]],
    items: Mapping[int, Mapping[str, Any]],
    options: Mapping[int, DesignOption],
    seen: set[tuple[str, int]],
) -> None:
    """Add what whoever claims a free place gets, behind what was judged of its list."""
    training = [pk for pk, item in items.items() if item["use"] == Use.TRAINING]
    for place in free_places(study):
        name = place_name(place.number)
        rest = [item.pk for item in left_items(place)]
        for part, ids in ((Assignment.Part.TRAINING, training), (Assignment.Part.MAIN, rest)):
            lists[name][part] += [
                (options[pk].id, PARTS[items[pk]["use"]]) for pk in ids if (name, pk) not in seen
            ]


def _numbered(row: Sequence[tuple[int, Part]]) -> tuple[ListEntry, ...]:
    return tuple(ListEntry(pk, place, part) for place, (pk, part) in enumerate(row, 1))


# More than this is not read on a page; the files hold everything.
MOST_ROWS, MOST_COLUMNS = 120, 40
WIDE = 12
MODELS = "annotator × model"


@dataclass(frozen=True)
class BalanceTable:
    """One cross table of counts; ``rows`` is empty where it is too large to be shown."""

    title: str
    head: str
    words: str
    span: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int | None]]]

    @property
    def shown(self) -> bool:
        return bool(self.rows)


def balance_tables(certificate: Certificate, *, hide_models: bool) -> list[BalanceTable]:
    """Return the tables that say something, without those that name models where these are
    hidden.
    """
    tables = [
        table
        for table in certificate.tables
        if _is_informative(table) and not (hide_models and "model" in table.name)
    ]
    models = {name for table in tables if table.name == MODELS for name in table.columns}
    titles = dict(Agent.objects.filter(name__in=models).values_list("name", "title"))
    return [_table(table, titles) for table in tables]


def _is_informative(table: Balance) -> bool:
    """Return whether there is anything to compare: items without models have no tables of
    models.
    """
    if not table.total:
        return False
    sides = zip(table.name.split(" × "), (table.rows, table.columns), strict=True)
    return all(set(names) - {"", "pool"} for side, names in sides if side == "model")


def _table(table: Balance, titles: Mapping[str, str]) -> BalanceTable:
    down, across = list(table.rows), list(table.columns)
    first, _, second = table.name.partition(" × ")
    turned = len(across) > max(WIDE, len(down)) and not all(map(str.isdecimal, across))
    if turned:
        down, across, first, second = across, down, second, first
    fits = len(down) <= MOST_ROWS and len(across) <= MOST_COLUMNS
    summary = table.summary(titles)
    rows = list(_rows(table, down, across, turned, titles)) if fits else []
    return BalanceTable(
        title=f"{first} × {second}".capitalize(),
        head=first.capitalize(),
        words=str(summary["words"]),
        span=_span(summary["least"], summary["most"]),
        columns=[titles.get(name, name) or "no model" for name in across],
        rows=rows,
    )


def _rows(
    table: Balance,
    down: Sequence[str],
    across: Sequence[str],
    turned: bool,
    titles: Mapping[str, str],
) -> Iterator[tuple[str, Sequence[int | None]]]:
    for row in down:
        cells: list[int | None] = []
        for column in across:
            pair = (column, row) if turned else (row, column)
            met = not (table.off_diagonal and row == column)
            cells.append(table.counts.get(pair, 0) if met else None)
        yield titles.get(row, row) or "no model", cells


def _span(least: int | None, most: int | None) -> str:
    if least is None:
        return "nothing to count"
    return f"{least:,} each" if least == most else f"{least:,} to {most:,}"
