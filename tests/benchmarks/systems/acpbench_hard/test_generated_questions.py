"""Generated questions: 200 of each task, each checked by a second, naive implementation.

Once with the problems explored to their end, and once as if they were too large for that, so that
bounded searches settle the answers.
"""

import json
import re
from collections import Counter
from functools import cache

import pytest

from benchmarks.systems.acpbench_hard.generation.bounded_space import MOST_NODES, SearchedSpace
from benchmarks.systems.acpbench_hard.generation.new_questions import MadeQuestion, make_questions
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.samples import shipped
from benchmarks.systems.acpbench_hard.scoring.answer_check import PLAN_FROM, PLAN_TO
from benchmarks.systems.acpbench_hard.tasks import TASKS, shown_answers
from tests.benchmarks.systems.acpbench_hard.naive import Naive, plan_in

SEED, PER_TASK = 20261123, 200

every_task = pytest.mark.parametrize("task", TASKS)


both_ways = pytest.mark.parametrize("searched", [False, True], ids=["explored", "searched"])


@cache
def made(task: str, searched: bool = False) -> list[MadeQuestion]:
    """The questions of a task over all shipped problems, made once for all tests."""
    return list(make_questions(list(_sources(searched)), SEED, PER_TASK, [task]))


@cache
def _sources(searched: bool = False):
    found = tuple(shipped())
    for source in found if searched else ():
        source.space = SearchedSpace(source.instance)
    return found


# One naive world for each problem as it is asked about: its current state differs.
@cache
def naive(domain: str, problem: str) -> Naive:
    return Naive(domain, problem)


def of(question: PlanningQuestion) -> Naive:
    return naive(question.pddl_domain, question.pddl_problem)


def test_there_are_six_domains_with_several_solvable_problems():
    problems = Counter(
        source.instance.domain.name for source in _sources() if source.space.solvable
    )

    assert len(problems) >= 5
    assert min(problems.values()) >= 4


@both_ways
@every_task
def test_there_are_enough_different_questions(task, searched):
    questions = [one.question for one in made(task, searched)]

    assert len(questions) == PER_TASK
    assert len({one.question_id for one in questions}) == PER_TASK
    assert len({(one.context, one.question) for one in questions}) == PER_TASK
    assert {one.domain for one in questions} == {s.instance.domain.name for s in _sources()}


@both_ways
def test_applicability_is_complete(searched):
    for one in made("app", searched):
        world = of(one.question)
        assert set(one.question.answer) == world.applicable(world.init)


@both_ways
def test_progression_is_what_the_action_changes(searched):
    for one in made("prog", searched):
        world = of(one.question)
        (action,) = re.findall(r"that is (\([^()]*\))", one.question.question)
        assert action in world.applicable(world.init)
        after = world.ops[action].apply(world.init)
        assert set(one.question.answer["pos"]) == after - world.init
        assert set(one.question.answer["neg"]) == world.init - after
        assert after != world.init


@both_ways
def test_propositions_that_can_never_hold(searched):
    for one in made("reach", searched):
        world = of(one.question)
        never = world.atoms - world.ever
        stored = {f"({text})" for text in one.question.answer}
        assert stored <= never
        assert len(stored) == min(len(never), 50)


@both_ways
def test_actions_that_can_never_be_performed(searched):
    for one in made("areach", searched):
        world = of(one.question)
        never = world.ops.keys() - world.ever_applicable
        assert set(one.question.answer) <= never
        assert bool(never) == bool(one.question.answer)


@both_ways
def test_the_first_action_that_cannot_be_performed(searched):
    for one in made("val", searched):
        world = of(one.question)
        plan = plan_in(one.question.question)
        assert set(plan) <= world.ops.keys()
        assert world.run(plan)[0] == one.question.answer


@both_ways
def test_what_can_be_left_out_of_a_plan(searched):
    for one in made("just", searched):
        world = of(one.question)
        plan = plan_in(one.question.question)
        assert world.is_plan(plan)
        found = []
        for size in (1, 2):
            for place in range(len(plan) - size + 1):
                if world.is_plan(plan[:place] + plan[place + size :]):
                    part = plan[place : place + size]
                    several = size == 1 and plan.count(part[0]) > 1
                    found.append([*part, str(plan[: place + 1].count(part[0]) if several else -1)])
        assert one.question.answer == found
        assert found


@both_ways
def test_the_reference_cuts_the_plan_out_as_well(searched):
    for one in made("just", searched):
        cut = one.question.question[PLAN_FROM:PLAN_TO]
        assert cut == " ".join(plan_in(one.question.question))


@both_ways
def test_landmarks(searched):
    for one in made("land", searched):
        world = of(one.question)
        asked = world.atoms - world.init - world.goal
        needed = {atom for atom in asked if world.distance(world.init, atom) is None}
        assert set(one.question.answer["yes"]) == needed
        assert set(one.question.answer["no"]) == asked - needed


@both_ways
def test_next_actions(searched):
    for one in made("nexta", searched):
        world = of(one.question)
        here = world.distance(world.init)
        assert one.question.answer["opt"] == str(here)
        nearer = {
            name
            for name, state in world.graph[world.init].items()
            if world.distance(state) == here - 1
        }
        assert set(one.question.answer["yes"]) == nearer
        assert set(one.question.answer["no"]) == world.applicable(world.init) - nearer
        assert one.question.answer["maybe"] == []


def test_some_answers_are_none_and_some_are_not():
    for task in ("reach", "areach"):
        empty = sum(not one.question.answer for one in made(task))
        assert 0 < empty < PER_TASK


@every_task
def test_neither_question_nor_context_gives_the_answer_away(task):
    """Comments are gone, and no stored proposition or action stands where it is asked for."""
    for one in made(task):
        question = one.question
        assert ";" not in question.pddl_domain + question.pddl_problem
        told = question.context + question.question
        if task in ("app", "areach", "land", "nexta", "reach"):
            for _, entries in shown_answers(task, question.answer):
                # A predicate without objects stands among the names of all.
                assert not any(entry in told for entry in entries if " " in entry)


@every_task
def test_the_same_seed_makes_the_same_and_another_does_not(task):
    def ids(seed: int) -> list[int]:
        return [
            one.question.question_id for one in make_questions(list(_sources()), seed, 24, [task])
        ]

    assert ids(1) == ids(1)
    assert ids(1) != ids(2)
    assert all(one.record["seed"] == SEED and one.record["problem"] for one in made(task))
    assert json.dumps([one.record for one in made(task)])
    assert all("states" in one.record for one in made(task))
    assert all(one.record["nodes"] == MOST_NODES for one in made(task, True))
