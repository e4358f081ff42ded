"""The odds ratio per turn against statsmodels and geepack, and what it cannot say."""

from math import log

import pytest

from analysis.stats.comparison.logit_gee import FEW_TASKS
from analysis.stats.trends.logit_slope import ALL_SAME, logit_slope
from analysis.stats.trends.turn_series import NO_SLOPE
from tests.analysis.stats.trends.logit_reference import made_outcomes

# statsmodels 0.15.0, made by `logit_reference`; geepack 1.3.9 says −0.2886033 for the second.
REFERENCE = {
    "exchangeable": (-0.29890857895920686, 0.10239590241768573),
    "independence": (-0.288603323231252, 0.10223118267890215),
}
T_27 = 2.0518305


@pytest.mark.parametrize("structure", ["exchangeable", "independence"])
def test_against_statsmodels(structure: str) -> None:
    found = logit_slope(*made_outcomes(), structure=structure)  # type: ignore[arg-type]
    b, error = REFERENCE[structure]
    assert found.value is not None and found.interval is not None
    assert log(found.value) == pytest.approx(b, abs=1e-8)
    # 30 tasks, three columns.
    assert log(found.interval.high) - log(found.value) == pytest.approx(T_27 * error, rel=1e-6)
    assert found.n == 60 and structure in found.method


def test_an_agent_that_always_passes_is_left_out_and_counted() -> None:
    agents, tasks, trajectories, turns, outcomes = made_outcomes()
    more = [["cyd"] * 4, [1, 1, 2, 2], ["c1", "c1", "c2", "c2"], [1, 2, 1, 2], [1] * 4]
    columns = [[*old, *new] for old, new in zip(
        (agents, tasks, trajectories, turns, outcomes), more, strict=True)]  # fmt: skip
    found = logit_slope(*columns)  # type: ignore[arg-type]
    assert found.value == pytest.approx(logit_slope(*made_outcomes()).value)
    assert found.excluded == {"of an agent whose outcomes are all the same": 4} and found.n == 60


def test_what_has_no_odds() -> None:
    one = ["a"] * 4
    assert logit_slope(one, [1, 2, 3, 4], [1, 2, 3, 4], [1] * 4, [0, 1, 0, 1]).undefined == NO_SLOPE
    same = logit_slope(one, [1, 1, 2, 2], [1, 1, 2, 2], [1, 2, 1, 2], [1, 1, 1, 1])
    assert same.undefined == ALL_SAME
    few = logit_slope(one, [1, 1, 2, 2], [1, 1, 2, 2], [1, 2, 1, 2], [1, 0, 1, 1])
    assert few.undefined == FEW_TASKS.format(tasks=2, columns=2)
    with pytest.raises(ValueError, match="0 or 1"):
        logit_slope(one, [1, 1, 2, 2], [1, 1, 2, 2], [1, 2, 1, 2], [1, 0, 1, 2])
