"""Words of plain English instructions: tokens, plurals, and forms of verbs, by rule."""

import re
from collections.abc import Sequence

_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z]+)?|[.!?,;:()]")
_SENTENCE_END = frozenset(".!?")
_QUOTES = str.maketrans({"’": "'", "‘": "'", "´": "'", "“": '"', "”": '"', "–": "-", "—": ";"})


def vocabulary(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


DETERMINERS = vocabulary(
    "a an the your my our their his her its this that these those some any each every both all "
    "one two three four five six several few many more another other no enough which"
)
PREPOSITIONS = vocabulary(
    "of with in into on onto to from by at for over under through around between against along "
    "across inside behind near off as like than without until after before while"
)
# What follows a verb rather than a noun: "tape it", "stick the ends", "tie up".
OBJECT_STARTS = vocabulary(
    "the a an your my it them this these those both all each one some any down up out "
    "together back his her their its"
)
_BEFORE_VERB = vocabulary(
    "and or then to you i we they can will should would could must may might please just not don't "
    "dont never also first next finally now simply either again only help helps let lets it this "
    "which that who them would id i'd you'd i'll you'll so but if when once until up down out off"
)
_DOERS = vocabulary("is are be been being was were i we have has had get gets getting")
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")
_IRREGULAR_PLURALS = {
    "knife": "knives",
    "leaf": "leaves",
    "scarf": "scarves",
    "loaf": "loaves",
    "shelf": "shelves",
    "penny": "pennies",
}
_IRREGULAR_VERBS = {
    "tear": ("tears", "tearing", "tore"),
    "break": ("breaks", "breaking", "broke"),
    "bend": ("bends", "bending", "bent"),
    "unbend": ("unbends", "unbending"),
    "draw": ("draws", "drawing", "drawn", "drew"),
    "write": ("writes", "writing", "written", "wrote"),
    "throw": ("throws", "throwing", "thrown", "threw"),
    "hit": ("hits", "hitting"),
    "beat": ("beats", "beating"),
    "strike": ("strikes", "striking", "struck"),
    "tie": ("ties", "tying", "tied"),
    "wet": ("wets", "wetting", "wetted"),
    "sew": ("sews", "sewing", "sewn", "sewed"),
    "weave": ("weaves", "weaving", "woven"),
    "bite": ("bites", "biting"),
    "fling": ("flings", "flinging", "flung"),
    "stick": ("sticks", "sticking", "stuck"),
    "saw": ("sawing", "sawed", "sawn"),
}


def sentences(text: str) -> list[list[str]]:
    """Return tokens by sentence, in lower case. Hyphens count as spaces, possessive endings are
    cut.
    """
    token_lists: list[list[str]] = [[]]
    plain = text.lower().translate(_QUOTES).replace("-", " ")
    for token in _TOKEN.findall(plain):
        if token in _SENTENCE_END:
            token_lists.append([])
            continue
        token_lists[-1].append(token.removesuffix("'s"))
    return [tokens for tokens in token_lists if tokens]


def tokens_of(form: str) -> tuple[str, ...]:
    """Return the tokens of a surface form."""
    return tuple(token for tokens in sentences(form) for token in tokens)


def plural(word: str) -> str:
    """Return the plural of a noun."""
    if word in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[word]
    if word.endswith("y") and word[-2:-1] in _CONSONANTS:
        return f"{word[:-1]}ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    return f"{word}s"


def verb_forms(verb: str) -> tuple[str, ...]:
    """Return base, third person, -ing and -ed of a verb; the last word of a verb of several
    words stays the same.

    "spray paint" becomes "sprays paint" nowhere: only the first word of a phrase is inflected.
    """
    first, _, rest = verb.partition(" ")
    return tuple(f"{form} {rest}".strip() for form in (first, *_endings(first)))


def _endings(verb: str) -> Sequence[str]:
    if verb in _IRREGULAR_VERBS:
        return _IRREGULAR_VERBS[verb]
    third = plural(verb)
    if verb.endswith("e"):
        return third, f"{verb[:-1]}ing", f"{verb}d"
    if verb.endswith("y") and verb[-2] in _CONSONANTS:
        return third, f"{verb}ing", f"{verb[:-1]}ied"
    short = len(verb) <= 4 and verb[-1] in "bdgmnpt" and verb[-2] in "aeiou"
    stem = verb + verb[-1] if short and verb[-3:-2] not in set("aeiou") else verb
    return third, f"{stem}ing", f"{stem}ed"


def is_noun(tokens: Sequence[str], start: int, end: int) -> bool:
    """Return whether a word that may be a verb too stands as a noun at ``start`` to ``end``."""
    before = tokens[start - 1] if start else ""
    after = tokens[end] if end < len(tokens) else ""
    if before in DETERMINERS or before in ("of", "with", "using", "by", "from", "into", "use"):
        return True
    if _determined(tokens, start):
        return True
    if not before.isalpha() or before in ("and", "then"):
        # An order begins here, or a list goes on: "Stick double tape …", "string and wire …".
        return not after.isalpha() or after in PREPOSITIONS or after in ("and", "or", "is", "are")
    return after not in OBJECT_STARTS and before != "to"


def is_verb(tokens: Sequence[str], start: int) -> bool:
    """Return whether a base form that may be a noun too stands as a verb, as orders and aims do."""
    before = tokens[start - 1] if start else ""
    return not before.isalpha() or before in _BEFORE_VERB or before.endswith("ly")


def is_done(tokens: Sequence[str], start: int) -> bool:
    """Return whether an -ed form tells of a deed ("is melted", "I taped"), as against "melted
    wax".
    """
    return not _DOERS.isdisjoint(tokens[max(0, start - 2) : start])


def _determined(tokens: Sequence[str], start: int) -> bool:
    """Return whether a determiner stands up to three words before, with no stop or verb of use
    between.
    """
    for token in reversed(tokens[max(0, start - 3) : start]):
        if token in DETERMINERS:
            return True
        if not token.isalpha() or token in PREPOSITIONS or token in ("and", "or", "then"):
            return False
    return False
