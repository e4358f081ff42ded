"""Majority votes of several raters on each item, with ties left as ties."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from analysis.stats.columns import is_missing
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate
from annotation.ratings.voting import Rule, VoteOutcome, vote_outcome

Vote = tuple[Hashable, Hashable, Hashable | None]


@dataclass(frozen=True)
class MajorityVerdict:
    """The result of the votes on one item; ``value`` is None unless there is a majority.

    ``counts`` has the votes by value, ``missing`` the raters who were asked and gave none.
    """

    item: Hashable
    state: VoteOutcome
    value: Hashable | None
    counts: Mapping[Hashable, int]
    votes: int
    missing: int


@dataclass(frozen=True)
class Majorities:
    """The verdicts, in the order in which items first appear, and how many there are of each state.

    ``unanimous_share`` is the share of items with enough votes on which all votes are equal, with
    a Wilson interval (items taken for independent).
    """

    verdicts: tuple[MajorityVerdict, ...]
    states: Mapping[VoteOutcome, int]
    unanimous_share: Estimate
    minimum: int
    rule: Rule

    @property
    def by_item(self) -> dict[Hashable, MajorityVerdict]:
        """Each item's verdict."""
        return {verdict.item: verdict for verdict in self.verdicts}


def majority_vote(
    votes: Iterable[Vote],
    *,
    minimum: int = 2,
    rule: Rule = "more than half",
    items: Iterable[Hashable] = (),
    level: float = 0.95,
) -> Majorities:
    """Decide each item by the votes on it; a tie stays one.

    Parameters
    ----------
    votes
        (rater, item, value); a value is anything hashable (true and false, keep and remove, a
        category). None and NaN stand for a rater who was asked and did not answer.
    minimum
        Votes that an item needs; with fewer its state is ``too few votes``.
    rule
        ``"more than half"``: the value that has more than half of the votes given;
        ``"most"``: the value that has more votes than any other. For two values they are the same.
    items
        Items to give a verdict even if nobody was asked about them.

    Raises
    ------
    ValueError
        If a rater votes twice on an item, or the minimum is under 1.

    Notes
    -----
    With v votes on an item, of which m for the most frequent value:

    - *too few votes*: v < minimum;
    - *unanimous*: m = v ≥ 2 (one vote agrees with nobody: where the minimum is 1 it is a majority);
    - *majority*: m > v/2, or under ``"most"`` m above every other count;
    - *tied*: two values or more have m votes. Never resolved: such an item has no value, and who
      uses the verdicts has to say what becomes of it;
    - *no majority*: one value has the most votes but not more than half (three values or more).

    Missing votes are taken as missing at random. An even number of raters makes ties likely. The
    vote takes all raters as equally good (for weights estimated from the data see Dawid & Skene
    1979, Appl. Stat. 28:20, which is not done here). The Condorcet argument for it (that a
    majority errs less than its members) needs raters who err independently, and less than half of
    the time. AdaPlanBench, appendix C.2, uses three raters for the filter check.
    """
    if minimum < 1:
        raise ValueError(f"an item needs at least 1 vote, not {minimum}")
    if rule not in ("more than half", "most"):
        raise ValueError(f"unknown rule {rule!r}")
    boxes: dict[Hashable, dict[Hashable, Hashable | None]] = {item: {} for item in items}
    for rater, item, value in votes:
        box = boxes.setdefault(item, {})
        if rater in box:
            raise ValueError(f"{rater!r} votes twice on {item!r}: give one vote per rater and item")
        box[rater] = None if is_missing(value) else value
    verdicts = tuple(_verdict(item, box, minimum, rule) for item, box in boxes.items())
    states = Counter(verdict.state for verdict in verdicts)
    too_few = states[VoteOutcome.TOO_FEW]
    return Majorities(
        verdicts=verdicts,
        states={state: states[state] for state in VoteOutcome},
        unanimous_share=share(
            states[VoteOutcome.UNANIMOUS],
            len(verdicts) - too_few,
            level=level,
            excluded={VoteOutcome.TOO_FEW.value: too_few} if too_few else None,
        ),
        minimum=minimum,
        rule=rule,
    )


def _verdict(
    item: Hashable, box: Mapping[Hashable, Hashable | None], minimum: int, rule: Rule
) -> MajorityVerdict:
    counts: Counter[Hashable] = Counter(value for value in box.values() if value is not None)
    votes = counts.total()
    state, value = vote_outcome(counts, minimum=minimum, rule=rule)
    return MajorityVerdict(item, state, value, dict(counts), votes, len(box) - votes)
