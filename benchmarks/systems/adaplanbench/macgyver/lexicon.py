"""The lexicon: which household tools and which attributes of their use a plan's words name.

Everything here looks at the surface of a text. A tool counts as used where it is named and the
words around do not rule it out; an attribute where such a tool has it or where its words stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from benchmarks.core.plans import split_steps
from benchmarks.systems.adaplanbench.macgyver.vocabulary import (
    Form,
    Kind,
    Lexicon,
    load_lexicon,
    match_end,
)
from benchmarks.systems.adaplanbench.macgyver.words import (
    DETERMINERS,
    PREPOSITIONS,
    is_done,
    is_noun,
    is_verb,
    sentences,
    vocabulary,
)

# --- What the words around a mention say about it ------------------------------------------------

# The cues are those of written instructions. They are rules of thumb: their precision and recall
# are measured on marked turns (README.md beside this file), not assumed.

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
    """Return how the mention of a tool at ``start`` to ``end`` of a sentence is meant."""
    if ruled_out_before(tokens, start) or _ruled_out_after(tokens, end):
        return "ruled_out"
    if _likeness(tokens, start, end):
        return "likeness"
    if _made(tokens, start, end):
        return "made"
    return "used"


def deed_status(tokens: Tokens, start: int, end: int) -> Status:
    """Return how the mention of an action or a property is meant: what is feared is not done."""
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
    """Return whether a liquid is what the step gets rid of: "drain the water", "absorb the oil".

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
    """Return the words before a mention, back to the nearest stop."""
    window: list[str] = []
    for token in reversed(tokens[max(0, start - most) : start]):
        if token in _STOPS:
            break
        window.insert(0, token)
    return window


def ruled_out_before(tokens: Tokens, start: int) -> bool:
    """Return whether the words before a mention say that it is not there or not used."""
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
    """Return whether "without" and its kind still hold after these words."""
    for index, token in enumerate(rest):
        following = rest[index + 1] if index + 1 < len(rest) else ""
        if token in ("by", "when", "until"):
            return False
        if token == "and" and following not in DETERMINERS and following:
            return False
    return len(rest) <= 7


def _ruled_out_after(tokens: Tokens, end: int) -> bool:
    """Return whether words rule a thing out: "the straws are not needed", "the tape is too
    weak".
    """
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


class Mention(NamedTuple):
    """A place in a plan where a tool or an attribute is named; steps count from 1."""

    kind: Kind
    name: str
    step: int
    surface: str
    status: Status

    @property
    def about(self) -> str:
        return f"{self.kind}:{self.name}"


def mentions(text: str, listed: Sequence[str] = ()) -> tuple[Mention, ...]:
    """Return what a plan names, step by step.

    ``listed`` are the tools that the problem offers: a general word ("the tape") means the one
    kind of it that the plan names, else the one kind that the problem offers.
    """
    return _mentions(text, tuple(listed))


@lru_cache(maxsize=4096)
def _mentions(text: str, listed: tuple[str, ...]) -> tuple[Mention, ...]:
    lexicon = load_lexicon()
    every: list[Mention] = []
    for number, step in enumerate(split_steps(text), 1):
        for tokens in sentences(step):
            every += _tools_in(lexicon, tokens, number)
            every += _deeds_in(lexicon, tokens, number)
    plain = set(every)
    every = _without_made(_resolve(lexicon, every, listed), listed)
    # Each tool lends its attributes, a general word only where no kind is meant: neither is a
    # butter knife a sharp knife, nor "the straw" of metal throwaway plastic.
    meant = {(m.step, m.surface, lexicon.tools[m.name].of) for m in every if m.kind == "tool"}
    for mention in tuple(every):
        if mention.kind != "tool" or (mention.step, mention.surface, mention.name) in meant:
            continue
        if mention in plain or lexicon.tools[mention.name].of:
            for name in lexicon.tools[mention.name].attributes:
                every.append(
                    Mention("attribute", name, mention.step, mention.surface, mention.status)
                )
    return tuple(sorted(dict.fromkeys(every), key=lambda mention: mention.step))


def _places(lexicon: Lexicon, tokens: Sequence[str]) -> Iterator[tuple[Form, int, int]]:
    """Yield the tools that a sentence names, longest names first: (form, start, end)."""
    place = 0
    while place < len(tokens):
        form = _longest(lexicon.forms, tokens, place, lexicon)
        if form is not None:
            yield form, place, place + len(form.tokens)
        place += 1 if form is None else len(form.tokens)


def _tools_in(lexicon: Lexicon, tokens: Sequence[str], step: int) -> list[Mention]:
    tools = []
    for form, start, end in _places(lexicon, tokens):
        status = tool_status(tokens, start, end)
        if status == "used" and lexicon.tools[form.key].rid and unwanted(tokens, start, end):
            status = "ruled_out"
        tools.append(Mention("tool", form.key, step, " ".join(tokens[start:end]), status))
    return tools


def _longest(
    index: Mapping[str, tuple[Form, ...]], tokens: Sequence[str], place: int, lexicon: Lexicon
) -> Form | None:
    for form in index.get(tokens[place], ()):
        end = place + len(form.tokens)
        if tuple(tokens[place:end]) == form.tokens and _fits(lexicon, form, tokens, place, end):
            return form
    return None


def _fits(lexicon: Lexicon, form: Form, tokens: Sequence[str], start: int, end: int) -> bool:
    """Return whether the neighbours allow this reading of an ambiguous word."""
    before = tokens[start - 1] if start else ""
    after = tokens[end] if end < len(tokens) else ""
    if form.kind == "attribute":
        if form.form == "base":
            return is_verb(tokens, start)
        return form.form != "past" or is_done(tokens, start)
    tool = lexicon.tools[form.key]
    if after in tool.not_before or before in tool.not_after:
        return False
    if tool.only_after and len(form.tokens) == 1 and before not in tool.only_after:
        return False
    if tool.word != "noun" or len(form.tokens) > 1:
        return True
    return is_noun(tokens, start, end)


def _deeds_in(lexicon: Lexicon, tokens: Sequence[str], step: int) -> list[Mention]:
    deeds = []
    hidden: dict[str, set[int]] = {}
    hits: list[tuple[Form, int, int]] = []
    for start, token in enumerate(tokens):
        for form in lexicon.deeds.get(token, ()):
            end = match_end(form.tokens, tokens, start)
            if end is None:
                continue
            if form.blank:
                hidden.setdefault(form.key, set()).update(range(start, end))
            elif _fits(lexicon, form, tokens, start, end):
                hits.append((form, start, end))
    for form, start, end in hits:
        if not hidden.get(form.key, set()).isdisjoint(range(start, end)):
            continue
        name = lexicon.attributes[form.key].name
        surface = " ".join(tokens[start:end])
        deeds.append(Mention("attribute", name, step, surface, deed_status(tokens, start, end)))
    return deeds


def _resolve(lexicon: Lexicon, unresolved: list[Mention], listed: Sequence[str]) -> list[Mention]:
    """Let general words stand for the kind that is meant, and kinds for their general word too."""
    kinds: dict[str, list[str]] = {}
    for mention in unresolved:
        if mention.kind == "tool" and (of := lexicon.tools[mention.name].of):
            kinds.setdefault(of, []).append(mention.name)
    offered: dict[str, list[str]] = {}
    for name in listed:
        if name in lexicon.tools and (of := lexicon.tools[name].of):
            offered.setdefault(of, []).append(name)
    resolved: list[Mention] = []
    for mention in unresolved:
        resolved.append(mention)
        if mention.kind != "tool":
            continue
        tool = lexicon.tools[mention.name]
        also = []
        if tool.of:
            also = [tool.of]
        elif mention.name in lexicon.general and mention.name not in listed:
            named = kinds.get(mention.name) or offered.get(mention.name) or []
            meant = list(dict.fromkeys(named))
            also = meant if len(meant) == 1 else []
        resolved += [
            Mention("tool", name, mention.step, mention.surface, mention.status) for name in also
        ]
    return resolved


def _without_made(resolved: list[Mention], listed: Sequence[str]) -> list[Mention]:
    """Leave out things that the plan makes first: such a thing is meant when it is named again."""
    first: dict[str, Status] = {}
    for mention in resolved:
        if mention.kind == "tool":
            first.setdefault(mention.name, mention.status)
    made = {name for name, status in first.items() if status in ("made", "likeness")} - set(listed)
    return [
        Mention(m.kind, m.name, m.step, m.surface, "made")
        if m.kind == "tool" and m.name in made and m.status == "used"
        else m
        for m in resolved
    ]


def named(text: str) -> tuple[str, ...]:
    """Return the tools that a list of resources offers, in its own words: no general words are
    added.
    """
    lexicon = load_lexicon()
    keys: list[str] = []
    for tokens in sentences(text):
        for form, start, end in _places(lexicon, tokens):
            status = tool_status(tokens, start, end)
            # "a hammer, which is not very heavy" is there, "bottles with no caps" offers no cap
            if status == "used" or (status == "ruled_out" and not ruled_out_before(tokens, start)):
                keys.append(form.key)
    return tuple(dict.fromkeys(keys))


def tools_of_words(text: str) -> tuple[str, ...]:
    """Return every tool that some single word of a text may mean, whatever stands around it."""
    forms = load_lexicon().forms
    words = {word for tokens in sentences(text) for word in tokens}
    keys = [form.key for w in sorted(words) for form in forms.get(w, ()) if len(form.tokens) == 1]
    return tuple(dict.fromkeys(keys))


class Uses(NamedTuple):
    """The things that a plan uses by its words: ``about`` to the first mention that says so."""

    by_about: Mapping[str, Mention]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(m.name for m in self.by_about.values() if m.kind == "tool")

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(m.name for m in self.by_about.values() if m.kind == "attribute")


def uses(text: str, listed: Sequence[str] = ()) -> Uses:
    """Return the tools and attributes that a plan uses."""
    by_about: dict[str, Mention] = {}
    for mention in mentions(text, listed):
        if mention.status == "used":
            by_about.setdefault(mention.about, mention)
    return Uses(by_about)
