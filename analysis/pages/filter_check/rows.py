"""The results of the filter check: checker against majority, and people against each other."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.frames.filter_decisions import AskedCandidate
from analysis.kit.links import Link
from analysis.pages.people import AnswerCounts
from analysis.reports.rates import how_rates, read_first
from analysis.stats.descriptive.rates import Rate
from analysis.stats.rater_agreement.decisions import DecisionQuality
from analysis.stats.rater_agreement.majority import Majorities, MajorityVerdict
from analysis.stats.rater_agreement.reliability import Reliability
from analysis.stats.results import Estimate
from annotation.ratings.voting import VoteOutcome
from benchmarks.core.ports.published import PaperStatements


@dataclass(frozen=True)
class CheckerQuality:
    """The checker against the majority, and people against each other, on candidates of a kind."""

    name: str
    decisions: DecisionQuality
    votes: Majorities
    people: Reliability

    def rate(self, measure: str) -> Rate:
        """Return a rate by its name; “removed” is over all candidates with a decision."""
        found: Rate = getattr(
            self.decisions, "decided_positive" if measure == "removed" else measure
        )
        return found

    @property
    def link(self) -> Link:
        """The link to all items of the study: candidates have no list of their own."""
        return Link()

    @property
    def removed(self) -> Rate:
        return self.rate("removed")

    @property
    def let_through(self) -> Estimate:
        """The share that the checker let through of what people would remove."""
        return read_first(self.decisions.false_negative_rate)

    @property
    def lost(self) -> Estimate:
        """The share that the checker removed of what people would keep."""
        return read_first(self.decisions.false_positive_rate)

    @property
    def tied(self) -> int:
        return self.votes.states[VoteOutcome.TIED]


@dataclass(frozen=True)
class FilterDifference:
    """A candidate on which the checker and the majority differ, or people tie."""

    candidate: AskedCandidate
    verdict: MajorityVerdict

    @property
    def kind(self) -> str:
        """The kind of difference: tied, let through (by the checker), or lost."""
        if self.verdict.state is VoteOutcome.TIED:
            return "tied"
        return "let through" if self.verdict.value == "remove" else "lost"


@dataclass(frozen=True)
class FilterCheck:
    """The checks of all candidates and of each kind, and who decided.

    ``minimum`` is how many annotators a candidate needs for a majority.
    """

    checks: tuple[CheckerQuality, ...]
    candidates: tuple[AskedCandidate, ...]
    minimum: int
    people: AnswerCounts
    everyone: AnswerCounts
    reference: PaperStatements

    @property
    def whole(self) -> CheckerQuality:
        return self.checks[0]

    @property
    def with_published(self) -> list[CheckerQuality | PaperStatements]:
        """The checks, and after them the paper's, where it has any."""
        return [*self.checks, *([self.reference] if "removed" in self.reference.checks else [])]

    @property
    def differences(self) -> list[FilterDifference]:
        verdicts = self.whole.votes.by_item
        decided = (VoteOutcome.UNANIMOUS, VoteOutcome.MAJORITY)
        found = []
        for candidate in self.candidates:
            verdict = verdicts[candidate.place]
            differs = verdict.state in decided and candidate.decision not in (None, verdict.value)
            if differs or verdict.state is VoteOutcome.TIED:
                found.append(FilterDifference(candidate, verdict))
        return found

    @property
    def checkers(self) -> list[str]:
        """The makers of the checker's decisions."""
        return sorted({c.decided_by for c in self.candidates if c.decided_by})

    @property
    def intervals(self) -> str:
        found = self.whole.decisions
        return how_rates([found.accuracy, found.decided_positive])

    @property
    def left_out(self) -> Mapping[str, int]:
        return self.whole.decisions.excluded

    @property
    def published_source(self) -> str:
        return self.reference.checks["removed"].source
