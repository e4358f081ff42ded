"""The topics of a question or a preference by a lexicon: dishes, and facets of them.

It answers for a persona without a model, and tells the scripted agent what there is to ask.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.systems.adapt.household.dishes import BASES, GROUPS, KINDS
from benchmarks.systems.adapt.household.inventory import EDIBLE, Inventory
from benchmarks.systems.adapt.household.rules import Rule
from benchmarks.systems.adapt.preferences import Preference

NO_PREFERENCE = "I have no preference about that."
LOOK_YOURSELF = "Please check for yourself."
MOST_ANSWERS, MOST_GENERAL = 3, 2
# Points for a dish, for a facet of many things such as toppings, and for a named thing.
_SUBJECT, _GENERAL, _NAMED, ENOUGH = 1, 2, 3, 3
# The share of a preference's words by which an answer tells it, listed or not.
NEARLY_ALL = 0.8
# Words that an answer and a preference can share without being about the same thing.
_COMMON = frozenset(
    ("and", "any", "are", "breakfast", "but", "for", "from", "have", "like", "love", "more", "not",
     "please", "prefer", "preference", "put", "some", "that", "the", "them", "there", "they",
     "this", "want", "with", "would", "yes", "you", "your")
)  # fmt: skip

# Words for dishes, in singular and lower case, beside their own names.
_SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "eggs": ("egg", "omelette", "omelet"),
    "toast": ("toast", "bread"),
    "cereal": ("cereal",),
    "yoghurt": ("yoghurt", "yogurt", "parfait"),
    "oatmeal": ("oatmeal", "porridge"),
    "pancakes": ("pancake",),
    "french_toast": ("french toast",),
    "waffles": ("waffle",),
    "coffee": ("coffee", "espresso"),
    "tea": ("tea",),
    "beverage": ("drink", "beverage"),
    "food": ("food",),
    "dish": ("breakfast", "meal"),
}
# Words for facets that many things share; they count less than a thing's own name.
_GENERAL_FACETS: Mapping[str, tuple[str, ...]] = {
    "addition": ("add", "added", "ingredient", "extra", "put in", "put on", "put into"),
    "exclusion": ("avoid", "allergy", "allergic", "restriction", "against", "leave out", "skip",
                  "leave off", "without", "not eat", "not want", "don t", "intolerant", "diet",
                  "dietary"),
    "topping": ("top", "topping", "garnish", "sprinkled", "drizzled"),
    "side": ("side", "beside", "alongside", "accompany", "next to", "go with", "dessert"),
    "variety": ("kind", "type", "variety", "sort", "which", "regular"),
    "order": ("first", "order", "before", "after", "sequence", "when"),
    "location": ("location", "eat at", "table", "dine", "dining", "patio", "backyard", "outside",
                 "outdoor", "island", "desk"),
    "cookware": ("cookware", "pan", "pot", "utensil", "tool", "skillet"),
    "method": ("method", "machine", "brew", "equipment", "maker", "way to make"),
    "style": ("style", "scramble", "scrambled", "poach", "poached", "omelette style", "cooked",
              "fry", "fried", "boiled", "way you like"),
    "size": ("simple", "fancy"),
}  # fmt: skip
# Words for categories and attributes of the household, beside their own names.
_NAMED_FACETS: Mapping[str, tuple[str, ...]] = {
    "temperature": ("hot", "iced", "ice", "cold", "warm", "temperature"),
    "sweetener": ("sweet", "sweeten", "sugar", "syrup"),
    "vegetable": ("veggie",),
    "milk": ("dairy",),
    "creamer": ("cream",),
    "spread": ("spread",),
    "spice": ("seasoning", "season", "spicy"),
    "chili": ("spicy", "chilli"),
    "oil": ("fat", "cooked in", "cook in"),
    "mug": ("cup",),
    "glassware": ("glass", "cup"),
    "gluten_free": ("gluten",),
    "lactose_free": ("lactose",),
    "nut_based": ("nut",),
    "caffeinated": ("caffeine", "decaf"),
    "decaf": ("caffeine",),
}
_FACETS = {**_GENERAL_FACETS, **_NAMED_FACETS}
# "Where" asks for a place to eat if one of these is in the question, and for a thing otherwise.
_SERVING = re.compile(
    r"\b(serve[ds]?|serving|eat|eating|sit|sitting|breakfast|meal|food|bring|put|place[ds]?)\b"
)
_WHERE = re.compile(r"\b(where|a place|which place)\b")
# Which of several places, tools or machines: "which" asks for no kind of food there.
_NO_VARIETY = frozenset({"location", "cookware", "method", "order"})
# A question about the kitchen, which the agent can look at.
_STATE = re.compile(
    r"\b(where|do we have|have we|run out|how many (?!\w+ (do|would|should) you)\w+ (is|are|do)|"
    r"(is|are) the \w+( \w+)? (on|off|open|closed|hot|ready|clean|full|empty|left)|"
    r"(fridge|freezer|cabinet|cupboard|drawer|shelf|pantry|dishwasher|sink))\b"
)
# This may be a question about the kitchen, or one about what the person wants.
_PERHAPS_STATE = re.compile(r"\b(do you have|is there|are there)\b")
_WISH = re.compile(
    r"\b(like|want|prefer\w*|wish\w*|favou?rite|should|would|enjoy|need\w*|avoid|allerg\w+|"
    r"restriction\w*|mind|anything|something|interest\w*)\b"
)
# A question about everything: "Anything else I should know?"
_EVERYTHING = re.compile(r"\b(anything|everything|something|preferences?|wish(es)?)\b")
# The facets that come of a rule's form.
_OF_FORM: Mapping[str, tuple[str, ...]] = {
    "include": ("addition",),
    "together": ("addition",),
    "prefer": ("addition",),
    "exclude": ("exclusion",),
    "only": ("exclusion", "allowed"),
    "temp": ("temperature",),
    "add_order": ("order",),
    "serve_order": ("order",),
    "location": ("location",),
    "tool": ("cookware",),
    "method": ("method",),
    "style": ("style",),
    "serve_with": ("side",),
    "max_ingredients": ("size",),
}


def stem(word: str) -> str:
    """Return a word in lower case without the ending of a plural."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "toes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def plain_words(text: str) -> str:
    """Return the stemmed words of a text with a blank around each, to look for words in it."""
    return " " + " ".join(map(stem, re.findall(r"[a-z]+", text.lower().replace("_", " ")))) + " "


@dataclass(frozen=True)
class About:
    """Kinds of dish and facets that a text or a rule is about."""

    subjects: frozenset[str]
    facets: frozenset[str]


# Things by name, each with the facet that it stands for.
Names = tuple[tuple[str, str], ...]


@lru_cache(maxsize=2000)
def _question(text: str, words: tuple[str, ...], things: Names) -> About:
    plain = plain_words(text)
    names = {n for n, known in _SUBJECTS.items() if any(f" {word} " in plain for word in known)}
    facets = {f for f, known in _FACETS.items() if any(f" {word} " in plain for word in known)}
    # "French toast" is no toast, and "cooked eggs" need no cookware.
    if " french toast " in plain:
        names.discard("toast")
    if " cooked in " in plain or " way to make " in plain:
        facets.discard("style")
    facets |= {word for word in words if plain_words(word) in plain}
    facets |= {facet for name, facet in things if name in plain}
    if _WHERE.search(text.lower()) and _SERVING.search(text.lower()):
        facets.add("location")
    if facets & _NO_VARIETY:
        facets.discard("variety")
    dishes = names - GROUPS.keys()
    if len(dishes) > 1:
        # Each dish may be meant as something that goes with another one.
        facets |= dishes
    subjects = {kind for name in names for kind in GROUPS.get(name, (name,))}
    return About(frozenset(subjects), frozenset(facets))


@lru_cache(maxsize=8)
def _words(things: tuple[tuple[str, frozenset[str]], ...]) -> tuple[str, ...]:
    """Return the categories and attributes of a household that are facets."""
    named = {category for category, _ in things} | {a for _, some in things for a in some}
    subjects = {stem(word) for known in _SUBJECTS.values() for word in known}
    return tuple(sorted(word for word in named if stem(word) not in subjects))


def facet_words(inventory: Inventory) -> tuple[str, ...]:
    """Return the words of a household that a question may name as a facet."""
    return _words(tuple((t.category, t.attributes) for t in inventory.movable))


@lru_cache(maxsize=8)
def _things(named: Names) -> Names:
    bases = set(BASES.values())
    dishes = {f" {word} " for known in _SUBJECTS.values() for word in known}
    plain = (
        (plain_words(name), "variety" if category in bases else category)
        for name, category in named
    )
    return tuple((name, facet) for name, facet in plain if name not in dishes)


def thing_names(inventory: Inventory) -> Names:
    """Return edible things by name, each with its category; of what defines a dish, its variety."""
    return _things(tuple((t.base_name, t.category) for t in inventory.movable if t.type == EDIBLE))


def read_question(text: str, inventory: Inventory, meal: Sequence[str] = ()) -> About:
    """Return what a question is about; without a dish of the ``meal``, about the whole meal.

    A dish that is none of the meal's is meant as something beside it.
    """
    about = _question(text, facet_words(inventory), thing_names(inventory))
    if not meal or about.subjects & set(meal):
        return about
    others = about.subjects if len(about.subjects) == 1 else frozenset[str]()
    return About(frozenset(meal), about.facets | others)


def about_rule(rule: Rule) -> About:
    """Return what a rule is about."""
    subjects, facets = set(rule.of), set(_OF_FORM.get(rule.form, ()))
    if rule.form == "location":
        subjects |= set(KINDS)
    if rule.form == "serve_order":
        subjects |= {*rule.args["first"], *rule.args["then"]}
    if rule.form == "serve_with":
        facets.add(rule.args["dish"])
    defining = {BASES[kind] for kind in rule.of}
    for name in ("sel", "scope", "allow", "chain", "first", "then"):
        if rule.form == "serve_order":
            break
        for selector in rule.args.get(name, ()):
            words = {word for word in re.split(r"[+-]", selector) if not word.startswith("*")}
            category = re.split(r"[+-]", selector)[0]
            if category in defining:
                # What kind of bread toast is of is asked for in these words.
                if rule.form != "add_order":
                    facets.add("variety")
                words.discard(category)
            # What is allowed is named by its properties; its category is that of the scope.
            facets |= words - {category} if name == "allow" else words
    if rule.args.get("role") in ("topping", "side"):
        facets.add(rule.args["role"])
    if rule.args.get("role") == "with":
        facets |= {"topping", "side"}
    for inner in rule.inner:
        about = about_rule(inner)
        subjects |= about.subjects
        facets |= about.facets
    return About(frozenset(subjects), frozenset(facets))


def answers(
    question: str,
    preferences: Sequence[Preference],
    inventory: Inventory,
    meal: Sequence[str] = (),
) -> list[Preference]:
    """Return the preferences that a question asks for; none where it asks for none.

    A preference fits if it shares a dish and a facet with the question. A facet that things are
    named by counts 3, another one 2, the dish 1; the preferences with the highest sum are told. A
    question about a dish alone is answered with its style and preparation first. ``meal`` are the
    dishes that are being made: a question that names no dish is about them.
    """
    named = read_question(question, inventory)
    asked = read_question(question, inventory, meal)
    text = question.lower()
    wishes = bool(_WISH.search(text))
    if asks_about_state(question) and "location" not in asked.facets and not wishes:
        return []
    if _PERHAPS_STATE.search(text) and not wishes and not (named.subjects and named.facets):
        return []
    scored = [(_score(asked, about_rule(p.rule)), p) for p in preferences]
    best = max((score for score, _ in scored), default=0)
    if best >= ENOUGH:
        return [p for score, p in scored if score == best][:MOST_ANSWERS]
    general = named.subjects or _EVERYTHING.search(text)
    if general and not asked.facets - {"addition", "exclusion"}:
        fitting = [p for p in preferences if asked.subjects & about_rule(p.rule).subjects]
        fitting.sort(key=lambda p: (p.rule.form != "style", p.type != "preparation"))
        return fitting[:MOST_GENERAL]
    return []


def _score(asked: About, about: About) -> int:
    """Return how well a preference fits; 0 where it is about other dishes."""
    if not asked.subjects & about.subjects:
        return 0
    shared = asked.facets & about.facets
    named = shared - _GENERAL_FACETS.keys()
    general = len(shared) - len(named)
    # Which milk: what is allowed of a thing answers that, where the thing itself is named.
    general += bool(named) and "variety" in asked.facets - shared and "allowed" in about.facets
    return _SUBJECT + _GENERAL * general + _NAMED * len(named)


def asks_for(
    question: str, preference: Preference, inventory: Inventory, meal: Sequence[str]
) -> bool:
    """Return whether a question bears on a preference: it shares a dish, and a facet if it names
    any.
    """
    asked, about = read_question(question, inventory, meal), about_rule(preference.rule)
    if not asked.subjects & about.subjects:
        return False
    return not asked.facets or bool(asked.facets & about.facets)


def tells(answer: str, preference: Preference) -> bool:
    """Return whether an answer has nearly all words of a preference, so that it tells it."""
    words = content_words(preference.text)
    return len(words & content_words(answer)) >= NEARLY_ALL * len(words)


def content_words(text: str) -> set[str]:
    """Return the stemmed words of a text that it can share with another one on the same thing."""
    words = re.findall(r"[a-z]{3,}", text.lower())
    return {stem(word) for word in words if word not in _COMMON}


def asks_about_state(question: str) -> bool:
    """Return whether a question is about the kitchen, unless it asks for something preferred."""
    return bool(_STATE.search(question.lower()))


def answer_text(question: str, disclosed: Sequence[Preference]) -> str:
    """Return the persona's words: its preferences as it holds them."""
    if disclosed:
        return " ".join(p.text for p in disclosed)
    about_kitchen = asks_about_state(question) or _PERHAPS_STATE.search(question.lower())
    return LOOK_YOURSELF if about_kitchen else NO_PREFERENCE
