"""The lexicon: which household tools and which attributes of their use a plan's words name.

Everything here looks at the surface of a text. A tool counts as used where it is named and the
words around do not rule it out; an attribute where such a tool has it or where its words stand.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml

from benchmarks.systems.adaplanbench.macgyver.context import Status, deed_status, tool_status
from benchmarks.systems.adaplanbench.macgyver.words import (
    is_noun,
    is_verb,
    plural,
    sentences,
    tokens_of,
    verb_forms,
)
from benchmarks.systems.adaplanbench.plans import split_steps

# Part of the identity of everything that decides by it: raise it when rules or data change.
VERSION = "1"
FOLDER = Path(__file__).parent

Kind = Literal["tool", "attribute"]


@dataclass(frozen=True)
class Tool:
    """A canonical tool; ``of`` is the general word for it.

    ``number``: one, mass (some water), plural (scissors) or many (cookies).
    """

    name: str
    of: str = ""
    attributes: tuple[str, ...] = ()
    number: str = "one"
    word: str = ""
    not_before: frozenset[str] = frozenset()
    not_after: frozenset[str] = frozenset()
    only_after: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Attribute:
    """An attribute of tools or of their use, with how a person says that it is unwanted."""

    name: str
    texts: tuple[str, ...]


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


@dataclass(frozen=True)
class _Form:
    tokens: tuple[str, ...]
    kind: Kind
    key: str
    verb: bool = False
    blank: bool = False


@dataclass(frozen=True)
class Lexicon:
    """The data files, ready for look-up: surface forms by their first token, longest first."""

    tools: Mapping[str, Tool]
    attributes: Mapping[str, Attribute]
    general: frozenset[str]
    forms: Mapping[str, tuple[_Form, ...]]
    deeds: Mapping[str, tuple[_Form, ...]]


def _read(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def _variants(form: str, row: Mapping[str, Any]) -> Iterable[str]:
    yield form
    if row.get("number") not in ("mass", "plural"):
        head, _, last = form.rpartition(" ")
        yield f"{head} {plural(last)}".strip()


def _index(forms: Iterable[_Form]) -> dict[str, tuple[_Form, ...]]:
    by_first: dict[str, list[_Form]] = {}
    for form in forms:
        by_first.setdefault(form.tokens[0], []).append(form)
    return {
        first: tuple(sorted(found, key=lambda form: -len(form.tokens)))
        for first, found in by_first.items()
    }


@cache
def load_lexicon() -> Lexicon:
    """The shipped lexicon."""
    groups, deeds = _read("tools.yaml"), _read("attributes.yaml")
    names = {key: row["name"] for key, row in deeds.items()}
    tools: dict[str, Tool] = {}
    forms: list[_Form] = []
    for rows in groups.values():
        for name, row in rows.items():
            tools[name] = Tool(
                name,
                row.get("of", ""),
                tuple(names[key] for key in row.get("is", ())),
                row.get("number", "one"),
                row.get("word", ""),
                *(frozenset(row.get(k, ())) for k in ("not_before", "not_after", "only_after")),
            )
            own = [] if row.get("only_also") else [name]
            surfaces = {v for form in (*own, *row.get("also", ())) for v in _variants(form, row)}
            forms += [_Form(tokens_of(surface), "tool", name) for surface in sorted(surfaces)]
            if row.get("word") == "both":
                forms += [
                    _Form(tokens_of(verb), "tool", name, verb=True) for verb in verb_forms(name)[1:]
                ]
    acts: list[_Form] = []
    for key, row in deeds.items():
        for verb in row.get("verbs", ()):
            acts += [
                _Form(tokens_of(form), "attribute", key, verb=form == verb)
                for form in verb_forms(verb)
            ]
        acts += [_Form(tokens_of(word), "attribute", key) for word in row.get("words", ())]
        acts += [
            _Form(tokens_of(word), "attribute", key, blank=True) for word in row.get("unless", ())
        ]
    attributes = {key: Attribute(row["name"], tuple(row["texts"])) for key, row in deeds.items()}
    general = frozenset(groups["general"])
    return Lexicon(tools, attributes, general, _index(forms), _index(acts))


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
    found = _resolve(lexicon, found, listed)
    found = _without_made(found, listed)
    for mention in tuple(found):
        if mention.kind == "tool":
            for name in lexicon.tools[mention.name].attributes:
                found.append(
                    Mention("attribute", name, mention.step, mention.surface, mention.status)
                )
    return tuple(sorted(dict.fromkeys(found), key=lambda mention: mention.step))


def _tools_in(lexicon: Lexicon, tokens: Sequence[str], step: int) -> list[Mention]:
    found, place = [], 0
    while place < len(tokens):
        form = _longest(lexicon.forms, tokens, place, lexicon)
        if form is None:
            place += 1
            continue
        end = place + len(form.tokens)
        status = tool_status(tokens, place, end)
        found.append(Mention("tool", form.key, step, " ".join(tokens[place:end]), status))
        place = end
    return found


def _longest(
    index: Mapping[str, tuple[_Form, ...]], tokens: Sequence[str], place: int, lexicon: Lexicon
) -> _Form | None:
    for form in index.get(tokens[place], ()):
        end = place + len(form.tokens)
        if tuple(tokens[place:end]) == form.tokens and _fits(lexicon, form, tokens, place, end):
            return form
    return None


def _fits(lexicon: Lexicon, form: _Form, tokens: Sequence[str], start: int, end: int) -> bool:
    """Whether the neighbours allow this reading of an ambiguous word."""
    before = tokens[start - 1] if start else ""
    after = tokens[end] if end < len(tokens) else ""
    if form.kind == "attribute":
        return not form.verb or is_verb(tokens, start, end)
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
    hits: list[tuple[_Form, int]] = []
    for place in range(len(tokens)):
        for form in lexicon.deeds.get(tokens[place], ()):
            end = place + len(form.tokens)
            if tuple(tokens[place:end]) != form.tokens:
                continue
            if form.blank:
                hidden.setdefault(form.key, set()).update(range(place, end))
            elif _fits(lexicon, form, tokens, place, end):
                hits.append((form, place))
    for form, place in hits:
        end = place + len(form.tokens)
        if not hidden.get(form.key, set()).isdisjoint(range(place, end)):
            continue
        name = lexicon.attributes[form.key].name
        surface = " ".join(form.tokens)
        found.append(Mention("attribute", name, step, surface, deed_status(tokens, place, end)))
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
    """The tools that a text names at all, in its own words: no general words are added."""
    lexicon = load_lexicon()
    found = [m.name for tokens in sentences(text) for m in _tools_in(lexicon, tokens, 0)]
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
