"""The lexicon's data files, ready for look-up: tools, attributes, and their surface forms."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.macgyver.words import plural, tokens_of, verb_forms

# Part of the identity of whatever decides by the lexicon: raised when rules or data change.
VERSION = "1"
FOLDER = Path(__file__).parent
# In the words of attributes: "*" is up to GAP words, a name in <> any word of its list.
GAP = 4
CLASSES = {
    "<cord>": frozenset(
        ["rope", "ropes", "string", "cord", "cords", "twine", "ribbon", "shoelace", "shoelaces",
         "paracord", "yarn", "leash"]
    )
}  # fmt: skip

Kind = Literal["tool", "attribute"]


class LexiconTool(NamedTuple):
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
    rid: bool = False


class Attribute(NamedTuple):
    """An attribute of tools or of their use, with how a person says that it is unwanted."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Form:
    tokens: tuple[str, ...]
    kind: Kind
    key: str
    form: str = ""
    blank: bool = False


@dataclass(frozen=True)
class Lexicon:
    """The data files, ready for look-up: surface forms by their first token, longest first."""

    tools: Mapping[str, LexiconTool]
    attributes: Mapping[str, Attribute]
    general: frozenset[str]
    forms: Mapping[str, tuple[Form, ...]]
    deeds: Mapping[str, tuple[Form, ...]]


def _read(name: str) -> Any:
    return read_yaml_file(FOLDER / name)


def _variants(form: str, row: Mapping[str, Any]) -> Iterable[str]:
    yield form
    if row.get("number") not in ("mass", "plural") and not row.get("fixed"):
        head, _, last = form.rpartition(" ")
        yield f"{head} {plural(last)}".strip()


def _which(form: str, verb: str) -> str:
    """Return which form of a verb it is, as far as its reading depends on it."""
    if form == verb:
        return "base"
    return "past" if form.split()[0].endswith(("ed", "wn", "en", "ck", "nt")) else ""


def _pattern(words: str) -> tuple[str, ...]:
    """Return the tokens of a phrase that may hold gaps and classes of words."""
    parts = (
        (word,) if word == "*" or word in CLASSES else tokens_of(word) for word in words.split()
    )
    return tuple(token for tokens in parts for token in tokens)


def match_end(pattern: Sequence[str], tokens: Sequence[str], start: int) -> int | None:
    """Return where a phrase that begins at ``start`` ends, if it stands there; gaps cross no
    stop.
    """
    if not pattern:
        return start
    if pattern[0] == "*":
        for skipped in range(GAP + 1):
            if any(not token.isalnum() for token in tokens[start : start + skipped]):
                return None
            end = match_end(pattern[1:], tokens, start + skipped)
            if end is not None:
                return end
        return None
    if start >= len(tokens):
        return None
    if tokens[start] != pattern[0] and tokens[start] not in CLASSES.get(pattern[0], ()):
        return None
    return match_end(pattern[1:], tokens, start + 1)


def _index(forms: Iterable[Form]) -> dict[str, tuple[Form, ...]]:
    by_first: dict[str, list[Form]] = {}
    for form in forms:
        by_first.setdefault(form.tokens[0], []).append(form)
    return {
        first: tuple(sorted(same_start, key=lambda form: -len(form.tokens)))
        for first, same_start in by_first.items()
    }


@cache
def load_lexicon() -> Lexicon:
    """Return the shipped lexicon."""
    groups, deeds = _read("tools.yaml"), _read("attributes.yaml")
    names = {key: row["name"] for key, row in deeds.items()}
    tools: dict[str, LexiconTool] = {}
    forms: list[Form] = []
    for rows in groups.values():
        for name, row in rows.items():
            tools[name] = LexiconTool(
                name,
                row.get("of", ""),
                tuple(names[key] for key in row.get("is", ())),
                row.get("number", "one"),
                row.get("word", ""),
                frozenset(row.get("not_before", ())),
                frozenset(row.get("not_after", ())),
                frozenset(row.get("only_after", ())),
                bool(row.get("rid")),
            )
            surfaces = {v for form in (name, *row.get("also", ())) for v in _variants(form, row)}
            forms += [Form(tokens_of(surface), "tool", name) for surface in sorted(surfaces)]
            if row.get("word") == "both":
                forms += [Form(tokens_of(verb), "tool", name) for verb in verb_forms(name)[1:]]
    acts: list[Form] = []
    for key, row in deeds.items():
        for verb in row.get("verbs", ()):
            acts += [
                Form(tokens_of(form), "attribute", key, form=_which(form, verb))
                for form in verb_forms(verb)
            ]
        acts += [Form(_pattern(word), "attribute", key) for word in row.get("words", ())]
        acts += [
            Form(_pattern(word), "attribute", key, blank=True) for word in row.get("unless", ())
        ]
    attributes = {key: Attribute(row["name"], tuple(row["texts"])) for key, row in deeds.items()}
    general = frozenset(groups["general"])
    return Lexicon(tools, attributes, general, _index(forms), _index(acts))
