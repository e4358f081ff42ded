"""The reading of a response for the corrected score: no right answer is lost to its form.

Unlike the reference's grammar, these readings know the names of the problem. Text in parentheses
counts only where it may be meant as an answer; spaces, commas, quotes, case and the form
``name(x, y)`` make no difference; only made-up names do.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.systems.acpbench_hard.pddl.conditions import Atom

NONE = "none"

_GROUP = re.compile(r"(\(\s*not\s*)?(?:(?<![\w-])([a-z][\w-]*)[*`]*)?\(([^()\[\]]*)(?:\)|$)")
_PARTS = re.compile(r"[^\s,;\"'`*]+")
_WORD = re.compile(r"[^\s,;:.\"'`*()\[\]{}?!]+")
_ONLY_NONE = re.compile(r"\A\W*none\W*(?:$|[.\n!;:])")
_SOME_NONE = re.compile(r"(?<![\w-])none(?![\w-])")
_LIST = re.compile(r"\[([^\[\]]*)(?:\]|$)")
_EMPTY_LIST = re.compile(r"\W*(?:none|empty)?\W*")
_LABEL = re.compile(r"\b(pos|neg)(?:itive|ative)?\b")
_SIMPLIFIED = re.compile(r"simplified plan\W*:")
_GROUP_WITH_NAME = re.compile(r"\(\s*[a-z][^()]*\)")
_LONGEST_EMPTY = 40
# At the beginning, but not as the number of a list's item.
_LEADING_NUMBER = re.compile(
    r"\A(?:```\w*)?[\s*`\"'(\[{#]*(-?\d++)(\.\d++)?+(?![\w.-]*\w)(?![.)]\s*[^\s)])"
)
_LABELLED_NUMBER = re.compile(
    r"(?:answer|index|position|step|action number)\W{0,20}(?:is|are|would be|at|=|:)?"
    r"\W{0,20}?(-?\d+)(\.\d+)?"
)
_NUMBER = re.compile(r"(?<![\w.-])(-?\d+)(\.\d+)?(?:st|nd|rd|th)?(?![\w-])")


@dataclass(frozen=True)
class Names:
    """The names of a problem: what an answer may begin with, what else does, and the objects.

    ``arity`` has the number of objects for each name that an answer may begin with. Without any
    names, because the problem cannot be read, everything in parentheses counts.
    """

    arity: dict[str, int] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Lists:
    """The two lists of a progression, and whether the response tells them apart."""

    pos: tuple[Atom, ...]
    neg: tuple[Atom, ...]


def read_atoms(response: str, names: Names) -> list[Atom]:
    """Return every action or atom that a response gives, in its order."""
    text = response.lower()
    return _groups(text, names) or _bare(text, names)


def _groups(text: str, names: Names) -> list[Atom]:
    found = []
    for negated, before, inner in _GROUP.findall(text):
        parts = tuple(_PARTS.findall(inner))
        if parts and parts[0] in names.arity:
            atom: Atom = parts
        elif before in names.arity:
            atom = (before, *parts)
        elif not _may_be_meant(parts, names):
            continue
        else:
            atom = parts
        found.append(("not", *atom) if negated else atom)
    return found


def _may_be_meant(parts: Atom, names: Names) -> bool:
    """Tell a made-up name with real objects from a remark in parentheses."""
    if not parts or parts[0] in names.others or parts[0] in names.objects:
        return False
    return not names.arity or not names.objects.isdisjoint(parts[1:])


def _bare(text: str, names: Names) -> list[Atom]:
    """Return actions or atoms without parentheses: a known name with known objects after it."""
    words = _WORD.findall(text)
    found = []
    for place, word in enumerate(words):
        wanted = names.arity.get(word)
        if wanted is None or (wanted == 0 and len(words) > 1):
            continue
        objects = tuple(words[place + 1 : place + 1 + wanted])
        if len(objects) == wanted and names.objects.issuperset(objects):
            found.append((word, *objects))
    return found


def read_first(response: str, names: Names) -> Atom | Literal["none"] | None:
    """Return the first action or atom of a response, ``none`` where it says so, or nothing."""
    text = response.lower()
    if _ONLY_NONE.match(text):
        return "none"
    found = read_atoms(response, names)
    if found:
        return "none" if found[0] == (NONE,) else found[0]
    return "none" if _SOME_NONE.search(text) else None


def read_plan(response: str, names: Names) -> list[Atom]:
    """Return the actions of a plan; what stands before ``simplified plan:`` does not count."""
    text = response.lower()
    label = _SIMPLIFIED.search(text)
    return read_atoms(text[label.end() :] if label else text, names)


def read_lists(response: str, names: Names) -> Lists | None:
    """Return the positive and the negative effects of a progression.

    Lists are told apart by their labels, otherwise by their order. A single list without a label
    has the positive effects. Atoms without lists and labels say nothing of which is which.
    """
    text = response.lower()
    lists = [
        (found.start(), tuple(_groups(found.group(1), names)))
        for found in _LIST.finditer(text)
        if _groups(found.group(1), names) or _is_empty(found.group(1))
    ]
    labels = [(found.start(), found.group(1)) for found in _LABEL.finditer(text)]
    both = {label for _, label in labels} == {"pos", "neg"}
    if lists:
        labelled: dict[str, tuple[Atom, ...]] = {}
        for start, atoms in lists if both else []:
            before = [label for place, label in labels if place < start]
            if before:
                labelled.setdefault(before[-1], atoms)
        if len(labelled) == 2:
            return Lists(labelled["pos"], labelled["neg"])
        return Lists(lists[0][1], lists[1][1] if len(lists) > 1 else ())
    if not both:
        return None
    # The last place of each label: reasoning about either may come before the answer.
    pos = max(place for place, label in labels if label == "pos")
    neg = max(place for place, label in labels if label == "neg")
    first, second = min(pos, neg), max(pos, neg)
    parts = tuple(_groups(text[first:second], names)), tuple(_groups(text[second:], names))
    return Lists(*(parts if pos < neg else parts[::-1]))


def _is_empty(inner: str) -> bool:
    return len(inner) <= _LONGEST_EMPTY and _EMPTY_LIST.fullmatch(inner) is not None


def read_index(response: str) -> int | None:
    """Return the index that a response gives: at its beginning, by its label, or as the last.

    Numbers within names and within actions are none. ``8.0`` is 8, and ``8.5`` is no index.
    """
    text = _GROUP_WITH_NAME.sub(" ", response.lower())
    leading = _LEADING_NUMBER.match(text)
    labelled = list(_LABELLED_NUMBER.finditer(text))
    every = list(_NUMBER.finditer(text))
    for found in (leading, *labelled[-1:], *every[-1:]):
        if found:
            whole, rest = found.group(1), found.group(2)
            if len(whole) > 9 or (rest and rest.strip(".0")):
                return None
            return int(whole)
    return None


def show(atoms: Sequence[Atom]) -> str:
    """Return atoms as one text."""
    return " ".join(f"({' '.join(atom)})" for atom in atoms)
