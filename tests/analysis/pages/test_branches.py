"""What the page of replays says of turns is what their shares and tests say."""

from analysis.pages.branches.page import turns_sentence
from analysis.stats.comparison.replays import decisive_turns

NEVER, ALWAYS = [0.0] * 5, [1.0] * 5


def test_no_turn_has_the_largest_difference_where_none_has_any() -> None:
    words = turns_sentence(decisive_turns([NEVER, NEVER], NEVER, copies=False))
    assert "at none does a new answer end right more often" in words
    assert "largest difference" not in words


def test_a_turn_that_may_have_decided_is_named() -> None:
    some = [1.0, *NEVER[1:]]
    words = turns_sentence(decisive_turns([some, NEVER], NEVER, copies=False))
    assert "The largest difference is at turn 1" in words
    assert "Turn 1 decided it" in turns_sentence(
        decisive_turns([ALWAYS, NEVER], NEVER, copies=False)
    )
