"""Two scripts that bracket what an agent does when it is asked again: fresh and stubborn."""

import pytest

from benchmarks.core.types import Ask, Expect, Message
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from benchmarks.systems.sda_planner.scripted import _closest
from benchmarks.systems.sda_planner.steps import Step, read_steps
from benchmarks.systems.sda_planner.system import SYSTEM
from tests.benchmarks.systems.sda_planner.stage import alfred_tasks, by_rule, play

BRACKET = SYSTEM.comparisons.bracket
CORRECTING = ("sda", "local", "global")


def asked(task, planner, name, seed=1):
    """Play a trial; return it with the asks after the first, each with its reply's steps."""
    policy = SYSTEM.scripted[name]
    agent, pairs = policy.build(task, policy.parameters), []

    def rule(ask: Ask) -> str:
        text = agent.answer(ask, seed + len(pairs)).text
        pairs.append((ask, text))
        return text

    return play(task, by_rule(rule), planner=planner), pairs[1:]


def test_the_sides_are_declared_and_differ_in_the_assumption_alone():
    fresh, stubborn = BRACKET.sides

    assert (fresh.name, stubborn.name) == ("fresh", "stubborn")
    assert BRACKET.side_of("stubborn-60") is stubborn
    assert BRACKET.side_of("demonstration") is None
    for one, other in zip(fresh.scripts, stubborn.scripts, strict=True):
        given = SYSTEM.scripted[one].parameters
        assert SYSTEM.scripted[other].parameters == {**given, "stubborn": True}
    assert set(BRACKET.factors) <= {factor.name for factor in SYSTEM.comparisons.factors}


def test_both_sides_and_every_planner_begin_with_the_same_plan():
    for task in sample_tasks()[:8]:
        plans = {
            str(play(task, name, planner=planner).turns[0].payload["plan"])
            for name in ("errors-100", "stubborn-100")
            for planner in CORRECTING
        }
        assert len(plans) == 1


@pytest.mark.parametrize("planner", ["local", "global"])
def test_the_stubborn_script_keeps_the_plan_that_failed(planner):
    """Its reply is the plan it had, with steps added before the one that failed."""
    kept = 0
    for task in sample_tasks():
        for ask, text in asked(task, planner, "stubborn-100")[1]:
            at = ask.context["failure"]["t"] - 1
            plan = [Step.of(step) for step in ask.context["plan"]]
            written = read_steps(text)
            tail = plan[at:]
            assert written[len(written) - len(tail) + 1 :] == tail[1:]
            if planner == "global":
                assert written[:at] == plan[:at]
            kept += 1

    assert kept > 20


def test_the_stubborn_script_answers_the_same_failure_alike():
    """What it cannot repair fails again until no correction is left, as at temperature 0."""
    stuck = [
        played
        for task in sample_tasks()
        if (played := play(task, "stubborn-100", planner="local")).outcome.termination
        == "max_corrections"
    ]

    assert stuck
    failures = [(e["step"], e["message"]) for e in stuck[0].errors()]
    assert len(failures) > len(set(map(str, failures)))


def test_a_house_that_is_put_back_is_repaired_as_it_will_be():
    """Told that the hand is full, the Global Planner's agent empties it though none is full yet."""
    seen = 0
    for task in sample_tasks():
        for ask, text in asked(task, "global", "stubborn-100")[1]:
            if "currently holding" not in ask.context["failure"]["message"]:
                continue
            at = ask.context["failure"]["t"] - 1
            added = read_steps(text)[at:][: 1 + len(read_steps(text)) - len(ask.context["plan"])]
            if len(added) > 1:
                assert "put down" in [step.skill for step in added]
                seen += 1

    assert seen


def test_a_choice_is_made_by_what_the_script_goes_by():
    """Two options in one order each: the one like the plan wanted is taken, else the earlier."""
    a, b = ["find", "Mug", ""], ["find", "Fork", ""]
    context = {"rest": [], "options": [{"steps": [a, b]}, {"steps": [b, a]}]}

    assert _closest(context, [Step.of(b), Step.of(a)]) == "2"
    assert _closest(context, []) == "1"


def test_without_a_mistake_both_sides_succeed():
    for task in sample_tasks()[:6]:
        policy = SYSTEM.scripted["stubborn-30"]
        agent = policy.build(task, {**policy.parameters, "rate": 0.0})
        assert play(task, agent).outcome.metrics["accurate"] == 1


def test_no_order_of_sda_and_global_follows_from_the_shared_trials():
    """Rate 1, seed 1: fresh scripts favour Global, stubborn ones do not."""

    def successes(name: str) -> dict[str, float]:
        return {
            planner: sum(
                play(task, name, planner=planner).outcome.metrics["accurate"]
                for task in alfred_tasks()
            )
            for planner in ("sda", "global")
        }

    fresh, stubborn = successes("errors-100"), successes("stubborn-100")
    assert fresh["global"] > fresh["sda"]
    assert stubborn["global"] <= stubborn["sda"]


def test_asks_are_those_of_stored_runs():
    """What scripts are told besides the messages is no part of an ask's digest."""
    messages, expect = (Message("user", "x"),), Expect("plan")

    assert (
        Ask("agent", messages, expect, context={"start": 1}).digest
        == Ask("agent", messages, expect).digest
    )
