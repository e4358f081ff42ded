"""Training first; gold hidden where nobody can guess it, never twice the same."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.designs.dealing import deal_options
from annotation.designs.orders import order_options
from annotation.designs.placement import hide_more, is_gold_next, most_gold, place_specials
from annotation.designs.types import GOLD, ITEM, TRAINING, Allocation, DesignError, DesignOption


def dealt(items: int, people: int = 4, seed: int = 1) -> Allocation:
    options = [DesignOption(n, f"t{n}") for n in range(items * people)]
    plain = deal_options(
        options=options, annotators=[f"a{n}" for n in range(people)], raters=1, seed=seed
    )
    return order_options(dealt=plain, method="random")


@given(items=st.integers(4, 60), share=st.integers(0, 15), seed=st.integers(0, 50))
@settings(max_examples=50)
def test_gold_is_in_both_outer_thirds_and_never_regular(items: int, share: int, seed: int) -> None:
    wanted = max(2, min(share, items // 4))
    plain = dealt(items, seed=seed)
    placed = place_specials(
        dealt=plain, training=[901, 902], gold=range(800, 820), gold_each=wanted
    )
    for name, entries in placed.lists.items():
        assert [entry.position for entry in entries] == list(range(1, len(entries) + 1))
        assert {entry.option for entry in entries[:2]} == {901, 902}
        assert [entry.part for entry in entries[:2]] == [TRAINING, TRAINING]
        rest = entries[2:]
        assert tuple(entry.option for entry in rest if entry.part == ITEM) == plain.orders[name]
        assert len({entry.option for entry in entries}) == len(entries)
        places = [place for place, entry in enumerate(rest) if entry.part == GOLD]
        assert len(places) == wanted
        assert places[0] < len(rest) / 3
        assert places[-1] >= len(rest) * 2 / 3
        gaps = [after - before for before, after in pairwise(places)]
        assert 1 not in gaps
        assert all(one != two for one, two in pairwise(gaps))


def drawn(items: int, spare: int, seed: int) -> list[int]:
    """Before which items of a pool somebody gets gold, who judges as many as was to be expected."""
    found: list[int] = []
    for done in range(items):
        if is_gold_next(
            seed=seed, annotator=1, place=done + len(found), had=len(found),
            spare=spare - len(found), done=done, ahead=items - done,
        ):  # fmt: skip
            found.append(done)
    return found


@given(items=st.integers(0, 60), spare=st.integers(0, 20), seed=st.integers(0, 1000))
@settings(max_examples=50)
def test_in_a_pool_as_much_gold_is_drawn_as_can_be_hidden(
    items: int, spare: int, seed: int
) -> None:
    assert len(drawn(items, spare, seed)) == min(spare, most_gold(items))


def test_gold_of_a_pool_is_as_likely_anywhere() -> None:
    found = Counter(place for seed in range(2000) for place in drawn(10, 2, seed))
    assert set(found) == set(range(10))
    # 400 of 2,000 are to be expected at each place, give or take 18.
    assert all(abs(count - 400) < 90 for count in found.values())


@given(
    ahead=st.lists(st.sampled_from([False] * 7 + [True]), max_size=60), follows=st.booleans(),
    gold=st.integers(0, 12), seed=st.integers(0, 50),
)  # fmt: skip
@settings(max_examples=100)
def test_more_gold_goes_between_what_is_to_come(
    ahead: list[bool], follows: bool, gold: int, seed: int
) -> None:
    places = hide_more(seed=seed, name="a", ahead=ahead, gold=gold, follows=follows)
    most = max(0, most_gold(ahead.count(False)) - ahead.count(True))
    assert len(places) <= min(gold, most) and places == sorted(set(places))
    rest = iter(ahead)
    row = [place in places or next(rest) for place in range(1, len(ahead) + len(places) + 1)]
    assert [next(rest, None)] == [None]
    for place in places:
        assert not row[place], "an item that is not gold follows"
        assert not (row[place - 2] if place > 1 else follows)
    if True not in ahead and not follows:
        assert len(places) == min(gold, most)
        if len(places) > 1:
            assert places[0] <= len(row) / 2 <= places[-1]


def test_training_is_the_same_for_all_and_gold_is_shared_out() -> None:
    placed = place_specials(
        dealt=dealt(20, people=6), training=[901, 902, 903], gold=range(800, 804), gold_each=2
    )
    assert (
        len({tuple(entry.option for entry in entries[:3]) for entries in placed.lists.values()})
        == 1
    )
    used = Counter(s.option for entries in placed.lists.values() for s in entries if s.part == GOLD)
    assert used == dict.fromkeys(range(800, 804), 3)
    where = {
        tuple(s.position for s in entries if s.part == GOLD) for entries in placed.lists.values()
    }
    assert len(where) > 1


def test_excluded_and_dealt_options_are_not_given_again() -> None:
    plain = dealt(8, people=2)
    mine, other = plain.orders["a0"][:3], plain.orders["a1"][:3]
    placed = place_specials(
        dealt=plain,
        training=[901],
        gold=[*mine, *other, 800, 801],
        gold_each=2,
        exclusions={"a0": [901, *other[:2]]},
    )
    gold = {
        name: {entry.option for entry in entries if entry.part == GOLD}
        for name, entries in placed.lists.items()
    }
    assert gold["a0"] <= {800, 801, other[2]}
    assert gold["a1"] <= {800, 801, *mine}
    assert placed.lists["a0"][0].part != TRAINING
    assert placed.warnings == ("a0 is not given training items 901: excluded",)


@pytest.mark.parametrize(
    ("wish", "field", "words"),
    [
        ({"gold": [900, 901], "gold_each": 1}, "gold_each", "at least 2"),
        ({"gold": range(900, 950), "gold_each": 4}, "gold_each", "3 gold items can be hidden"),
        ({"gold": [900], "gold_each": 2}, "gold", "a0 is to get 2 gold items, and 1 are neither"),
        ({"training": [3]}, "training", "training items 3 are among the items to judge"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(
    wish: dict[str, object], field: str, words: str
) -> None:
    with pytest.raises(DesignError, match=words) as error:
        place_specials(dealt=dealt(12), **wish)  # type: ignore[arg-type]
    assert error.value.field == field


def test_a_list_too_short_to_hide_gold_is_refused_and_an_empty_one_stays_empty() -> None:
    with pytest.raises(DesignError, match="has 3 items, among which 0 gold items can be hidden"):
        place_specials(dealt=dealt(3), gold=[900, 901], gold_each=2)
    lone = Allocation(
        {"a": (), "b": tuple(range(9))}, tuple(DesignOption(n, "t") for n in range(9)), "", 1
    )
    placed = place_specials(dealt=lone, training=[99], gold=[50, 51], gold_each=2)
    assert placed.lists["a"] == ()
    assert len(placed.lists["b"]) == 12
