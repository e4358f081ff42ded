"""Agreement statistics against values made with R, within the tolerances stated with them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from analysis.stats.columns import encode
from analysis.stats.descriptive.proportions import share
from analysis.stats.rater_agreement.alpha import krippendorff_alpha
from analysis.stats.rater_agreement.alt_test import alt_test
from analysis.stats.rater_agreement.answers import Answers, answers_of_counts, answers_of_scores
from analysis.stats.rater_agreement.bland_altman import bland_altman
from analysis.stats.rater_agreement.correlation import kendall, pearson, spearman
from analysis.stats.rater_agreement.differences import Agreement, agreement
from analysis.stats.rater_agreement.icc import FEW_ITEMS, intraclass, intraclass_one_way
from analysis.stats.rater_agreement.icc_reml import intraclass_reml
from analysis.stats.rater_agreement.kappas import cohen_kappa, fleiss_kappa, gwet_ac
from analysis.stats.rater_agreement.sample_size import items_for_icc, items_for_share
from analysis.stats.results import Estimate
from tests.analysis.stats.rater_agreement.stars import star_table
from tests.shared_data import reference_records

Record = dict[str, Any]
JUDGES = ("gpt-4o", "gemini_pro", "llama-31")
# Not agreement: checked beside the functions that these values are of.
ELSEWHERE = {
    "turn_slope", "turn_means", "judge_sd_per_item_mean", "majority_vote", "precision", "recall",
    "fnr", "fpr", "proportion", "mcnemar", "p_adjust",
}  # fmt: skip
# Power of a test and precision of a binary kappa, which the product does not plan by.
NOT_OFFERED = ("kappaSize", "pwr:")


def subset(record: Record) -> Any:
    """The table that a record is about: items by raters."""
    data = record.get("params", {}).get("data")
    if data is not None:
        rows = np.array(data, dtype=float)
        return rows.T if record["subset"].startswith("Krippendorff") else rows
    stars = star_table()
    people = [name for name in stars if name.startswith("h")]
    names = {
        "10 humans, sparse": people,
        "judges J3": JUDGES,
        "10 humans sparse + J3": [*people, *JUDGES],
    }[record["subset"]]
    return np.column_stack([stars[name] for name in names])


def answers(record: Record) -> Answers:
    params = record["params"]
    if "counts" in params:
        return answers_of_counts(params["counts"])
    if isinstance(params.get("data", [[0]])[0][0], str):
        names, codes = encode(label for row in params["data"] for label in row)
        table = np.zeros((len(params["data"]), len(names)))
        owners = np.repeat(np.arange(len(table)), len(params["data"][0]))
        np.add.at(table, (owners, codes), 1)
        return answers_of_counts(table)
    if record["statistic"].startswith("fleiss_kappa_missing") and "Gwet" in record["subset"]:
        record = reference_records(subset=record["subset"], statistic="gwet_ac1")[0]
    return answers_of_scores(subset(record), scale=(1, 5))


def weights(record: Record) -> Any:
    given = record["params"].get("weights", "none")
    return "none" if given == "unweighted" else given


def pair(record: Record) -> tuple[Any, Any]:
    params = record.get("params", {})
    if "a" in params:
        return params["a"], params["b"]
    if "rater1" in params:
        return params["rater1"], params["rater2"]
    if "table_rows" in params:
        cells = np.repeat(np.arange(4), np.ravel(params["table_rows"]))
        return cells // 2 + 1, cells % 2 + 1
    if "difference" in params:
        first, second = params["difference"].split(" - ")
    elif "pair" in params:
        first, second = params["pair"]
    else:  # the shares of pairs name no raters: the pair of the same subset
        first, second = {"common items only": ("h04", "h06"), "all items": ("gpt-4o", "llama-31")}[
            record["subset"]
        ]
    return star_table()[first], star_table()[second]


def check(record: Record, estimate: Estimate, *, value: float = 1e-6, ends: float = 1e-6) -> None:
    assert estimate.value == pytest.approx(record["value"], abs=value), record
    if record.get("ci"):
        assert estimate.interval is not None
        got = [estimate.interval.low, estimate.interval.high]
        assert got == pytest.approx(record["ci"], abs=ends), record


def check_alpha(record: Record) -> None:
    metric = record["params"]["level"]
    estimate = krippendorff_alpha(answers(record), metric=metric, seed=1, resamples=2000)
    # Ends are random in both: the tolerance that stands with the record; analytic ones as well.
    ends = 0.15 * float(np.diff(record["ci"])[0]) if record.get("ci") else 0
    digits = 5e-5 if "analytic" in record["statistic"] else 1e-6
    check(record, estimate, value=digits, ends=ends)


def check_gwet(record: Record) -> None:
    check(record, gwet_ac(answers(record), weights=weights(record)), value=1e-5, ends=1e-3)


def check_fleiss(record: Record) -> None:
    exact = "missing" not in record["statistic"]
    estimate = fleiss_kappa(answers(record), weights=weights(record))
    check(record, estimate, value=1e-6 if exact else 1e-5, ends=1e-3)


def check_cohen(record: Record) -> None:
    first, second = pair(record)
    scale = (1, 2) if "table_rows" in record["params"] else tuple(
        record["params"].get("domain", (1, 5))
    )  # fmt: skip
    check(record, cohen_kappa(first, second, scale=scale, weights=weights(record)))


def check_icc(record: Record) -> None:
    check(record, intraclass(subset(record), form=record["params"]["form"]))


def check_icc_missing(record: Record) -> None:
    form = record["params"]["form"]
    if form in ("ICC(1)", "ICC(k)"):
        check(record, intraclass_one_way(answers(record), average=form == "ICC(k)"))
    else:
        # irrNA takes each rater's mean off first, which mixes raters with the items they had. The
        # mean squares of complete items are refused, and REML is near: it is checked below.
        table = subset(record)
        assert intraclass(table, form="ICC2").undefined == FEW_ITEMS.format(k=10)
        if form.endswith(",1)"):
            found = intraclass_reml(table)["ICC2" if "A" in form else "ICC3"]
            assert found.value == pytest.approx(record["value"], abs=0.01)


def check_reml(record: Record) -> None:
    form = record["params"]["form"]
    assert intraclass_reml(subset(record))[form].value == pytest.approx(record["value"], abs=1e-5)
    if form == "ICC1":
        # The mean squares weigh items of 3 and of 4 answers a little differently.
        assert intraclass_one_way(answers(record)).value == pytest.approx(record["value"], abs=1e-3)


def check_correlation(record: Record) -> None:
    function = {"pearson": pearson, "spearman": spearman, "kendall_tau_b": kendall}
    check(record, function[record["statistic"]](*pair(record)))


def check_bland_altman(record: Record) -> None:
    limits, extra = bland_altman(*pair(record)), record["extra"]
    check(record, limits.bias)
    assert limits.sd == pytest.approx(extra["sd"], abs=1e-6)
    lower, upper = limits.lower, limits.upper
    # The records take z as 1.96, to the third decimal: times s of 38.8 that is 1.4e-3.
    near = 5e-5 * extra["sd"]
    if "loa" in extra:
        assert [lower.value, upper.value] == pytest.approx(extra["loa"], abs=near)
    else:
        check(
            {"value": extra["loa_lower"], "ci": extra["loa_lower_ci"]}, lower, value=near, ends=near
        )
        check(
            {"value": extra["loa_upper"], "ci": extra["loa_upper_ci"]}, upper, value=near, ends=near
        )


def first_person() -> Agreement:
    """The first person of each review against three judges."""
    stars = star_table()
    people = np.column_stack([stars[name] for name in stars if name.startswith("h")])
    first = people[np.arange(len(people)), (~np.isnan(people)).argmax(axis=1)]
    return agreement(first, np.column_stack([stars[name] for name in JUDGES]))


def check_difference(record: Record) -> None:
    result = first_person()
    bins = result.distribution.bins
    match record["statistic"]:
        case "absdiff_hist_thirds":
            assert [b.count for b in bins] == record["value"]
        case "absdiff_mean":
            check(record, result.absolute)
        case "absdiff_sd":
            values = np.repeat([b.numerator / 3 for b in bins], [b.count for b in bins])
            spread = np.std(values, ddof=record["params"]["ddof"])
            assert spread == pytest.approx(record["value"], abs=1e-6)
        case _:
            check(record, result.bias)


def check_share(record: Record) -> None:
    if "within_1_of_mean" in record["statistic"] or "equals" in record["statistic"]:
        result = first_person()
        found = result.exact if "equals" in record["statistic"] else result.within_one
    elif "rounded" in record["statistic"]:
        found = first_person().rounded
    else:
        first, second = pair(record)
        result = agreement(first, np.column_stack([second]))
        found = result.within_one if record["statistic"] == "within_1" else result.exact
    assert found.value is not None
    assert round(found.value * found.n) == record["params"]["x"]
    if record["params"]["method"] == "wilson":
        check(record, found)
    else:  # the other interval of the same share
        check(record, share(record["params"]["x"], found.n, method="wald"))


def check_alt_test(record: Record) -> None:
    stars, params = star_table(), record["params"]
    names = [name for name in stars if name.startswith("h")]
    result = alt_test(
        np.column_stack([stars[name] for name in names]),
        stars[record["subset"]],
        epsilon=params["epsilon"],
        names=names,
        seed=1,
    )
    wanted, extra = record["value"], record["extra"]
    assert result.passed is wanted["passed"]
    assert result.winning_rate.value == pytest.approx(wanted["winning_rate"], abs=1e-9)
    assert result.advantage.value == pytest.approx(wanted["advantage_probability"], abs=1e-6)
    for person in result.annotators:
        assert person.p == pytest.approx(extra["p_values"][person.annotator], rel=1e-6)
        assert person.advantage == pytest.approx(extra["rho"][person.annotator], abs=1e-6)


def check_sample_size(record: Record) -> None:
    params = record["params"]
    if "rho" in params:
        found = items_for_icc(params["rho"], params["width"] / 2, raters=params["raters"])
        assert found.exact == pytest.approx(record["value"], abs=1e-6)
        assert found.items == np.ceil(record["value"])
    else:
        assert items_for_share(params["p"], params["h"]).items == record["value"]


CHECKS: dict[str, Callable[[Record], None]] = {
    "krippendorff_alpha": check_alpha,
    "krippendorff_alpha_analytic_ci": check_alpha,
    "gwet_ac1": check_gwet,
    "gwet_ac2": check_gwet,
    "fleiss_kappa": check_fleiss,
    "fleiss_kappa_missing_ok": check_fleiss,
    "cohen_kappa": check_cohen,
    "cohen_kappa_ci": check_cohen,
    "icc": check_icc,
    "icc_missing": check_icc_missing,
    "icc_reml": check_reml,
    "pearson": check_correlation,
    "spearman": check_correlation,
    "kendall_tau_b": check_correlation,
    "bland_altman": check_bland_altman,
    "absdiff_hist_thirds": check_difference,
    "absdiff_mean": check_difference,
    "absdiff_sd": check_difference,
    "signed_bias": check_difference,
    "exact_agreement": check_share,
    "within_1": check_share,
    "exact_agreement_mean_equals_human": check_share,
    "exact_agreement_rounded_half_up": check_share,
    "within_1_of_mean": check_share,
    "alt_test": check_alt_test,
    "sample_size": check_sample_size,
}


@pytest.mark.parametrize("statistic", CHECKS)
def test_values_of_r(statistic: str) -> None:
    for record in reference_records(statistic=statistic):
        if not record["subset"].startswith(NOT_OFFERED):
            CHECKS[statistic](record)


def test_no_record_is_forgotten() -> None:
    assert {r["statistic"] for r in reference_records()} == CHECKS.keys() | ELSEWHERE
