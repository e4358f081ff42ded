"""The persona that answers by a lexicon: which preferences a question asks for."""

from pathlib import Path

import pytest
import yaml

from benchmarks.systems.adapt.lexicon import (
    LOOK_YOURSELF,
    NO_PREFERENCE,
    answer_text,
    answers,
    asks_about_state,
    stem,
)
from tests.benchmarks.systems.adapt.kitchens import goal, inventory, preferences

QUESTIONS = yaml.safe_load(Path(__file__).with_name("questions.yaml").read_text(encoding="utf-8"))


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


def told(persona, meal, question):
    return [p.n for p in answers(question, preferences(persona), inventory(), goal(meal).expects)]


def test_ordinary_questions_are_answered():
    """The half of the questions that was out of sight measures the rule: docs/asking-agents.md."""
    shares = {
        half: sum(
            not set(right).isdisjoint(told(persona, meal, question))
            for persona, meal, right, question in QUESTIONS[half]
        )
        for half in ("in_sight", "held_back")
    }
    assert {half: len(QUESTIONS[half]) for half in shares} == {"in_sight": 62, "held_back": 62}
    assert shares == {"in_sight": 62, "held_back": 59}


@pytest.mark.parametrize("question", QUESTIONS["kitchen"])
@pytest.mark.parametrize("meal", ["eggs", "toast_coffee", "parfait", "cereal_coffee", "tea_toast"])
def test_questions_about_the_kitchen_disclose_nothing(question, meal):
    assert not any(told(persona, meal, question) for persona in range(1, 17))
    assert answer_text(question, []) == LOOK_YOURSELF


@pytest.mark.parametrize("question", ["Is the stove on?", "Where is the milk?", "Do we have eggs?"])
def test_questions_about_the_kitchen(question):
    assert asks_about_state(question) and answer_text(question, []) == LOOK_YOURSELF
    assert not asks_about_state("Would you like your eggs on toast?")


def test_stems():
    assert [stem(word) for word in ("Berries", "glasses", "dishes", "eggs", "glass", "tea")] == [
        "berry", "glass", "dish", "egg", "glass", "tea",
    ]  # fmt: skip
