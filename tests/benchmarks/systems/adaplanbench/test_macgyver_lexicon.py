"""Tests of the lexicon on the words of plans: names, general words, and words around them."""

import pytest

from benchmarks.systems.adaplanbench.macgyver.lexicon import mentions, named, uses
from benchmarks.systems.adaplanbench.macgyver.vocabulary import load_lexicon, match_end
from benchmarks.systems.adaplanbench.macgyver.words import plural, sentences, verb_forms

LEXICON = load_lexicon()


def used(text: str, *listed: str) -> set[str]:
    return set(uses(text, listed).tools)


def deeds(text: str, *listed: str) -> set[str]:
    return set(uses(text, listed).attributes)


def test_it_knows_hundreds_of_tools_and_dozens_of_attributes() -> None:
    assert len(LEXICON.tools) > 400
    assert len(LEXICON.attributes) > 30
    names = {attribute.name for attribute in LEXICON.attributes.values()}
    for tool in LEXICON.tools.values():
        assert set(tool.attributes) <= names, tool
        assert tool.of == "" or tool.of in LEXICON.general, tool
        assert tool.number in ("one", "mass", "plural", "many"), tool
    for attribute in LEXICON.attributes.values():
        assert len(set(attribute.texts)) >= 4, attribute


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Use the paper clips.", "paper clip"),
        ("Take a sharp pair of scissors.", "scissors"),
        ("Wrap it in cling film.", "plastic wrap"),
        ("Lift the damp bath towel.", "towel"),
        ("Set the old coat hangers aside and use one.", "coat hanger"),
        ("Tape the two ends together.", "tape"),
        ("Comb the wool.", "comb"),
        ("Take two knives.", "knife"),
        ("Spread the leaves out.", "leaf"),
    ],
)
def test_other_forms_name_the_same_tool(text: str, tool: str) -> None:
    assert tool in used(text)


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("Stick the note to the wall.", "stick"),
        ("This leaves a mark.", "leaf"),
        ("You can lift it.", "can"),
        ("Rock the boat.", "rock"),
        ("Bolt the door.", "bolt"),
        ("Fan the soup.", "fan"),
        ("Drink from the water bottle.", "water"),
        ("Wear the straw hat.", "straw"),
        ("Move the iron bars apart.", "iron"),
        ("It is water resistant.", "water"),
    ],
)
def test_words_that_look_alike_name_no_tool(text: str, tool: str) -> None:
    assert tool not in used(text)


@pytest.mark.parametrize(
    "text",
    [
        "Lift it without the rope.",
        "Lift it without using the rope or the pole.",
        "Use the pole instead of the rope.",
        "Use a pole rather than a rope.",
        "Do not use the rope.",
        "You don't need the rope.",
        "There is no rope.",
        "There's no need for a rope.",
        "Avoid the rope.",
        "The pole and the rope are not needed for this.",
        "The rope is too weak to hold it.",
        "Since the rope isn't strong enough, take the pole.",
        "The rope, the pole, and the towel are unnecessary.",
        "Hold the pole like a rope.",
        "Use the scarf as a rope.",
        "Twist the sheet into a rope.",
        "Twist the sheet to make a rope.",
        "Create a makeshift rope out of the sheet.",
        "Twist the sheet to make a rope. Tie the rope to the pole.",
    ],
)
def test_a_tool_that_is_ruled_out_or_likened_is_not_used(text: str) -> None:
    assert "rope" not in used(text)


@pytest.mark.parametrize(
    "text",
    [
        "Use the rope to make a hook.",
        "Use not only the pole but the rope.",
        "Without touching the pole, pull the rope.",
        "I would use the rope to pull it.",
        "Use things such as a rope.",
        "Tie the rope so that the knot does not come loose.",
        "Pull the rope, it does not need to be long.",
        "If the pole is not long enough, use the rope.",
        "Put the kite into a bag with the rope.",
        "Make rope loops.",
    ],
)
def test_a_tool_beside_such_words_is_still_used(text: str) -> None:
    assert "rope" in used(text)


def test_a_general_word_means_the_kind_that_is_named_or_offered() -> None:
    assert "duct tape" in used("Use the duct tape. Fix it with more tape.")
    assert "duct tape" in used("Fix it with tape.", "duct tape", "rope")
    assert "duct tape" not in used("Fix it with tape.", "duct tape", "masking tape")
    assert "duct tape" not in used("Fix it with tape.")
    assert used("Fix it with duct tape.") >= {"duct tape", "tape"}


def test_a_kind_is_not_charged_with_what_its_general_word_implies() -> None:
    assert "sharp blade" in deeds("Cut it with the knife.")
    assert "sharp blade" not in deeds("Spread it with the butter knife.")
    assert "throwaway plastic" not in deeds("Use the straw.", "metal straw")


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("Light the candle.", "open flame"),
        ("Cut the towel into strips.", "cutting things up"),
        ("Let it cool for a while.", "waiting for long"),
        ("Wait until the paint has dried.", "waiting for long"),
        ("Stand on the chair.", "climbing up"),
        ("Tie both ends.", "tying knots"),
        ("Secure the lid with a piece of string.", "tying knots"),
        ("Blow into the bottle.", "using the mouth"),
        ("Smash it with the hammer.", "hitting and prying"),
        ("Boil water in the kettle.", "strong heat"),
        ("Pour water over it.", "wetting things"),
        ("Poke a hole into the lid.", "making holes"),
        ("Throw the ball.", "throwing things"),
        ("Straighten the hanger.", "bending things out of shape"),
        ("Use the magazine.", "using books or magazines"),
    ],
)
def test_attributes_show_in_deeds_and_in_tools(text: str, attribute: str) -> None:
    assert attribute in deeds(text)


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("Be careful not to burn the cloth.", "open flame"),
        ("Put it on gently to avoid cutting the skin.", "cutting things up"),
        ("Wrap it to prevent it from breaking.", "tearing or breaking things up"),
        ("Close it without tying anything.", "tying knots"),
        ("Use the frying pan.", "strong heat"),
        ("Use the zip tie.", "tying knots"),
        ("Throw it away.", "throwing things"),
        ("Drain the water from the bowl.", "wetting things"),
        ("Soak up the oil with a sponge.", "greasy substance"),
        ("Let the rope hang down.", "waiting for long"),
        ("Use the pile of leaves.", "stacking things"),
        ("Lay the torn sock on it.", "tearing or breaking things up"),
    ],
)
def test_what_is_feared_or_looks_alike_shows_no_attribute(text: str, attribute: str) -> None:
    assert attribute not in deeds(text)


def test_mentions_say_where_they_stand() -> None:
    found = mentions("1. Take the rope.\n2. Do not cut it, tie it to the pole.")
    assert [(m.about, m.step, m.surface, m.status) for m in found if m.kind == "tool"] == [
        ("tool:rope", 1, "rope", "used"),
        ("tool:pole", 2, "pole", "used"),
    ]
    assert [(m.name, m.status) for m in found if m.kind == "attribute"] == [
        ("cutting things up", "ruled_out"),
        ("tying knots", "used"),
    ]


def test_what_a_list_offers_may_be_bad_but_must_be_there() -> None:
    listed = (
        "You have a rope that is too short, bottles with no caps, and foil crumpled into a ball."
    )
    assert named(listed) == ("rope", "bottle", "aluminum foil")


def test_words_by_rule() -> None:
    assert [plural(word) for word in ("box", "knife", "penny", "key", "match")] == [
        "boxes", "knives", "pennies", "keys", "matches",
    ]  # fmt: skip
    assert verb_forms("snip") == ("snip", "snips", "snipping", "snipped")
    assert verb_forms("tie") == ("tie", "ties", "tying", "tied")
    assert verb_forms("ignite")[2:] == ("igniting", "ignited")
    assert sentences("Mind the dog's T-shirt. Don’t!") == [
        ["mind", "the", "dog", "t", "shirt"],
        ["don't"],
    ]


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("let it cool", 3),
        ("let the hot glue cool", 5),
        ("let cool", 2),
        ("let the very hot wet glue cool", None),
        ("let it , cool", None),
        ("let it dry", None),
    ],
)
def test_gaps_hold_four_words_and_cross_no_stop(text: str, end: int | None) -> None:
    assert match_end(("let", "*", "cool"), text.split(), 0) == end
