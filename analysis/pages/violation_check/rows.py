"""The results of the violation check: judges against majority, and people against each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from analysis.frames.marked_violations import AskedItem, TurnKey
from analysis.kit.links import Link
from analysis.pages.people import AnswerCounts
from analysis.reports import addresses
from analysis.reports.rates import how_rates, read_first
from analysis.stats.rater_agreement.decisions import DecisionQuality
from analysis.stats.rater_agreement.marked_sets import SetComparison, TurnComparison, TurnState
from analysis.stats.rater_agreement.reliability import Reliability, SetAgreement
from analysis.stats.results import Estimate
from benchmarks.core.ports.published import PaperStatements

# Who marked which constraints of which turn; None where nobody could read a turn's verdict.
Sets = Sequence[tuple[int, TurnKey, frozenset[str] | None]]


@dataclass(frozen=True)
class JudgeQuality:
    """Judges against the majority, and people against each other, on constraints of some kinds."""

    name: str
    sets: SetComparison
    decisions: DecisionQuality
    people: SetAgreement
    each: Reliability

    @property
    def exact(self) -> Estimate:
        return read_first(self.sets.exact)

    @property
    def within_one(self) -> Estimate:
        return read_first(self.sets.within_one)

    @property
    def tied(self) -> int:
        return self.sets.states[TurnState.TIED]


@dataclass(frozen=True)
class ViolationDifference:
    """A constraint in a turn on which judges and majority differ, or people tie.

    ``kind`` is “missed” (people alone), “extra” (judges alone) or “tied”. Of the ``annotators``
    of the turn, ``marked`` marked the constraint as violated.
    """

    place: TurnKey
    agent: str
    constraint_kind: str
    constraint: str
    kind: str
    marked: int
    annotators: int
    found_by_judges: bool

    @property
    def link(self) -> Link:
        return Link(url=turn_url(*self.place))


@dataclass(frozen=True)
class ViolationCheck:
    """The checks of all constraints and of each kind, and who marked them.

    ``minimum`` is how many annotators a turn needs for a majority.
    """

    checks: tuple[JudgeQuality, ...]
    items: tuple[AskedItem, ...]
    marks: Sets
    texts: Mapping[tuple[int, str], str]
    minimum: int
    people: AnswerCounts
    everyone: AnswerCounts
    reference: PaperStatements

    @property
    def whole(self) -> JudgeQuality:
        return self.checks[0]

    @property
    def with_published(self) -> list[JudgeQuality | PaperStatements]:
        """The checks, and after them the paper's, where it has any."""
        return [*self.checks, *([self.reference] if "exact" in self.reference.checks else [])]

    @property
    def states(self) -> list[tuple[TurnState, int, int]]:
        """The number of turns in each state, of how many."""
        states = self.whole.sets.states
        total = sum(states.values())
        return [(state, count, total) for state, count in states.items()]

    @property
    def turns(self) -> int:
        return sum(self.whole.sets.states.values())

    @property
    def known(self) -> list[TurnComparison]:
        """The turns with a readable verdict of the judges and enough annotators."""
        without = (TurnState.NO_JUDGE, TurnState.TOO_FEW)
        return [one for one in self.whole.sets.each if one.state not in without]

    @property
    def differences(self) -> list[ViolationDifference]:
        by_trajectory = {item.trajectory: item for item in self.items}
        votes: Counter[tuple[TurnKey, str]] = Counter()
        given: Counter[TurnKey] = Counter()
        for _, turn, marked in self.marks:
            if marked is not None:
                given[turn] += 1
                votes.update((turn, key) for key in marked)
        found = []
        for compared in self.known:
            place = cast(TurnKey, compared.turn)
            item = by_trajectory[place[0]]
            found += [
                ViolationDifference(
                    place,
                    item.label,
                    item.kind_of[key],
                    self.texts.get((place[0], key), key),
                    kind,
                    votes[place, key],
                    given[place],
                    compared.judge is not None and key in compared.judge,
                )
                for key, kind in _differing(compared, item)
            ]
        return found

    @property
    def intervals(self) -> str:
        return how_rates([self.whole.sets.exact, self.whole.sets.within_one])

    @property
    def published_source(self) -> str:
        return self.reference.checks["exact"].source


def turn_url(trajectory: int, turn: int) -> str:
    """Return the address of a trajectory's page, at one of its turns."""
    url = addresses.address("analysis:trajectory", trajectory_id=trajectory)
    return f"{url}#turn-{turn}" if url else ""


def _differing(turn: TurnComparison, item: AskedItem) -> list[tuple[str, str]]:
    """Return the constraints of one turn, in the order of the profile, with what is the matter."""
    compared = turn.state is TurnState.COMPARED
    found = []
    for key in item.kind_of:
        if key in turn.people.tied:
            found.append((key, "tied"))
        elif compared and key in turn.missed:
            found.append((key, "missed"))
        elif compared and key in turn.extra:
            found.append((key, "extra"))
    return found
