"""Recorded agents and lexicon judges, alone and through the driver."""

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.core.answerers import Answer, Answerer, Cast
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.plans import pool_of
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Constraint, Expect, Message, Outcome, Profile, Task
from benchmarks.systems.adaplanbench.macgyver.build import build_task
from benchmarks.systems.adaplanbench.macgyver.judges import (
    CHARACTERS,
    POLICIES,
    ROLES,
    grounds,
    violations,
)
from benchmarks.systems.adaplanbench.macgyver.pools import POLICIES as POOL_POLICIES
from benchmarks.systems.adaplanbench.macgyver.pools import POOLS, pool_for
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS
from benchmarks.systems.adaplanbench.system import SYSTEM
from tests.benchmarks.systems.adaplanbench.macgyver_problems import ANSWERS, ENTRY

TASK = build_task(ENTRY, ANSWERS)[0]


def propose(policy: str, told: list[str] = (), plans: list[str] = (), task: Task = TASK) -> Answer:  # type: ignore[assignment]
    context = {"told": [[{"about": about} for about in told]], "plans": list(plans)}
    ask = Ask("agent", (Message("user", "?"),), Expect("plan"), context=context)
    return POLICIES[policy].build(task, {}).answer(ask, 1)


class TestRecordedAgents:
    def test_they_say_what_they_are(self) -> None:
        for name in POOLS:
            policy = POLICIES[name]
            assert (policy.role, policy.label) == ("agent", "recorded")
            assert policy.build(TASK, {}).identity.kind == "recorded"
            assert SYSTEM.scripted[name] is policy

    @pytest.mark.parametrize(
        ("policy", "size"),
        [
            ("gpt4", 2), ("people", 1), ("all-models", 3), ("everyone", 4), ("bard", 1),
            ("gpt4-prompt-1", 1), ("gpt4-prompt-3", 0), ("claude2", 0), ("llama2", 0),
        ],
    )  # fmt: skip
    def test_a_pool_holds_the_answers_of_its_authors(self, policy: str, size: int) -> None:
        assert POOL_POLICIES[policy].pool_size(TASK) == size
        assert all(POOLS[policy].holds(plan.author) for plan in pool_for(TASK, policy))

    def test_others_have_no_pool(self) -> None:
        assert POLICIES["lexicon-world"].pool_size is None
        assert SYSTEM.scripted["careful-tracker"].pool_size is None

    def test_the_same_answer_of_two_authors_is_one(self) -> None:
        twice = (*ANSWERS, ANSWERS[0]._replace(author="solutions_bard"))
        assert POOL_POLICIES["all-models"].pool_size(build_task(ENTRY, twice)[0]) == 3

    def test_answers_come_in_an_order_of_their_own_and_none_twice(self) -> None:
        said: list[str] = []
        while (answer := propose("everyone", plans=said)).text:
            said.append(answer.text)
        assert sorted(said) == sorted(plan.text for plan in pool_of(TASK))
        assert answer.declined == (
            "pool_exhausted: 4 of 4 answers proposed, 0 ruled out by what was disclosed"
        )

    def test_what_was_disclosed_is_avoided(self) -> None:
        answer = propose("gpt4", told=["tool:rope"])
        assert "ladder" in answer.text
        both = propose("gpt4", told=["tool:rope", "attribute:climbing up"])
        assert both.declined == (
            "pool_exhausted: 0 of 2 answers proposed, 2 ruled out by what was disclosed"
        )

    def test_without_a_pool_they_decline(self) -> None:
        assert propose("claude2").declined.startswith("pool_exhausted: 0 of 0 answers")
        bare = Task("demo", "Do it.", payload={"plans": [{"key": "a", "steps": ["Do."]}]})
        assert propose("everyone", task=bare).declined.startswith("pool_exhausted: 0 of 0")


def judged(about: str, text: str = "", kind: str = "world") -> dict[str, str]:
    return {"key": "k", "kind": kind, "text": text, "about": about}


class TestConstraintJudges:
    def test_they_find_tools_and_attributes_with_the_step(self) -> None:
        plan = "1. Do not use the pole.\n2. Tie the rope to it."
        reasons, undecided = violations(
            plan,
            [
                {**judged("tool:rope"), "key": "w1"},
                {**judged("tool:pole"), "key": "w2"},
                {**judged("attribute:tying knots", kind="user"), "key": "u1"},
            ],
        )
        assert reasons == {"w1": "step 2 says “rope”", "u1": "step 2 says “tie”"}
        assert undecided == []

    def test_a_general_word_is_read_with_what_the_problem_offers(self) -> None:
        constraint = [judged("tool:duct tape")]
        assert violations("Use the tape.", constraint, ("duct tape",))[0]
        assert not violations("Use the tape.", constraint)[0]

    def test_a_constraint_that_says_nothing_is_read_from_its_text(self) -> None:
        assert grounds(judged("", "There is no ladder here.")) == ("tool:ladder",)
        assert violations("Climb the ladder.", [judged("", "There is no ladder.")])[0]

    @pytest.mark.parametrize(
        "constraint",
        [
            judged("tool:flux capacitor"),
            judged("attribute:pale soap film", kind="user"),
            judged("", "It must be done by noon."),
            judged("", "I do not like ladders.", kind="user"),
        ],
    )
    def test_what_the_lexicon_has_no_words_for_is_not_decided(
        self, constraint: dict[str, str]
    ) -> None:
        ask = Ask(
            "world_judge", (), Expect("violations", {"keys": ["k"]}),
            context={"plan": "Climb the ladder.", "constraints": [constraint]},
        )  # fmt: skip
        answer = POLICIES["lexicon-world"].build(TASK, {}).answer(ask, 1)
        assert (answer.text, answer.declined.split(":")[0]) == ("", "not_grounded")

    @pytest.mark.parametrize("plan", ["Wish for it.", "1. ???", "1. Zkq the frobnicator."])
    def test_a_plan_without_a_known_word_is_not_decided(self, plan: str) -> None:
        ask = Ask(
            "world_judge", (), Expect("violations", {"keys": ["k"]}),
            context={"plan": plan, "constraints": [judged("tool:ladder")]},
        )  # fmt: skip
        answer = POLICIES["lexicon-world"].build(TASK, {}).answer(ask, 1)
        assert (answer.text, answer.declined.split(":")[0]) == ("", "not_readable")


def scores(judge: str, plan: str) -> tuple[dict[str, Any], dict[str, str]]:
    ask = Ask("rubric_judge", (), Expect("scores"), context={"plan": plan})
    reply = json.loads(POLICIES[judge].build(TASK, {}).answer(ask, 1).text)
    return reply["scores"], reply["reasons"]


class TestRubricJudges:
    @pytest.mark.parametrize("judge", CHARACTERS)
    def test_they_score_signs_and_nothing_else(self, judge: str) -> None:
        given, reasons = scores(judge, "1. Lean two ladders on it.\n2. Cut the branch with a saw.")
        assert list(given) == sorted(dimension.key for dimension in DIMENSIONS)
        unknown = {key for key, value in given.items() if value is None}
        assert unknown == {"physical_plausibility", "logical_ordering", "effectiveness"}
        assert all(reasons[key] for key in given)
        assert all(given[key] in (1, 2, 3, 4, 5) for key in set(given) - unknown)

    def test_signs_move_the_scores(self) -> None:
        plain = "1. Use the pole.\n2. Pull it down."
        assert scores("lexicon-even", plain)[0]["safety"] == 5
        risky = "1. Climb the ladder with a burning torch and a knife.\n2. Smash the glass."
        assert scores("lexicon-even", risky)[0]["safety"] <= 2
        helped = "1. Ask a neighbour for help.\n2. Pull it down."
        assert scores("lexicon-even", helped)[0]["autonomy"] == 3
        rare = "1. Use the crowbar and the multimeter."
        assert scores("lexicon-even", rare)[0]["feasibility"] == 3
        careful = "1. Carefully pull it, so that nothing tears.\n2. Check it and clean up."
        key = "consequence_awareness"
        assert scores("lexicon-even", careful)[0][key] > scores("lexicon-even", plain)[0][key]
        assert scores("lexicon-even", "Do it.")[0]["feasibility"] is None

    def test_they_differ_in_severity(self) -> None:
        risky = "1. Climb the ladder with a saw.\n2. Cut the branch."
        strict, even, mild = (scores(f"lexicon-{n}", risky)[0] for n in ("strict", "even", "mild"))
        assert strict["safety"] < even["safety"] < mild["safety"]
        assert strict["concreteness"] < even["concreteness"]


def play(task: Task, agent: str, **settings: Any) -> tuple[MemoryLog, Outcome]:
    read = read_settings(SYSTEM.settings, settings)
    names = {**ROLES, "agent": (agent,), "simulator": ("plain-words",)}
    roles: dict[str, dict[str, Answerer]] = {}
    for role in SYSTEM.roles:
        seats = SYSTEM.seats(role.name, read)
        chosen = names[role.name]
        roles[role.name] = {
            seat: SYSTEM.scripted[chosen[place % len(chosen)]].build(task, {})
            for place, seat in enumerate(seats)
        }
    log = MemoryLog()
    driver = Driver(
        Cast(roles), log, SYSTEM.parsers, lambda step, slot: derive_seed(task.id, step, slot)
    )
    result = driver.run(SYSTEM.episode(task, read, random.Random(1)))
    assert isinstance(result, Finished)
    return log, result.outcome


def with_constraints(*abouts: str) -> Task:
    kinds = {"tool": "world", "attribute": "user"}
    constraints = tuple(
        Constraint(f"c{n}", kinds[about.partition(":")[0]], f"No {about}.", about)
        for n, about in enumerate(abouts)
    )
    return replace(TASK, profile=Profile("own", constraints))


class TestThroughTheDriver:
    def test_a_valid_plan_ends_without_an_accuracy(self) -> None:
        log, outcome = play(with_constraints("tool:rope", "attribute:throwing things"), "gpt4")
        assert outcome.termination == "valid_plan"
        assert outcome.metrics["valid"] == 1
        assert outcome.metrics["accurate"] is None
        assert "not every judge scored" in outcome.undefined["accurate"]
        assert "ladder" in log.turns[len(log.turns)].text

    def test_a_dry_pool_ends_outside_the_rates(self) -> None:
        task = with_constraints("tool:rope", "attribute:climbing up")
        log, outcome = play(task, "gpt4")
        assert outcome.termination == "pool_exhausted"
        assert (outcome.metrics["valid"], outcome.metrics["accurate"]) == (None, None)
        assert outcome.metrics["turns"] == len(log.turns) == 2
        assert outcome.payload["reason"].startswith("pool_exhausted: 2 of 2 answers proposed")

    def test_without_answers_there_is_no_turn(self) -> None:
        log, outcome = play(with_constraints("tool:rope"), "claude2")
        assert (outcome.termination, log.turns) == ("pool_exhausted", {})

    def test_a_judge_that_cannot_decide_fails_the_trajectory(self) -> None:
        _, outcome = play(with_constraints("tool:flux capacitor"), "everyone")
        assert outcome.termination == "judge_failure"
        assert "the lexicon has no words for c0" in outcome.payload["reason"]
