"""Majority votes, by hand and against R."""

from collections import Counter
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.rater_agreement.majority import majority_vote
from annotation.ratings.voting import VoteOutcome
from tests.analysis.stats.rater_agreement.stars import star_votes
from tests.shared_data import reference_records

tables = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 5)),
    st.sampled_from(["keep", "remove", "unsure", None]),
    max_size=30,
)


def vote(*values: Hashable | None, **options: object) -> tuple[VoteOutcome, Hashable | None]:
    rows = [(rater, "item", value) for rater, value in enumerate(values)]
    (verdict,) = majority_vote(rows, **options).verdicts
    return verdict.state, verdict.value


def test_states() -> None:
    assert vote(True, True, True) == (VoteOutcome.UNANIMOUS, True)
    assert vote(True, False, False) == (VoteOutcome.MAJORITY, False)
    assert vote(True, False) == (VoteOutcome.TIED, None)
    assert vote(True, None, None) == (VoteOutcome.TOO_FEW, None)
    assert vote(True, None, None, minimum=1) == (VoteOutcome.MAJORITY, True)
    assert vote(None, float("nan"), minimum=1) == (VoteOutcome.TOO_FEW, None)
    # Three votes are left of four, of which two agree.
    assert vote(True, False, None, True, minimum=3) == (VoteOutcome.MAJORITY, True)


def test_three_categories() -> None:
    # 2 of 4 is not more than half, though no other value has as many.
    assert vote("a", "a", "b", "c") == (VoteOutcome.NO_MAJORITY, None)
    assert vote("a", "a", "b", "c", rule="most") == (VoteOutcome.MAJORITY, "a")
    assert vote("a", "b", "c", rule="most") == (VoteOutcome.TIED, None)
    assert vote("a", "a", "b", "b", "c", rule="most") == (VoteOutcome.TIED, None)


def test_items_are_counted_by_state() -> None:
    rows = [
        *[(rater, "first", "keep") for rater in "abc"],
        *[("a", "second", "keep"), ("b", "second", "remove"), ("c", "second", None)],
        ("a", "third", "keep"),
    ]
    result = majority_vote(rows, items=["fourth"])
    assert result.states == {
        VoteOutcome.UNANIMOUS: 1,
        VoteOutcome.MAJORITY: 0,
        VoteOutcome.TIED: 1,
        VoteOutcome.NO_MAJORITY: 0,
        VoteOutcome.TOO_FEW: 2,
    }
    second = result.by_item["second"]
    assert (second.counts, second.votes, second.missing) == ({"keep": 1, "remove": 1}, 2, 1)
    # One of the two items with two votes or more.
    assert (result.unanimous_share.value, result.unanimous_share.n) == (0.5, 2)
    assert result.unanimous_share.excluded == {"too few votes": 2}


def test_nothing() -> None:
    result = majority_vote([])
    assert result.verdicts == () and result.unanimous_share.value is None


@pytest.mark.parametrize(
    ("options", "words"), [({"minimum": 0}, "at least 1"), ({"rule": "any"}, "unknown rule")]
)
def test_bad_options(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        majority_vote([], **options)


def test_two_votes_of_one_rater_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' votes twice on 'item'"):
        majority_vote([("a", "item", True), ("a", "item", None)])


@given(tables, st.randoms(use_true_random=False), st.sampled_from(["more than half", "most"]))
def test_raters_are_interchangeable(table, random, rule) -> None:
    rows = [(rater, item, value) for (rater, item), value in table.items()]
    raters = list(range(5))
    random.shuffle(raters)
    shuffled = [(raters[rater], item, value) for rater, item, value in rows]
    random.shuffle(shuffled)
    one, other = majority_vote(rows, rule=rule), majority_vote(shuffled, rule=rule)
    assert one.by_item == other.by_item
    assert one.states == other.states and one.unanimous_share == other.unanimous_share


@given(tables)
def test_a_majority_is_more_than_half_and_labels_do_not_matter(table) -> None:
    rows = [(rater, item, value) for (rater, item), value in table.items()]
    names = {"keep": "remove", "remove": "unsure", "unsure": "keep", None: None}
    renamed = majority_vote([(r, i, names[v]) for r, i, v in rows]).by_item
    for verdict in majority_vote(rows).verdicts:
        values = Counter(v for _, i, v in rows if i == verdict.item and v is not None)
        winners = [v for v, count in values.items() if 2 * count > values.total()]
        enough = values.total() >= 2
        assert verdict.value == (winners[0] if winners and enough else None)
        assert renamed[verdict.item].value == names[verdict.value]
        assert renamed[verdict.item].state == verdict.state


def test_against_r() -> None:
    (record,) = reference_records(dataset="cebab_stars", statistic="majority_vote")
    result = majority_vote(star_votes())
    values = Counter(verdict.value for verdict in result.verdicts)
    assert values[True] == record["value"]["yes"]
    assert values[False] == record["value"]["no"]
    assert result.states[VoteOutcome.TIED] == record["value"]["tied"]
    assert result.states[VoteOutcome.TOO_FEW] == 0
