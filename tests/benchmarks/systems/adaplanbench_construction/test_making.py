"""Tests of a construction's result: playable tasks with profiles, candidates and a pool."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.core.answerers import Cast
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import Call, MemoryLog
from benchmarks.core.plans import pool_of
from benchmarks.core.system import read_settings
from benchmarks.core.types import Outcome, Task
from benchmarks.systems.adaplanbench.macgyver.pools import pool_for
from benchmarks.systems.adaplanbench_construction.making import MAKING
from benchmarks.systems.adaplanbench_construction.system import SYSTEM

PROBLEM = Task(
    "kite", "A kite hangs in a tree. Tools available: a rake, a rope and a ladder.", "garden",
    {"solution": "1. Take the rake.\n2. Lift the kite down."},
)  # fmt: skip
PLANS = ("1. Lean the ladder on the tree.", "1. Throw the rope.", "1. Throw the  Rope.")


def row(key: str, kind: str, text: str, about: str, place: int, **more: Any) -> dict[str, Any]:
    usual = {"planners": ["1"], "decision": "kept", "reason": "", "merged": []}
    return {"key": key, "kind": kind, "text": text, "about": about, "round": place, **usual, **more}


ROWS = [
    row("w-a", "world", "There is no ladder.", "tool:ladder", 1, planners=["1", "3"],
        merged=["No ladder."]),
    row("w-b", "world", "There is no rake.", "tool:rake", 1, decision="removed", reason="Needed."),
    row("u-a", "user", "I do not want to climb.", "attribute:climbing up", 2),
    row("w-c", "world", "There is no rope.", "tool:rope", 2),
]  # fmt: skip
LEVELS = {"mid": ["w-a", "u-a", "w-c"], "low": ["w-a"], "round-4": ["w-a", "u-a", "w-c"]}


def outcome(*rows: dict[str, Any], levels: Any = None) -> Outcome:
    payload = {
        "query": "How do I get a kite down from a tree?",
        "reference": PROBLEM.payload["solution"],
        "candidates": list(rows or ROWS),
        "levels": levels or LEVELS,
    }
    return Outcome("constructed", {}, payload=payload)


def proposed(*texts: str) -> list[Any]:
    return [{"plans": [{"text": text, "probability": None} for text in texts]}]


def test_levels_become_profiles_with_keys_of_the_published_file() -> None:
    made = MAKING.made_task(PROBLEM, outcome(), proposed(*PLANS), "Guard (scripted)")
    assert (made.task.id, made.task.category) == ("kite", "garden")
    assert made.task.prompt == "How do I get a kite down from a tree?"
    assert [(p.level, [c.key for c in p.constraints]) for p in made.profiles] == [
        ("low", ["w1"]),
        ("mid", ["w1", "w2", "u1"]),
        ("round-4", ["w1", "w2", "u1"]),
    ]
    (climb,) = made.profiles[1].of_kind("user")
    assert (climb.text, climb.about) == ("I do not want to climb.", "attribute:climbing up")


def test_every_candidate_is_kept_with_what_was_decided() -> None:
    made = MAKING.made_task(PROBLEM, outcome(), [], "Guard (scripted)")
    first, second, *_ = made.candidates
    assert (first.key, first.round, first.decision) == ("w-a", 1, "kept")
    assert first.payload == {
        "about": "tool:ladder", "planners": ["1", "3"], "merged": ["No ladder."],
    }  # fmt: skip
    assert (second.decision, second.reason) == ("removed", "Needed.")
    assert {candidate.decided_by for candidate in made.candidates} == {"Guard (scripted)"}


def test_the_pool_is_what_planners_proposed_and_a_way_out() -> None:
    plans = pool_of(MAKING.made_task(PROBLEM, outcome(), proposed(*PLANS), "").task)
    assert [(plan.key, plan.author) for plan in plans] == [
        ("plan-1", ""), ("plan-2", ""), ("reference", ""),
    ]  # fmt: skip
    assert plans[0].uses("tool:ladder") and plans[1].uses("tool:rope")
    assert not any(plans[2].uses(r["about"]) for r in ROWS if r["decision"] == "kept")


def test_recorded_answers_come_before_proposed_plans() -> None:
    recorded = [
        {"author": "Prolific", "text": "1. Throw a ball at it.", "verdict": "correct_efficient"},
        {"author": "solutions_gpt4", "text": "1. Climb the tree."},
    ]
    problem = replace(PROBLEM, payload={**PROBLEM.payload, "plans": recorded})
    task = MAKING.made_task(problem, outcome(), proposed(*PLANS), "").task
    assert [plan.key for plan in pool_of(task)] == [
        "prolific-1", "solutions-gpt4-1", "reference",
    ]  # fmt: skip
    assert [plan.verdict for plan in pool_for(task, "people")] == ["correct_efficient"]
    assert [plan.author for plan in pool_for(task, "everyone")] == ["Prolific", "solutions_gpt4"]


def test_who_judges_follows_from_what_the_lexicon_knows() -> None:
    known = MAKING.made_task(PROBLEM, outcome(), [], "")
    assert MAKING.fitting_roles([known])["world_judge"] == ("lexicon-world",)
    odd = row("w-d", "world", "There is no zorb.", "tool:zorb", 1)
    strange = MAKING.made_task(
        PROBLEM, outcome(odd, levels={"low": ["w-d"]}), proposed("1. Roll the zorb."), ""
    )
    assert MAKING.fitting_roles([known, strange])["world_judge"] == ("world-facts",)
    first, last = pool_of(strange.task)
    assert first.uses("tool:zorb") and not last.uses("tool:zorb")


class Counting(MemoryLog):
    """Counts what each role is asked."""

    def record_sent(self, calls: Any, settled: Any = ()) -> None:
        super().record_sent(calls, settled)
        every = [*calls, *(call for call, _ in settled)]
        self.asked = getattr(self, "asked", Counter()) + Counter(map(_role, every))


def _role(call: Call) -> str:
    return call.ask.role


@pytest.mark.parametrize(("rounds", "planners"), [(1, 1), (2, 3)])
def test_no_role_is_asked_more_often_than_it_is_said(rounds: int, planners: int) -> None:
    given = {"rounds": rounds, "planners": planners, "plans_per_ask": 1}
    settings = read_settings(SYSTEM.settings, given)
    task, _ = SYSTEM.sample_tasks()[0]
    cast = Cast(
        {
            role.name: {
                seat: SYSTEM.scripted[role.default[place]].build(task, {})
                for place, seat in enumerate(SYSTEM.seats(role.name, settings))
            }
            for role in SYSTEM.roles
        }
    )
    log = Counting()
    driver = Driver(cast, log, SYSTEM.parsers, seed_for=lambda step, slot: 1)
    assert isinstance(driver.run(SYSTEM.episode(task, settings, None)), Finished)  # type: ignore[arg-type]
    most = MAKING.calls(settings)
    assert all(log.asked[role] <= count for role, count in most.items())
    sure = ("rewriter", "filter", "agent", "planner", "extractor")
    assert [log.asked[role] for role in sure] == [most[role] for role in sure]
