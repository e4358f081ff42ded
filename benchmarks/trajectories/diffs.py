"""What changed between two texts or two plans, word by word, for pages that show it."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

SegmentKind = Literal["same", "added", "removed"]
LineKind = Literal["same", "added", "removed", "changed"]

_TOKEN = re.compile(r"\s+|\w+(?:['’-]\w+)*|[^\w\s]")
_WORD = re.compile(r"\w")
# Steps that share fewer of their words than this are two steps, not one that was reworded.
ALIKE = 0.45
# Comparing costs up to (words before) × (words after); beyond this only the ends are compared.
MOST_PAIRS = 4_000_000


@dataclass(frozen=True)
class Segment:
    """A stretch of text that stayed, came in or went out.

    ``op`` is the word for it that templates/includes/_diff_parts.html knows.
    """

    kind: SegmentKind
    text: str

    @property
    def op(self) -> str:
        return {"same": "equal", "added": "insert", "removed": "delete"}[self.kind]


@dataclass(frozen=True)
class Line:
    """A step with its number in the new plan; a step that went out has the number it had.

    Words are marked in changed steps alone; of the others ``op`` says all there is to say. Fit for
    templates/includes/_diff_lines.html as it is.
    """

    op: LineKind
    number: int
    parts: tuple[Segment, ...]


def diff_words(before: str, after: str) -> list[Segment]:
    """``before`` to ``after`` in segments.

    Same and removed segments together are ``before``, same and added ones ``after``; where words
    are replaced, what went out stands before what came in.
    """
    if before == after:
        return [Segment("same", before)] if before else []
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    end_old, end_new = len(old) - tail, len(new) - tail
    blocks = [(old[:head], new[:head])]
    blocks += _changes(old[head:end_old], new[head:end_new])
    blocks.append((old[end_old:], new[end_new:]))
    return _segments(blocks)


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """How many tokens two lists have in common at their beginning."""
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


Block = tuple[list[str], list[str]]


def _changes(old: list[str], new: list[str]) -> list[Block]:
    """(tokens before, tokens after) by block; equal blocks hold the same tokens twice."""
    if len(old) * len(new) > MOST_PAIRS:
        return [(old, new)]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(old[a:b], new[c:d]) for _, a, b, c, d in matcher.get_opcodes()]


def _segments(blocks: Iterable[Block]) -> list[Segment]:
    """Neighbouring changes become one, across what is only space and punctuation."""
    kept = [("".join(old), "".join(new)) for old, new in blocks if old or new]
    merged: list[tuple[str, str]] = []
    for place, (old, new) in enumerate(kept):
        same = old == new
        between = 0 < place < len(kept) - 1
        joins = same and between and not _WORD.search(old)
        changing = not same or joins
        if merged and changing == (merged[-1][0] != merged[-1][1]):
            merged[-1] = (merged[-1][0] + old, merged[-1][1] + new)
        else:
            merged.append((old, new))
    segments = []
    for old, new in merged:
        if old == new:
            segments.append(Segment("same", old))
            continue
        if old:
            segments.append(Segment("removed", old))
        if new:
            segments.append(Segment("added", new))
    return segments


def diff_steps(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Two plans step by step: steps that are alike stand in one line with their words compared."""
    lines: list[Line] = []
    for old, new in _align(before, after):
        if new is None and old is not None:
            lines.append(Line("removed", old + 1, (Segment("same", before[old]),)))
        elif old is None and new is not None:
            lines.append(Line("added", new + 1, (Segment("same", after[new]),)))
        elif old is not None and new is not None:
            parts = tuple(diff_words(before[old], after[new]))
            same = all(part.kind == "same" for part in parts)
            lines.append(Line("same" if same else "changed", new + 1, parts))
    return lines


def _align(before: Sequence[str], after: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Pairs of places, in order, that make the sum of likenesses greatest; None has no partner."""
    # Nothing is liker than the same: what both begin with stands side by side in any case.
    head = _shared(before, after)
    pairs: list[tuple[int | None, int | None]] = [(place, place) for place in range(head)]
    rest = _align_rest(before[head:], after[head:])
    pairs += [(_moved(old, head), _moved(new, head)) for old, new in rest]
    return pairs


def _moved(place: int | None, by: int) -> int | None:
    return None if place is None else place + by


def _align_rest(before: Sequence[str], after: Sequence[str]) -> list[tuple[int | None, int | None]]:
    bags_old = [_bag(text) for text in before]
    bags_new = [_bag(text) for text in after]
    rows, columns = len(before), len(after)
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    like = [[_likeness(a, b) for b in bags_new] for a in bags_old]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], like[i][j] + best[i + 1][j + 1])
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < rows and j < columns:
        if like[i][j] and best[i][j] == like[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            pairs.append((i, None))
            i += 1
        else:
            pairs.append((None, j))
            j += 1
    pairs += [(place, None) for place in range(i, rows)]
    pairs += [(None, place) for place in range(j, columns)]
    return pairs


# The words of a step with how often each is there, and how many there are.
Bag = tuple[dict[str, int], int]


@lru_cache(maxsize=1024)
def _bag(text: str) -> Bag:
    """The words of a step; a plan is compared with the one before it and the one after it."""
    words = _words(text)
    return dict(Counter(words)), len(words)


def _words(text: str) -> list[str]:
    """The words that carry meaning, roughly: any two sentences share "the" and "it"."""
    words = [token.lower() for token in _TOKEN.findall(text) if _WORD.search(token)]
    return [word for word in words if len(word) > 3] or words


def _likeness(one: Bag, other: Bag) -> float:
    """Share of words in common (Dice), or 0 where it is below ``ALIKE``."""
    (words, count), (others, other_count) = one, other
    total = count + other_count
    if not total:
        return 1.0
    common = words.keys() & others.keys()
    # No more of them are shared than the shorter step has.
    if not common or 2 * min(count, other_count) < ALIKE * total:
        return 0.0
    share = 2 * sum([min(words[word], others[word]) for word in common]) / total
    return share if share >= ALIKE else 0.0
