"""Judges against the majority, and people against each other: rows of the violation check."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from analysis.frames.marked_violations import AskedItem, TurnKey
from analysis.reports import addresses
from analysis.stats.rater_agreement.decisions import DecisionQuality
from analysis.stats.rater_agreement.marked_sets import SetComparison, TurnComparison, TurnState
from analysis.stats.rater_agreement.reliability import Reliability, SetAgreement

# Who marked which constraints of which turn; None where nobody could read a turn's verdict.
Sets = Sequence[tuple[int, TurnKey, frozenset[str] | None]]


class JudgeQuality(NamedTuple):
    """Judges against the majority, and people against each other, on constraints of some kinds."""

    name: str
    sets: SetComparison
    decisions: DecisionQuality
    people: SetAgreement
    each: Reliability


class ViolationDifference(NamedTuple):
    """A constraint in a turn on which judges and majority differ, or people tie.

    ``kind`` is “missed” (people alone), “extra” (judges alone), “tied” or “cannot tell”. Of the
    ``annotators`` of the turn, ``marked`` marked the constraint as violated.
    """

    place: TurnKey
    agent: str
    constraint_kind: str
    constraint: str
    kind: str
    marked: int
    annotators: int
    found_by_judges: bool


def differences_of(
    known: Sequence[TurnComparison],
    items: Sequence[AskedItem],
    marks: Sets,
    texts: Mapping[tuple[int, str], str],
) -> list[ViolationDifference]:
    """Return where judges and the majority differ in these turns, and where people tie."""
    by_trajectory = {item.trajectory: item for item in items}
    votes: Counter[tuple[TurnKey, str]] = Counter()
    given: Counter[TurnKey] = Counter()
    for _, turn, marked in marks:
        if marked is not None:
            given[turn] += 1
            votes.update((turn, key) for key in marked)
    differences = []
    for compared in known:
        place = cast(TurnKey, compared.turn)
        item = by_trajectory[place[0]]
        differences += [
            ViolationDifference(
                place,
                item.label,
                item.kind_of[key],
                texts.get((place[0], key), key),
                kind,
                votes[place, key],
                given[place],
                compared.judge is not None and key in compared.judge,
            )
            for key, kind in _differing(compared, item)
        ]
    return differences


def known_turns(sets: SetComparison) -> list[TurnComparison]:
    """Return the turns with a readable verdict of the judges and enough annotators."""
    without = (TurnState.NO_JUDGE, TurnState.TOO_FEW)
    return [turn for turn in sets.each if turn.state not in without]


def turn_url(trajectory: int, turn: int) -> str:
    """Return the address of a trajectory's page, at one of its turns."""
    url = addresses.address("analysis:trajectory", trajectory_id=trajectory)
    return f"{url}#turn-{turn}" if url else ""


def _differing(turn: TurnComparison, item: AskedItem) -> list[tuple[str, str]]:
    """Return the constraints of one turn, in the order of the profile, with what is the matter."""
    compared = turn.state is TurnState.COMPARED
    differing = []
    for key in item.kind_of:
        if key in turn.people.unsure:
            differing.append((key, "cannot tell"))
        elif key in turn.people.tied:
            differing.append((key, "tied"))
        elif compared and key in turn.missed:
            differing.append((key, "missed"))
        elif compared and key in turn.extra:
            differing.append((key, "extra"))
    return differing
