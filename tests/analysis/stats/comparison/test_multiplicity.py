import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.comparison.multiplicity import METHODS, NOT_TESTED, Method, adjust_family
from tests.shared_data import reference_records

P = [0.01, 0.02, 0.03, 0.04, 0.05, 0.001, 0.2]


def adjusted(p: list[float], method: Method) -> list[float]:
    family = adjust_family({f"t{i}": v for i, v in enumerate(p)}, statement="all", method=method)
    return [test.adjusted for test in family.tests if test.adjusted is not None]


def test_against_r() -> None:
    methods = set()
    for record in reference_records(statistic="p_adjust"):
        method = record["params"]["method"].lower()
        methods.add(method)
        assert adjusted(record["params"]["p"], method) == pytest.approx(record["value"], abs=1e-9)
    assert methods == set(METHODS)


def test_the_family_is_stated_and_what_was_not_tested_is_counted() -> None:
    family = adjust_family(
        {"a": 0.02, "b": None, "c": 0.9}, statement="both models on accuracy", alpha=0.05
    )
    assert (family.statement, family.size) == ("both models on accuracy", 2)
    assert family.excluded == {NOT_TESTED: 1}
    assert family["a"].adjusted == 0.04 and family["a"].clear is True
    assert family["b"].adjusted is None and family["b"].clear is None and family["b"].undefined
    assert family["c"].clear is False
    assert adjust_family({}, statement="none").tests == ()


def test_refused() -> None:
    with pytest.raises(ValueError, match="which tests"):
        adjust_family({}, statement=" ")
    with pytest.raises(ValueError, match="no p-value"):
        adjust_family({"a": 1.2}, statement="one")
    with pytest.raises(ValueError, match="unknown correction"):
        adjust_family({}, statement="one", method="tukey")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust_family({}, statement="one", alpha=5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(sorted(METHODS)))
def test_adjusting_keeps_the_order_and_never_helps(p: list[float], method: Method) -> None:
    found = adjusted(p, method)
    assert all(before <= after <= 1 for before, after in zip(p, found, strict=True))
    assert [v for _, v in sorted(zip(p, found, strict=True))] == sorted(found)
    assert adjusted(p[::-1], method) == pytest.approx(found[::-1])
    assert found <= adjusted(p, "bonferroni") or method == "by"
