import pickle
from collections import Counter
from collections.abc import Hashable, Sequence
from random import Random

import pytest

from analysis.stats import text_groups
from analysis.stats.text_groups import (
    NOT_CLEAR,
    OVERLAPPING,
    TOO_FEW,
    TextGroups,
    words_of,
)

# Three kinds of failure with words of their own, and words that all of them share.
KINDS = {
    "heat": "the oven burns paper, flame near cloth melts plastic, smoke and fire",
    "tools": "uses the hammer although no hammer is available, missing wrench and screwdriver",
    "water": "pours water into the bucket, flooded floor, leaking pipe and wet towel",
}


def failures(each: int = 12, seed: int = 3) -> tuple[list[str], list[str], list[str]]:
    """Keys, texts and models; a model "a" that fails with heat alone."""
    random, rows = Random(seed), []
    for kind, words in KINDS.items():
        for i in range(each):
            picked = random.sample(words.replace(",", "").split(), 8)
            owner = "a" if kind == "heat" else random.choice("bc")
            rows.append((f"{kind} {i}", f"Step {i}: the plan " + " ".join(picked), owner))
    random.shuffle(rows)
    keys, texts, owners = zip(*rows, strict=True)
    return list(keys), list(texts), list(owners)


def group_texts(
    keys: Sequence[Hashable],
    texts: Sequence[str],
    owners: Sequence[str],
    kinds: Sequence[str] | None = None,
    *,
    seed: int,
    groups: int | None = None,
) -> TextGroups:
    """Group texts that are all of one kind unless told otherwise."""
    kinds = [""] * len(keys) if kinds is None else kinds
    return text_groups.group_texts(keys, texts, owners, kinds, groups=groups, seed=seed)


def kinds_in(found: TextGroups, keys: list[str]) -> list[set[str]]:
    return [
        {key.split()[0] for key, label in zip(keys, found.labels, strict=True) if label == g.number}
        for g in found.groups
    ]


def test_kinds_are_found_with_their_words_and_models() -> None:
    keys, texts, owners = failures()
    found = group_texts(keys, texts, owners, seed=1)
    assert sorted(map(sorted, kinds_in(found, keys))) == [["heat"], ["tools"], ["water"]]
    assert [group.number for group in found.groups] == [1, 2, 3]
    for group, (kind,) in zip(found.groups, kinds_in(found, keys), strict=True):
        assert set(group.words[:5]) <= set(words_of(KINDS[kind]))
        assert group.size == 12 == sum(group.counts.values()) and len(group.typical) == 3
        assert all(str(text.key).startswith(kind) for text in group.typical)
        nearest = [text.similarity for text in group.typical]
        assert nearest == sorted(nearest, reverse=True) and group.cohesion <= nearest[0] <= 1
        if kind == "heat":
            assert group.counts == {"a": 12, "b": 0, "c": 0}
    assert found.silhouettes[""] > 0.4 and found.warnings == () and not found.undivided
    assert pickle.loads(pickle.dumps(found)) == found
    # The same seed, the same groups; each owner's texts add up.
    assert group_texts(keys, texts, owners, seed=1) == found
    for owner in "abc":
        assert sum(group.counts[owner] for group in found.groups) == owners.count(owner)


def test_the_number_of_groups_can_be_given() -> None:
    keys, texts, owners = failures()
    one = group_texts(keys, texts, owners, groups=1, seed=1)
    assert one.groups[0].size == 36 and one.silhouettes == {}
    assert len(group_texts(keys, texts, owners, groups=5, seed=1).groups) == 5
    # Two different texts cannot make five groups, and a typical text is given once.
    texts = ["burning oven flame", "missing hammer wrench"] * 10
    same = group_texts(range(20), texts, ["a"] * 20, groups=5, seed=1)
    assert [group.size for group in same.groups] == [10, 10]
    assert [len(group.typical) for group in same.groups] == [1, 1]
    assert same.groups[0].cohesion == pytest.approx(1)


def test_texts_without_shared_words_stay_outside() -> None:
    keys, texts, owners = failures()
    found = group_texts([*keys, "odd"], [*texts, "zzz qqq 12"], [*owners, "a"], seed=1)
    assert found.labels[-1] is None and found.ungrouped == 1


def test_too_few_texts_stay_together_and_nonsense_is_refused() -> None:
    few = group_texts(["x", "y"], ["burning oven", "burning oven"], ["a", "a"], seed=1)
    assert few.labels == (1, 1) and few.undivided == {"": TOO_FEW}
    assert few.groups[0].words == ("burning", "oven") and few.groups[0].cohesion == 1
    none = group_texts(["x", "y"], ["oven", "the and 12"], ["a", "a"], seed=1)
    assert none.labels == (1, 1) and none.groups[0].cohesion is None
    assert none.groups[0].words == () == none.groups[0].typical
    assert group_texts([], [], [], seed=1).groups == ()
    with pytest.raises(ValueError, match="owners: 1 entries for 2"):
        group_texts(["x", "y"], ["a", "b"], ["a"], seed=1)
    with pytest.raises(ValueError, match="kinds: 1 entries for 2"):
        group_texts(["x", "y"], ["a", "b"], ["a", "b"], ["k"], seed=1)
    with pytest.raises(ValueError, match="at least 1"):
        group_texts([], [], [], groups=0, seed=1)


def test_no_group_holds_texts_of_two_kinds_and_words_divide_a_kind() -> None:
    """Heat and tools fail alike, water has a fault of its own, and half of it has no words."""
    keys, texts, owners = failures()
    faults = ["late" if str(key).startswith("water") else "early" for key in keys]
    texts = [
        "12 34" if fault == "late" and number % 2 else text
        for number, (fault, text) in enumerate(zip(faults, texts, strict=True))
    ]
    found = group_texts(keys, texts, owners, faults, seed=1)
    assert [(group.kind, group.size) for group in found.groups] == [
        ("early", 12), ("early", 12), ("late", 12)
    ]  # fmt: skip
    assert sorted(map(sorted, kinds_in(found, keys))) == [["heat"], ["tools"], ["water"]]
    assert set(found.silhouettes) == {"early"} and found.undivided == {"late": TOO_FEW}
    assert found.ungrouped == 0 and set(found.groups[2].words) <= set(words_of(KINDS["water"]))


@pytest.mark.parametrize(("count", "seed"), [(60, 1), (20, 1), (20, 2), (20, 3), (200, 1)])
def test_noise_divides_nothing_and_is_called_overlapping(count: int, seed: int) -> None:
    random = Random(seed)
    words = [
        f"word{c}{d}".translate(str.maketrans("0123456789", "abcdefghij"))
        for c in "abcdefgh"
        for d in "klmnop"
    ]
    texts = [" ".join(random.choices(words, k=6)) for _ in range(count)]
    whole = group_texts(range(count), texts, ["a"] * count, seed=seed)
    assert whole.undivided == {"": NOT_CLEAR} and set(whole.labels) == {1}
    found = group_texts(range(count), texts, ["a"] * count, groups=4, seed=seed)
    assert found.warnings == (OVERLAPPING.format(value=found.silhouettes[""]),)
    assert sum(Counter(found.labels).values()) == count


def test_words() -> None:
    assert list(words_of("The OVEN's door, über 3x hot_glue!")) == [
        "oven",
        "door",
        "über",
        "hot",
        "glue",
    ]
