"""Wishes read from the words of an answer, as rules that the scripted cook follows.

A sentence that is a preference of the dataset, word for word, is that preference's rule. Any other
sentence is read by the lexicon: which dishes and things it names, and whether it says no. It is no
model: what it does not name in these words is not read.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.core.types import Json
from benchmarks.systems.adapt.household.dishes import BASES, DRINKS, EGGS, STYLES
from benchmarks.systems.adapt.household.inventory import EDIBLE, Inventory
from benchmarks.systems.adapt.lexicon import About, plain_words, read_question

_CLAUSES = re.compile(r"[.;!?\n]| but ")
# Where a clause that says no turns to what is refused, or away from it.
_TURNS = re.compile(r"(?:,| and|, and) (?=(?:with|without|no|not|never)\b)")
_NO_WISH = re.compile(
    r"\b(no preference|do(n't| not) mind|up to you|either way|whatever|(check|look) for yourself)\b"
)
_NOT = re.compile(
    r"\b(no|not|never|without|none|nothing|hate|avoid|skip|dislike|\w+n't|leave (out|off))\b"
)
_YES = re.compile(r"^\W*(yes|yeah|sure|please|of course|gladly)\b")
_ONLY = re.compile(r"\b(only|just|nothing but|has to be|must be|always)\b")
_SIDE = re.compile(r"\b(side|beside|next to|alongside)\b")
_ICED, _HOT = re.compile(r"\b(iced?|cold|over ice)\b"), re.compile(r"\b(hot|warm)\b")
_LATER = re.compile(r"\b(after|last|once)\b")
_FIRST = re.compile(r"\b(first|before|then)\b")
# Places by what people call them.
_PLACES: Mapping[str, str] = {
    "patio": "patio", "backyard": "patio", "outside": "patio", "dining room": "dining_room",
    "island": "kitchen_island_0",
    "standing desk": "standing_desk_0", "desk": "desk_0", "living room": "living_room",
    "home office": "home_office", "dining table": "dining_room",
}  # fmt: skip
# What people call the food that defines a dish.
_BASE_WORDS: Mapping[str, tuple[str, ...]] = {
    "egg": ("egg",), "bread": ("bread", "toast"), "cereal": ("cereal",),
    "yoghurt": ("yoghurt", "yogurt"), "coffee": ("coffee",), "tea": ("tea",),
}  # fmt: skip
# Attributes of cookware and machines that tell nobody which one is meant.
_COMMON = frozenset({"appliance", "cooking", "pan", "pot", "spatula", "durable"})
_FOOD, _DRINK = (
    re.compile(r"\b(food|meal|eggs?|toast|cereal)\b"),
    re.compile(r"\b(drinks?|beverages?|coffee|tea)\b"),
)


def read_wishes(
    question: str,
    answer: str,
    phrases: Mapping[str, Json],
    inventory: Inventory,
    meal: Sequence[str],
) -> list[Json]:
    """Return the rules that an answer states; ``phrases`` are rules by the text of a preference.

    ``meal`` are the dishes being made, which a sentence without a dish is about.
    """
    wishes, left = [], answer
    for text, rule in phrases.items():
        if text in left:
            wishes.append(rule)
            left = left.replace(text, " ")
    asked = read_question(question, inventory, meal)
    for sentence in _CLAUSES.split(left.lower()):
        for clause in _TURNS.split(sentence) if _NOT.search(sentence) else [sentence]:
            if clause.strip() and not _NO_WISH.search(clause):
                wishes += _read_clause(clause, question, asked, inventory, meal)
    return wishes


def _read_clause(
    clause: str, question: str, asked: About, inventory: Inventory, meal: Sequence[str]
) -> Iterator[Json]:
    about = read_question(clause, inventory, meal)
    named = read_question(clause, inventory)
    refuses = bool(_NOT.search(clause))
    subjects = named.subjects & set(meal) or asked.subjects & set(meal) or set(meal)
    dishes = sorted(subjects)
    if EGGS in meal and not refuses:
        plain = clause.replace(" ", "_")
        if styles := [style for style, (names, _) in STYLES.items() if names.search(plain)]:
            yield {"style": {"of": EGGS, "any": styles}}
    drinks = [kind for kind in dishes if kind in DRINKS]
    for is_, pattern in (("iced", _ICED), ("hot", _HOT)):
        if drinks and pattern.search(clause) and not refuses:
            yield {"temp": {"of": drinks, "is": is_}}
            break
    if place := next((p for word, p in _PLACES.items() if word in clause and not refuses), ""):
        yield {"location": {"any": [place]}}
    if _FIRST.search(clause) or _LATER.search(clause):
        yield from _read_order(clause)
        return
    if drinks and re.search(r"\bblack\b", clause):
        yield {"exclude": {"of": drinks, "sel": ["milk", "creamer", "sweetener"]}}
    food = _food(clause, about.facets, inventory)
    if not food and (refuses or _YES.search(clause)):
        food = _food(question, asked.facets, inventory)
    role = "side" if _SIDE.search(clause) else "added"
    for category, selector in food:
        of_base = [kind for kind in dishes if BASES[kind] == category]
        if refuses:
            yield {"exclude": {"of": dishes, "sel": [selector]}}
        elif of_base:
            yield {"only": {"of": of_base, "scope": [category], "allow": [selector]}}
        else:
            yield {"include": {"of": dishes, "sel": [selector], "role": role}}
            if selector != category and "*" not in category and _ONLY.search(clause):
                yield {"only": {"of": dishes, "scope": [category], "allow": [selector]}}
    if not refuses:
        yield from _read_tools(clause, dishes, inventory)


def _read_order(clause: str) -> Iterator[Json]:
    """Yield the order of milk and cereal, or of drinks and food, as a sentence names them."""
    milk, cereal = clause.find("milk"), clause.find("cereal")
    food, drink = _FOOD.search(clause), _DRINK.search(clause)
    turned = bool(_LATER.search(clause))
    if milk >= 0 and cereal >= 0:
        pair = ["milk", "cereal"] if (milk < cereal) != turned else ["cereal", "milk"]
        yield {"add_order": {"of": "cereal", "first": [pair[0]], "then": [pair[1]]}}
    elif food or drink:
        at_food = food.start() if food else len(clause)
        at_drink = drink.start() if drink else len(clause)
        pair = ["food", "beverage"] if (at_food < at_drink) != turned else ["beverage", "food"]
        yield {"serve_order": {"first": pair[0], "then": pair[1]}}


def _food(text: str, facets: frozenset[str], inventory: Inventory) -> list[tuple[str, str]]:
    """Return (category, selector) of the food that a text names, such as "milk+vegan".

    A thing's own name stands for all of its attributes. An attribute goes with the category after
    it, and one without a category with any food that has it.
    """
    plain = whole = plain_words(text)
    edible = [thing for thing in inventory.movable if thing.type == EDIBLE]
    words = {name: plain_words(name) for name in {a for t in edible for a in t.attributes}}
    selectors = {}
    for thing in edible:
        name = plain_words(thing.base_name)
        kind = name.removesuffix(f"{thing.category} ")
        if name in plain and kind.strip() and kind not in words.values():
            selector = "+".join([thing.category, *sorted(thing.attributes)])
            selectors[selector] = thing.category
            plain = plain.replace(name, " ")
    categories = dict.fromkeys(thing.category for thing in edible)
    free = [name for name in sorted(words) if words[name] in plain and name not in categories]
    for category in categories:
        spoken = plain_words(category)
        after = [spoken.strip(), *_BASE_WORDS.get(category, ())]
        # "No sugar": the category goes by the name of what it is.
        other_name = category in facets and spoken not in whole
        held = [
            name
            for name in free
            if inventory.pick(f"{category}+{name}")
            and (other_name or any(f"{words[name]}{word} " in plain for word in after))
        ]
        named = category in facets and (spoken in plain or other_name)
        named = named and category not in selectors.values()
        if held or (named and category not in _BASE_WORDS):
            selectors["+".join([category, *held])] = category
            free = [name for name in free if name not in held]
    if free and inventory.pick("*edible+" + "+".join(free)):
        selectors["*edible+" + "+".join(free)] = "*"
    return [(category, selector) for selector, category in selectors.items()]


def _read_tools(clause: str, dishes: Sequence[str], inventory: Inventory) -> Iterator[Json]:
    """Yield which cookware, spatula or coffee machine a sentence names."""
    plain = plain_words(clause)
    for scope, form in (("cookware", "tool"), ("utensil+spatula", "tool"), ("coffee_gear", "")):
        held = {a for name in inventory.pick(scope) for a in inventory.things[name].attributes}
        for attribute in sorted(held - _COMMON):
            if plain_words(attribute) not in plain:
                continue
            selector = f"{scope.partition('+')[0]}+{attribute}"
            if form:
                yield {form: {"of": list(dishes), "scope": [scope], "allow": [selector]}}
            elif "coffee" in dishes:
                yield {"method": {"of": "coffee", "chain": [selector]}}
