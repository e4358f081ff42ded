"""The outcome of several raters' votes; a tie stays a tie."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from enum import StrEnum
from typing import Literal

Rule = Literal["more than half", "most"]


class VoteOutcome(StrEnum):
    """The outcome of the votes on an item."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    TIED = "tied"
    NO_MAJORITY = "no majority"
    TOO_FEW = "too few votes"


def vote_outcome(
    counts: Counter[Hashable], *, minimum: int = 2, rule: Rule = "more than half"
) -> tuple[VoteOutcome, Hashable | None]:
    """Return the state of counted votes, and the value that has the majority, if one has.

    `analysis.stats.rater_agreement.majority.majority_vote` says what each state means.
    """
    votes = counts.total()
    if votes < minimum:
        return VoteOutcome.TOO_FEW, None
    (first, most), *others = counts.most_common()
    if not others:
        return (VoteOutcome.UNANIMOUS if votes > 1 else VoteOutcome.MAJORITY), first
    if others[0][1] == most:
        return VoteOutcome.TIED, None
    if rule == "more than half" and 2 * most <= votes:
        return VoteOutcome.NO_MAJORITY, None
    return VoteOutcome.MAJORITY, first


def marked_by_majority(
    sets: Iterable[Collection[Hashable]], unsure: Iterable[Collection[Hashable]] = ()
) -> tuple[frozenset[Hashable], frozenset[Hashable]]:
    """Return the elements that more than half of the raters marked, and those that have no majority
    for being marked or not.

    ``unsure``: about which elements raters cannot tell. Without any, an element without a majority
    is one that exactly half marked.
    """
    given = list(sets)
    marks = Counter(element for marked in given for element in set(marked))
    cannot = Counter(element for elements in unsure for element in set(elements))
    half = len(given) / 2
    marked = frozenset(element for element, count in marks.items() if count > half)
    open_ones = frozenset(
        element
        for element in marks.keys() | cannot.keys()
        if marks[element] <= half and len(given) - marks[element] - cannot[element] <= half
    )
    return marked, open_ones
