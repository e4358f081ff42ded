"""Dealing queries: everybody's share, nobody's twice, the same for the same seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.designs.dealing import deal_queries

ANNOTATORS = [f"a{n}" for n in range(8)]
# 30 queries of ten agents each, as in the paper
QUERIES = {q: [q * 100 + agent for agent in range(10)] for q in range(30)}


def test_the_papers_design_is_240_items() -> None:
    dealt = deal_queries(annotators=ANNOTATORS, queries=QUERIES, each=3, seed=1)
    assert [len(items) for items in dealt.values()] == [30] * 8
    given_once = Counter(item for items in dealt.values() for item in items)
    assert len(given_once) == 240
    assert set(given_once.values()) == {1}
    for items in dealt.values():
        # all ten agents of three queries
        assert Counter(item // 100 for item in items) == Counter(
            dict.fromkeys({item // 100 for item in items}, 10)
        )


def test_order_does_not_tell_the_agent() -> None:
    dealt = deal_queries(annotators=ANNOTATORS, queries=QUERIES, each=3, seed=1)
    orders = {tuple(item % 10 for item in items) for items in dealt.values()}
    assert len(orders) == 8


def test_same_seed_deals_the_same_whatever_the_order_given() -> None:
    one = deal_queries(annotators=ANNOTATORS, queries=QUERIES, each=3, seed=1)
    turned = dict(sorted(QUERIES.items(), reverse=True))
    two = deal_queries(annotators=ANNOTATORS[::-1], queries=turned, each=3, seed=1)
    assert one == two
    assert one != deal_queries(annotators=ANNOTATORS, queries=QUERIES, each=3, seed=2)


@given(
    people=st.integers(1, 9),
    raters=st.integers(1, 9),
    queries=st.integers(0, 20),
    each=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_a_query_goes_to_as_many_as_are_wanted(
    people: int, raters: int, queries: int, each: int, seed: int
) -> None:
    names = [f"a{n}" for n in range(people)]
    given = {
        "annotators": names, "queries": {q: [q] for q in range(queries)}, "each": each,
        "seed": seed, "raters": raters,
    }  # fmt: skip
    if raters > people:
        with pytest.raises(ValueError, match="cannot give a query"):
            deal_queries(**given)  # type: ignore[arg-type]
        return
    dealt = deal_queries(**given)  # type: ignore[arg-type]
    times = Counter(item for items in dealt.values() for item in items)
    assert set(times.values()) <= {raters}
    assert len(times) == min(queries, people * each // raters)
    for items in dealt.values():
        assert len(set(items)) == len(items) <= each
    sizes = [len(items) for items in dealt.values()]
    assert max(sizes) - min(sizes) <= 1


@given(
    people=st.integers(1, 9),
    queries=st.integers(0, 20),
    each=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_too_few_queries_are_shared_evenly(people: int, queries: int, each: int, seed: int) -> None:
    dealt = deal_queries(
        annotators=[f"a{n}" for n in range(people)],
        queries={q: [q] for q in range(queries)},
        each=each,
        seed=seed,
    )
    sizes = [len(items) for items in dealt.values()]
    assert sum(sizes) == min(queries, people * each)
    assert max(sizes) - min(sizes) <= 1
