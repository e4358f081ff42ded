"""Steps of a plan, and the pools that scripted agents draw from."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.plans import (
    PoolPlan,
    number_steps,
    parse_plan,
    pool_of,
    split_steps,
    word_distance,
)
from benchmarks.core.types import Task


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. Mop.\n2. Dry.", ["Mop.", "Dry."]),
        ("1) Mop.\n 2) Dry.", ["Mop.", "Dry."]),
        ("1: Mop.\n2 - Dry.", ["Mop.", "Dry."]),
        ("Step 1: Mop.\nSTEP 2. Dry.", ["Mop.", "Dry."]),
        ("1.Mop.\n2.Dry.", ["Mop.", "Dry."]),
        ("Here is my plan:\n\n1. Mop.\n\n2. Dry.\n", ["Mop.", "Dry."]),
        ("1. Mop\n   the floor.\n2. Dry.", ["Mop the floor.", "Dry."]),
        (
            "1. Mop:\n- first here\n- then there\n2. Dry.",
            ["Mop: - first here - then there", "Dry."],
        ),
        ("- Mop.\n* Dry.\n• Rest.", ["Mop.", "Dry.", "Rest."]),
        ("Plan:\n- Mop.\n  slowly", ["Mop. slowly"]),
        ("Mop.\nDry.", ["Mop.", "Dry."]),
        ("Mop everything.", ["Mop everything."]),
        ("10. Mop.\n100. Dry.", ["Mop.", "Dry."]),
        ("1. Mop.\r\n2. Dry.", ["Mop.", "Dry."]),
        ("1.\n2. Dry.", ["Dry."]),
        ("1. Mop.\n1. Dry.", ["Mop.", "Dry."]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_splits(text, steps):
    assert split_steps(text) == steps


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("1. Fill the pot with\n2.5 litres of water.", ["Fill the pot with 2.5 litres of water."]),
        ("1. Cut the cloth into\n2-inch strips.", ["Cut the cloth into 2-inch strips."]),
        ("1. Wait until\n10:30 or so.", ["Wait until 10:30 or so."]),
        ("1. Take\n2 cups of rice.", ["Take 2 cups of rice."]),
        ("1. In the year\n2024. it rained.", ["In the year 2024. it rained."]),
    ],
)
def test_numbers_in_a_sentence_begin_no_step(text, steps):
    assert split_steps(text) == steps


sentence = st.text("abc .,0123456789-", min_size=1).map(lambda s: f"a{s}b".replace("  ", " "))


@given(st.lists(sentence.map(str.strip), min_size=1, max_size=30))
def test_numbered_steps_come_back_as_they_were(steps):
    assert split_steps(number_steps(steps)) == steps


@given(st.text())
def test_no_step_is_blank(text):
    assert all(step.strip() for step in split_steps(text))


class TestParsePlan:
    def test_keeps_the_text_and_gives_the_steps(self):
        assert parse_plan("\nSo:\n1. Mop.\n2. Dry.\n", {}) == {
            "text": "So:\n1. Mop.\n2. Dry.",
            "steps": ["Mop.", "Dry."],
        }

    @pytest.mark.parametrize("text", ["", "  \n\n", "1.", "1. \n2) "])
    def test_without_a_step_it_is_unreadable(self, text):
        with pytest.raises(UnreadableReply, match="found no step"):
            parse_plan(text, {})


class TestPools:
    PLAN = PoolPlan("p", ("Mop.", "Dry."), ("mop",), ("wet hands",))

    def test_text_is_numbered(self):
        assert self.PLAN.text == "1. Mop.\n2. Dry."

    @pytest.mark.parametrize(
        ("about", "used"),
        [
            ("tool:mop", True),
            ("attribute:wet hands", True),
            ("attribute:mop", False),
            ("tool:wet hands", False),
            ("tool:", False),
            ("", False),
        ],
    )
    def test_use(self, about, used):
        assert self.PLAN.uses(about) is used

    def test_tasks_without_plans_have_an_empty_pool(self):
        assert pool_of(Task("t", "?")) == ()

    def test_missing_fields_are_empty(self):
        (plan,) = pool_of(Task("t", "?", payload={"plans": [{"key": "p", "steps": ["Mop."]}]}))

        assert plan == PoolPlan("p", ("Mop.",))


@pytest.mark.parametrize(
    ("offered", "text", "distance"),
    [
        ("a b c d", "a b c d", 0.0),
        ("a b c d", "a x c d", 0.25),  # one replaced
        ("a b c d", "a b c", 0.25),  # one left out
        ("a b c d", "a b c d e", 0.2),  # one added
        ("a b", "c d e f", 1.0),
        ("", "", 0.0),
        ("", "a", 1.0),
        ("word " * 10_000, "word " * 10_000 + "end", 0.0),  # the first words alone
    ],
)
def test_distances_of_texts_in_words(offered: str, text: str, distance: float) -> None:
    assert word_distance(offered, text) == pytest.approx(distance)
