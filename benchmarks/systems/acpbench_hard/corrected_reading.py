"""The reading of a response for the corrected score: no right answer is lost to its form.

Unlike the reference's grammar, these readings know the names of the problem. Text in parentheses
counts only where it may be meant as an answer; spaces, commas, quotes, case, missing parentheses
and the form ``name(x, y)`` make no difference; only made-up names do. An answer that has a label,
such as "Answer:", is read from its last label on, whatever was reasoned before it.
"""

import re
from collections.abc import Callable, Sequence
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
# The label of an answer, with the words that may stand before the answer itself.
_ANSWER = re.compile(
    r"\b(?:answer|boxed)(?![\w-])(?:\W{0,20}?(?:is|are|would be|as follows|the|an?|one|such|"
    r"following|action|proposition|fact|atom|landmark|list|plan)s?\b){0,6}"
)
_BEGINNING = re.compile(r"\W{0,20}?(?:([(\[])|([a-z][\w-]*))")
_FIRST_WORDS = frozenset((NONE, "pos", "positive", "neg", "negative"))
_MOST_LABELS = 10
_SEPARATOR = re.compile(r"[,;\n]")
# A word that is a part of a list, or all of a text.
_ALONE = re.compile(
    r"(?:\A|[,;\n\[])(?:[^\w,;\n\[\]]|\d+[.)])*+([a-z][\w-]*)[^\w,;\n\[\]]*+(?=\Z|[,;\n\]])"
)
_LABEL = re.compile(r"\b(pos|neg)(?:itive|ative)?\b")
_SIMPLIFIED = re.compile(r"simplified plan\W*:")
_GROUP_WITH_NAME = re.compile(r"\(\s*[a-z][^()]*\)")
_LONGEST_EMPTY = 40
# At the beginning, but not as the number of a list's item.
_LEADING_NUMBER = re.compile(
    r"\A(?:```\w*)?[\s*`\"'(\[{#]*(-?\d++)(\.\d++)?+(?![\w.-]*\w)(?![.)]\s*[^\s)])"
)
_ANSWERED_NUMBER = re.compile(
    r"\b(?:answer|boxed)(?:\W{0,20}?(?:is|are|would be|the|an?|action|index|number|step)\b){0,4}"
    r"\W{0,20}?(-?\d+)(\.\d+)?"
)
_LABELLED_NUMBER = re.compile(
    r"(?:index|position|step|action number)\W{0,20}(?:is|are|would be|at|=|:)?"
    r"\W{0,20}?(-?\d+)(\.\d+)?"
)
_NUMBER = re.compile(r"(?<![\w.-])(-?\d+)(\.\d+)?(?:st|nd|rd|th)?(?![\w-])")


_CHOICE_LABEL = r"(?i:\b(?:answer|boxed)(?:\W{0,20}?(?:is|are|would be|the|option|choice)\b){0,4})"


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
    text = answer_part(response.lower(), names)
    return _groups(text, names) or _bare(text, names) or _groups(text, names, _is_made_up)


def answer_part(text: str, names: Names) -> str:
    """Return a text in lower case from its last label on that an answer follows, else all of it."""
    for label in reversed(list(_ANSWER.finditer(text))[-_MOST_LABELS:]):
        part = text[label.end() :]
        if follows := _BEGINNING.match(part):
            bracket, word = follows.groups()
            if bracket == "[" or word in _FIRST_WORDS:
                return part
            if (bracket or word in names.arity) and (_groups(part, names) or _bare(part, names)):
                return part
    return text


def _may_be_meant(parts: Atom, names: Names) -> bool:
    """Tell an action or atom from a remark in parentheses.

    A name counts with one known object at least, whether or not the name itself is made up.
    ``(in this state)`` is a remark although there may be a predicate ``in``. A known name counts
    with made-up objects alone if none of them is a plain word.
    """
    if not parts:
        return False
    known = parts[0] in names.arity
    if not known and (parts[0] in names.others or parts[0] in names.objects):
        return False
    if not names.arity or not names.objects.isdisjoint(parts[1:]):
        return True
    return _is_made_up(parts, names) and not any(map(str.isalpha, parts[1:]))


def _is_made_up(parts: Atom, names: Names) -> bool:
    """Tell whether a known name has as many words after it as it takes objects."""
    return bool(parts) and names.arity.get(parts[0]) == len(parts) - 1


def _groups(
    text: str, names: Names, counts: Callable[[Atom, Names], bool] = _may_be_meant
) -> list[Atom]:
    atoms = []
    for negated, before, inner in _GROUP.findall(text):
        parts = tuple(_PARTS.findall(inner))
        atom: Atom = parts
        if before in names.arity and not (parts and parts[0] in names.arity):
            atom = (before, *parts)
        if counts(atom, names):
            atoms.append(("not", *atom) if negated else atom)
    return atoms


def _bare(text: str, names: Names) -> list[Atom]:
    """Return actions or atoms without parentheses: a known name with known objects after it.

    A name that takes no objects may be any word, so it counts only where it stands alone.
    """
    words = list(_WORD.finditer(text))
    alone = {atoms.start(1) for atoms in _ALONE.finditer(text)}
    atoms = []
    for place, word in enumerate(words):
        wanted = names.arity.get(word[0])
        if wanted is None or (wanted == 0 and word.start() not in alone):
            continue
        objects = tuple(one[0] for one in words[place + 1 : place + 1 + wanted])
        if len(objects) == wanted and names.objects.issuperset(objects):
            atoms.append((word[0], *objects))
    return atoms


def read_first(response: str, names: Names) -> Atom | Literal["none"] | None:
    """Return the first action or atom of a response, ``none`` where it says so, or nothing."""
    text = answer_part(response.lower(), names)
    if _ONLY_NONE.match(text):
        return "none"
    atoms = _groups(text, names) or _bare(text, names)
    if not atoms and _SOME_NONE.search(text):
        return "none"
    atoms = atoms or _groups(text, names, _is_made_up)
    return None if not atoms else "none" if atoms[0] == (NONE,) else atoms[0]


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
    text = answer_part(response.lower(), names)
    lists = [
        (match.start(), atoms)
        for match in _LIST.finditer(text)
        if (atoms := _listed(match[1], names)) or _is_empty(match[1])
    ]
    labels = [(match.start(), match.group(1)) for match in _LABEL.finditer(text)]
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


def _listed(inner: str, names: Names) -> tuple[Atom, ...]:
    """Return the atoms of a list, or nothing where its words are not all of atoms."""
    if atoms := _groups(inner, names):
        return tuple(atoms)
    parts = [tuple(_WORD.findall(part)) for part in _SEPARATOR.split(inner)]
    given = [part for part in parts if part]
    if all(len(part) - 1 == names.arity.get(part[0]) for part in given):
        return tuple(part for part in given if len(part) == 1 or _may_be_meant(part, names))
    return _in_turn(tuple(word for part in given for word in part), names)


def _in_turn(words: Sequence[str], names: Names) -> tuple[Atom, ...]:
    """Return the atoms that words are one after the other; nothing where some are no atom."""
    atoms = []
    place = 0
    while place < len(words):
        end = place + 1 + names.arity.get(words[place], len(words))
        atom = tuple(words[place:end])
        if end > len(words) or not names.objects.issuperset(atom[1:]):
            return ()
        atoms.append(atom)
        place = end
    return tuple(atoms)


def _is_empty(inner: str) -> bool:
    return len(inner) <= _LONGEST_EMPTY and _EMPTY_LIST.fullmatch(inner) is not None


def read_index(response: str) -> int | None:
    """Return the index that a response gives.

    It stands after the last label such as "answer", else at the beginning, else after the last
    label such as "index", else it is the last number.

    Numbers within names and within actions are none. ``8.0`` is 8, and ``8.5`` is no index.
    """
    text = _GROUP_WITH_NAME.sub(" ", response.lower())
    answered = list(_ANSWERED_NUMBER.finditer(text))
    leading = _LEADING_NUMBER.match(text)
    labelled = list(_LABELLED_NUMBER.finditer(text))
    every = list(_NUMBER.finditer(text))
    for match in (*answered[-1:], leading, *labelled[-1:], *every[-1:]):
        if match:
            whole, rest = match.group(1), match.group(2)
            if len(whole) > 9 or (rest and rest.strip(".0")):
                return None
            return int(whole)
    return None


def read_choice(response: str, options: Sequence[str]) -> str | None:
    """Return the given answer that a reply chooses; None where it names none.

    It stands after the last label such as "answer", else at the beginning, else at the end of a
    sentence or line, the last one. A letter counts in upper case, or where nothing else follows it,
    because "a" is also a word.
    """
    letters = all(len(option) == 1 for option in options)
    named = "|".join(options)
    # Wherever it is, an option may be the last of its line, in either case.
    alone = rf"(?i:({named}))(?=[\s*.\"')\]}}$]*(?:\Z|\n))"
    word = rf"({named})(?![\w'])" if letters else rf"(?i:({named}))(?![\w'])"
    ended = rf"({named})(?=[).:\]*])" if letters else rf"(?i:({named}))(?=[.,;!*])"
    places = (
        rf"{_CHOICE_LABEL}\W{{0,20}}?(?:{word}|{alone})",
        rf"\A\W*(?:{ended if letters else word}|{alone})",
        rf"(?:\A|[\s*.!?:;()\[])(?:{ended}|{alone})",
    )
    for place in places:
        if matches := list(re.finditer(place, response)):
            chosen = next(filter(None, matches[-1].groups()))
            return next(option for option in options if option.lower() == chosen.lower())
    return None


def show(atoms: Sequence[Atom]) -> str:
    """Return atoms as one text."""
    return " ".join(f"({' '.join(atom)})" for atom in atoms)
