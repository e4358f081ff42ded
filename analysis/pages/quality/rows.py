"""The data of the page on quality: signs of carelessness by annotator, and agreement so far."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from analysis.frames.submitted_answers import Rater, SubmittedAnswers
from analysis.reports import addresses
from analysis.reports.content import Badge, Cell, text_cell
from analysis.stats.annotators.drift import Drift
from analysis.stats.annotators.rater_quality import Speed
from analysis.stats.annotators.rater_warnings import QualityWarning
from analysis.stats.annotators.straight_lining import StraightLining
from analysis.stats.descriptive.spread import Quartiles
from analysis.stats.rater_agreement.reliability import Reliability, SetAgreement
from analysis.stats.results import RESAMPLES, Estimate
from annotation.models import Study
from annotation.questionnaires import Question

SEED = 20251208
MOST_NOTICES = 6
SIMULATED = Badge("simulated", "aside", "A script, not a person.")


@dataclass(frozen=True)
class SignsByRater:
    """The signs of every annotator by account, and the warnings that they come to."""

    gold: Mapping[Hashable, Estimate]
    drifts: Mapping[Hashable, Drift]
    straight: Mapping[Hashable, StraightLining]
    speeds: Mapping[Hashable, Speed]
    times: Mapping[int, Quartiles]
    items: Mapping[int, int]
    warnings: tuple[QualityWarning, ...]


@dataclass(frozen=True)
class QuestionAgreement:
    """The agreement of people on one question: scores and choices, or sets of marks."""

    question: Question
    found: Reliability | SetAgreement


@dataclass(frozen=True)
class RaterSigns:
    """One annotator with every sign, crossed or not."""

    rater: Rater
    study: Study
    signs: SignsByRater

    @property
    def name(self) -> str:
        return self.rater.name

    @property
    def cell(self) -> Cell:
        """The name, leading to the answers."""
        return text_cell(
            self.name,
            url=addresses.address(
                "annotation:annotator", pk=self.study.pk, number=self.rater.number
            ),
            badges=(SIMULATED,) if self.rater.simulated else (),
        )

    @property
    def items(self) -> int:
        return self.signs.items[self.rater.user]

    @property
    def gold(self) -> Estimate:
        return self.signs.gold[self.rater.user]

    @property
    def drift(self) -> Drift | None:
        return self.signs.drifts.get(self.rater.user)

    @property
    def straight(self) -> StraightLining | None:
        return self.signs.straight.get(self.rater.user)

    @property
    def speed(self) -> Speed:
        return self.signs.speeds[self.rater.user]

    @property
    def times(self) -> Quartiles:
        return self.signs.times[self.rater.user]


@dataclass(frozen=True)
class RaterWarning:
    """A sign that crossed its threshold, of one annotator."""

    rater: RaterSigns
    warning: QualityWarning


@dataclass(frozen=True)
class QualityResult:
    """The annotators with their signs, and agreement by question."""

    data: SubmittedAnswers
    signs: SignsByRater
    raters: tuple[RaterSigns, ...]
    agreed: tuple[QuestionAgreement, ...]

    @property
    def warnings(self) -> list[RaterWarning]:
        """The warnings: what crossed a threshold, annotator by annotator."""
        return [
            RaterWarning(rater, one)
            for rater in self.raters
            for one in self.signs.warnings
            if one.rater == rater.rater.user
        ]

    @property
    def first_warnings(self) -> list[RaterWarning]:
        """The warnings that stand over everything else."""
        return self.warnings[:MOST_NOTICES]

    @property
    def further_warnings(self) -> int:
        return len(self.warnings) - len(self.first_warnings)

    @property
    def warned(self) -> list[str]:
        """The annotators with warnings."""
        return list(dict.fromkeys(one.rater.name for one in self.warnings))

    @property
    def simulated(self) -> int:
        return sum(one.rater.simulated for one in self.raters)

    @property
    def answered_twice(self) -> bool:
        """Return whether any question has two answers to one item."""
        return any(row.found.items for row in self.agreed)

    @property
    def gold_items(self) -> int:
        return sum(bool(item.expected) for item in self.data.items.values())

    @property
    def counted(self) -> int:
        """The number of submitted items that are no gold items."""
        return len(self.data.main)

    @property
    def gold_answers(self) -> int:
        return len(self.data.submissions) - len(self.data.main)

    @property
    def seed(self) -> int:
        return SEED

    @property
    def resamples(self) -> int:
        return RESAMPLES
