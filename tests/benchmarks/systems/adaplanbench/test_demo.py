"""The demo tasks that ship with the product."""

from collections import Counter
from statistics import fmean

import pytest

from benchmarks.core.plans import KnownPlans, pool_of, split_steps, stages_of
from benchmarks.systems.adaplanbench.demo import (
    LEVELS,
    full_problems,
    load_demo_tasks,
    load_full_tasks,
    problems,
)


def test_they_are_sound():
    assert list(problems()) == []


def test_there_are_at_least_thirty():
    assert len(load_demo_tasks()) >= 30


def test_levels_include_the_ones_below():
    for task, profiles in load_demo_tasks():
        assert [profile.level for profile in profiles] == list(LEVELS), task.id
        for lower, higher in zip(profiles, profiles[1:], strict=False):
            assert set(lower.constraints) < set(higher.constraints), task.id


def test_plans_of_a_task_are_told_apart_by_their_text():
    """Scripted judges recognise a plan by its text."""
    for task, _ in load_demo_tasks():
        texts = Counter(" ".join(plan.text.lower().split()) for plan in pool_of(task))
        assert set(texts.values()) == {1}, task.id


def test_plans_read_back_as_their_steps():
    for task, _ in load_demo_tasks():
        for plan in pool_of(task):
            assert split_steps(plan.text) == [" ".join(s.split()) for s in plan.steps], task.id


def test_no_text_of_a_constraint_stands_in_the_query():
    for task, profiles in load_demo_tasks():
        for constraint in profiles[-1].constraints:
            assert constraint.text.casefold() not in task.prompt.casefold()


def test_full_size_tasks_are_sound():
    """Sizes, distinct texts, a sound way left in each stage, every constraint within reach."""
    assert list(full_problems()) == []
    assert len(load_full_tasks()) >= 10


@pytest.mark.parametrize(
    ("kind", "published"), [("world", (9.76, 19.61, 37.73)), ("user", (10.91, 21.78, 41.79))]
)
def test_full_size_profiles_are_as_large_as_in_table_2(kind, published):
    for place, mean in enumerate(published):
        sizes = [len(profiles[place].of_kind(kind)) for _, profiles in load_full_tasks()]
        assert fmean(sizes) == pytest.approx(mean, abs=0.5)


def test_levels_of_full_size_tasks_include_the_ones_below():
    for task, profiles in load_full_tasks():
        assert [profile.level for profile in profiles] == list(LEVELS), task.id
        for lower, higher in zip(profiles, profiles[1:], strict=False):
            assert set(lower.constraints) < set(higher.constraints), task.id


def test_full_size_tasks_are_recognised_by_the_steps_of_their_stages():
    for task, _ in load_full_tasks():
        steps = Counter(way.text.lower() for ways in stages_of(task) for way in ways)
        assert set(steps.values()) == {1}, task.id
        (reference,) = pool_of(task)
        assert reference.key == task.payload["reference"]
        assert KnownPlans(task).find(reference.text) == reference
