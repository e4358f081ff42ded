"""Differences between two texts or two plans, word by word."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, NamedTuple

SegmentKind = Literal["same", "added", "removed"]
LineKind = Literal["same", "added", "removed", "changed"]

_TOKEN = re.compile(r"\s+|\w+(?:['’-]\w+)*|[^\w\s]")
_WORD = re.compile(r"\w")
# Steps that share a smaller part of their words are two steps, not one reworded step.
ALIKE = 0.45
# Comparing costs up to (words before) × (words after); beyond this only the ends are compared.
MOST_PAIRS = 4_000_000


class DiffSegment(NamedTuple):
    """A piece of text that stayed, was added or was removed.

    ``op`` is the name that templates/includes/_diff_parts.html uses.
    """

    kind: SegmentKind
    text: str

    @property
    def op(self) -> str:
        return {"same": "equal", "added": "insert", "removed": "delete"}[self.kind]


@dataclass(frozen=True)
class DiffLine:
    """A step with its number in the new plan; a removed step keeps its old number.

    Only changed steps mark their words; for the others ``op`` says it all.
    templates/includes/_diff_lines.html shows it.
    """

    op: LineKind
    number: int
    parts: tuple[DiffSegment, ...]


def diff_words(before: str, after: str) -> list[DiffSegment]:
    """Return the changes from ``before`` to ``after`` as segments.

    Same and removed segments together are ``before``, same and added ones ``after``; where words
    are replaced, the removed ones come before the added ones.
    """
    if before == after:
        return [DiffSegment("same", before)] if before else []
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    end_old, end_new = len(old) - tail, len(new) - tail
    blocks = [(old[:head], new[:head])]
    blocks += _changes(old[head:end_old], new[head:end_new])
    blocks.append((old[end_old:], new[end_new:]))
    return _segments(blocks)


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """Count the tokens that two lists share at their beginning."""
    pairs = zip(old, new, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


Block = tuple[list[str], list[str]]


def _changes(old: list[str], new: list[str]) -> list[Block]:
    """Return blocks of (tokens before, tokens after); both are equal in unchanged blocks."""
    if len(old) * len(new) > MOST_PAIRS:
        return [(old, new)]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(old[a:b], new[c:d]) for _, a, b, c, d in matcher.get_opcodes()]


def _segments(blocks: Iterable[Block]) -> list[DiffSegment]:
    """Merge neighbouring changes that only space and punctuation separate."""
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
            segments.append(DiffSegment("same", old))
            continue
        if old:
            segments.append(DiffSegment("removed", old))
        if new:
            segments.append(DiffSegment("added", new))
    return segments


def diff_steps(before: Sequence[str], after: Sequence[str]) -> list[DiffLine]:
    """Compare two plans step by step; similar steps share a line and are compared word by word."""
    lines: list[DiffLine] = []
    for old, new in _align(before, after):
        if new is None and old is not None:
            lines.append(DiffLine("removed", old + 1, (DiffSegment("same", before[old]),)))
        elif old is None and new is not None:
            lines.append(DiffLine("added", new + 1, (DiffSegment("same", after[new]),)))
        elif old is not None and new is not None:
            parts = tuple(diff_words(before[old], after[new]))
            same = all(part.kind == "same" for part in parts)
            lines.append(DiffLine("same" if same else "changed", new + 1, parts))
    return lines


def _align(before: Sequence[str], after: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Pair steps, in order, so that the sum of similarities is greatest; None means no partner."""
    # Equal steps at the beginning are the best pairs in any case.
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


# The words of a step with their counts, and the total.
Bag = tuple[dict[str, int], int]


@lru_cache(maxsize=1024)
def _bag(text: str) -> Bag:
    """Count the words of a step; cached, because each plan is compared twice."""
    words = _words(text)
    return dict(Counter(words)), len(words)


def _words(text: str) -> list[str]:
    """Return the words that carry meaning: any two sentences share "the" and "it"."""
    words = [token.lower() for token in _TOKEN.findall(text) if _WORD.search(token)]
    return [word for word in words if len(word) > 3] or words


def _likeness(one: Bag, other: Bag) -> float:
    """Return the Dice coefficient of the words, or 0 if it is below ``ALIKE``."""
    (words, count), (others, other_count) = one, other
    total = count + other_count
    if not total:
        return 1.0
    common = words.keys() & others.keys()
    # At most the words of the shorter step can be shared.
    if not common or 2 * min(count, other_count) < ALIKE * total:
        return 0.0
    share = 2 * sum([min(words[word], others[word]) for word in common]) / total
    return share if share >= ALIKE else 0.0
