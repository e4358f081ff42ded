"""What nobody asked for: ingredients and steps beyond the task, and preferences told unasked."""

import json
import random

import pytest

from benchmarks.core.system import SCORER, read_settings
from benchmarks.systems.adapt.episode import AdaptPlay
from benchmarks.systems.adapt.household.rules import Judge
from benchmarks.systems.adapt.household.surplus import find_surplus
from benchmarks.systems.adapt.lexicon import asks_for, tells
from benchmarks.systems.adapt.metrics import ALL_NAMES, NAMES, summarise
from tests.benchmarks.systems.adapt.kitchens import act, goal, inventory, preferences, whole_world
from tests.benchmarks.systems.adapt.stage import SYSTEM, play, saying, task_named

TOASTED = ("Move sourdough_bread_0 to toaster_0", "Heat toaster_0",
           "Move sourdough_bread from toaster_0 to plate_0")  # fmt: skip


@pytest.mark.parametrize(
    ("persona", "meal", "texts", "things", "steps"),
    [
        # Persona 2 wants nuts, cinnamon and honey; a milk belongs to cereal, a second one does not.
        (
            2,
            "cereal",
            ["corn_flakes_0", "oat_milk_0", "almonds_0", "cinnamon_0", "honey_0"],
            (),
            (),
        ),
        (2, "cereal", ["corn_flakes_0", "oat_milk_0", "soy_milk_0"], ("soy_milk_0",), (3,)),
        # One nut is wanted, not two; persona 13 wants none at all.
        (2, "cereal", ["corn_flakes_0", "almonds_0", "walnuts_0"], ("walnuts_0",), (3,)),
        (13, "cereal", ["corn_flakes_0", "honey_0", "almonds_0"], ("almonds_0",), (3,)),
        (4, "omelette", [], (), ()),
    ],
)
def test_food_that_nobody_asked_for(persona, meal, texts, things, steps):
    world = whole_world()
    results = act(world, *(f"Move {name} to bowl_0" for name in texts))
    assert all(result.ok for result in results)
    judge = Judge(world, goal(meal))
    rules = [p.rule for p in preferences(persona)]
    judge.judge(rules)
    surplus = find_surplus(judge, rules)
    assert (surplus.things, surplus.steps) == (things, steps)


def test_a_dish_that_nobody_asked_for():
    """Toast beside eggs is for persona 16, who wants it, and surplus for persona 2."""
    found = {}
    for persona in (2, 16):
        world = whole_world()
        assert all(result.ok for result in act(world, *TOASTED))
        judge = Judge(world, goal("eggs"))
        rules = [p.rule for p in preferences(persona)]
        judge.judge(rules)
        found[persona] = find_surplus(judge, rules)
    assert found[2].things == ("sourdough_bread_0",) and found[2].steps == (1, 2, 3)
    assert found[16].things == () and found[16].steps == ()


def test_the_measure_stands_beside_satisfaction():
    """Adding everything to a parfait satisfies more than the plain recipe, at a price."""
    task, metrics = task_named("persona_04-parfait"), {}
    for name in ("blind-everything", "blind-plain"):
        policy = SYSTEM.scripted[name]
        agent = policy.build(task, policy.parameters)
        _, outcome, _ = play(task, agent, method="never_ask")
        metrics[name] = outcome.metrics
        assert len(outcome.payload["unasked"]) == outcome.metrics["unasked"]
    more, less = metrics["blind-everything"], metrics["blind-plain"]
    assert more["satisfaction"] > less["satisfaction"] and more["unasked"] > less["unasked"]
    assert summarise([outcome])["metrics"]["unasked"]["value"] == less["unasked"]
    assert "unasked" in SYSTEM.labels.columns


def test_preferences_that_are_told_without_being_asked_for():
    """Persona 5 is asked about milk and adds, in words alone, that it wants its drinks hot."""
    answer = (
        "Full-fat dairy milk, please. Crispy bacon comes with my eggs. Serve tea and coffee hot."
    )
    reply = json.dumps({"answer": answer, "preferences": [4]})
    _, outcome, _ = play(
        task_named("persona_05-tea_eggs"),
        saying(["Ask Which milk do you want in your tea?", "Declare Done"]),
        saying([reply]),
    )
    assert [row["n"] for row in outcome.payload["leaked"]] == [1, 11]
    assert outcome.payload["told"] == 3 and outcome.metrics["leaked"] == 100 * 2 / 3
    held = {p.n: p for p in preferences(5)}
    assert tells("Serve tea and coffee hot.", held[11]) and not tells("Hot, please.", held[11])
    assert asks_for("How do you like your tea?", held[11], inventory(), ["tea"])
    _, quiet, _ = play(task_named("persona_05-tea_eggs"), saying(["Declare Done"]))
    assert quiet.metrics["leaked"] is None and "no preference was told" in quiet.undefined["leaked"]


def test_runs_of_the_first_scorer_keep_its_metrics():
    """Verification derives them as they were, without the new parts."""
    task = task_named("persona_02-cereal")
    for settings, names in (({SCORER: "1"}, NAMES), ({}, ALL_NAMES)):
        outcome = _done(task, settings)
        assert set(outcome.metrics) | {"satisfaction_seen", "questions_seen"} == set(names)
        assert ("unasked" in outcome.payload) == ("unasked" in names)


def _done(task, settings):
    every = {**read_settings(SYSTEM.settings, {}), **settings}
    return AdaptPlay(task, every, random.Random(1)).outcome("done")
