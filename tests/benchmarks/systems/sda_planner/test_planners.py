"""The four planners: what each does when a step fails, and every class of error repaired."""

import json

import pytest

from benchmarks.core.answerers import Answer, Scripted
from benchmarks.llm.chat import request_body
from benchmarks.llm.config import EndpointConfig
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from benchmarks.systems.sda_planner.house.goals import TWO
from benchmarks.systems.sda_planner.metrics import summarise
from benchmarks.systems.sda_planner.repair.planners import grow
from benchmarks.systems.sda_planner.scripted import MISTAKES
from benchmarks.systems.sda_planner.steps import Step, read_steps, write_plan
from benchmarks.systems.sda_planner.system import SYSTEM
from tests.benchmarks.systems.sda_planner.stage import (
    alfred_tasks,
    answering,
    by_rule,
    play,
    sample,
)

PLANNERS = ("sda", "local", "global", "tree")


def demonstration(task):
    return write_plan(Step.of(step) for step in task.payload["gold"])


def phases(played):
    return [step["phase"] for turn in played.turns for step in turn.payload["steps"]]


# --- SDA ------------------------------------------------------------------------------------------

EARLY = """
1. find a bowl
2. pick up the bowl
3. find a fork
4. pick up the fork
5. find a bowl
6. put down the fork
7. pick up the bowl
8. find a dining table
9. put down the bowl
10. done
"""


def test_an_early_pick_up_is_traced_undone_and_put_right():
    """The kind of figure 2: the hand was filled before the thing that goes inside."""
    played = play(sample("fork-in-bowl-on-table"), answering(EARLY))

    (error,) = played.errors()[:1]
    assert (error["t"], error["message"]) == (4, "Robot is currently holding bowl")
    found = error["diagnosis"]
    assert (found["kind"], found["state"][0], found["t_source"]) == (
        "precondition",
        "agent.hold",
        2,
    )
    correction = played.corrections()[0]
    assert correction["kind"] == "rebuild"
    undone = [s for s in played.turns[0].payload["steps"] if s["phase"] == "reverse"]
    assert [s["step"][0] for s in undone] == ["find", "put down"]
    assert undone[0]["prep"] and all(s["ok"] for s in undone)
    assert played.outcome.metrics["accurate"] == 1
    assert played.outcome.metrics["reversed"] == 2


LOST = """
1. find a salt shaker
2. pick up the salt shaker
3. find a dining table
4. put down the salt shaker
5. find a shelf
6. put down the salt shaker
"""


def test_an_early_put_down_is_traced_and_the_thing_is_taken_again():
    """The kind of case 2: a thing was put down on the way."""
    played = play(sample("salt-on-shelf"), answering(LOST), knowledge="full")
    found = played.errors()[0]["diagnosis"]

    assert found["breaks"] == [4]
    assert (found["t_start"], found["t_end"]) == (3, 6)
    assert played.corrections()[0]["kind"] == "rebuild"


def test_a_missing_find_is_inserted_and_nobody_is_asked():
    plan = "1. find a fork\n2. pick up the fork\n3. put down the fork\n4. done"
    without = "1. pick up the salt shaker\n2. find a shelf\n3. put down the salt shaker"
    played = play(sample("salt-on-shelf"), answering(without))

    assert [one["kind"] for one in played.corrections()] == ["insert"]
    assert played.outcome.metrics["calls"] == 1
    assert played.outcome.metrics["accurate"] == 1
    # A put-down with no place that the plan could have meant is asked for.
    rest = "1. find a fork\n2. pick up the fork\n3. find a sink\n4. put down the fork"
    asked = play(sample("fork-in-sink"), answering(plan, rest))
    assert asked.outcome.metrics["calls"] == 2


def test_what_cannot_be_undone_is_done_only_in_thought():
    """A slice in the window is skipped when the rebuilt plan comes to it again."""
    task = sample("tomato-piece-in-pot")
    played = play(task, "errors-100", seed=5)
    sliced = [
        step for turn in played.turns for step in turn.payload["steps"]
        if step["step"][0] == "slice" and step["phase"] == "plan" and step["ok"]
    ]  # fmt: skip

    assert len(sliced) <= 1
    fakes = [s for seed in range(30) for t in play(task, "errors-100", seed=seed).turns
             for s in t.payload["steps"] if s["phase"] == "fake"]  # fmt: skip
    assert fakes
    assert all(step["step"][0] == "slice" and not step["changes"] for step in fakes)


def test_without_adaptation_the_failed_step_is_left_out():
    played = play(sample("fork-in-bowl-on-table"), answering(EARLY), adaptation=False)

    assert played.corrections() == []
    assert played.outcome.metrics["corrections"] == 0
    assert played.outcome.payload["counts"]["skipped"] >= 1


def test_without_the_search_tree_the_agent_writes_the_window():
    def rule(ask):
        return EARLY if ask.context["purpose"] == "plan" else "1. find a fork\n2. pick up the fork"

    played = play(sample("fork-in-bowl-on-table"), by_rule(rule), search_tree=False)
    (correction,) = played.corrections()[:1]

    assert correction["soft"]
    assert "tree" not in correction


def test_a_choice_of_a_sixth_of_five_is_asked_again_then_the_first_is_taken():
    def rule(ask):
        purpose = ask.context["purpose"]
        return {"choice": "6", "corrective": "none"}.get(purpose, EARLY)

    played = play(sample("fork-in-bowl-on-table"), by_rule(rule))
    correction = played.corrections()[0]

    assert correction["choice_unread"]
    assert correction["chosen"] == 0


# --- every class of mistake and of injected error -------------------------------------------------


@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_every_class_of_mistake_is_made_and_met(mistake):
    """Each fits some task of the house; whoever makes it every time is repaired somewhere."""
    policy = SYSTEM.scripted["errors-100"]
    found = []
    for task in sample_tasks():
        agent = policy.build(task, {**policy.parameters, "mistake": mistake, "max_errors": 1})
        played = play(task, agent)
        plan = played.turns[0].payload["plan"]
        if plan != task.payload["gold"]:
            found.append(played)

    assert found
    if mistake not in ("cut_tail", "confuse"):  # the first never fails, the second need not
        assert any(one.corrections() for one in found)
    if mistake not in ("cut_tail", "drop_put"):
        assert any(one.outcome.metrics["accurate"] == 1 for one in found)


@pytest.mark.parametrize("kind", ["relocate", "occlude", "slip", "drop"])
@pytest.mark.parametrize("planner", ["sda", "local"])
def test_every_class_of_injected_error_is_diagnosed_and_repaired(kind, planner):
    """The demonstration itself is right, so what fails is the house."""
    struck = repaired = 0
    for task in sample_tasks():
        played = play(task, "demonstration", planner=planner, env_error=kind, env_rate=1)
        events = played.outcome.payload["events"]
        if not any(event["struck"] for event in events):
            continue
        struck += 1
        repaired += played.outcome.metrics["accurate"] == 1
        assert played.outcome.metrics["environment_errors"] >= 1
        if planner == "sda":
            assert played.errors()[0]["kind"] == "environment"
        assert played.errors()[0]["injected"]["kind"] == kind

    assert struck >= 15
    assert repaired >= struck * 0.6


def test_injected_errors_do_not_depend_on_the_planner():
    task = sample("hot-potato-on-table")
    drawn = {
        str([(e["kind"], e["object"], e["place"]) for e in
             play(task, "errors-60", planner=p, env_error="mixed", env_rate=1,
                  env_max=3).outcome.payload["events"]])
        for p in PLANNERS
    }  # fmt: skip

    assert len(drawn) == 1


# --- Local, Global, Tree --------------------------------------------------------------------------


def test_local_keeps_what_was_done_and_global_starts_over():
    task = sample("fork-in-bowl-on-table")
    rest = "1. find a dining table\n2. put down the bowl"
    local = play(task, answering(EARLY, rest), planner="local")
    other = play(task, answering(EARLY, demonstration(task)), planner="global")

    assert local.turns[1].payload["first"] == 3
    assert local.outcome.metrics["resets"] == 0
    assert other.turns[1].payload["first"] == 0
    assert (other.outcome.metrics["resets"], other.outcome.metrics["corrections"]) == (1, 1)
    assert other.outcome.metrics["accurate"] == 1
    assert other.corrections()[0]["reset"]


def test_only_global_resets():
    for planner in PLANNERS:
        resets = sum(
            play(task, "errors-100", planner=planner).outcome.metrics["resets"]
            for task in sample_tasks()
        )
        assert (resets > 0) == (planner == "global")


def test_the_tree_merges_plans_and_the_most_votes_go_first():
    plans = [read_steps(text) for text in (
        "1. find a mug\n2. pick up the mug", "1. find a cup\n2. pick up the cup",
        "1. find a mug\n2. open the mug",  "1. find a mug\n2. pick up the mug",
    )]  # fmt: skip
    root = grow(plans)

    assert [child.votes for child in root.children.values()] == [3, 1]
    assert root.best().best().step == Step("pick up", "Mug")


def test_the_tree_planner_goes_to_another_branch_and_has_no_corrections():
    task = sample("salt-on-shelf")
    wrong = "1. find a laptop\n2. pick up the laptop"
    texts = [wrong, wrong, demonstration(task)]
    agent = Scripted("tree", "1", lambda ask, seed: Answer(texts[seed % 3]))
    seeds = [n for n in range(12) if play(task, agent, seed=n, planner="tree").turns]
    played = [play(task, agent, seed=n, planner="tree") for n in seeds]
    branched = next(one for one in played if one.corrections())

    assert branched.corrections()[0]["kind"] == "branch"
    assert branched.outcome.metrics["accurate"] == 1
    assert branched.outcome.metrics["corrections"] is None
    assert "not counted" in branched.outcome.undefined["corrections"]


def test_a_tree_without_a_live_branch_ends():
    agent = by_rule(lambda ask: "1. find a laptop")
    played = play(sample("salt-on-shelf"), agent, planner="tree")

    assert played.outcome.termination == "no_branch"
    assert played.outcome.metrics["accurate"] == 0


# --- limits and bad input -------------------------------------------------------------------------


def test_a_plan_of_ten_thousand_steps_is_refused_at_once():
    long = "\n".join(f"{n}. find a mug" for n in range(1, 10_001))
    played = play(sample("salt-on-shelf"), by_rule(lambda ask: long))

    assert played.outcome.termination == "unreadable"
    assert played.outcome.metrics["accurate"] == 0
    assert "at most" in played.outcome.payload["reason"]


def test_skills_that_do_not_exist_fail_when_their_turn_comes():
    plan = "1. find a salt shaker\n2. juggle the salt shaker\n3. done"
    for planner in ("sda", "local", "global"):
        played = play(sample("salt-on-shelf"), by_rule(lambda ask: plan), planner=planner)
        assert played.outcome.termination == "max_corrections"
        assert played.errors()[0]["message"] == "instruction not supported"


def test_limits_end_an_episode():
    task = sample("cold-bread-in-microwave")
    assert play(task, "demonstration", max_steps=5).outcome.termination == "max_steps"
    stuck = by_rule(lambda ask: "1. pick up the laptop")
    ended = play(sample("salt-on-shelf"), stuck, planner="local", max_corrections=3)
    assert ended.outcome.termination == "max_corrections"
    assert ended.outcome.metrics["corrections"] == 3


def test_two_object_tasks_can_be_left_out():
    task = sample("two-keys-in-safe")
    played = play(task, "demonstration", exclude_two_obj=True)

    assert task.payload["task_type"] == TWO
    assert played.outcome.termination == "left_out"
    assert set(played.outcome.metrics.values()) == {None}
    row = summarise([played.outcome, play(sample("fork-in-sink"), "demonstration").outcome])
    assert row["metrics"]["accurate"]["n"] == 1
    assert row["by_group"]["task_type"][TWO]["accurate"]["value"] is None


def test_the_demonstration_succeeds_with_every_planner():
    for task in sample_tasks():
        for planner in PLANNERS:
            outcome = play(task, "demonstration", planner=planner).outcome
            assert outcome.metrics["accurate"] == 1, (task.id, planner)
            assert outcome.metrics["goal_conditions"] == 1


def test_all_shared_trials_are_played_to_an_end_by_every_planner():
    for number, task in enumerate(alfred_tasks()):
        for planner in PLANNERS if number % 3 == 0 else PLANNERS[:1]:
            played = play(task, "errors-100", planner=planner, env_error="mixed", env_rate=1)
            met, every = played.outcome.payload["goal"]
            assert 0 <= met <= every
            assert played.outcome.metrics["steps"] <= 100


# --- agents at endpoints --------------------------------------------------------------------------


def test_a_model_is_asked_in_prose_and_may_reply_in_either_form():
    """All that it needs stands in the messages; kinds of things are enough in its reply."""
    asked = []

    def rule(ask):
        asked.append(ask)
        if ask.context["purpose"] != "plan":
            return "none" if ask.context["purpose"] == "corrective" else "1"
        return json.dumps(["find a fork", "pick up the fork", "find a sink", "put down the fork"])

    played = play(sample("fork-in-sink"), by_rule(rule))
    body = request_body(
        EndpointConfig(name="t", base_url="http://localhost:1/v1", model="m"), asked[0], 1, {}
    )
    prose = "\n".join(message["content"] for message in body["messages"])

    assert played.outcome.metrics["accurate"] == 1
    assert "A fork belongs in the sink." in prose
    assert "butter knife" in prose and "stove burner" in prose
    assert "|" not in prose  # no ids: a model gives types only


def test_the_tree_planner_samples_at_its_own_temperature():
    task = sample("fork-in-sink")
    seen = []
    agent = by_rule(lambda ask: seen.append(ask) or demonstration(task))
    play(task, agent, planner="tree", tree_plans=3, temperature=0.4)
    config = EndpointConfig(name="t", base_url="http://localhost:1/v1", model="m")

    assert len(seen) == 3
    assert request_body(config, seen[0], 1, {})["temperature"] == 0.4
