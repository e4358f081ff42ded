"""The scripted cast: what its members decide from."""

import json
from dataclasses import asdict, replace

import pytest

from benchmarks.core.plans import KnownPlans, split_steps, stages_of
from benchmarks.core.types import Ask, Expect, Message, Task
from benchmarks.systems.adaplanbench import scripted
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from benchmarks.systems.adaplanbench.scripted import POLICIES, SEVERITIES, TEMPERAMENTS, Temperament

QUALITY = {dimension.key: 5 for dimension in DIMENSIONS}
TASK = Task(
    "floor",
    "How do I dry a wet floor?",
    payload={
        "plans": [
            {"key": "mop", "steps": ["Mop the floor."], "tools": ["mop"], "attributes": ["noise"],
             "quality": QUALITY},
            {"key": "towel", "steps": ["Lay a towel down."], "tools": ["towel"],
             "quality": {**QUALITY, "safety": 1}},
        ]
    },
)  # fmt: skip
MOP, TOWEL = "1. Mop the floor.", "1. Lay a towel down."
NO_MOP = {"key": "w1", "kind": "world", "text": "There is no mop.", "about": "tool:mop"}
QUIET = {"key": "u1", "kind": "user", "text": "No noise.", "about": "attribute:noise"}


def say(policy, task=TASK, seed=1, **context):
    known = POLICIES[policy]
    ask = Ask(known.role, (Message("user", "?"),), Expect("x"), context=context)
    return known.build(task, known.parameters).answer(ask, seed)


def agent(policy, told=(), plans=(), seed=1, task=TASK, tracking=False):
    return say(policy, task, seed, told=told, plans=plans, tracking=tracking)


@pytest.mark.parametrize("policy", TEMPERAMENTS)
class TestAgents:
    def test_a_plan_of_the_pool_is_proposed(self, policy):
        assert agent(policy).text in (MOP, TOWEL)

    def test_without_a_pool_the_ask_is_declined(self, policy):
        answer = agent(policy, task=Task("empty", "?"))

        assert answer.declined.startswith("pool_exhausted")

    def test_plans_that_somebody_else_wrote_do_not_matter(self, policy):
        assert agent(policy, plans=["1. Call a friend."]).text in (MOP, TOWEL)


def share_of(text, mood, told, plans, tracking=False):
    """Return the share of 400 seeds in which an agent of this temperament proposes the plan."""
    answerer = scripted._agent("whim", mood)(TASK, {})
    context = {"told": told, "plans": plans, "tracking": tracking}
    ask = Ask("agent", (Message("user", "?"),), Expect("x"), context=context)
    return sum(answerer.answer(ask, seed).text == text for seed in range(400)) / 400


class TestMechanisms:
    """Each fault at its stated rate; 400 draws are within 0.09 of it (3.5 standard errors)."""

    SURE = Temperament(forgets=0.0, overlooks=0.0, hasty=0.0, whim=0.0)
    NO_TOWEL = {**NO_MOP, "key": "w2", "about": "tool:towel"}

    def near(self, share, rate):
        return abs(share - rate) < 0.09

    @pytest.mark.parametrize("chance", [0.0, 0.4])
    def test_forgetting_takes_remarks_of_earlier_turns(self, chance):
        mood = replace(self.SURE, forgets=chance)
        assert self.near(share_of(MOP, mood, [[NO_MOP], []], [MOP, TOWEL]), chance)
        assert share_of(MOP, mood, [[NO_MOP]], [MOP]) == 0
        assert share_of(MOP, mood, [[NO_MOP], []], [MOP, TOWEL], tracking=True) == 0

    def test_each_remark_is_lost_by_itself_so_that_many_are_lost_more_often(self):
        """Of two remarks about the mop, the mop comes back once both are lost."""
        mood = replace(self.SURE, forgets=0.5)
        noise = {**QUIET, "about": "attribute:noise"}
        assert self.near(share_of(MOP, mood, [[NO_MOP, noise], []], [MOP, TOWEL]), 0.25)

    @pytest.mark.parametrize(
        ("kind", "ignored", "heeded"), [("user", QUIET, NO_MOP), ("world", NO_MOP, QUIET)]
    )
    def test_one_side_is_ignored_and_the_other_heeded(self, kind, ignored, heeded):
        mood = replace(self.SURE, deaf_to=kind, deafness=0.4)
        assert self.near(share_of(MOP, mood, [[ignored]], [MOP]), 0.4)
        assert share_of(MOP, mood, [[heeded]], [MOP]) == 0

    def test_overlooking_takes_one_remark(self):
        mood = replace(self.SURE, overlooks=0.4)
        assert self.near(share_of(MOP, mood, [[NO_MOP]], [MOP]), 0.4)

    def test_haste_sets_quality_aside_but_no_remark(self):
        """By quality and convention the mop is the better one; by its whim the towel."""
        mood = replace(self.SURE, hasty=0.4, whim=1.0)
        noise = scripted.way_noise("whim", TASK, stages_of(TASK))
        assert noise["towel"] > noise["mop"]
        assert self.near(share_of(TOWEL, mood, [], []), 0.4)
        assert share_of(TOWEL, mood, [[self.NO_TOWEL]], [TOWEL]) == 0

    def test_repeating_insists_on_the_last_plan(self):
        mood = replace(self.SURE, repeats=0.4)
        assert self.near(share_of(MOP, mood, [[NO_MOP]], [MOP]), 0.4)

    def test_stopping_hands_in_the_last_plan_from_then_on(self):
        mood = replace(self.SURE, stops=0.4)
        assert self.near(share_of(MOP, mood, [[NO_MOP]], [MOP]), 0.4)
        assert share_of(MOP, mood, [[NO_MOP], [NO_MOP]], [MOP, MOP]) == 1

    def test_every_agent_of_the_cast_errs_but_seldom_at_a_single_remark(self):
        for _, mood in TEMPERAMENTS.values():
            assert 0 < mood.forgets <= 0.02 and 0.5 < mood.hasty < 1
            assert share_of(MOP, mood, [[NO_MOP]], [TOWEL]) < 0.12

    def test_rates_depend_on_the_agent_alone(self):
        """The agent is built from the task; its identity states the same rates for every task."""
        for policy, (_, mood) in TEMPERAMENTS.items():
            for task in (TASK, STAGED):
                made = POLICIES[policy].build(task, {})
                assert made.identity.parameters == asdict(mood)


WAYS = {
    "stages": [
        {"name": "dry", "ways": TASK.payload["plans"]},
        {
            "name": "finish",
            "ways": [
                {"key": "fan", "steps": ["Switch the fan on."], "tools": ["fan"],
                 "attributes": ["noise", "draught"], "quality": {**QUALITY, "safety": 3}},
                {"key": "window", "steps": ["Open the window."], "quality": QUALITY},
            ],
        },
    ]
}  # fmt: skip
STAGED = Task("floor-in-stages", "How do I dry a wet floor?", payload=WAYS)


@pytest.mark.parametrize("policy", [*TEMPERAMENTS, scripted.SAMPLING])
def test_of_a_task_in_stages_a_way_is_chosen_for_each(policy):
    first, second = split_steps(say(policy, STAGED, told=[], plans=[]).text)
    assert first in ("Mop the floor.", "Lay a towel down.")
    assert second in ("Switch the fan on.", "Open the window.")


def test_a_plan_made_of_stages_is_recognised_and_is_as_good_as_its_weakest_step():
    plan = KnownPlans(STAGED).find("1. MOP the floor.\n2. Switch  the fan on.")
    assert plan is not None
    assert plan.tools == ("mop", "fan") and plan.attributes == ("noise", "draught")
    assert plan.quality == {**QUALITY, "safety": 3}
    assert KnownPlans(STAGED).find("1. Mop the floor.\n2. Call a friend.") is None


def test_judges_know_what_plans_made_of_stages_use():
    draught = {"key": "u2", "kind": "user", "text": "No draught.", "about": "attribute:draught"}
    plan = "1. Lay a towel down.\n2. Switch the fan on."
    answer = say("user-facts", STAGED, plan=plan, constraints=[QUIET, draught])
    assert json.loads(answer.text)["violated"] == ["u1", "u2"]
    scores = json.loads(say("judge-even", STAGED, plan=plan).text)["scores"]
    assert scores["safety"] == 1 and None not in scores.values()


@pytest.mark.parametrize("policy", TEMPERAMENTS)
def test_with_a_memory_block_a_disclosed_constraint_is_seldom_violated(policy):
    """All that was disclosed stands in the input; at most it is overlooked now and then."""
    plans = [
        agent(policy, [[NO_MOP], [], []], [TOWEL], seed, tracking=True).text for seed in range(100)
    ]
    assert plans.count(TOWEL) >= 80


@pytest.mark.parametrize(("temperature", "mops"), [(0.0, {0, 100}), (100.0, {*range(30, 71)})])
def test_the_hotter_a_planner_samples_the_less_it_minds_which_plan(temperature, mops):
    build = POLICIES[scripted.SAMPLING].build
    planner = build(TASK, {"temperature": temperature})
    ask = Ask("agent", (Message("user", "?"),), Expect("x"), context={"told": [], "plans": []})
    plans = [planner.answer(ask, seed).text for seed in range(100)]
    assert plans.count(MOP) in mops
    assert planner.identity.parameters == {"temperature": temperature}


class TestConstraintJudges:
    def violated(self, policy, plan, *constraints):
        answer = say(policy, plan=plan, constraints=constraints)
        return json.loads(answer.text)["violated"]

    def test_pool_plans_are_judged_by_what_they_use(self):
        assert self.violated("world-facts", MOP, NO_MOP) == ["w1"]
        assert self.violated("world-facts", TOWEL, NO_MOP) == []
        assert self.violated("user-facts", MOP, QUIET) == ["u1"]

    def test_spelling_and_numbering_of_a_pool_plan_do_not_matter(self):
        """The noise of mopping is nowhere in the words: the plan was recognised."""
        assert self.violated("user-facts", "Step 1) mop  THE floor.", QUIET) == ["u1"]

    @pytest.mark.parametrize(
        ("plan", "violated"),
        [
            ("1. Use the MOP twice.", ["w1"]),
            ("1. Use two mops.", ["w1"]),
            ("1. Fetch the mop", ["w1"]),
            ("1. Dry it with a moped engine.", []),
            ("1. Blow on it.", []),
        ],
    )
    def test_other_plans_by_whole_words(self, plan, violated):
        assert self.violated("world-facts", plan, NO_MOP) == violated

    def test_names_of_several_words_and_with_capitals(self):
        steam = {**NO_MOP, "about": "tool:Steam cleaner"}

        assert self.violated("world-facts", "1. Plug the steam  cleaner in.", steam) == ["w1"]
        assert self.violated("world-facts", "1. Let off steam.", steam) == []

    def test_a_constraint_about_nothing_is_not_violated_by_unknown_plans(self):
        assert self.violated("world-facts", "1. Blow on it.", {**NO_MOP, "about": ""}) == []


class TestRubricJudges:
    def scores(self, policy, plan, seed=1):
        return json.loads(say(policy, seed=seed, plan=plan).text)["scores"]

    @pytest.mark.parametrize("policy", SEVERITIES)
    def test_they_follow_the_true_quality(self, policy):
        seeds = range(30)
        good = [self.scores(policy, MOP, s)["safety"] for s in seeds]
        bad = [self.scores(policy, TOWEL, s)["safety"] for s in seeds]

        assert min(good) > max(bad)
        assert all(1 <= score <= 5 for score in good + bad)

    def test_of_an_unknown_plan_they_know_nothing(self):
        assert set(self.scores("judge-even", "1. Blow on it.").values()) == {None}

    def test_the_strict_one_is_the_strictest(self):
        totals = {
            name: sum(sum(self.scores(name, MOP, s).values()) for s in range(40))
            for name in SEVERITIES
        }
        assert totals["judge-strict"] < totals["judge-even"] <= totals["judge-lenient"]


class TestSimulator:
    def test_every_point_is_told(self):
        points = [{**NO_MOP, "repeated": False}, {**QUIET, "repeated": False}]
        text = say("plain-words", plan=MOP, mode="constraints", points=points).text

        assert "There is no mop." in text
        assert "No noise." in text

    def test_what_was_said_before_is_said_to_have_been(self):
        told = [
            say("plain-words", seed=s, plan=MOP, mode="constraints",
                points=[{**NO_MOP, "repeated": repeated}]).text
            for repeated in (True, False) for s in range(20)
        ]  # fmt: skip

        assert all("already" in text or "before" in text for text in told[:20])
        assert not any("already" in text or "before" in text for text in told[20:])

    def test_braces_in_a_constraint_stay(self):
        points = [{**NO_MOP, "text": "No {mop} {0}.", "repeated": False}]

        assert (
            "No {mop} {0}." in say("plain-words", plan="", mode="constraints", points=points).text
        )

    def test_refinement_names_the_dimensions(self):
        points = [{"dimension": "safety", "title": "Safety", "reasons": []}]
        text = say("plain-words", plan=MOP, mode="refinement", points=points).text

        assert "safety" in text
