"""Decisions against the majority: worked by hand, and against R."""

from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.descriptive.proportions import share
from analysis.stats.rater_agreement.decisions import (
    NO_DECISION,
    NO_POSITIVE,
    NO_VOTES,
    NOTHING_DECIDED,
    NOTHING_TO_COMPARE,
    ONE_SIDED,
    Confusion,
    DecisionQuality,
    compare_decisions,
)
from analysis.stats.rater_agreement.majority import majority_vote
from analysis.stats.results import as_json
from tests.analysis.stats.rater_agreement.stars import star_decisions, star_votes
from tests.shared_data import reference_records

JUDGES = ["gemini_flash", "gemini_pro", "gpt-4o", "gpt-4o-mini", "llama-31", "mistral-v03"]


def compare(
    decided: dict[Hashable, str | None],
    people: dict[Hashable, str],
    clusters: dict[Hashable, Hashable] | None = None,
    positive: str = "remove",
) -> DecisionQuality:
    """Compare with votes written as one letter per person: k and r, and - for no answer."""
    words = {"k": "keep", "r": "remove", "-": None}
    votes = [(i, item, words[vote]) for item, box in people.items() for i, vote in enumerate(box)]
    return compare_decisions(
        decided,
        majority_vote(votes).verdicts,
        positive=positive,
        negative="keep" if positive == "remove" else "remove",
        clusters=clusters or {item: item for item in {**people, **decided}},
        seed=3,
    )


def by_hand(positive: str = "remove") -> DecisionQuality:
    decided = {
        (1, "a"): "remove",
        (1, "b"): "remove",
        (1, "c"): "keep",
        (2, "d"): "keep",
        (2, "e"): "remove",
        (2, "f"): "keep",
        (2, "g"): "remove",
        (2, "h"): None,
        (3, "j"): "keep",
    }
    people = {
        (1, "a"): "rrr",
        (1, "b"): "kkr",
        (1, "c"): "rrk",
        (2, "d"): "kkk",
        (2, "e"): "rr-",
        (2, "f"): "kkr",
        (2, "g"): "kr-",
        (2, "h"): "rrr",
        (3, "i"): "kkk",
    }
    keys = {**decided, **people}
    return compare(decided, people, {item: item[0] for item in keys}, positive)


def test_by_hand() -> None:
    # Compared: a (remove, remove), b (remove, people keep), c (keep, people remove), d and f (keep,
    # keep), e (remove, remove): TP 2, FP 1, FN 1, TN 2. g is tied, h and i lack a decision, j lacks
    # votes.
    result = by_hand()
    assert result.confusion == Confusion(2, 1, 1, 2)
    assert result.excluded == {"tied": 1, NO_DECISION: 2, NO_VOTES: 1}
    assert (result.n, result.clusters) == (6, 2)
    # F1 2·2/(2·2 + 1 + 1); MCC (2·2 − 1·1)/√(3·3·3·3).
    assert result.f1.value == pytest.approx(2 / 3) and result.mcc.value == pytest.approx(1 / 3)
    assert (result.f1.n, result.mcc.n) == (6, 6)
    for found, hits, of in [
        (result.precision, 2, 3),
        (result.recall, 2, 3),
        (result.false_negative_rate, 1, 3),
        (result.false_positive_rate, 1, 3),
        (result.accuracy, 4, 6),
        (result.majority_positive, 3, 6),
    ]:
        assert (found.hits, found.of) == (hits, of)
        assert found.wilson == share(hits, of, excluded=result.excluded)
        assert found.clustered.value == pytest.approx(hits / of)
        assert found.clustered.n == of
    # Of eight decisions a, b, e and g remove; instances 1, 2, 3 have 2/3, 2/4 and 0/1 of them.
    assert (result.decided_positive.hits, result.decided_positive.of) == (4, 8)
    assert result.mean_share.value == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert result.mean_share.n == 3
    assert as_json(result)["false_negative_rate"]["hits"] == 1


def test_interval_is_by_instance() -> None:
    # FNR is 1/2 in the first instance (a, c), 0/1 in the second (e): p = 1/3, residuals ±1/3,
    # h = 2/3 and 1/3, CR2 variance (1/3 + 1/6)/9 = 1/18 with 1 df, t = 12.706: f = 40.36, and
    # (1/3 + 20.18 ± √(40.36·2/9 + 20.18²))/41.36.
    interval = by_hand().false_negative_rate.clustered.interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.00272, 0.98925), abs=1e-4)
    assert interval.method == "Wilson by instance (CR2)"
    assert interval.details == {"clusters": 2}


def test_decisions_that_hang_together_give_wider_intervals() -> None:
    # 40 instances of 10 decisions that are all right or all wrong: 40 observations, not 400.
    decided = {(i, j): "remove" if i % 4 else "keep" for i in range(40) for j in range(10)}
    people = dict.fromkeys(decided, "rrr")
    result = compare(decided, people, {item: item[0] for item in decided})
    free, bound = result.accuracy.wilson.interval, result.accuracy.clustered.interval
    assert free is not None and bound is not None
    assert bound.half_width > 2.5 * free.half_width


def test_empty_denominators() -> None:
    result = compare({1: "keep", 2: "keep"}, {1: "kk", 2: "kk"})
    for found, reason in [
        (result.precision, "nothing was decided to be remove"),
        (result.recall, "no majority says remove"),
        (result.false_negative_rate, "no majority says remove"),
    ]:
        for estimate in (found.wilson, found.clustered):
            assert estimate.value is None and reason in estimate.undefined
    assert result.false_positive_rate.wilson.value == 0
    # Both instances are at 0 %: Wilson's interval over 2 instances, each counted once.
    interval = result.false_positive_rate.clustered.interval
    assert interval is not None and interval.details == {"clusters": 2}
    assert (interval.low, interval.high) == pytest.approx((0, 0.65762), abs=1e-5)


def test_nothing_to_compare() -> None:
    result = compare({1: None, 2: "keep"}, {1: "kk", 2: "kr"})
    assert result.n == 0 and result.excluded == {NO_DECISION: 1, "tied": 1}
    for found in (result.precision, result.recall, result.accuracy, result.false_positive_rate):
        assert found.wilson.undefined == NOTHING_TO_COMPARE
        assert found.wilson.excluded == result.excluded
    nothing = compare({}, {})
    assert nothing.decided_positive.wilson.undefined == NOTHING_DECIDED
    assert nothing.mean_share.undefined == NOTHING_DECIDED


def test_strange_values_and_lost_clusters_are_refused() -> None:
    with pytest.raises(ValueError, match="'keep' or 'remove', not 'maybe'"):
        compare({1: "maybe"}, {1: "kk"})
    with pytest.raises(ValueError, match="no instance is given for 1"):
        compare({1: "keep"}, {1: "kk"}, {2: 2})
    with pytest.raises(ValueError, match="the same value"):
        compare_decisions({}, [], positive=1, negative=True, clusters={}, seed=1)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["keep", "remove", None]), st.text("kr-", min_size=3, max_size=3)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_swapping_what_is_positive_swaps_the_rates(items: list[tuple[str | None, str]]) -> None:
    decided = {i: decision for i, (decision, _) in enumerate(items)}
    people = {i: votes for i, (_, votes) in enumerate(items)}
    clusters = {i: i // 3 for i in decided}
    remove = compare(decided, people, clusters, "remove")
    keep = compare(decided, people, clusters, "keep")
    a, b = remove.confusion, keep.confusion
    assert (a.true_positive, a.false_positive) == (b.true_negative, b.false_negative)
    assert (a.false_negative, a.true_negative) == (b.false_positive, b.true_positive)
    assert remove.accuracy == keep.accuracy
    assert remove.false_negative_rate == keep.false_positive_rate
    assert remove.false_positive_rate == keep.false_negative_rate
    recall, missed = remove.recall.wilson.value, remove.false_negative_rate.wilson.value
    assert (recall is None) == (missed is None)
    if recall is not None and missed is not None:
        assert recall + missed == pytest.approx(1)


@pytest.mark.parametrize("judge", JUDGES)
def test_against_r(judge: str) -> None:
    decided = star_decisions(judge)
    result = compare_decisions(
        decided,
        majority_vote(star_votes()).verdicts,
        positive=True,
        negative=False,
        clusters={item: item for item in decided},
        seed=1,
        resamples=100,
    )
    assert result.excluded == {"tied": 4}
    found = {
        "precision": result.precision,
        "recall": result.recall,
        "fnr": result.false_negative_rate,
        "fpr": result.false_positive_rate,
    }
    for name, rate in found.items():
        (record,) = (
            r
            for r in reference_records(
                statistic=name, subset=f"{judge}: score>=4 vs majority", dataset="cebab_stars"
            )
            if r["params"]["method"] == "wilson"
        )
        assert (rate.hits, rate.of) == (record["params"]["x"], record["params"]["n"])
        assert rate.wilson.value == pytest.approx(record["value"], abs=1e-9)
        assert rate.wilson.interval is not None
        ends = (rate.wilson.interval.low, rate.wilson.interval.high)
        assert ends == pytest.approx(record["ci"], abs=1e-9)


def quality(both: int, decision: int, majority: int, neither: int) -> DecisionQuality:
    """Decisions with these four counts, each item of its own."""
    cells = ["rr"] * both + ["rk"] * decision + ["kr"] * majority + ["kk"] * neither
    words = {"k": "keep", "r": "remove"}
    return compare(
        {n: words[cell[0]] for n, cell in enumerate(cells)},
        {n: cell[1] * 3 for n, cell in enumerate(cells)},
    )


def test_f1_and_mcc_of_a_published_table() -> None:
    # The example of scikit-learn's documentation of matthews_corrcoef, y_true [+1, +1, +1, −1],
    # y_pred [+1, −1, +1, +1]: −0.33…; (2·0 − 1·1)/√(3·3·1·1). Its F1 is 2·2/(2·2 + 1 + 1).
    found = quality(2, 1, 1, 0)
    assert found.mcc.value == pytest.approx(-1 / 3) and found.f1.value == pytest.approx(2 / 3)
    # Nearly all positive: F1 180/190 = 0.95 while nothing negative was found, which MCC shows:
    # (90·0 − 5·5)/√(95·95·5·5) = −0.05.
    skewed = quality(90, 5, 5, 0)
    assert skewed.f1.value == pytest.approx(180 / 190)
    assert skewed.mcc.value == pytest.approx(-25 / (95 * 5))


def test_f1_and_mcc_where_they_are_undefined() -> None:
    nobody = quality(0, 0, 0, 5)
    assert nobody.f1.value is None and nobody.f1.undefined == NO_POSITIVE
    assert nobody.mcc.value is None and nobody.mcc.undefined == ONE_SIDED
    # People remove everything: F1 exists, a correlation does not.
    one_sided = quality(4, 0, 2, 0)
    assert one_sided.f1.value == pytest.approx(0.8) and one_sided.mcc.undefined == ONE_SIDED
    nothing = compare({}, {})
    assert nothing.f1.undefined == nothing.mcc.undefined == NOTHING_TO_COMPARE


@pytest.mark.parametrize("counts", [(3, 1, 2, 5), (40, 3, 5, 60), (1, 9, 0, 4)])
def test_intervals_of_f1_and_mcc_stay_on_their_scales(counts: tuple[int, int, int, int]) -> None:
    found = quality(*counts)
    for estimate, lowest in ((found.f1, 0), (found.mcc, -1)):
        assert estimate.interval is not None and estimate.value is not None
        assert lowest <= estimate.interval.low < estimate.value < estimate.interval.high <= 1


def test_exchanging_classes_keeps_mcc_and_changes_f1() -> None:
    removed, kept = by_hand("remove"), by_hand("keep")
    assert removed.mcc.value == pytest.approx(kept.mcc.value)
    assert quality(3, 1, 1, 9).f1.value != pytest.approx(quality(9, 1, 1, 3).f1.value)
