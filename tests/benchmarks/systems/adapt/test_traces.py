"""The traces that were checked by hand, and every form of rule with its three values."""

import pytest

from tests.benchmarks.systems.adapt.kitchens import (
    act,
    inventory,
    preferences,
    split,
    value,
    verdicts,
    whole_world,
)

CEREAL = (
    "Move corn_flakes_0 to bowl_0",
    "Move oat_milk_0 to bowl_0",
    "Move almonds_0 to bowl_0",
    "Move cinnamon_0 to bowl_0",
    "Move honey_0 to bowl_0",
    "Move bowl_0 to patio_table_0",
)
MILK_FIRST = (
    "Move oat_milk_0 to bowl_0",
    "Move corn_flakes_0 to bowl_0",
    "Move bowl_0 to kitchen_island_0",
)
TEA_TOAST = (
    "Move water_bottle_0 to electric_kettle_0",
    "Heat electric_kettle_0",
    "Pour water from electric_kettle_0 into mug_0",
    "Move green_tea_0 to mug_0",
    "Move mug_0 to kitchen_island_0",
    "Move whole_milk_0 to milk_jug_0",
    "Move milk_jug_0 to kitchen_island_0",
    "Move sourdough_bread_0 to toaster_0",
    "Heat toaster_0",
    "Move sourdough_bread from toaster_0 to plate_0",
    "Move plate_0 to kitchen_island_0",
)
EGGS = (
    "Move egg_0 to mixing_bowl_0",
    "Move salt_shaker_0 to mixing_bowl_0",
    "Move pepper_shaker_0 to mixing_bowl_0",
    "Mix all items in mixing_bowl_0 to get egg_mixture",
    "Move cast_iron_skillet_0 to stove_0",
    "Pour egg_mixture from mixing_bowl_0 into cast_iron_skillet_0",
    "Move vegan_cheddar_0 to cast_iron_skillet_0",
    "Scramble items in cast_iron_skillet_0 to get scrambled_eggs",
    "Move scrambled_eggs to plate_1",
    "Move avocado_0 to plate_1",
    "Move plate_1 to patio_table_0",
)
COFFEE = (
    "Move water_bottle_0 to espresso_machine_0",
    "Move dark_roast_coffee_0 to espresso_machine_0",
    "Brew items in espresso_machine_0 to get espresso",
    "Pour espresso from espresso_machine_0 into mug_0",
    "Move mug_0 to dining_table_0",
)


@pytest.mark.parametrize(
    ("trace", "task", "persona", "satisfied", "violated"),
    [
        (CEREAL, "cereal", 2, [4, 5, 6, 9, 10], []),
        (CEREAL, "cereal", 6, [6, 7, 8], [14, 15]),
        (MILK_FIRST, "cereal", 2, [], [4, 5, 6, 9, 10]),
        (TEA_TOAST, "tea_toast", 8, [10, 12, 13], []),
        (TEA_TOAST, "tea_toast", 10, [6, 11, 12, 13], [7, 14, 17]),
        (EGGS, "eggs", 10, [1, 2, 3, 4, 5, 15, 16, 17], []),
        (EGGS, "eggs", 1, [1, 9, 10, 11, 12], [2]),
    ],
)
def test_checked_traces(trace, task, persona, satisfied, violated):
    world = whole_world()
    assert all(result.ok for result in act(world, *trace))
    assert split(verdicts(world, persona, task)) == (satisfied, violated)


@pytest.mark.parametrize("task", ["eggs", "omelette", "cereal", "toast_coffee", "parfait",
                                  "tea_eggs", "cereal_coffee", "tea_toast"])  # fmt: skip
def test_nothing_done_satisfies_nobody(task):
    for persona in range(1, 17):
        satisfied, violated = split(verdicts(whole_world(), persona, task))
        # Nothing applies to persona 15 without cereal: it says what to use, if anything is used.
        assert not satisfied and (violated or (persona, task) == (15, "cereal"))


def test_milk_before_or_after_cereal_is_what_personas_differ_in():
    """Persona 2 pours the cereal first, persona 6 the milk."""
    found = {}
    for trace in (CEREAL, MILK_FIRST):
        world = whole_world()
        act(world, *trace)
        found[trace] = (verdicts(world, 2, "cereal")[9].value, verdicts(world, 6, "cereal")[14])
    assert found[CEREAL][0] == "satisfied" and found[CEREAL][1].value == "violated"
    assert found[MILK_FIRST][0] == "violated" and found[MILK_FIRST][1].value == "satisfied"
    # The evidence names both ingredients and the step of the second.
    assert found[MILK_FIRST][1].objects == ("oat_milk_0", "corn_flakes_0")
    assert found[MILK_FIRST][1].step == 2


def test_milk_beside_the_coffee_is_not_milk_in_it():
    world = whole_world()
    act(world, *COFFEE, "Move whole_milk_0 to dining_table_0")
    assert verdicts(world, 8, "toast_coffee")[12].value == "satisfied"
    act(world, "Move whole_milk_0 to mug_0")
    assert verdicts(world, 8, "toast_coffee")[12].value == "violated"


def test_a_dish_that_was_not_made_fails_its_preferences():
    """Location is about all dishes: with the toast gone, tea in the right place is not enough."""
    world = whole_world()
    act(world, *TEA_TOAST[:7])
    found = verdicts(world, 8, "tea_toast")
    assert (found[13].value, found[13].why) == ("violated", "toast was not made")
    assert found[10].value == "satisfied"
    act(world, *TEA_TOAST[7:])
    assert verdicts(world, 8, "tea_toast")[13].value == "satisfied"


def test_an_omelette_task_is_completed_by_an_omelette_alone():
    world = whole_world()
    act(world, *EGGS)
    assert verdicts(world, 10, "omelette")[2].value == "violated"
    world = whole_world()
    act(world, *(t.replace("Scramble", "Cook").replace("scrambled_eggs", "omelette") for t in EGGS))
    assert verdicts(world, 10, "omelette")[2].value == "satisfied"


_EGGS_HONEY = (*EGGS, "Move honey_0 to plate_1")
# By form of rule: the rule, the task, and what is done so that it is satisfied, violated and
# inapplicable. In the third case objects may be missing from the household.
FORMS = {
    "include": ({"include": {"of": "cereal", "sel": ["nut"], "role": "topping"}}, "cereal",
                CEREAL, MILK_FIRST, (CEREAL, "nut")),
    "include min": ({"include": {"of": "eggs", "sel": ["spice"], "min": 2}}, "eggs",
                    EGGS, (*EGGS[:2], *EGGS[3:]), (CEREAL, "")),
    "include heated": (
        {"include": {"of": "eggs", "sel": ["cheese"], "heated": True}}, "eggs", EGGS,
        (*EGGS[:6], *EGGS[7:9], "Move vegan_cheddar_0 to plate_1", *EGGS[9:]), (EGGS, "cheese"),
    ),
    "exclude": ({"exclude": {"of": "coffee", "sel": ["milk", "sweetener"]}}, "cereal_coffee",
                (*COFFEE, *CEREAL), (*COFFEE[:4], "Move honey_0 to mug_0", *CEREAL), None),
    "only": ({"only": {"of": "cereal", "scope": ["milk"], "allow": ["milk+vegan"]}}, "cereal",
             CEREAL, tuple(t.replace("oat_milk", "skim_milk") for t in CEREAL), (CEREAL[:1], "")),
    "style": ({"style": {"of": "eggs", "any": ["scrambled"], "unless_task": ["omelette"]}}, "eggs",
              EGGS, tuple(t.replace("Scramble", "Fry").replace("scrambled", "fried") for t in EGGS),
              ((), "omelette")),
    "temp": ({"temp": {"of": "tea", "is": "iced"}}, "tea_toast",
             (*TEA_TOAST, "Move ice_tray_0 to mug_0"), TEA_TOAST, None),
    "add_order": ({"add_order": {"of": "cereal", "first": ["cereal"], "then": ["milk"]}}, "cereal",
                  CEREAL, MILK_FIRST, (CEREAL[:1], "")),
    "serve_order": ({"serve_order": {"first": "beverage", "then": "food"}}, "tea_toast",
                    TEA_TOAST, (*TEA_TOAST, "Move mug_0 to patio_table_0"), (CEREAL, "cereal")),
    "serve_with": (
        {"serve_with": {"of": "eggs", "dish": "toast"}}, "eggs",
        (*EGGS, *TEA_TOAST[7:10], "Move plate_0 to patio_table_0"), EGGS, (EGGS, "bread"),
    ),
    "tool": ({"tool": {"of": "eggs", "scope": ["cookware"], "allow": ["*+cast_iron"]}}, "eggs",
             EGGS, tuple(t.replace("cast_iron_skillet", "aluminum_pan") for t in EGGS),
             (("Move egg_0 to toaster_0", "Fry the object egg_0 to get fried_egg"), "")),
    "method": ({"method": {"of": "coffee", "chain": ["coffee_gear+espresso"]}}, "cereal_coffee",
               (*COFFEE, *CEREAL),
               (*(t.replace("espresso_machine", "drip_coffee_maker") for t in COFFEE), *CEREAL),
               ((*CEREAL,), "coffee_gear")),
    "prefer": (
        {"prefer": {"of": "tea", "chain": ["sweetener+honey", "sweetener+sugar"]}}, "tea_toast",
        (*TEA_TOAST, "Move honey_0 to mug_0"), (*TEA_TOAST, "Move white_sugar_0 to mug_0"),
        (TEA_TOAST, "sweetener"),
    ),
    "location": ({"location": {"any": ["patio"]}}, "cereal", CEREAL, MILK_FIRST, None),
    "location dining": ({"location": {"any": ["dining"]}}, "cereal", CEREAL,
                        (*CEREAL, "Move bowl_0 to sofa_0"), None),
    "together": ({"together": {"of": "eggs", "sel": ["cheese", "vegetable"]}}, "eggs",
                 (*EGGS, "Move tomato_0 to plate_1"), EGGS, ((*EGGS[:6], *EGGS[7:]), "")),
    "max_ingredients": ({"max_ingredients": {"of": "eggs", "n": 5}}, "eggs",
                        EGGS, _EGGS_HONEY, (CEREAL, "cereal")),
    "all": ({"all": [{"include": {"of": "eggs", "sel": ["spice+salt"]}},
                     {"exclude": {"of": "eggs", "sel": ["sweetener"]}}]}, "eggs",
            EGGS, _EGGS_HONEY, (CEREAL, "cereal")),
    "any": ({"any": [{"include": {"of": "eggs", "sel": ["meat+bacon"]}},
                     {"include": {"of": "eggs", "sel": ["cheese"]}}]}, "eggs",
            EGGS, (*EGGS[:6], *EGGS[7:]), (CEREAL, "cereal")),
    "if": ({"if": {"style": {"of": "eggs", "any": ["scrambled"]}},
            "then": {"include": {"of": "eggs", "sel": ["milk"]}}}, "eggs",
           ("Move skim_milk_0 to mixing_bowl_0", *EGGS), EGGS,
           (tuple(t.replace("Scramble", "Boil").replace("scrambled", "boiled") for t in EGGS), "")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_its_values(form):
    rule, task, good, bad, neither = FORMS[form]
    for wanted, trace in (("satisfied", good), ("violated", bad)):
        world = whole_world()
        act(world, *trace)
        found = value(rule, task, world)
        assert found.value == wanted, found
        assert found.why
    if neither is None:
        # Whether such a rule applies depends on the task alone.
        other = "eggs" if rule.keys().isdisjoint(["location"]) else "cereal"
        world = whole_world()
        expected = "violated" if "location" in rule else "inapplicable"
        assert value(rule, other, world).value == expected
        return
    trace, missing = neither
    world = whole_world(_things(missing))
    act(world, *trace)
    task = missing if missing in ("omelette", "cereal") else task
    task = "cereal" if trace is CEREAL and missing == "" else task
    assert value(rule, task, world).value == "inapplicable"


def _things(category: str) -> list[str]:
    """The objects of a category that are taken out of the household."""
    if category in ("", "omelette", "cereal"):
        return []
    return [thing.id for thing in inventory().movable if thing.category == category]


def test_every_preference_says_what_it_rests_on():
    """Evidence: the object and the step, or why there is none."""
    world = whole_world()
    act(world, *EGGS)
    found = verdicts(world, 10, "eggs")
    assert (found[4].objects, found[4].step) == (("vegan_cheddar_0",), 8 + 1)
    assert (found[17].objects, found[17].step) == (("patio_table_0",), 11)
    assert "cast_iron_skillet_0" in found[16].objects
    assert all(verdict.why for verdict in found.values())
    assert len(found) == len(preferences(10)) == 18
