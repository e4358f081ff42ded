"""Sets that people marked on each turn (constraints that are violated) against a judge's set."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from analysis.stats.columns import cluster_of, is_missing
from analysis.stats.descriptive.means import Scale, mean_by_cluster
from analysis.stats.descriptive.rates import Rate, rate
from analysis.stats.results import Estimate
from annotation.ratings.voting import marked_by_majority

Mark = tuple[Hashable, Hashable, Collection[Hashable] | None]
Elements = frozenset[Hashable]
Ties = Literal["exclude turn", "exclude element"]

NOTHING_TO_COMPARE = "no turn has both a set of the judge and enough people's sets"


class TurnState(StrEnum):
    """The state of a turn in a comparison: compared, or why it cannot be."""

    COMPARED = "compared"
    TIED = "people tie on an element"
    UNSURE = "people cannot tell about an element"
    TOO_FEW = "too few people marked it"
    NO_JUDGE = "no set of the judge"


@dataclass(frozen=True)
class MajoritySet:
    """The elements that more than half of a turn's raters marked, and those without a majority.

    ``unsure`` are those of the latter about which a rater cannot tell. ``enough`` is false where
    fewer than the minimum of raters gave a set; the sets are then empty and mean nothing.
    """

    marked: Elements
    tied: Elements
    raters: int
    enough: bool
    unsure: Elements = frozenset()


@dataclass(frozen=True)
class TurnComparison:
    """One turn: ``missed`` was marked by people alone, ``extra`` by the judge alone.

    Both are empty where the turn was not compared. ``jaccard`` is None there.
    """

    turn: Hashable
    trajectory: Hashable
    state: TurnState
    people: MajoritySet
    judge: Elements | None
    missed: Elements
    extra: Elements
    jaccard: float | None


@dataclass(frozen=True)
class SetComparison:
    """The comparison of a judge's sets with the majority of people's.

    Attributes
    ----------
    exact, within_one
        Shares of compared turns whose sets are equal, or differ in at most one element.
    jaccard, missed, extra
        Means over compared turns of the Jaccard index, and of the numbers of elements marked by
        people alone and by the judge alone; intervals are by trajectory.
    missed_total, extra_total
        Those elements, counted.
    turns, trajectories
        Compared turns, and the trajectories they belong to.
    both_empty
        Compared turns in which neither people nor the judge marked anything (equal, Jaccard 1).
    states
        All turns by state; ``ties`` says whether the tied ones are among the compared.
    excluded
        Turns left out, by reason; repeated in every estimate.
    each
        The turns one by one.
    """

    exact: Rate
    within_one: Rate
    jaccard: Estimate
    missed: Estimate
    extra: Estimate
    missed_total: int
    extra_total: int
    turns: int
    trajectories: int
    both_empty: int
    states: Mapping[TurnState, int]
    ties: Ties
    excluded: Mapping[str, int]
    each: tuple[TurnComparison, ...]


def jaccard_index(one: Collection[Hashable], other: Collection[Hashable]) -> float:
    """Return |A ∩ B|/|A ∪ B|, from 0 to 1; two empty sets are equal, so 1.

    Jaccard 1912, New Phytol. 11:37; the value for empty sets is a convention.
    """
    a, b = set(one), set(other)
    return len(a & b) / len(a | b) if a | b else 1.0


def majority_sets(
    marks: Iterable[Mark], *, unsure: Iterable[Mark] = (), minimum: int = 2
) -> dict[Hashable, MajoritySet]:
    """Decide for each turn which elements the majority of its raters marked.

    Parameters
    ----------
    marks
        (rater, turn, set); an empty set says that nothing applies, None that the rater was asked
        and gave no set.
    unsure
        (rater, turn, set) again: the elements about which the rater cannot tell.
    minimum
        Sets that a turn needs.

    Raises
    ------
    ValueError
        If a rater marks a turn twice.

    Notes
    -----
    A majority vote (`majority.majority_vote`) on every element that anybody marked or could not
    tell about, in which each rater with a set votes: marked, not marked, or cannot tell. An element
    without a majority for marked or not marked is in ``tied``. The elements are decided one by
    one: the result need not be any rater's own set.
    """
    given: dict[Hashable, dict[Hashable, Elements | None]] = {}
    for rater, turn, marked in marks:
        box = given.setdefault(turn, {})
        if rater in box:
            raise ValueError(f"{rater!r} marks {turn!r} twice: give one set per rater and turn")
        box[rater] = _elements(marked)
    doubts: dict[Hashable, list[Elements]] = {}
    for _, turn, elements in unsure:
        doubts.setdefault(turn, []).append(_elements(elements) or frozenset())
    return {turn: _majority_set(box, doubts.get(turn, ()), minimum) for turn, box in given.items()}


def compare_marked_sets(
    marks: Iterable[Mark],
    judged: Mapping[Hashable, Collection[Hashable] | None],
    *,
    trajectories: Mapping[Hashable, Hashable],
    unsure: Iterable[Mark] = (),
    minimum: int = 2,
    ties: Ties = "exclude turn",
    level: float = 0.95,
) -> SetComparison:
    """Compare the judge's set on each turn with the majority of people's.

    Parameters
    ----------
    marks
        As in `majority_sets`. A turn is any key that is unique over trajectories, such as
        (trajectory, number).
    judged
        The judge's set by turn; None where it is unknown (which is not empty).
    trajectories
        The trajectory of every turn: intervals take trajectories as independent.
    unsure
        As in `majority_sets`.
    ties
        What becomes of a turn with a tied element: ``"exclude turn"`` leaves it out;
        ``"exclude element"`` compares it without its tied elements, on either side. Either way such
        turns are counted as tied, and no tie is resolved.
    level
        Of the intervals.

    Raises
    ------
    ValueError
        If a rater marks a turn twice, or a turn has no trajectory.

    Notes
    -----
    With P the majority set and J the judge's, per turn: exact match P = J, within one
    |P Δ J| ≤ 1, Jaccard |P ∩ J|/|P ∪ J| (1 where both are empty), missed |P − J|, extra |J − P|.
    A constraint named instead of another is two differences. Shares have a Wilson interval, which
    takes turns for independent, and one by trajectory (`rates.rate`); means have the
    latter alone (`means.mean_by_cluster`). Turns without the judge's set, then those with too few
    people's sets, then those with an element that people cannot tell about or tie on are left out
    and counted. Undefined where no turn is left. Read
    ``both_empty`` beside the exact share: turns without a violation are easy to agree on.
    AdaPlanBench, appendix C.2: 166 turns of 30 trajectories, 89.76 % exact (149 of 166), 161 of 166
    within one; it gives no intervals and does not say what became of ties.
    """
    if ties not in ("exclude turn", "exclude element"):
        raise ValueError(f"unknown treatment of ties {ties!r}")
    people = majority_sets(marks, unsure=unsure, minimum=minimum)
    nobody = MajoritySet(frozenset(), frozenset(), 0, False)
    each = tuple(
        _compare_turn(turn, people.get(turn, nobody), _elements(judged.get(turn)), trajectories)
        for turn in dict.fromkeys([*people, *judged])
    )
    states = Counter(turn.state for turn in each)
    left_out = [TurnState.NO_JUDGE, TurnState.TOO_FEW]
    if ties == "exclude turn":
        left_out += [TurnState.TIED, TurnState.UNSURE]
    compared = [turn for turn in each if turn.state not in left_out]
    excluded = {state.value: states[state] for state in left_out if states[state]}
    groups = [turn.trajectory for turn in compared]
    drawing: dict[str, Any] = {
        "unit": "trajectory",
        "level": level,
        "excluded": excluded,
    }
    distances = [len(turn.missed) + len(turn.extra) for turn in compared]

    def mean_of(values: list[float], scale: Scale) -> Estimate:
        if not values:
            return Estimate.without_value(NOTHING_TO_COMPARE, excluded=excluded)
        return mean_by_cluster(values, groups, scale=scale, **drawing)

    def share_of(hits: list[bool]) -> Rate:
        return rate(hits, groups, empty=NOTHING_TO_COMPARE, **drawing)

    return SetComparison(
        exact=share_of([distance == 0 for distance in distances]),
        within_one=share_of([distance <= 1 for distance in distances]),
        jaccard=mean_of([turn.jaccard for turn in compared if turn.jaccard is not None], (0, 1)),
        missed=mean_of([len(turn.missed) for turn in compared], (0, None)),
        extra=mean_of([len(turn.extra) for turn in compared], (0, None)),
        missed_total=sum(len(turn.missed) for turn in compared),
        extra_total=sum(len(turn.extra) for turn in compared),
        turns=len(compared),
        trajectories=len(set(groups)),
        both_empty=sum(
            not turn.people.marked and not (turn.judge or frozenset()) - turn.people.tied
            for turn in compared
        ),
        states={state: states[state] for state in TurnState},
        ties=ties,
        excluded=excluded,
        each=each,
    )


def _elements(marked: Collection[Hashable] | None) -> Elements | None:
    if isinstance(marked, str):
        raise ValueError(f"a set of elements is expected, not the text {marked!r}")
    return None if marked is None or is_missing(marked) else frozenset(marked)


def _majority_set(
    box: Mapping[Hashable, Elements | None], doubts: Collection[Elements], minimum: int
) -> MajoritySet:
    sets = {rater: marked for rater, marked in box.items() if marked is not None}
    if len(sets) < minimum:
        return MajoritySet(frozenset(), frozenset(), len(sets), False)
    marked, tied = marked_by_majority(sets.values(), doubts)
    unsure = tied & frozenset(element for elements in doubts for element in elements)
    return MajoritySet(marked, tied, len(sets), True, unsure)


def _compare_turn(
    turn: Hashable,
    people: MajoritySet,
    judge: Elements | None,
    trajectories: Mapping[Hashable, Hashable],
) -> TurnComparison:
    nothing: Elements = frozenset()
    trajectory = cluster_of(turn, trajectories, "trajectory", "trajectories")
    if judge is None or not people.enough:
        state = TurnState.NO_JUDGE if judge is None else TurnState.TOO_FEW
        return TurnComparison(turn, trajectory, state, people, judge, nothing, nothing, None)
    untied = judge - people.tied
    state = TurnState.UNSURE if people.unsure else TurnState.TIED
    return TurnComparison(
        turn=turn,
        trajectory=trajectory,
        state=state if people.tied else TurnState.COMPARED,
        people=people,
        judge=judge,
        missed=people.marked - untied,
        extra=untied - people.marked,
        jaccard=jaccard_index(people.marked, untied),
    )
