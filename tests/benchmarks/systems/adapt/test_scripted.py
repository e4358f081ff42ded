"""The scripted cook reads the words of answers and plays each method its own way; blind agents."""

import json

import pytest

from benchmarks.systems.adapt.scripted import BLIND_POLICIES
from benchmarks.systems.adapt.system import SYSTEM
from benchmarks.systems.adapt.wishes import read_wishes
from tests.benchmarks.systems.adapt.kitchens import goal, inventory
from tests.benchmarks.systems.adapt.stage import play, saying, task_named


def include(dish, selector, role="added"):
    return {"include": {"of": [dish], "sel": [selector], "role": role}}


def exclude(dish, *selectors):
    return {"exclude": {"of": [dish], "sel": list(selectors)}}


@pytest.mark.parametrize(
    ("meal", "question", "answer", "rules"),
    [
        ("eggs", "How would you like your eggs?", "Scrambled, please, with cheese.",
         [{"style": {"of": "eggs", "any": ["scrambled"]}}, include("eggs", "cheese")]),
        ("toast_coffee", "How do you like your coffee?", "Black and iced.",
         [{"temp": {"of": ["coffee"], "is": "iced"}},
          exclude("coffee", "milk", "creamer", "sweetener")]),
        ("toast_coffee", "Would you like milk in your coffee?", "No, thanks.",
         [exclude("coffee", "milk")]),
        ("toast_coffee", "Would you like milk in your coffee?", "Yes, please.",
         [include("coffee", "milk")]),
        ("toast_coffee", "Which machine?", "Use the espresso machine.",
         [{"method": {"of": "coffee", "chain": ["coffee_gear+espresso"]}}]),
        ("cereal", "Which milk should I use?", "I only take lactose-free milk.",
         [include("cereal", "milk+lactose_free"),
          {"only": {"of": ["cereal"], "scope": ["milk"], "allow": ["milk+lactose_free"]}}]),
        ("cereal", "In which order?", "The milk goes in before the cereal.",
         [{"add_order": {"of": "cereal", "first": ["milk"], "then": ["cereal"]}}]),
        ("tea_toast", "In which order?", "Drinks come after the food.",
         [{"serve_order": {"first": "food", "then": "beverage"}}]),
        ("tea_toast", "Which bread?", "Whole-grain bread.",
         [{"only": {"of": ["toast"], "scope": ["bread"], "allow": ["bread+whole_grain"]}}]),
        ("parfait", "Any toppings?", "Some nuts and honey, but no sugar.",
         [include("yoghurt", "nut"), include("yoghurt", "sweetener+honey"),
          exclude("yoghurt", "sweetener+sugar")]),
        ("eggs", "Anything on the side?", "I would like bacon on the side.",
         [include("eggs", "meat+bacon", "side")]),
        ("eggs", "Which pan?", "A cast-iron one.",
         [{"tool": {"of": ["eggs"], "scope": ["cookware"], "allow": ["cookware+cast_iron"]}}]),
        ("cereal", "Where should I serve breakfast?", "At my standing desk.",
         [{"location": {"any": ["standing_desk_0"]}}]),
        ("eggs", "How do you like your eggs?", "Scrambled, with cheese and without any butter.",
         [{"style": {"of": "eggs", "any": ["scrambled"]}}, include("eggs", "cheese"),
          exclude("eggs", "butter")]),
        ("toast_coffee", "Would you like milk in your coffee?", "No, with cream and no sugar.",
         [exclude("coffee", "milk"), include("coffee", "creamer+cream"),
          exclude("coffee", "sweetener+sugar")]),
        ("eggs", "Anything else?", "I have no preference about that.", []),
        ("eggs", "Is the stove on?", "Please look for yourself.", []),
    ],
)  # fmt: skip
def test_wishes_are_read_from_words(meal, question, answer, rules):
    def order(some):
        return sorted(map(str, some))

    found = read_wishes(question, answer, {}, inventory(), goal(meal).expects)
    assert order(found) == order(rules)


def test_a_preference_word_for_word_is_its_rule():
    phrases = {"Butter the toast.": {"include": {"of": "toast", "sel": ["butter"]}}}
    found = read_wishes("Toast?", "Butter the toast. No jam.", phrases, inventory(), ["toast"])
    assert found == [phrases["Butter the toast."], exclude("toast", "*edible+jam")]


def test_the_cook_reads_the_words_of_a_person_and_no_ticks():
    """As the page of the persona says: a tick alone tells the robot nothing."""
    task = task_named("persona_02-cereal")

    def served(answer, ticks):
        reply = json.dumps({"answer": answer, "preferences": ticks})
        _, outcome, _ = play(task, persona=saying([reply]), slip=0.0)
        return {row["n"]: row["value"] for row in outcome.payload["preferences"]}[10]

    assert served("I will have it at my desk.", [10]) == "violated"
    assert served("Outside on the patio, please.", []) == "satisfied"


def test_methods_are_scripts_of_their_own():
    """Baseline, ReAct and STaR-GATE ask or forget differently; their rates are stated."""
    task = task_named("persona_03-eggs")
    asked = {}
    for method in ("baseline", "react", "star_gate"):
        turns, _, _ = play(task, method=method)
        asked[method] = [turn.payload["question"] for turn in turns if "question" in turn.payload]
    assert asked["baseline"][0] == "How would you like your eggs?" not in asked["star_gate"]
    assert {method: len(questions) for method, questions in asked.items()} == {
        "baseline": 2, "react": 2, "star_gate": 2,
    }  # fmt: skip
    nothing = json.dumps({"answer": "No preference.", "preferences": []})
    turns, _, _ = play(task, persona=saying([nothing]), method="react")
    assert sum("question" in turn.payload for turn in turns) == 3  # asks once more
    rates = SYSTEM.scripted["cook"].parameters["methods"]
    assert rates["react"]["recall"] == 0.3 and rates["baseline"]["recall"] == 0


@pytest.mark.parametrize("name", BLIND_POLICIES)
def test_blind_agents_do_the_same_for_everybody(name):
    """They ask nobody; what they do depends on the meal and the scene alone."""
    policy, deeds = SYSTEM.scripted[name], []
    for persona in ("persona_02", "persona_12"):
        task = task_named(f"{persona}-cereal_coffee")
        agent = policy.build(task, policy.parameters)
        turns, outcome, _ = play(task, agent, method="never_ask")
        deeds.append([t.payload["parsed"]["kind"] for t in turns if t.payload["ok"]])
        assert outcome.metrics["questions"] == 0
    assert (deeds[0] == ["done"]) == (name == "blind-nothing")


def test_adding_everything_uses_more_than_the_recipe():
    def moves(name):
        task = task_named("persona_02-parfait")
        policy = SYSTEM.scripted[name]
        turns, _, _ = play(task, policy.build(task, policy.parameters), method="never_ask")
        return sum(turn.payload["parsed"]["kind"] == "move" for turn in turns)

    assert moves("blind-everything") > moves("blind-usual") > moves("blind-plain")
