"""People's forms: menus that write an action, and the persona's answer with its ticks."""

import json

import pytest

from benchmarks.core.ports.people import FieldsRefused
from benchmarks.systems.adapt.people import (
    MODES,
    REPLY_FORMS,
    answer_hints,
    compose_action,
    compose_answer,
    show_agent,
    show_persona,
    spoken_action,
    spoken_answer,
)
from benchmarks.systems.adapt.system import SYSTEM
from tests.benchmarks.systems.adapt.stage import play, saying, task_named

TASK = task_named("persona_02-cereal")


def asks(*texts, **settings):
    """The asks of an episode in which the agent says these texts, by role."""
    found = {"agent": [], "persona": []}
    answer = json.dumps({"answer": "Nuts!", "preferences": [4]})
    left = list(texts)

    def act(ask):
        found["agent"].append(ask)
        return left.pop(0)

    play(TASK, saying(act), saying(lambda a: found["persona"].append(a) or answer), **settings)
    return found


def test_every_kind_of_reply_has_a_form():
    assert set(REPLY_FORMS) == set(SYSTEM.parsers)
    found = asks("Ask Nuts?", "Search fridge_0", "Declare Done")
    for ask in (*found["agent"], *found["persona"]):
        assert REPLY_FORMS[ask.expect.kind].needs <= ask.context.keys()
    assert {role for mode in MODES for role in mode.roles} == {"agent", "persona"}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"do": "search", "x": "fridge_0"}, "Search fridge_0"),
        ({"do": "move", "x": "egg_0", "z": "bowl_0"}, "Move egg_0 to bowl_0"),
        ({"do": "move", "x": "egg_0", "y": "fridge_0", "z": "bowl_0"},
         "Move egg_0 from fridge_0 to bowl_0"),
        ({"do": "pour", "x": "milk", "y": "jug_0", "z": "mug_0"},
         "Pour milk from jug_0 into mug_0"),
        ({"do": "mix", "x": "bowl_0", "result": "batter", "tool": "whisk_0"},
         "Mix all items in bowl_0 to get batter with whisk_0"),
        ({"do": "freeform_in", "verb": "fry", "x": "pan", "result": "eggs"},
         "Fry items in pan to get eggs"),
        ({"do": "chop", "verb": "", "x": "tomato_0", "result": "cubes"},
         "Chop tomato_0 to get cubes"),
        ({"do": "ask", "x": "Sweet or\nsavoury?"}, "Ask Sweet or savoury?"),
        ({"do": "done"}, "Declare Done"),
        ({"text": " Search  fridge_0 "}, "Search fridge_0"),
    ],
)  # fmt: skip
def test_menus_write_the_action(fields, text):
    assert compose_action(False, {}, fields) == text
    as_json = json.loads(compose_action(True, {}, fields))
    ask = asks("Declare Done", **{})["agent"][0]
    params = {"actions": [as_json["action"]], "known": [], **ask.expect.params}
    assert SYSTEM.parsers["json_action"](json.dumps(as_json), params)["action"] == text


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"do": "search", "x": ""}, {"x"}),
        ({"do": "move", "x": "egg_0", "z": ""}, {"z"}),
        ({"do": "pour", "x": "milk", "y": "", "z": "mug_0"}, {"y"}),
        ({"do": "freeform_in", "verb": "stab", "x": "a", "result": "b"}, {"verb"}),
        ({"do": "nothing"}, {""}),
        ({"text": "  "}, {"text"}),
    ],
)
def test_what_is_missing_is_named_at_its_field(fields, wrong):
    with pytest.raises(FieldsRefused) as refused:
        compose_action(False, {}, fields)
    assert set(refused.value.errors) == wrong
    ask = asks("Declare Done")["agent"][0]
    page = show_agent(ask.context, {**fields, "group": "look"}, refused.value.errors)
    assert page.groups[0].inputs[0].error == refused.value.errors.get("x", "")


def test_the_agent_s_page_holds_what_it_knows():
    found = asks("Search fridge_0", "Ask Nuts?", "Declare Done")["agent"]
    page = show_agent(found[-1].context, {}, {})
    pieces = {piece.name: piece for room in page.rooms.values() for piece in room}
    assert len(pieces) == 37 and page.unsearched == 36
    assert pieces["fridge_0"].searched and page.things == len(pieces["fridge_0"].things) > 10
    assert not pieces["stove_0"].things and not pieces["stove_0"].searched
    # An answer is in the dialogue in the persona's words; the preference behind it is not shown.
    assert page.wishes == []
    teacher = asks("Declare Done", method="teacher")["agent"][0]
    assert len(show_agent(teacher.context, {}, {}).wishes) == 10
    assert page.past[0]["kind"] == "ask" and page.asked == 1
    assert "ask" in [g.key for g in page.groups]
    silent = asks("Declare Done", method="never_ask")["agent"][0]
    assert "ask" not in [g.key for g in show_agent(silent.context, {}, {}).groups]


def test_the_persona_s_page_and_answer():
    first, second = asks("Ask Nuts?", "Ask Milk?", "Declare Done")["persona"]
    page = show_persona(second.context, {"tells-5": "1"}, {})
    assert (page.question, page.number, page.disclosed) == ("Milk?", 2, 1)
    assert [p.since for p in page.preferences if p.n == 4] == [1]
    assert [p.n for p in page.preferences if p.ticked] == [5]
    text = compose_answer(second.context, {"answer": " Yes. ", "tells-9": "1"})
    assert SYSTEM.parsers["answer"](text, second.expect.params) == {
        "answer": "Yes.", "disclosed": [9],
    }  # fmt: skip
    for answer in ("", "x" * 3000):
        with pytest.raises(FieldsRefused):
            compose_answer(first.context, {"answer": answer})


def test_hints_compare_words_and_ticks():
    (ask,) = asks("Ask Nuts?", "Declare Done")["persona"]
    quoted = {"answer": "Well: Dust sweet breakfasts with cinnamon.", "preferences": []}
    (hint,) = answer_hints(ask.context, json.dumps(quoted))
    assert hint.code == "not_ticked"
    ticked = {"answer": "I have no preference about that.", "preferences": [4]}
    (hint,) = answer_hints(ask.context, json.dumps(ticked))
    assert hint.code == "ticked_without"
    forgotten = {"answer": "Some cinnamon, please.", "preferences": []}
    (hint,) = answer_hints(ask.context, json.dumps(forgotten))
    assert hint.code == "none_ticked" and "cinnamon" in hint.words
    for fine in (("Nuts.", [4]), ("Whatever you like.", []), ("I have no preference.", [])):
        answer = {"answer": fine[0], "preferences": fine[1]}
        assert not answer_hints(ask.context, json.dumps(answer)), fine
    assert not answer_hints(ask.context, "no JSON")


def test_an_answer_that_repeats_what_was_told_needs_no_tick():
    first, second = asks("Ask Nuts?", "Ask Nuts again?", "Declare Done")["persona"]
    answer = json.dumps({"answer": "Nuts, as I said.", "preferences": []})
    assert [hint.code for hint in answer_hints(first.context, answer)] == ["none_ticked"]
    assert not answer_hints(second.context, answer)


def test_nobody_plays_the_persona_of_an_agent_that_never_asks():
    excluded = {mode.key: mode.excludes for mode in MODES}
    assert excluded["agent"] == {}
    assert excluded["persona"] == excluded["two_people"] == {"method": ("never_ask", "teacher")}


def test_pages_name_the_speaker_so_an_answer_is_quoted_alone():
    found = asks("Search fridge_0", "Ask Nuts?", "Declare Done")["agent"][-1]
    spoken = SYSTEM.people.dialogues["action"](found.context)
    assert (spoken[-1].speaker, spoken[-1].text) == ("Person", "Nuts!")
    story = SYSTEM.people.story.tell("Cook.", [("Ask Nuts?", "The person says: Nuts!")], "")
    assert [one.text for one in story] == ["Cook.", "Ask Nuts?", "Nuts!"]


def test_replies_in_json_stand_in_the_dialogue_in_words():
    assert spoken_answer(json.dumps({"answer": "Nuts!", "preferences": [4]})) == "Nuts!"
    parts = dict.fromkeys(("x", "y", "z", "verb", "result", "tool"), "")
    action = {"thought": "", "action": "search", **parts, "x": "fridge_0"}
    assert spoken_action(json.dumps(action)) == "Search fridge_0"
    for text in ("no JSON", "[1]", "{}", '{"action": "dance"}'):
        assert spoken_action(text) == spoken_answer(text) == text
