"""The word table, and what can be read as probabilities."""

import json

import pytest

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.types import Message
from benchmarks.systems.adapt_reflection.scorers import (
    TABLE,
    TableScorer,
    ask_scorer,
    parse_probabilities,
)

OPENING = (Message("system", "You help."), Message("user", "The house: fridge_0, bowl_0"))
TOLD = (
    *OPENING,
    Message("assistant", "Ask Which milk?"),
    Message("user", "The person says: Oat milk."),
)


def test_what_the_person_said_makes_an_action_more_probable():
    scorer, action = TableScorer(), "Move oat_milk_0 to bowl_0"
    before, after = (scorer.token_probs(context, action) for context in (OPENING, TOLD))
    move, milk, to, bowl = range(4)
    assert len(before) == len(after) == 4
    assert after[milk] > before[milk]
    assert [after[n] for n in (move, to, bowl)] == [before[n] for n in (move, to, bowl)]
    assert before[bowl] > TABLE["unknown"] > before[milk] > 0 and max(after) <= 1
    assert scorer.token_probs(TOLD, action) == after
    with pytest.raises(ValueError, match="no word"):
        scorer.token_probs(OPENING, " ")


def test_a_scorer_is_told_the_text_and_how_to_put_it():
    ask = ask_scorer(TOLD, "Open fridge_0", "llama3")
    assert (ask.role, ask.messages) == ("scorer", TOLD)
    assert ask.expect.params == {"continuation": "Open fridge_0", "prompt_form": "llama3"}


@pytest.mark.parametrize(
    "found", [None, [], [0.5, "1"], [True], [1.5], [-0.1], [float("nan")], [0.5] * 5000]
)
def test_what_is_no_probabilities_is_unreadable(found):
    with pytest.raises(UnreadableReply):
        parse_probabilities(json.dumps({"probabilities": found}), {})


def test_probabilities_are_read():
    assert parse_probabilities('{"probabilities": [0, 0.25, 1]}', {}) == [0.0, 0.25, 1.0]
