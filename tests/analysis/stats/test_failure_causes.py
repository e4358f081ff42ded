"""Tests of the traits that most failures have in common."""

from analysis.stats.failure_causes import (
    Cause,
    FailedTrajectory,
    fault_sequences,
    median_turns,
    structured_cause,
)


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


NAMES = {"world": "World violated", "user": "User violated", "told": "Violated again"}


def told(*failures: list[str], once: tuple[str, ...] = ()) -> list[str]:
    """The sequences in words; of each failure the faults of its turns, “a+b” for two at once."""
    stored = {
        number: FailedTrajectory(
            "stop",
            frozenset(),
            tuple((tuple(turn.split("+")), at) for at, turn in enumerate(turns, 1) if turn),
        )
        for number, turns in enumerate(failures)
    }
    placed = fault_sequences(stored, once)
    return [placed[number].sequence.in_words(NAMES, "Gave up") for number in stored]


def test_failures_are_told_in_the_order_of_their_turns() -> None:
    # Turns alike are one step, also with a turn in between that shows nothing.
    assert (
        told(*[["world", "world", "", "world", "told"]] * 3)
        == ["World violated → violated again → gave up"] * 3
    )
    assert told(*[["world+user"]] * 3)[0] == "World violated and user violated → gave up"
    assert told([])[0] == "Gave up, no fault noted"


def test_what_returns_after_others_is_told_once_more() -> None:
    back = ["world", "user", "world", "user", "world"]
    assert told(*[back] * 3)[0] == (
        "World violated → user violated → world violated again → user violated again → gave up"
    )
    # A fault that has a name of its own for its return has no second one.
    assert (
        told(*[back] * 3, once=("world", "user"))[0] == "World violated → user violated → gave up"
    )


def test_what_few_share_is_told_with_less_detail() -> None:
    rare = ["world", "user", "world"]
    plain = ["world", "user"]
    # Three share first occurrences, one alone does not even share that.
    assert told(rare, plain, plain, ["user", "told", "world"]) == [
        *["World violated → user violated → gave up"] * 3,
        "User violated → … → gave up",
    ]


def test_turns_of_a_sequence_are_medians() -> None:
    assert median_turns([(1, 2, None), (3, 4, None), (1, 9, None)], [5, 9, 4]) == "1 → 4 → 5"
