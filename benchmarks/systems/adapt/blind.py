"""Agents that ask nothing and know nothing of the person: what a dataset gives away to anybody.

Each follows one fixed list of wishes for every person. They take the meal from the task and look
around as the scripted cook does, but forget nothing; play them under ``never_ask``.
"""

from collections.abc import Mapping, Sequence

from benchmarks.core.types import Json
from benchmarks.systems.adapt.household.dishes import CEREAL, EGGS, TOAST, YOGHURT

NOTHING, EVERYTHING, USUAL, PLAIN, VEGAN = "nothing", "everything", "usual", "plain", "vegan"
_SWEET = [CEREAL, YOGHURT]
# What anybody adds to a dish: one of each, and of spices two, whoever eats it.
_ADD_ONS: Mapping[str, tuple[str, ...]] = {
    EGGS: (
        "cheese",
        "vegetable",
        "herb",
        "spice+salt",
        "spice+pepper",
        "butter",
        "milk",
        "avocado",
    ),
    TOAST: ("butter", "spread", "cheese", "avocado", "herb"),
    CEREAL: ("milk", "fruit", "nut", "seed", "granola", "sweetener+honey", "spice+cinnamon"),
    YOGHURT: ("fruit", "nut", "seed", "granola", "sweetener+honey", "spice+cinnamon"),
    "coffee": ("milk", "sweetener+honey"),
    "tea": ("milk", "sweetener+honey", "fruit+lemon"),
}
_SIDES: Mapping[str, tuple[str, ...]] = {
    EGGS: ("meat", "avocado", "condiment", "fruit+fresh", "vegetable"),
    CEREAL: ("fruit+berry", "nut"),
    YOGHURT: ("fruit+berry", "nut"),
}


def _include(dishes: str | Sequence[str], selector: str, role: str = "added") -> Json:
    return {"include": {"of": dishes, "sel": [selector], "role": role}}


# Wishes by recipe, as rules; fixed before any of them was played.
RECIPES: Mapping[str, Sequence[Json]] = {
    EVERYTHING: [
        *(_include(kind, one) for kind, some in _ADD_ONS.items() for one in some),
        *(_include(kind, one, "side") for kind, some in _SIDES.items() for one in some),
        {"serve_with": {"of": EGGS, "dish": TOAST}},
        {"location": {"any": ["patio"]}},
    ],
    # What most people like: the constant recipe.
    USUAL: [
        {"style": {"of": EGGS, "any": ["scrambled"]}},
        *(_include(EGGS, one) for one in ("cheese", "vegetable", "herb", "spice+salt")),
        _include(TOAST, "butter"),
        *(_include(_SWEET, one) for one in ("fruit+fresh", "nut", "sweetener+honey")),
        {"exclude": {"of": "beverage", "sel": ["milk", "creamer", "sweetener"]}},
        {"temp": {"of": "beverage", "is": "hot"}},
        {"serve_order": {"first": "beverage", "then": "food"}},
        {"location": {"any": ["patio"]}},
    ],
    PLAIN: [
        {"style": {"of": EGGS, "any": ["scrambled"]}},
        {"exclude": {"of": "beverage", "sel": ["milk", "creamer", "sweetener"]}},
        {"temp": {"of": "beverage", "is": "hot"}},
        {"location": {"any": ["dining"]}},
    ],
    VEGAN: [
        {"style": {"of": EGGS, "any": ["scrambled"]}},
        {"only": {"of": "dish", "scope": ["milk"], "allow": ["milk+vegan"]}},
        {"only": {"of": YOGHURT, "scope": ["yoghurt"], "allow": ["yoghurt+vegan"]}},
        {"only": {"of": EGGS, "scope": ["egg"], "allow": ["egg+substitute"]}},
        _include(EGGS, "vegetable"),
        _include(TOAST, "avocado"),
        *(_include(_SWEET, one) for one in ("fruit+fresh", "nut")),
        {"exclude": {"of": "beverage", "sel": ["milk", "creamer", "sweetener"]}},
        {"location": {"any": ["patio"]}},
    ],
}
TITLES: Mapping[str, str] = {
    NOTHING: "Does nothing",
    EVERYTHING: "Adds everything",
    USUAL: "One recipe for all: usual",
    PLAIN: "One recipe for all: plain",
    VEGAN: "One recipe for all: vegan",
}
