"""Dealing items to annotators: pure functions of what there is and a seed."""

import random
from collections.abc import Mapping, Sequence

from benchmarks.core.seeds import derive_seed


def deal_queries(
    *,
    annotators: Sequence[str],
    queries: Mapping[int, Sequence[int]],
    each: int,
    seed: int,
    raters: int = 1,
) -> dict[str, list[int]]:
    """The paper's design: every annotator gets all trajectories of up to ``each`` queries.

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
    seats = [query for query in stock for _ in range(raters)]
    most = each * len(people) // raters * raters
    for place, query in enumerate(seats[:most]):
        dealt[people[place % len(people)]] += sorted(queries[query])
    for name, items in dealt.items():
        random.Random(derive_seed(seed, "order", name)).shuffle(items)
    return dealt
