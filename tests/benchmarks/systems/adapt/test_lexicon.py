"""The persona that answers by a lexicon: which preferences a question asks for."""

import pytest

from benchmarks.systems.adapt.lexicon import (
    LOOK_YOURSELF,
    NO_PREFERENCE,
    answer_text,
    answers,
    asks_about_state,
    stem,
)
from tests.benchmarks.systems.adapt.kitchens import inventory, preferences


@pytest.mark.parametrize(
    ("question", "persona", "told"),
    [
        ("Would you like milk in your coffee?", 1, [3]),
        ("Would you like milk in your coffee?", 5, [4, 12]),
        ("Do you want your tea hot or iced?", 1, [6]),
        ("How would you like your eggs?", 10, [1, 2]),
        ("Any spices on the eggs?", 15, [9, 10]),
        ("Where should I serve breakfast?", 8, [13]),
        ("Which kind of coffee do you want?", 13, [2]),
        ("Would you like toast with your eggs?", 16, [4]),
        ("What is your favourite colour?", 3, []),
        ("Do you want jam on your coffee?", 1, []),
    ],
)
def test_what_a_question_discloses(question, persona, told):
    found = answers(question, preferences(persona), inventory())
    assert [p.n for p in found] == told
    words = answer_text(question, found)
    assert words == (" ".join(p.text for p in found) or NO_PREFERENCE)


@pytest.mark.parametrize("question", ["Is the stove on?", "Where is the milk?", "Do we have eggs?"])
def test_questions_about_the_kitchen(question):
    assert asks_about_state(question) and answer_text(question, []) == LOOK_YOURSELF
    assert not asks_about_state("Would you like your eggs on toast?")


def test_stems():
    assert [stem(word) for word in ("Berries", "glasses", "dishes", "eggs", "glass", "tea")] == [
        "berry", "glass", "dish", "egg", "glass", "tea",
    ]  # fmt: skip
