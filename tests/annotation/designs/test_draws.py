"""Probabilities of being drawn: what many seeds show, and how they are stored."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.designs.draws import draw_probabilities, read_draws, write_draws
from annotation.designs.sampling import Sample, sample_options
from tests.annotation.designs.test_sampling import OPTIONS

SEEDS = 600


@pytest.mark.parametrize(
    "wish",
    [
        {"way": "all"},
        {"way": "total", "count": 20},
        {"way": "total", "count": 5, "whole_tasks": True},
        {"way": "per_model", "count": 3},
        {"way": "per_task", "count": 2},
        {"way": "stratified", "count": 12, "strata": ("level",)},
        {"way": "stratified", "count": 12, "strata": ("level", "ending"), "allocation": "equal"},
    ],
)
def test_probabilities_are_how_often_options_are_drawn(wish: dict[str, Any]) -> None:
    drawn: Counter[int] = Counter()
    for seed in range(SEEDS):
        sampled = sample_options(options=OPTIONS, sample=Sample(**wish), seed=seed)
        drawn.update(option.id for option in sampled.options)
    probabilities = draw_probabilities(OPTIONS, sampled, {one.id for one in sampled.options})
    assert probabilities.keys() == {option.id for option in OPTIONS}
    assert sum(probabilities.values()) == pytest.approx(len(sampled.options))
    for pk, probability in probabilities.items():
        assert drawn[pk] / SEEDS == pytest.approx(probability, abs=0.09)


def test_of_a_sample_that_has_more_tasks_than_lists_have_room_for_tasks_are_drawn() -> None:
    sampled = sample_options(options=OPTIONS, sample=Sample(way="per_model", count=6), seed=3)
    tasks = sorted({option.task for option in sampled.options})
    used = {option.id for option in sampled.options if option.task in tasks[:4]}
    probabilities = draw_probabilities(OPTIONS, sampled, used)
    assert set(probabilities.values()) == {6 / 12 * 4 / len(tasks)}


def test_probabilities_of_many_units_are_stored_in_few_words() -> None:
    probabilities = {pk: 0.25 if pk <= 3000 else 1 for pk in (*range(1, 5001), 7000)}
    assert write_draws(probabilities) == [[0.25, "1-3000"], [1, "3001-5000,7000"]]


@given(st.dictionaries(st.integers(0, 500), st.sampled_from([0.0, 0.25, 1 / 3, 1.0])))
def test_what_is_written_is_read_again(probabilities: dict[int, float]) -> None:
    assert read_draws(write_draws(probabilities)) == probabilities
