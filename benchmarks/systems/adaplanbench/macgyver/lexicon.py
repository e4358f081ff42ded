"""The lexicon: which household tools and which attributes of their use a plan's words name.

Everything here looks at the surface of a text. A tool counts as used where it is named and the
words around do not rule it out; an attribute where such a tool has it or where its words stand.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.core.plans import split_steps
from benchmarks.systems.adaplanbench.macgyver.context import (
    Status,
    deed_status,
    ruled_out_before,
    tool_status,
    unwanted,
)
from benchmarks.systems.adaplanbench.macgyver.vocabulary import (
    Form,
    Kind,
    Lexicon,
    load_lexicon,
    match_end,
)
from benchmarks.systems.adaplanbench.macgyver.words import is_done, is_noun, is_verb, sentences


@dataclass(frozen=True)
class Mention:
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
    """What a plan names, step by step.

    ``listed`` are the tools that the problem offers: a general word ("the tape") means the one
    kind of it that the plan names, else the one kind that the problem offers.
    """
    return _mentions(text, tuple(listed))


@lru_cache(maxsize=4096)
def _mentions(text: str, listed: tuple[str, ...]) -> tuple[Mention, ...]:
    lexicon = load_lexicon()
    found: list[Mention] = []
    for number, step in enumerate(split_steps(text), 1):
        for tokens in sentences(step):
            found += _tools_in(lexicon, tokens, number)
            found += _deeds_in(lexicon, tokens, number)
    plain = set(found)
    found = _without_made(_resolve(lexicon, found, listed), listed)
    # Each tool lends its attributes, a general word only where no kind is meant: neither is a
    # butter knife a sharp knife, nor "the straw" of metal throwaway plastic.
    meant = {(m.step, m.surface, lexicon.tools[m.name].of) for m in found if m.kind == "tool"}
    for mention in tuple(found):
        if mention.kind != "tool" or (mention.step, mention.surface, mention.name) in meant:
            continue
        if mention in plain or lexicon.tools[mention.name].of:
            for name in lexicon.tools[mention.name].attributes:
                found.append(
                    Mention("attribute", name, mention.step, mention.surface, mention.status)
                )
    return tuple(sorted(dict.fromkeys(found), key=lambda mention: mention.step))


def _places(lexicon: Lexicon, tokens: Sequence[str]) -> Iterator[tuple[Form, int, int]]:
    """The tools that a sentence names, longest names first: (form, start, end)."""
    place = 0
    while place < len(tokens):
        form = _longest(lexicon.forms, tokens, place, lexicon)
        if form is not None:
            yield form, place, place + len(form.tokens)
        place += 1 if form is None else len(form.tokens)


def _tools_in(lexicon: Lexicon, tokens: Sequence[str], step: int) -> list[Mention]:
    found = []
    for form, start, end in _places(lexicon, tokens):
        status = tool_status(tokens, start, end)
        if status == "used" and lexicon.tools[form.key].rid and unwanted(tokens, start, end):
            status = "ruled_out"
        found.append(Mention("tool", form.key, step, " ".join(tokens[start:end]), status))
    return found


def _longest(
    index: Mapping[str, tuple[Form, ...]], tokens: Sequence[str], place: int, lexicon: Lexicon
) -> Form | None:
    for form in index.get(tokens[place], ()):
        end = place + len(form.tokens)
        if tuple(tokens[place:end]) == form.tokens and _fits(lexicon, form, tokens, place, end):
            return form
    return None


def _fits(lexicon: Lexicon, form: Form, tokens: Sequence[str], start: int, end: int) -> bool:
    """Whether the neighbours allow this reading of an ambiguous word."""
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
    found = []
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
        found.append(Mention("attribute", name, step, surface, deed_status(tokens, start, end)))
    return found


def _resolve(lexicon: Lexicon, found: list[Mention], listed: Sequence[str]) -> list[Mention]:
    """Let general words stand for the kind that is meant, and kinds for their general word too."""
    kinds: dict[str, list[str]] = {}
    for mention in found:
        if mention.kind == "tool" and (of := lexicon.tools[mention.name].of):
            kinds.setdefault(of, []).append(mention.name)
    offered: dict[str, list[str]] = {}
    for name in listed:
        if name in lexicon.tools and (of := lexicon.tools[name].of):
            offered.setdefault(of, []).append(name)
    resolved: list[Mention] = []
    for mention in found:
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


def _without_made(found: list[Mention], listed: Sequence[str]) -> list[Mention]:
    """A thing that the plan makes first is that thing when it is named again."""
    first: dict[str, Status] = {}
    for mention in found:
        if mention.kind == "tool":
            first.setdefault(mention.name, mention.status)
    made = {name for name, status in first.items() if status in ("made", "likeness")} - set(listed)
    return [
        Mention(m.kind, m.name, m.step, m.surface, "made")
        if m.kind == "tool" and m.name in made and m.status == "used"
        else m
        for m in found
    ]


def named(text: str) -> tuple[str, ...]:
    """The tools that a list of resources offers, in its own words: no general words are added."""
    lexicon = load_lexicon()
    found: list[str] = []
    for tokens in sentences(text):
        for form, start, end in _places(lexicon, tokens):
            status = tool_status(tokens, start, end)
            # "a hammer, which is not very heavy" is there, "bottles with no caps" offers no cap
            if status == "used" or (status == "ruled_out" and not ruled_out_before(tokens, start)):
                found.append(form.key)
    return tuple(dict.fromkeys(found))


def tools_of_words(text: str) -> tuple[str, ...]:
    """Every tool that some single word of a text may mean, whatever stands around it."""
    forms = load_lexicon().forms
    words = {word for tokens in sentences(text) for word in tokens}
    found = [form.key for w in sorted(words) for form in forms.get(w, ()) if len(form.tokens) == 1]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Uses:
    """What a plan uses by its words: ``about`` to the first mention that says so."""

    by_about: Mapping[str, Mention]

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(m.name for m in self.by_about.values() if m.kind == "tool")

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(m.name for m in self.by_about.values() if m.kind == "attribute")


def uses(text: str, listed: Sequence[str] = ()) -> Uses:
    """The tools and attributes that a plan uses."""
    by_about: dict[str, Mention] = {}
    for mention in mentions(text, listed):
        if mention.status == "used":
            by_about.setdefault(mention.about, mention)
    return Uses(by_about)
