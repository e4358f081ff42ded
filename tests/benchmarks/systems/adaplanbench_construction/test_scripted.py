"""Scripted roles of the construction, carried by the driver."""

import json
import random
from collections.abc import Callable

import pytest

from benchmarks.core.answerers import Answer, Answerer, Cast, Scripted
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Outcome, Task
from benchmarks.systems.adaplanbench.macgyver.constraints import named_in
from benchmarks.systems.adaplanbench.macgyver.lexicon import named, uses
from benchmarks.systems.adaplanbench.macgyver.vocabulary import load_lexicon
from benchmarks.systems.adaplanbench_construction.asks import RoundAsks
from benchmarks.systems.adaplanbench_construction.labels import ENDINGS, MEASURES, explain
from benchmarks.systems.adaplanbench_construction.pools import ConstraintPool, PooledConstraint
from benchmarks.systems.adaplanbench_construction.problems import (
    load_demo_problems,
    macgyver_problem,
)
from benchmarks.systems.adaplanbench_construction.scripted import without_lists
from benchmarks.systems.adaplanbench_construction.system import SYSTEM
from tests.benchmarks.systems.adaplanbench.macgyver_problems import ANSWERS, ENTRY, QUERY

DEMO = {task.id: task for task in load_demo_problems()}
KITE = DEMO["kite-in-tree"]


def scripted(name: str, task: Task) -> Answerer:
    return SYSTEM.scripted[name].build(task, {})


def construct(task: Task, others: dict[str, Answerer] | None = None, **settings: int):
    """Carried by the driver with default scripts, some roles exchanged."""
    chosen = read_settings(SYSTEM.settings, settings)
    cast: dict[str, dict[str, Answerer]] = {}
    for role in SYSTEM.roles:
        assignments = [scripted(name, task) for name in role.default]
        seats = SYSTEM.seats(role.name, chosen)
        cast[role.name] = {s: assignments[n % len(assignments)] for n, s in enumerate(seats)}
        if others and role.name in others:
            cast[role.name] = dict.fromkeys(seats, others[role.name])
    log = MemoryLog()

    def seed_for(step: int, slot: int) -> int:
        return derive_seed(task.id, step, slot)

    driver = Driver(Cast(cast), log, SYSTEM.parsers, seed_for, chosen["reply_attempts"])
    result = driver.run(SYSTEM.episode(task, chosen, random.Random(0)))
    assert isinstance(result, Finished)
    return result.outcome, log


def test_the_demo_is_constructed_but_for_two_problems_that_are_left_out():
    outcomes: dict[str, Outcome] = {
        name: construct(task, rounds=1, planners=1)[0] for name, task in DEMO.items()
    }
    left = {n: o.payload["failed"] for n, o in outcomes.items() if o.termination == "filtered_out"}
    assert left == {"festive-hall": ["practical"], "flat-battery": ["task"]}
    summary = SYSTEM.summarise(list(outcomes.values()))
    assert summary["terminations"] == {"constructed": 6, "filtered_out": 2}
    assert summary["metrics"]["filtered_out"]["value"] == 0.25
    assert summary["metrics"]["world_low"]["n"] == 6
    assert summary["failed_criteria"] == {"practical": 1, "task": 1}
    assert set(ENDINGS) >= set(summary["terminations"])
    # One round was played, so nothing is said of the levels of further ones.
    later = {
        name for name in MEASURES if name.startswith(("world_", "user_")) and "low" not in name
    }
    assert later and set(MEASURES) - later == set(MEASURES) & set(summary["metrics"])
    told = [explain(outcome, {}) for outcome in outcomes.values()]
    assert any("candidates kept" in words for words in told)
    assert any("decoration or taste" in words for words in told)


@pytest.mark.parametrize("checker", ["reference-checker", "strict-checker"])
def test_checkers_keep_nothing_that_the_reference_needs(checker: str):
    others = {"extractor": scripted("eager-extractor", KITE), "checker": scripted(checker, KITE)}
    outcome, _ = construct(KITE, others, rounds=2)
    needed = named_in(KITE.payload["solution"])
    names = {f"tool:{n}" for n in needed.tools} | {f"attribute:{n}" for n in needed.attributes}
    rows = outcome.payload["candidates"]
    removed = [row for row in rows if row["decision"] == "removed"]
    assert names & {row["about"] for row in removed if row["ground"] == "reference"}
    assert not names & {row["about"] for row in rows if row["decision"] == "kept"}
    assert all(row["reason"] for row in removed)


def test_a_strict_checker_removes_more():
    removed = [
        construct(KITE, {"checker": scripted(name, KITE)}, rounds=2)[0].metrics["removed"]
        for name in ("reference-checker", "strict-checker")
    ]
    assert removed[0] < removed[1]


def plans_of(name: str, kind: str, *abouts: str, task: Task = KITE) -> list[str]:
    pool = ConstraintPool(tuple(PooledConstraint(f"Not this: {about}", about) for about in abouts))
    ask = RoundAsks("How?", "", 1).planner("1", kind, pool, 3)
    reply = json.loads(scripted(name, task).answer(ask, 1).text)
    return [row["plan"] for row in reply["plans"]]


def test_planners_differ_and_keep_to_what_they_are_told():
    names = ("recalling-first-planner", "handy-planner", "roaming-planner")
    first = {name: plans_of(name, "world") for name in names}
    assert len({text for plans in first.values() for text in plans}) == 9
    assert "ladder" in " ".join(first["recalling-first-planner"])
    assert "the rake and the broom" in first["handy-planner"][0]
    told = plans_of("handy-planner", "world", "tool:rake", "tool:rope")
    assert not any("rake" in plan or "rope" in plan for plan in told)
    disliked = plans_of("handy-planner", "user", "attribute:sticky adhesive")
    assert not any("tape" in plan for plan in disliked)


LEAVES = Task(
    "leaves-in-the-pool",
    "Leaves float in your swimming pool and you cannot reach the middle. You have a garden rake, a "
    "bedsheet, a rope and a bucket. How can you get the leaves out of the pool?",
    payload={
        "solution": "1. Tie the rope to the bucket.\n2. Throw the bucket and pull it back.",
        "plans": [
            {"text": "1. Push the leaves to the rim with the garden rake."},
            {"text": "1. Drag the bedsheet along.\n2. Lift the leaves out with a colander."},
        ],
    },
)


@pytest.mark.parametrize("extractor", ["lexicon-extractor", "eager-extractor"])
@pytest.mark.parametrize("task", [LEAVES, *DEMO.values()], ids=lambda task: task.id)
def test_constraints_concern_the_problem_and_its_recorded_answers(task: Task, extractor: str):
    """No sandpaper, no ink and no glass beaker for a pool full of leaves."""
    outcome, _ = construct(task, {"extractor": scripted(extractor, task)})
    texts = [task.prompt, *(row["text"] for row in task.payload["plans"])]
    tools = {name for text in texts for name in (*named(text), *uses(text).tools)}
    tools |= {load_lexicon().tools[name].of for name in tools}
    shown = {name for text in texts for name in uses(text).attributes}
    shown |= {name for tool in tools if tool for name in load_lexicon().tools[tool].attributes}
    for row in outcome.payload.get("candidates", ()):
        kind, _, name = row["about"].partition(":")
        assert name in (tools if kind == "tool" else shown), row["about"]


def test_a_pool_of_leaves_gets_constraints_on_what_is_there():
    outcome, _ = construct(LEAVES)
    assert outcome.termination == "constructed"
    kept = {row["about"] for row in outcome.payload["candidates"] if row["decision"] == "kept"}
    assert {"tool:bedsheet", "tool:colander"} <= kept


def test_a_problem_of_macgyver_is_constructed_from_its_recorded_answers():
    task = macgyver_problem(ENTRY, ANSWERS)
    assert task is not None
    assert task.payload["solution"].startswith("1. Tape the rope to the rake")
    outcome, _ = construct(task, rounds=1)
    assert outcome.termination == "constructed"
    assert outcome.payload["query"] == QUERY
    recorded = [row["text"] for row in task.payload["plans"]]
    assert set(plans_of("recalling-planner", "world", task=task)) & set(recorded)
    assert macgyver_problem(ENTRY._replace(solvable=False), ANSWERS) is None


def unreliable(fails: Callable[[Ask], bool]) -> Answerer:
    """A checker that says something unreadable whenever ``fails`` says so."""
    script = scripted("reference-checker", KITE)

    def answer(ask: Ask, seed: int) -> Answer:
        return Answer("Well …") if fails(ask) else script.answer(ask, seed)

    return Scripted("unreliable", "1", answer)


def test_an_unreliable_checker_is_asked_again_and_at_last_given_up():
    at_first = unreliable(lambda ask: len(ask.messages) == 2)
    outcome, log = construct(KITE, {"checker": at_first}, rounds=2)
    # the planners bring all up in the first round, so the checker is asked once for each kind
    assert sum(row.state == "unreadable" for row in log.exchanges()) == 2
    assert outcome.payload == construct(KITE, rounds=2)[0].payload

    outcome, _ = construct(KITE, {"checker": unreliable(lambda ask: True)}, rounds=2)
    assert outcome.termination == "checker_unreadable"
    assert "JSON" in explain(outcome, {})


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("Hang a picture. You have a frob, a quux and a zorb.", "Hang a picture."),
        ("Tools available: frob; quux; zorb. How do you hang it?", "How do you hang it?"),
        ("How do you hang it up with a frob, a quux, and a zorb?", "How do you hang it up?"),
        ("How do you hang it up? Items: frob, quux, zorb.", "How do you hang it up?"),
        ("You have a frob, a quux and a zorb.", ""),
        ("A cup, a lamp.", "A cup, a lamp."),
        (
            "The shelf is high, heavy and narrow. Move it.",
            "The shelf is high, heavy and narrow. Move it.",
        ),
    ],
)
def test_the_rewriter_never_keeps_a_list_of_things_that_no_lexicon_knows(query, kept):
    assert without_lists(query) == kept
