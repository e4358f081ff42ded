"""Two trajectories of one task that are judged side by side, as one option of a design."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations, groupby

from annotation.designs.types import DesignOption

_BITS = 31


def pair_id(first: int, second: int) -> int:
    """Return the id of a pair of trajectories, from which both can be told again."""
    return first << _BITS | second


def split_pair(id: int) -> tuple[int, int]:
    """Return the two trajectories of a pair's id, the first one first."""
    return id >> _BITS, id & ((1 << _BITS) - 1)


def pair_options(options: Iterable[DesignOption]) -> Iterator[DesignOption]:
    """Yield each pair of trajectories of a task and level by different agents.

    Which of two agents comes first alternates over the tasks, and every other annotator sees the
    pairs the other way round: so both stand on either side equally often, for an annotator (up to
    one pair) as for an item. A pair's ``model`` is both agents.
    """
    rows = sorted(options, key=lambda o: (o.task, o.strata.get("level", ""), o.model, o.id))
    earlier: Counter[tuple[str, str]] = Counter()
    for _, group in groupby(rows, key=lambda o: (o.task, o.strata.get("level", ""))):
        for first, second in combinations(group, 2):
            if first.model == second.model:
                continue
            agents = (first.model, second.model)
            earlier[agents] += 1
            one, two = (first, second) if earlier[agents] % 2 else (second, first)
            strata = {k: v for k, v in first.strata.items() if k != "ending"}
            yield DesignOption(pair_id(one.id, two.id), first.task, " – ".join(agents), strata)
