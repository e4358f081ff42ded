"""Tests of the traits that most failures have in common."""

from analysis.stats.failure_causes import Cause, FailedTrajectory, structured_cause


def ones(ending: str, *faults: str, count: int = 1) -> list[FailedTrajectory]:
    return [FailedTrajectory(ending, frozenset(faults))] * count


def test_the_ending_of_most_and_the_fault_that_sets_them_apart() -> None:
    members = ones("stop", "same", "broken", count=18) + ones("stop", "broken", count=4)
    members += ones("turns", "broken", count=10)
    rest = ones("stop", "broken", count=20) + ones("turns", "same", count=5)
    # All of them break something, but so do 20 of 25 others: 80 %, against 20 % with the same plan.
    assert structured_cause(members, rest) == Cause("stop", 22, 32, "same", 18)
    # With nobody beside them the most frequent fault counts.
    assert structured_cause(members, []) == Cause("stop", 22, 32, "broken", 22)


def test_no_cause_without_a_majority_and_no_fault_that_all_have() -> None:
    spread = ones("a", count=2) + ones("b", count=2) + ones("c", count=2)
    assert structured_cause(spread, []) is None
    assert structured_cause(ones("a"), []) is None
    assert structured_cause([], []) is None
    alike = ones("a", "broken", count=4)
    assert structured_cause(alike, ones("b", "broken", count=9)) == Cause("a", 4, 4)
    # 4 of 4 against 9 of 10 is less than 10 points and a bit: exactly 10 is enough.
    nine = ones("b", "broken", count=9) + ones("b")
    assert structured_cause(alike, nine) == Cause("a", 4, 4, "broken", 4)
