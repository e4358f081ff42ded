"""Place training items first and hidden gold items at unpredictable positions.

Lists are complete beforehand. In a pool nobody knows in advance who will judge
how much, so gold items are drawn one at a time.
"""

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from annotation.designs.types import (
    GOLD,
    ITEM,
    TRAINING,
    Allocation,
    DesignError,
    ListEntry,
    name_some,
)
from benchmarks.core.digests import derive_seed

# At most one gold item for so many others: more could not be hidden. Two are always allowed,
# from as many items as MIN_ITEMS on.
ITEMS_PER_GOLD = 4
MIN_ITEMS = 4
MOVES_PER_GOLD = 200


@dataclass(frozen=True, slots=True)
class ItemLists:
    """Everybody's whole list: training, then items with gold among them."""

    lists: Mapping[str, tuple[ListEntry, ...]]
    dealt: Allocation
    warnings: tuple[str, ...] = ()


def place_specials(
    *,
    dealt: Allocation,
    training: Collection[int] = (),
    gold: Collection[int] = (),
    gold_each: int = 0,
    exclusions: Mapping[str, Collection[int]] | None = None,
) -> ItemLists:
    """Put training and gold items into everybody's list, by the seed of ``dealt``.

    Training items come first, in one order for all, drawn by seed. Everybody gets ``gold_each`` of
    the ``gold`` items, those least used first, at least one in the first and one in the last third
    of what follows the training; gold items are never neighbours and no two successive gaps between
    them are equal. Nobody gets an option twice, or one that ``exclusions`` bars. Who has no items
    gets no list.
    """
    seed = dealt.seed
    barred = {name: frozenset(ids) for name, ids in (exclusions or {}).items()}
    lessons = sorted(set(training))
    random.Random(derive_seed(seed, "training")).shuffle(lessons)
    spare = sorted(set(gold) - set(lessons))
    _check(dealt, lessons, gold_each)
    used: Counter[int] = Counter()
    lists: dict[str, tuple[ListEntry, ...]] = {}
    warnings: list[str] = []
    for name, order in sorted(dealt.orders.items()):
        if not order:
            lists[name] = ()
            continue
        never = barred.get(name, frozenset())
        skipped = [pk for pk in lessons if pk in never]
        if skipped:
            warnings.append(f"{name} is not given training items {name_some(skipped)}: excluded")
        chosen = _choose_gold(name, set(spare) - set(order) - never, gold_each, used, seed)
        used.update(chosen)
        places = _draw_places(name, len(order), gold_each, seed)
        hidden = dict(zip(places, chosen, strict=True))
        rest = iter(order)
        listed = [(pk, TRAINING) for pk in lessons if pk not in never]
        for place in range(1, len(order) + gold_each + 1):
            listed.append((hidden[place], GOLD) if place in hidden else (next(rest), ITEM))
        lists[name] = tuple(
            ListEntry(pk, place, part) for place, (pk, part) in enumerate(listed, 1)
        )
    return ItemLists(lists, dealt, tuple(warnings))


def choose_gold(
    *, name: str, open_to: Collection[int], wanted: int, used: Counter[int], seed: int
) -> list[int]:
    """Return up to ``wanted`` of the gold items open to somebody, those least used first, which
    counts.
    """
    chosen = _choose_gold(name, open_to, min(wanted, len(open_to)), used, seed)
    used.update(chosen)
    return chosen


def hide_more(
    *, seed: int, name: str, ahead: Sequence[bool], gold: int, follows: bool = False
) -> list[int]:
    """Return the places, from 1, of more gold items in a list that goes on, in ascending order.

    ``ahead`` says of each item to come whether it is gold already; ``follows``: the one before it
    was. Fewer places than ``gold`` where no more can be hidden. No gold item is next to another or
    the last; of two or more one is in the first and one in the last third; as far as can be no two
    successive gaps are equal.
    """
    others = sum(not is_gold for is_gold in ahead)
    gold = max(0, min(gold, most_gold(others) - sum(ahead)))
    # Each is put before an item that is not gold and does not come after one.
    before = [follows, *ahead]
    free = [n for n, is_gold in enumerate(ahead) if not is_gold and not before[n]]
    if len(free) < gold or not gold:
        return []
    chance = random.Random(derive_seed(seed, "more gold", name, len(ahead)))
    third = -(-len(free) // 3)
    chosen = {chance.choice(free[:third]), chance.choice(free[-third:])} if gold > 1 else set()
    chosen |= set(chance.sample([n for n in free if n not in chosen], gold - len(chosen)))
    ends = {min(chosen), max(chosen)}
    for _ in range(MOVES_PER_GOLD * gold):
        placed = [n + sum(other < n for other in chosen) + 1 for n in sorted(chosen)]
        known = [n + sum(c <= n for c in chosen) + 1 for n, is_gold in enumerate(ahead) if is_gold]
        everything = sorted(placed + known)
        gaps = [after - first for first, after in pairwise(everything)]
        even = {everything[n + 1] for n, (first, two) in enumerate(pairwise(gaps)) if first == two}
        moving = [n for n, at in zip(sorted(chosen), placed, strict=True)
                  if at in even and n not in ends]  # fmt: skip
        others_free = [n for n in free if n not in chosen]
        if not moving or not others_free:
            break
        chosen.remove(chance.choice(moving))
        chosen.add(chance.choice(others_free))
    return [n + place + 1 for place, n in enumerate(sorted(chosen))]


def _check(dealt: Allocation, lessons: Sequence[int], gold_each: int) -> None:
    twice = sorted(set(lessons) & {option.id for option in dealt.options})
    if twice:
        raise DesignError(
            "training",
            f"training items {name_some(twice)} are among the items to judge; take them out of one "
            "of the two",
            options=twice,
        )
    if gold_each < 0 or gold_each == 1:
        raise DesignError(
            "gold_each",
            "give everybody no gold item, or at least 2: one in the first third of the list and "
            f"one in the last, not {gold_each}",
        )
    for name, order in sorted(dealt.orders.items()):
        most = most_gold(len(order))
        if order and gold_each > most:
            raise DesignError(
                "gold_each",
                f"{name} has {len(order)} items, among which {most} gold items can be hidden, not "
                f"{gold_each} (at most one for {ITEMS_PER_GOLD} others)",
            )


def most_gold(items: int) -> int:
    """Return how many gold items can be hidden among so many others."""
    return max(2, items // ITEMS_PER_GOLD) if items >= MIN_ITEMS else 0


def is_gold_next(
    *, seed: int, annotator: int, place: int, had: int, spare: int, done: int, ahead: int
) -> bool:
    """Return whether a gold item comes before somebody's next item of a pool, drawn by seed and
    place.

    ``had`` gold items came among the ``done`` others so far, ``spare`` were not had; ``ahead``
    others will probably follow, the next one among them. Before each of these a gold item is as
    likely, in all as many as can be hidden among those done and ahead. To be asked once for each of
    the others, so that no two gold items are neighbours and none is the last.
    """
    left = min(spare, most_gold(done + ahead) - had)
    drawn = derive_seed(seed, "pool gold", annotator, place) / 2**63  # from 0 to 1
    return drawn * ahead < left


def _choose_gold(
    name: str, open_to: Collection[int], wanted: int, used: Mapping[int, int], seed: int
) -> list[int]:
    if len(open_to) < wanted:
        raise DesignError(
            "gold",
            f"{name} is to get {wanted} gold items, and {len(open_to)} are neither training items, "
            "nor dealt to them, nor excluded; name more",
        )
    ranked = sorted(
        open_to, key=lambda pk: (used.get(pk, 0), derive_seed(seed, "gold", name, pk), pk)
    )
    chosen = ranked[:wanted]
    random.Random(derive_seed(seed, "gold order", name)).shuffle(chosen)
    return chosen


def _draw_places(name: str, items: int, gold: int, seed: int) -> list[int]:
    """Return the places of gold, from 1, in ascending order, among ``items`` + ``gold``.

    Drawn at random, then redrawn one at a time until none is next to another, no two successive
    gaps are equal, and both outer thirds have one.
    """
    length = items + gold
    if not gold:
        return []
    chance = random.Random(derive_seed(seed, "gold places", name))
    third = length // 3
    while True:
        places = sorted(chance.sample(range(1, length + 1), gold))
        for _ in range(MOVES_PER_GOLD * gold):
            wrong = _misplaced(places, third, length)
            if not wrong:
                return places
            places.remove(chance.choice(wrong))
            free = set(range(1, length + 1)).difference(places)
            places = sorted([*places, chance.choice(sorted(free))])


def _misplaced(places: Sequence[int], third: int, length: int) -> list[int]:
    """Return the places of which one must move; empty when all is well."""
    if places[0] > third or places[-1] <= length - third:
        return list(places)
    gaps = [after - before for before, after in pairwise(places)]
    wrong = [places[number + 1] for number, gap in enumerate(gaps) if gap == 1]
    return wrong + [places[n + 1] for n, (first, two) in enumerate(pairwise(gaps)) if first == two]
