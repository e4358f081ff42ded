"""What the words around a mention say about it: used, ruled out, a mere likeness, or made first.

The cues are those of written instructions. They are rules of thumb: their precision and recall are
measured on marked turns (README.md beside this file), not assumed.
"""

from collections.abc import Sequence
from typing import Literal

from benchmarks.systems.adaplanbench.macgyver.words import DETERMINERS, PREPOSITIONS, vocabulary

Status = Literal["used", "ruled_out", "likeness", "made"]
Tokens = Sequence[str]

_STOPS = frozenset([";", ":", "(", ")", ",", "but", "then", "while", "so", "because", "although"])
_NOT = vocabulary(
    "not don't dont doesn't doesnt didn't cannot can't cant couldn't shouldn't won't wouldn't "
    "never isn't aren't wasn't isnt arent"
)
_NEED = vocabulary(
    "use using used need needed needing require requires have has involve rely depend trust own"
)
_SOFT = frozenset(["really", "actually", "even", "to", "be", "have", "strictly", "necessarily"])
_INSTEAD = (("instead", "of"), ("rather", "than"), ("in", "place", "of"), ("in", "lieu", "of"))
_LACK = frozenset(["lack", "lacks", "lacking", "without", "except", "unlike"])
_FEAR = vocabulary(
    "avoid avoiding avoids prevent preventing prevents against risk danger stop stopping "
    "minimize minimizing"
)
_PERHAPS = frozenset(["might", "may", "could", "would", "if", "case", "unless"])
_UNUSED = vocabulary(
    "needed necessary required used useful usable relevant suitable helpful applicable "
    "effective available sufficient viable utilized utilised recommended"
)
_USELESS = vocabulary(
    "unnecessary useless irrelevant unusable unhelpful redundant unsuitable ineffective"
)
_MAKE = vocabulary(
    "create creates creating make makes making form forms forming fashion fashioning build "
    "building construct constructing craft crafting improvise shape shaping"
)
_MADE_UP = frozenset(["makeshift", "improvised", "homemade", "diy", "imaginary"])
_INTO_SHAPE = vocabulary(
    "shape shaping turn turning transform transforming form forming twist twisting bend bending "
    "mold molding mould fold folding folded convert make roll rolling rolled crumple crumpled "
    "shaped"
)
_RID = vocabulary(
    "drain drains draining soak soaks soaking "
    "absorb absorbs absorbing remove removes removing sweep sweeping wipe "
    "wiping mop catch catches block blocking stop stopping keep keeps prevent prevents divert "
    "direct directing bail bailing scoop empty dump excess residual rid leaking leak "
    "dry drying collect collects trap away repel against squeeze wring drip dripping "
    "rain puddle flood"
)
_APPLY = vocabulary(
    "pour pouring use using add adding apply fill filling mix spray dip with into put"
)
_RUNS = vocabulary(
    "will flows flow drains goes passes drips dripping leaks seeps seeping runs leaking leakage"
)
_SHAPE = vocabulary(
    "shape shaped shapes structure tool object form fashion manner device motion end"
)
_NEW_SUBJECT = frozenset(["it", "they", "this", "i", "you", "we", "there"])
_SUBJECT_ENDS = PREPOSITIONS - {"of", "with", "in"} | {"use", "using", "if", "then", "so", ";", ":"}


def tool_status(tokens: Tokens, start: int, end: int) -> Status:
    """How the mention of a tool at ``start`` to ``end`` of a sentence is meant."""
    if ruled_out_before(tokens, start) or _ruled_out_after(tokens, end):
        return "ruled_out"
    if _likeness(tokens, start, end):
        return "likeness"
    if _made(tokens, start, end):
        return "made"
    return "used"


def deed_status(tokens: Tokens, start: int, end: int) -> Status:
    """How the mention of an action or a property is meant: what is feared is not done."""
    if ruled_out_before(tokens, start):
        return "ruled_out"
    window = _before(tokens, start, 6)
    near = window[-4:]
    if any(token in _NOT or token == "no" for token in near) and "only" not in near:
        return "ruled_out"
    if any(token in _FEAR for token in window):
        return "ruled_out"
    last = window[-2:]
    if any(token in _PERHAPS for token in last) and not {"you", "i", "we"} & set(window[-3:]):
        return "ruled_out"
    return "used"


def unwanted(tokens: Tokens, start: int, end: int) -> bool:
    """Whether a liquid is what the step gets rid of: "drain the water", "absorb the oil".

    The nearest cue decides: "use the bucket to bail water" bails, "pour the remaining water" pours.
    """
    if end < len(tokens) and tokens[end] in _RUNS:
        return True
    for token in reversed(_before(tokens, start, 5)):
        if token in _APPLY:
            return False
        if token in _RID:
            return True
    return False


def _before(tokens: Tokens, start: int, most: int) -> list[str]:
    """The words before a mention, back to the nearest stop."""
    window: list[str] = []
    for token in reversed(tokens[max(0, start - most) : start]):
        if token in _STOPS:
            break
        window.insert(0, token)
    return window


def ruled_out_before(tokens: Tokens, start: int) -> bool:
    """Whether the words before a mention say that it is not there or not used."""
    window = _before(tokens, start, 9)
    for index, token in enumerate(window):
        rest = window[index + 1 :]
        if token in _LACK and _reaches(rest):
            return True
        if any(tuple(window[index : index + len(cue)]) == cue for cue in _INSTEAD):
            return _reaches(rest[1:])
        if token == "no" and (len(rest) <= 1 or rest[0] in ("need", "access") and len(rest) <= 4):
            return True
        if token in ("avoid", "avoiding") and len(rest) <= 3 and _reaches(rest):
            return True
        if token in _NOT and "only" not in rest:
            verbs = [place for place, word in enumerate(rest[:3]) if word in _NEED]
            direct = verbs and all(word in _SOFT for word in rest[: verbs[0]])
            if direct and len(rest) - verbs[0] <= 5:
                return True
            if not rest or (len(rest) == 1 and rest[0] in DETERMINERS):
                return True
    return False


def _reaches(rest: Sequence[str]) -> bool:
    """Whether "without" and its kind still hold after these words."""
    for index, token in enumerate(rest):
        following = rest[index + 1] if index + 1 < len(rest) else ""
        if token in ("by", "when", "until"):
            return False
        if token == "and" and following not in DETERMINERS and following:
            return False
    return len(rest) <= 7


def _ruled_out_after(tokens: Tokens, end: int) -> bool:
    """ "The straws and the kite are not needed", "the tape is too weak": said of it, not done."""
    for index in range(end, min(len(tokens), end + 14)):
        token = tokens[index]
        if token in _SUBJECT_ENDS or token in _NEW_SUBJECT:
            return False
        if token in _USELESS:
            return True
        after = tokens[index + 1 : index + 5]
        if token in _NOT:
            return any(word in _UNUSED or word == "enough" for word in after)
        if token in ("is", "are", "was", "were") and after[:1] == ["too"]:
            return True
    return False


def _likeness(tokens: Tokens, start: int, end: int) -> bool:
    after = tokens[end : end + 2]
    if after[:1] in (["shape"], ["shaped"]) or (
        after[:1] == ["like"] and after[-1] in _SHAPE and len(after) > 1
    ):
        return True
    window = _before(tokens, start, 5)
    if any(token in _MADE_UP for token in window[-3:]):
        return True
    if window[:2] == ["you", "would"] and "use" in window:
        return True
    for place in range(len(window) - 1, -1, -1):
        token = window[place]
        rest = window[place + 1 :]
        if token in PREPOSITIONS and token not in ("as", "like", "into", "to"):
            return False
        if token in ("as", "like", "into") or (
            token == "to" and window[place - 1 :][:1] == ["similar"]
        ):
            if place and window[place - 1] in ("such", "well", "known", "soon", "far", "long"):
                return False
            if token == "into" and not _INTO_SHAPE & set(_before(tokens, start, 12)):
                return False
            if rest and rest[0] in ("a", "an"):
                return True
            named = window[place - 1] if place else ""
            alone = tokens[end - 1].endswith("s") or named in (
                "use",
                "used",
                "act",
                "acts",
                "serve",
            )
            return token == "as" and not rest and alone
    return False


def _made(tokens: Tokens, start: int, end: int) -> bool:
    after = tokens[end] if end < len(tokens) else ""
    if (
        after.isalpha()
        and after not in PREPOSITIONS
        and after not in ("and", "or", "that", "which")
    ):
        return False  # "make paper strips" makes strips and uses paper
    window = _before(tokens, start, 5)
    for place in range(len(window) - 1, -1, -1):
        if window[place] in PREPOSITIONS or window[place] in ("the", "and", "your", "sure"):
            return False
        if window[place] in _MAKE:
            return True
    return False
