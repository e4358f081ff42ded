"""The demo tasks that ship with the product."""

from collections import Counter

from benchmarks.systems.adaplanbench.demo import LEVELS, load_demo_tasks, problems
from benchmarks.systems.adaplanbench.plans import pool_of, split_steps


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
