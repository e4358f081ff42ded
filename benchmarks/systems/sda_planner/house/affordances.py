"""Affordances of ALFRED's kinds of objects as facts: what each can do, and where it fits.

Source: Shridhar et al., "ALFRED: A Benchmark for Interpreting Grounded Instructions for Everyday
Tasks", CVPR 2020, and its constants (MIT). A piece of an apple has the type Apple here and is told
apart by its state, because it fits wherever the apple does.
"""

import re
from collections.abc import Mapping

OPENABLE = frozenset({"Fridge", "Cabinet", "Microwave", "Drawer", "Safe", "Box", "Laptop"})
# A laptop opens, but nothing lies inside it.
CONTAINERS = OPENABLE - {"Laptop"}
SLICEABLE = frozenset({"Apple", "Bread", "Egg", "Lettuce", "Potato", "Tomato"})
TOGGLEABLE = frozenset({"Microwave", "DeskLamp", "FloorLamp", "Faucet"})
MOVABLE_RECEPTACLES = frozenset({"Bowl", "Box", "Cup", "Mug", "Plate", "Pan", "Pot"})
KNIVES = frozenset({"Knife", "ButterKnife"})
BASINS = frozenset({"SinkBasin", "BathtubBasin"})
DISHES = frozenset({"Bowl", "Cup", "Mug", "Plate", "Pan", "Pot"})  # what may be dirty at the start
# Where one thing fills the place.
HOLDS_ONE = frozenset(
    {"StoveBurner", "CoffeeMachine", "TowelHolder", "HandTowelHolder", "ToiletPaperHanger"}
)

_FOOD = "Apple Egg Lettuce Potato Tomato"
_CUTLERY = "ButterKnife Fork Knife Ladle Spatula Spoon"
_COOKED = f"{_FOOD} {_CUTLERY} DishSponge"
_SMALL = "CD CellPhone CreditCard KeyChain Pen Pencil Watch"
_SEAT = (
    "BasketBall Book Box CellPhone Cloth CreditCard KeyChain Laptop Newspaper Pillow RemoteControl"
)
_BATH = "DishSponge SoapBar SoapBottle SprayBottle TissueBox ToiletPaper ToiletPaperRoll HandTowel"
_FURNITURE = (
    f"{_SMALL} AlarmClock BasketBall Book Bowl Box Candle Cloth Cup Glassbottle Laptop Mug "
    "Newspaper "
    "Plate RemoteControl SprayBottle Statue TennisRacket TissueBox ToiletPaper ToiletPaperRoll "
    "Vase "
    "WateringCan WineBottle"
)
_SURFACE = (
    f"{_FURNITURE} {_COOKED} BaseballBat Bread HandTowel Kettle Pan PaperTowel PepperShaker Pot "
    "SaltShaker SoapBar SoapBottle"
)
_FITS = {
    "ArmChair": _SEAT,
    "BathtubBasin": "Cloth DishSponge HandTowel SoapBar",
    "Bed": "BaseballBat BasketBall Book CellPhone Laptop Newspaper Pillow TennisRacket",
    "Bowl": f"{_COOKED} {_SMALL} Candle Cloth Mug PaperTowel RemoteControl",
    "Box": f"{_SMALL} AlarmClock Book Candle Cloth DishSponge Glassbottle Mug PaperTowel "
    "RemoteControl "
    "Statue TissueBox Vase",
    "Cabinet": f"{_BATH} Book Bowl Box Candle CD Cloth Cup Glassbottle Kettle Ladle Mug "
    "Newspaper Pan "
    "PepperShaker Plate Plunger Pot SaltShaker Vase WateringCan WineBottle",
    "Cart": f"{_BATH} Candle Cloth Mug PaperTowel Plunger Statue Vase",
    "CoffeeMachine": "Mug",
    "CoffeeTable": _SURFACE,
    "CounterTop": _SURFACE,
    "Cup": "ButterKnife Fork Spoon",
    "Desk": f"{_FURNITURE} SoapBottle",
    "DiningTable": _SURFACE,
    "Drawer": f"{_SMALL} {_CUTLERY} {_BATH} Book Candle Cloth Newspaper PepperShaker RemoteControl "
    "SaltShaker WateringCan",
    "Dresser": _FURNITURE,
    "Fridge": "Apple Bowl Bread Cup Egg Glassbottle Lettuce Mug Pan Plate Pot Potato Tomato "
    "WineBottle",
    "GarbageCan": f"{_FOOD} {_BATH} Bread CD Cloth Newspaper PaperTowel Pen Pencil WineBottle",
    "HandTowelHolder": "HandTowel",
    "LaundryHamper": "Cloth",
    "Microwave": "Apple Bowl Bread Cup Egg Glassbottle Mug Plate Potato Tomato",
    "Mug": "ButterKnife Fork KeyChain Knife Pen Pencil Spoon Watch",
    "Ottoman": _SEAT,
    "Pan": _COOKED,
    "Plate": f"{_COOKED} {_SMALL} AlarmClock Book Candle Cloth Glassbottle Mug PaperTowel "
    "TissueBox",
    "Pot": _COOKED,
    "Safe": "CD CellPhone CreditCard KeyChain Statue Vase Watch",
    "Shelf": f"{_SMALL} AlarmClock Book Bowl Box Candle Cloth Cup DishSponge Glassbottle HandTowel "
    "Kettle Mug Newspaper PaperTowel PepperShaker Plate Pot RemoteControl SaltShaker SoapBar "
    "SoapBottle SprayBottle Statue TissueBox ToiletPaper ToiletPaperRoll Vase WateringCan "
    "WineBottle",
    "SideTable": _SURFACE,
    "SinkBasin": f"{_COOKED} Bowl Cloth Cup Glassbottle HandTowel Kettle Mug Pan Plate Pot SoapBar",
    "Sofa": _SEAT,
    "StoveBurner": "Kettle Pan Pot",
    "TVStand": "TissueBox",
    "Toaster": "Bread",
    "Toilet": "Candle Cloth DishSponge HandTowel Newspaper PaperTowel SoapBar SoapBottle "
    "SprayBottle "
    "TissueBox ToiletPaper ToiletPaperRoll",
    "ToiletPaperHanger": "ToiletPaper ToiletPaperRoll",
    "TowelHolder": "Towel",
}  # fmt: skip
# By receptacle, the types that can be put there. Demonstrations put knives anywhere.
ACCEPTS: Mapping[str, frozenset[str]] = {
    name: frozenset(types.split()) | (frozenset() if name in MOVABLE_RECEPTACLES else KNIVES)
    for name, types in _FITS.items()
}
FIXED_RECEPTACLES = frozenset(ACCEPTS) - MOVABLE_RECEPTACLES
PICKUPABLE = (
    frozenset().union(*ACCEPTS.values())
    | MOVABLE_RECEPTACLES
    | frozenset(
        {
            "Boots", "Footstool", "LaundryHamperLid", "PaperTowelRoll", "ScrubBrush", "TeddyBear",
            "Towel",
        }
    )
)  # fmt: skip
_SCENERY = (
    "Bathtub Blinds Chair Curtains HousePlant Lamp LaundryHamper LightSwitch Mirror Painting "
    "Poster ShowerCurtain ShowerDoor ShowerGlass ShowerHead Sink StoveKnob Television Window"
)
TYPES = PICKUPABLE | FIXED_RECEPTACLES | TOGGLEABLE | frozenset(_SCENERY.split())

# Things that are easily taken for each other.
CONFUSABLE = {
    one: other
    for pair in (
        ("Cup", "Mug"), ("Spoon", "Ladle"), ("Pan", "Pot"), ("Knife", "ButterKnife"),
        ("DeskLamp", "FloorLamp"), ("SideTable", "CoffeeTable"),
    )
    for one, other in (pair, pair[::-1])
}  # fmt: skip

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SPECIAL = {"SinkBasin": "sink", "BathtubBasin": "bathtub", "CD": "CD", "TVStand": "TV stand"}


def type_words(name: str) -> str:
    """Return a type as plans write it: ``RemoteControl`` is "remote control"."""
    return _SPECIAL.get(name) or _WORDS.sub(" ", name).lower()


def _key(words: str) -> str:
    return re.sub(r"[^a-z]", "", words.lower())


_BY_WORDS = {_key(name): name for name in sorted(TYPES)} | {
    _key(type_words(name)): name for name in sorted(TYPES - {"Sink", "Bathtub"})
}


def read_type(words: str) -> str:
    """Return the type that words name, or '' where they name none; "a sink" is a SinkBasin."""
    key = _key(words)
    known = _BY_WORDS.get(key)
    return known or _BY_WORDS.get(re.sub(r"s$", "", key), "")


def accepts(receptacle: str, type: str) -> bool:
    """Tell whether things of a type can be put into a receptacle of a type."""
    return type in ACCEPTS.get(receptacle, ())
