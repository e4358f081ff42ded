"""The topics of a question or a preference by a lexicon: dishes, and facets of them.

It answers for a persona without a model, and tells the scripted agent what there is to ask.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.systems.adapt.household.dishes import BASES, GROUPS, KINDS
from benchmarks.systems.adapt.household.inventory import Inventory
from benchmarks.systems.adapt.household.rules import Rule
from benchmarks.systems.adapt.preferences import Preference

NO_PREFERENCE = "I have no preference about that."
LOOK_YOURSELF = "Please check for yourself."
MOST_ANSWERS, MOST_GENERAL, ENOUGH = 3, 2, 3

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
# Words for facets, beside the categories and attributes of the household.
_FACETS: Mapping[str, tuple[str, ...]] = {
    "temperature": ("hot", "iced", "ice", "cold", "warm", "temperature"),
    "sweetener": ("sweet", "sweeten", "sugar", "syrup"),
    "topping": ("top", "topping", "garnish"),
    "side": ("side", "beside", "alongside", "accompany", "next to"),
    "order": ("first", "order", "before", "sequence"),
    "location": ("where", "location", "eat", "table", "dine", "place"),
    "cookware": ("cookware", "pan", "pot", "utensil", "tool"),
    "method": ("method", "machine", "brew", "equipment"),
    "style": ("style", "scramble", "scrambled", "poach", "poached", "omelette style", "cooked"),
    "variety": ("kind", "type", "variety", "sort", "which"),
    "vegetable": ("veggie",),
    "milk": ("dairy",),
    "spread": ("spread",),
    "size": ("simple", "fancy", "ingredient"),
}
# A question about the kitchen, which the agent can look at.
_STATE = re.compile(
    r"\b(where (is|are|can i find)|do (we|you) have|is there|are there|is the \w+( \w+)? "
    r"(on|off|open|closed|hot|ready|clean)|how many)\b"
)
# The facets that come of a rule's form.
_OF_FORM: Mapping[str, tuple[str, ...]] = {
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


def _plain(text: str) -> str:
    return " " + " ".join(map(stem, re.findall(r"[a-z]+", text.lower().replace("_", " ")))) + " "


@dataclass(frozen=True)
class About:
    """Kinds of dish and facets that a text or a rule is about."""

    subjects: frozenset[str]
    facets: frozenset[str]


@lru_cache(maxsize=2000)
def _question(text: str, words: tuple[str, ...]) -> About:
    plain = _plain(text)
    subjects = {
        kind
        for name, known in _SUBJECTS.items()
        for kind in GROUPS.get(name, (name,))
        if any(f" {word} " in plain for word in known)
    }
    facets = {f for f, known in _FACETS.items() if any(f" {word} " in plain for word in known)}
    # "French toast" is no toast, and "cooked eggs" need no cookware.
    if " french toast " in plain and "toast" in subjects:
        subjects.discard("toast")
    facets |= {word for word in words if _plain(word) in plain}
    if len(subjects) > 1:
        # Each dish may be meant as something that goes with another one.
        facets |= subjects
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


def read_question(text: str, inventory: Inventory) -> About:
    """Return what a question is about."""
    return _question(text, facet_words(inventory))


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
    for name in ("sel", "scope", "chain", "first", "then"):
        if rule.form == "serve_order":
            break
        for selector in rule.args.get(name, ()):
            words = {word for word in re.split(r"[+-]", selector) if not word.startswith("*")}
            category = re.split(r"[+-]", selector)[0]
            if category in defining:
                # What kind of bread toast is of is asked for in these words.
                facets.add("variety")
                words.discard(category)
            facets |= words
    if rule.args.get("role") in ("topping", "side"):
        facets.add(rule.args["role"])
    if rule.args.get("role") == "with":
        facets |= {"topping", "side"}
    for inner in rule.inner:
        found = about_rule(inner)
        subjects |= found.subjects
        facets |= found.facets
    return About(frozenset(subjects), frozenset(facets))


def answers(
    question: str, preferences: Sequence[Preference], inventory: Inventory
) -> list[Preference]:
    """Return the preferences that a question asks for; none where it asks for none.

    A dish that both name counts 1, a facet 2; those with the highest sum are told if it is at
    least 3. A question about a dish alone is answered with its style and preparation first.
    """
    asked = read_question(question, inventory)
    scored = [(_score(asked, about_rule(p.rule)), p) for p in preferences]
    best = max((score for score, _ in scored), default=0)
    if best >= ENOUGH:
        return [p for score, p in scored if score == best][:MOST_ANSWERS]
    if asked.subjects and not asked.facets:
        fitting = [p for p in preferences if asked.subjects & about_rule(p.rule).subjects]
        fitting.sort(key=lambda p: (p.rule.form != "style", p.type != "preparation"))
        return fitting[:MOST_GENERAL]
    return []


def _score(asked: About, about: About) -> int:
    subjects = asked.subjects & about.subjects
    return bool(subjects) + 2 * len(asked.facets & about.facets)


def asks_about_state(question: str) -> bool:
    """Return whether a question is about the kitchen and not about what the person wants."""
    return bool(_STATE.search(question.lower()))


def answer_text(question: str, disclosed: Sequence[Preference]) -> str:
    """Return the persona's words: its preferences as it holds them."""
    if asks_about_state(question):
        return LOOK_YOURSELF
    return " ".join(p.text for p in disclosed) or NO_PREFERENCE
